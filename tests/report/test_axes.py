"""What a workload goes through is found in its measurements, and said where a number is shown."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.axes import Pair, axis_of, is_plain, setting, typical
from storeproof.report.pictures import plots
from storeproof.report.pictures.drawing import Lines, point, series_of
from storeproof.report.speed.table import speed
from tests.report.sample import DRIFTING, STEADY, sample_result

STORE = sample_result().stores[0]
ONE = STORE.measurements[0]


def _pairs(name: str, *values: Any, **more: Any) -> list[Pair]:
    return [(STORE, ONE.model_copy(update={name: value, **more})) for value in values]


def _lines(measured: list[Pair]) -> Lines:
    return Lines(series_of(measured))


@pytest.mark.parametrize(
    ("measured", "axis", "places"),
    [
        (_pairs("clients", 1, 8, 64), "clients", [1, 8, 64]),
        (_pairs("pipeline", 1, 4, 16), "requests in flight per client", [1, 4, 16]),
        (_pairs("rate", 1000.0, 2500.0, load_model="open"), "requests offered per second", [1000, 2500]),
        (_pairs("record", "size-32", "size-1000"), "bytes of a value", [32, 1000]),
        (_pairs("record", "fields-1", "fields-100"), "fields", [1, 100]),
        (_pairs("record", "depth-1", "depth-6"), "depth", [1, 6]),
        (_pairs("indexes", 0, 1), "clients", [ONE.clients] * 2),
    ],
)
def test_the_axis_is_what_differs(measured: list[Pair], axis: str, places: list[int]) -> None:
    """A series is plotted against the parameter that differs between its measurements; against clients if none does."""
    found = axis_of(measured)
    assert found.name == axis
    assert [found.of(each) for _, each in measured] == places


def test_a_number_says_what_it_was_measured_with() -> None:
    """Rate, pipelining and record size are shown in words beside a number; the default shows nothing."""
    measured = [*_pairs("rate", 2500.0), *_pairs("pipeline", 1, 16), *_pairs("record", "size-1000", "fields-1", "depth-3")]
    measured += _pairs("record", "sizes-uniform-32-1000", "sizes-histogram-100x9-5000x1")
    wanted = ["2,500/s offered", "", "16 in flight", "1,000 bytes", "1 field", "depth 3"]
    wanted += ["32 to 1000 bytes, uniform", "100 to 5000 bytes, histogram"]
    assert [setting(each) for _, each in measured] == wanted
    assert [row[4].text for row in speed(measured).rows] == [each or "–" for each in wanted]
    assert is_plain(_pairs("clients", 1, 8))
    assert not is_plain(measured)


def test_of_a_series_the_farthest_stands_for_it() -> None:
    """Tables show the deepest pipeline of a series."""
    assert [each.pipeline for _, each in typical(_pairs("pipeline", 1, 16, 4))] == [16]


def test_of_numbers_of_clients_the_middle_one() -> None:
    """The largest shows what a store does when it is asked too much."""
    assert [each.clients for _, each in typical(_pairs("clients", 1, 8, 64, 256, 1024))] == [64]
    assert [each.clients for _, each in typical(_pairs("clients", 1, 8))] == [8]


def test_of_open_loops_the_highest_rate_that_all_stores_kept() -> None:
    """Tables show the highest offered rate that every store in the table achieved."""
    left = ["missed_send_ratio"]
    one = [*_pairs("rate", 1000.0, 2500.0, invalid=[]), *_pairs("rate", 5000.0, invalid=left)]
    other = [*_pairs("rate", 1000.0, invalid=[]), *_pairs("rate", 2500.0, 5000.0, invalid=left)]
    assert {each.rate for _, each in typical(one)} == {2500.0}
    assert {each.rate for _, each in typical([*one, *other])} == {1000.0}


def test_a_series_is_drawn_against_its_axis() -> None:
    """Three points or more are drawn as lines with percentiles; two as bars with their setting."""
    measured = _pairs("pipeline", 1, 4, 16)
    assert plots.is_sweep(measured)
    assert not plots.is_sweep(measured[:2])
    plot = plots.sweep(measured, "power_loss", "Get", _lines(measured))
    assert "against requests in flight per client" in plot.label
    assert "requests in flight per client" in plot.svg
    assert "p99.9" in plot.svg
    assert "16 in flight" in plots.bars(measured[1:], "Get").svg


def test_labels_of_an_axis_do_not_touch_each_other() -> None:
    """Its largest value has one in any case; 1024 clients are not 1.02k."""
    measured = _pairs("clients", 1, 8, 32, 64, 128, 256, 512, 1024)
    found = plots.sweep(measured, "power_loss", "Get", _lines(measured)).svg
    labels = [label for label in ("1024", "512", "256", "128") if f">{label}<" in found]
    assert labels == ["1024", "256"]


@pytest.mark.filterwarnings("ignore:Attempt to set non-positive xlim")
def test_a_series_with_a_record_beside_its_axis_is_drawn() -> None:
    """Values of unlike sizes have no place on an axis of sizes, and the report is written all the same."""
    measured = _pairs("record", "size-32", "size-1000", "size-9000", "sizes-uniform-32-1000")
    assert ">9000<" in plots.sweep(measured, "power_loss", "Put", _lines(measured)).svg


def test_the_average_stands_beside_the_percentiles() -> None:
    """Where it is known: results of formats before 2.1 have none."""
    measured = _pairs("clients", 1, 8, 64)
    panels = plots.sweep(measured, "power_loss", "Get", _lines(measured)).svg
    assert [name for name in ("average", "p95", "p99") if f">{name}<" in panels] == ["average", "p95", "p99"]
    old = _pairs("clients", 1, 8, 64, latency_us=ONE.latency_us.model_copy(update={"mean": None}))
    panels = plots.sweep(old, "power_loss", "Get", _lines(old)).svg
    assert ">average<" not in panels
    assert ">p95<" in panels


@pytest.mark.parametrize(
    ("changed", "label", "hatched"),
    [
        ({"grade": "A"}, "1k A", False),
        ({"grade": "D", "at_least": True}, "≥ 1k D", False),
        ({"grade": "C", "trend": DRIFTING}, "1k C drifting", False),
        ({"invalid": ["errors"]}, "1k ✘", True),
    ],
)
def test_bars_are_hatched_only_where_a_number_is_not_valid(changed: dict[str, Any], label: str, hatched: bool) -> None:
    """Their labels have the grade, the sign of a lower bound, and the word for a drift."""
    rate = ONE.throughput.model_copy(update={"median": 1000.0})
    plain = {"throughput": rate, "at_least": False, "invalid": [], "trend": STEADY}
    drawn = plots.bars(_pairs("clients", 50, **(plain | changed)), "Get")
    assert f">{label}<" in drawn.svg
    assert ("<pattern" in drawn.svg) == hatched


def test_a_point_is_hollow_where_it_is_a_lower_bound() -> None:
    """And a ✘ where the number is not valid."""
    style = Lines(["one"]).style("one")
    limited, broken = (ONE.model_copy(update=each) for each in ({"at_least": True, "invalid": []}, {"invalid": ["errors"]}))
    assert point(limited, style)["markerfacecolor"] == "none"
    assert point(broken, style)["marker"] == "$✘$"
    assert "markerfacecolor" not in point(ONE.model_copy(update={"at_least": False, "invalid": []}), style)
