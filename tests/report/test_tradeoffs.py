"""The plots that set one thing against another: what is in them, and that nothing is drawn of which nothing is known."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram

from storeproof.report import formatting, tables
from storeproof.report.pictures.curves import curves
from storeproof.report.pictures.drawing import Lines
from storeproof.report.pictures.tradeoffs import cost_of_durability, features_against_speed, in_variants
from storeproof.result.model import Result
from storeproof.stats.latency import encode, new_histogram
from tests.report.sample import sample_result


@pytest.fixture(scope="module")
def result() -> Result:
    return sample_result()


def _histogram(samples: int) -> HdrHistogram:
    made = new_histogram()
    for number in range(samples):
        made.record_value(1000 * (number + 1))
    return made


def test_a_store_in_variants_of_unlike_durability_shows_what_that_costs(result: Result) -> None:
    """Stores that were measured in variants of different durability are plotted, the others are not."""
    stores = in_variants(tables.workloads(result))
    plot = cost_of_durability(stores, Lines(name for lines in stores.values() for name in lines))
    told = dict(part.split(": ") for part in plot.label.partition(": ")[2].split("; "))
    assert told["redis"] == "volatile (volatile), aof-always (process_crash)"
    assert told["mongodb"] == "default (clean_restart), journaled (process_crash)"
    assert set(told) == {"redis", "mongodb"}, "the others were measured in one variant"


def test_stores_in_one_variant_each_have_no_such_plot(result: Result) -> None:
    """With one variant per store there is no plot of durability against speed."""
    single = result.model_copy(update={"stores": result.stores[:2]})
    assert in_variants(tables.workloads(single)) == {}


def test_capabilities_are_set_against_speed_for_every_store_that_was_measured(result: Result) -> None:
    """Every measured store is in the plot of capabilities against speed."""
    plot = features_against_speed(result, tables.workloads(result))
    assert plot is not None
    assert plot.label.count("; ") == 3
    for store in result.stores:
        assert f"{store.store}:{store.variant} " in plot.label


def test_a_number_that_is_not_valid_is_in_no_such_plot(result: Result) -> None:
    """Neither of capabilities nor of durability; a lower bound has its sign."""
    for changed, shown in (({"invalid": ["errors"]}, False), ({"invalid": [], "at_least": True}, True)):
        numbers = [each.model_copy(update=changed) for each in result.stores[0].measurements]
        whole = result.model_copy(update={"stores": [result.stores[0].model_copy(update={"measurements": numbers}), *result.stores[1:]]})
        plot = features_against_speed(whole, tables.workloads(whole))
        assert plot is not None
        assert ("sqlite:wal-full ≥ " in plot.label) == ("sqlite:wal-full" in plot.label) == shown
    volatile = [each.model_copy(update={"invalid": ["errors"]}) for each in result.stores[2].measurements]
    without = [*result.stores[:2], result.stores[2].model_copy(update={"measurements": volatile}), *result.stores[3:]]
    assert "redis" not in in_variants(tables.workloads(result.model_copy(update={"stores": without})))


def test_one_store_is_set_against_nothing(result: Result) -> None:
    """With one store, or without measurements, that plot is left out."""
    single = result.model_copy(update={"stores": result.stores[:1]})
    assert features_against_speed(single, tables.workloads(single)) is None
    assert features_against_speed(result, {}) is None, "nor are stores that were not measured"


@pytest.mark.parametrize(("samples", "drawn"), [(199, False), (20_000, True)])
def test_percentiles_end_where_too_few_samples_are_beyond(result: Result, samples: int, drawn: bool) -> None:
    """A curve of percentiles ends where fewer than 100 samples lie beyond."""
    store = result.stores[0]
    measured = store.measurements[0].model_copy(update={"histogram": encode(_histogram(samples))})
    plot = curves([(store, measured)], "Put", Lines([formatting.name_of(store)]))
    assert (plot is not None) is drawn
    if plot is not None:
        # 100 of 20 000 are beyond 99.5 %: the 19 900th of 1 µs, 2 µs ...; the histogram keeps three digits.
        assert plot.label.endswith("from 1 µs to 19.9 ms")
