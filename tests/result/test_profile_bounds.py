"""What a profile demands of losses, the time to come back and response times is judged as a need is."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.measurement import Measurement
from storeproof.result.model import ProfileVerdict, WorstLoss
from storeproof.result.profiles import judge
from storeproof.result.recorder import StoreRecord
from storeproof.result.shortfall import shortfalls_of
from storeproof.spec import Profile
from tests.report.sample import sample_outage
from tests.result.records import SMALL, good_record, measured, profile, struck


def verdict(record: StoreRecord, **demand: Any) -> ProfileVerdict:
    """Of a record in which all but the demand is shown."""
    return judge(Profile.model_validate(profile().model_dump(mode="json") | demand), record, SMALL)


@pytest.mark.parametrize(
    ("worst", "most", "expected"),
    [
        (None, 0, "conforms"),
        (WorstLoss(shape="suffix", records=7, window_ms=800), 7, "conforms"),
        (WorstLoss(shape="suffix", records=7, window_ms=800), 6, "does_not_conform"),
        (WorstLoss(shape="suffix", records=7, window_ms=800), "1s", "conforms"),
        (WorstLoss(shape="suffix", records=7, window_ms=800), "500ms", "does_not_conform"),
        (WorstLoss(shape="holes", records=1, window_ms=1), "1s", "does_not_conform"),
    ],
)
def test_a_loss_is_bounded_by_writes_or_by_seconds(worst: WorstLoss | None, most: int | str, expected: str) -> None:
    """Where only the last writes are lost; the guarantee below it is demanded apart."""
    record = good_record()
    cut = struck("power_loss", Outcome.PASS).model_copy(update={"lost": worst.records if worst else 0, "worst_loss": worst})
    record.guarantees.append(cut)
    assert verdict(record, lost_at_most={"power_loss": most}).verdict == expected


@pytest.mark.parametrize(("most", "expected"), [("2s", "conforms"), ("1s", "does_not_conform")])
def test_the_time_to_come_back_is_that_after_a_crash(most: str, expected: str) -> None:
    """As clients under load saw it; a pause says nothing of it."""
    record = good_record()
    record.outages += [sample_outage("pause", unavailable_seconds=0.1), sample_outage("crash", unavailable_seconds=1.5)]
    found = verdict(record, back_within=most)
    assert found.verdict == expected
    assert found.missing == ([] if expected == "conforms" else ["back within 1 s: unavailable for 1.5 s after a crash"])


def timed(rate: int, p99_ms: float, **changed: Any) -> Measurement:
    """A number of an open loop."""
    found = measured()
    latency = found.latency_us.model_copy(update={"p99": p99_ms * 1000})
    return found.model_copy(update={"workload": "single-mixed-rates", "rate": rate, "latency_us": latency, **changed})


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([timed(1000, 4)], "conforms"),
        ([timed(2000, 4)], "conforms"),  # at more than is demanded
        ([timed(500, 4)], "incomplete"),
        ([timed(2000, 9)], "incomplete"),
        ([timed(500, 9)], "does_not_conform"),
        ([timed(2000, 4), timed(1000, 9)], "does_not_conform"),
        ([timed(1000, 9, invalid=["errors"])], "incomplete"),
        ([], "incomplete"),
    ],
)
def test_a_response_time_is_that_at_a_rate(numbers: list[Measurement], expected: str) -> None:
    """What is faster at less, or slower at more, decides nothing."""
    record = good_record()
    record.measurements += numbers
    assert verdict(record, response=[{"workload": "single-mixed-rates", "rate": 1000, "p99_ms": 5}]).verdict == expected


def test_what_was_not_measured_is_not_shown() -> None:
    """Each is one thing, neither failed nor lacking."""
    response = {"workload": "single-mixed-rates", "rate": 1000, "p99_ms": 5}
    found = verdict(good_record(), lost_at_most={"power_loss": "1s"}, back_within="10s", response=[response])
    told = shortfalls_of(found)
    assert found.verdict == "incomplete"
    assert [each.thing for each in told] == [
        "loss by power_loss of at most 1 s",
        "back within 10 s",
        "p99 of single-mixed-rates within 5 ms at 1,000 a second",
    ]
    assert all(each.open for each in told)
