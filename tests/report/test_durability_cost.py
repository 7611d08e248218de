"""What durability costs, as a table: losses and speed of each variant, and the share of the fastest within the same blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import UsageError
from storeproof.report.answer_table import AnswerCell
from storeproof.report.durability_cost import durability_cost
from storeproof.report.pictures.answer import draw_answer
from storeproof.result.measurement import Interval, RoundNumbers
from storeproof.result.model import Result
from tests.report.sample import DRIFTING, TARGETS, sample_result

WORKLOAD = "single-put-distinct-100"
ALWAYS, VOLATILE = 1, 2
RATES = {ALWAYS: [40.0, 44, 36, 42, 38], VOLATILE: [100.0, 110, 90, 105, 95]}
"""In each block one is 0.4 of the other."""


def result(**changed: object) -> Result:
    """SQLite, and Redis in two variants whose rounds were interleaved; `changed` of the slower one."""
    sample = sample_result(TARGETS[:3])
    stores = list(sample.stores)
    for number, rates in RATES.items():
        other = f"redis:{stores[VOLATILE if number == ALWAYS else ALWAYS].variant}"
        rounds = [RoundNumbers(seconds=1, operations=int(rate), throughput=rate, errors=0, misses=0) for rate in rates]
        update = {
            "rounds": rounds,
            "throughput": Interval(median=rates[0], low=min(rates), high=max(rates), unit="operations/s"),
            "interleaved_with": [other],
            "at_least": False,
            "invalid": [],
            "grade": "B",
        } | (changed if number == ALWAYS else {})
        measured = [each.model_copy(update=update if each.workload == WORKLOAD else {}) for each in stores[number].measurements]
        stores[number] = stores[number].model_copy(update={"measurements": measured})
    return sample.model_copy(update={"stores": stores})


def cells(found: Result, number: int) -> list[AnswerCell]:
    """Rate, share and 99th percentile of one variant."""
    (speeds,) = [each for each in durability_cost([found], found, WORKLOAD).groups if each.kind == "speeds"]
    return list(speeds.rows[number])


def test_a_variant_is_held_against_the_fastest_of_its_store_block_by_block() -> None:
    """0.4 in each block, with an interval of no width; the fastest says so; a store of one variant is held against none."""
    assert cells(result(), ALWAYS)[1].brief == "0.40"
    assert cells(result(), ALWAYS)[1].text == "0.40\n[0.40, 0.40]"
    assert cells(result(), VOLATILE)[1].text == "fastest"
    assert cells(result(), 0)[1].text == "–"


def test_a_share_of_rounds_that_were_not_interleaved_is_not_shown() -> None:
    """The machine may have been another one by then."""
    assert cells(result(interleaved_with=[]), ALWAYS)[1].text == "–"


def test_a_number_shows_its_grade_and_who_was_the_limit() -> None:
    """An invalid one shows neither rate nor share."""
    for changed, brief, share in (({}, "40", "0.40"), ({"at_least": True}, "≥ 40", "≥ 0.40"), ({"trend": DRIFTING}, "drifting", "–")):
        rate, of_fastest, _ = cells(result(**changed), ALWAYS)
        assert (rate.brief, rate.grade, of_fastest.brief) == (brief, "B", share)
    assert [each.text for each in cells(result(invalid=["errors"]), ALWAYS)] == ["✘ errors", "–", "–"]


def test_what_storeproof_compare_refuses_has_neither_bar_nor_share() -> None:
    """A number of another load engine stands in no column with the others; the note says which, and why."""
    found = result(engine="wire")
    assert [each.text for each in cells(found, ALWAYS)] == ["not comparable", "–", "–"]
    assert [each.text for each in cells(found, VOLATILE)][1] == "–"
    *_, note = durability_cost([found], found, WORKLOAD).notes
    assert note == "Not comparable: redis:aof-always: load engine differs: wire against driver."


def test_what_was_not_measured_is_refused_with_what_was() -> None:
    """The message names the workloads of the result."""
    with pytest.raises(UsageError, match=r"^nothing: not measured in this result; it has single-put-distinct-90, "):
        durability_cost([result()], result(), "nothing")


def test_without_faults_there_is_nothing_to_weigh() -> None:
    """Speed alone costs nothing."""
    found = result()
    stores = [store.model_copy(update={"durability": store.durability.model_copy(update={"guarantees": []})}) for store in found.stores]
    with pytest.raises(UsageError, match="no fault struck in this result"):
        durability_cost([found.model_copy(update={"stores": stores})], found, WORKLOAD)


def test_losses_and_rates_may_be_of_two_runs() -> None:
    """A run without faults has the rates, of the same versions; both runs are named. A variant that was not measured keeps its losses."""
    found = result()
    without = [store.model_copy(update={"durability": store.durability.model_copy(update={"guarantees": []})}) for store in found.stores]
    without[VOLATILE] = without[VOLATILE].model_copy(update={"version": "Redis 0.1"})
    table = durability_cost([found], found.model_copy(update={"stores": without}), WORKLOAD)
    lost, speeds = table.groups
    assert lost == durability_cost([found], found, WORKLOAD).groups[0]
    assert speeds.rows[ALWAYS][0].brief == "40"
    assert [each.text for each in speeds.rows[VOLATILE]] == ["–", "–", "–"]
    assert [each.partition(": ")[0] for each in table.notes[:2]] == ["Losses", "Speeds"]


def test_it_is_drawn(tmp_path: Path) -> None:
    """As a picture that says the variants and the workload."""
    draw_answer(durability_cost([result()], result(), WORKLOAD), tmp_path / "cost.svg")
    drawn = (tmp_path / "cost.svg").read_text()
    assert "aof-always" in drawn
    assert "put one value, every key new, 50 clients" in drawn
