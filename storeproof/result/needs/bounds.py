"""Whether what was measured is within a bound: losses, the time to come back, response times. Needs are judged by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storeproof.check import ANOMALIES, Anomaly
from storeproof.outcome import SHOWN, TELLING, Outcome
from storeproof.result.measured.lost import lost_by
from storeproof.result.measured.outage import OutageRecord
from storeproof.result.measurement import Measurement
from storeproof.result.model import GuaranteeRecord
from storeproof.units import plural, seconds, whole

_LINE = 160
"""Characters of a detail that are shown."""


class Within(NamedTuple):
    """What is said of a bound."""

    met: bool
    reason: str
    """By how much it is met or missed."""


def struck_by(guarantees: Iterable[GuaranteeRecord], fault: str) -> GuaranteeRecord | None:
    """What a fault did, where it struck and that says something; `fault`: the guarantee that it tests."""
    return next((each for each in guarantees if each.guarantee == fault and each.rounds and each.outcome in TELLING), None)


def loss_within(record: GuaranteeRecord, most: float) -> Within:
    """Whether the worst fault lost no more. `most`: acknowledged writes, an `int`; or the seconds before the fault, a `float`.

    Only the last writes may be lost: neither earlier ones, nor may anything be damaged or the store not start.
    """
    worst = record.worst_loss
    damaged = sum(getattr(record, each) for each in ANOMALIES if each is not Anomaly.LOST)
    if record.lost == 0 and damaged == 0 and worst is None:
        return Within(True, losses_in_words(record))
    if worst is None or worst.shape != "suffix":
        return Within(False, f"{losses_in_words(record)}, and not only the last ones")
    lost = f"the worst fault lost {plural(worst.records, 'write')} of the last {seconds(worst.window_ms / 1000)}"
    return Within(worst.window_ms / 1000 <= most if isinstance(most, float) else worst.records <= most, lost)


def back_within(outages: Iterable[OutageRecord], most: float) -> Within | None:
    """Whether clients under load had an answer within that many seconds of a kill -9; None where that was not measured."""
    for outage in outages:
        if outage.fault == "crash" and outage.outcome not in (Outcome.NOT_RUN, Outcome.ERROR, Outcome.INCONCLUSIVE):
            reached = f"unavailable for {seconds(outage.unavailable_seconds)} after a crash"
            return Within(outage.unavailable_seconds <= most, reached)
    return None


def p99_within(found: Sequence[Measurement], rate: float, most_ms: float) -> tuple[bool, Measurement] | None:
    """Whether 99 of 100 replies came within that many milliseconds, and the number that says so; None where none does.

    Args:
        found: valid numbers of open loops: a closed one slows down with the store. A rate as high as needed, or higher, shows that it is
            met; one as low as needed, or lower, shows that it is not, which counts more.
        rate: requests per second.
    """
    timed = [(each, each.latency_us.p99 / 1000, each.rate or 0) for each in found if each.latency_us.p99 is not None]
    missed = [each for each, p99, offered in timed if p99 > most_ms and offered <= rate]
    met = [each for each, p99, offered in timed if p99 <= most_ms and offered >= rate]
    deciding = missed or met
    return (not missed, max(deciding, key=lambda each: each.rate or 0)) if deciding else None


def p99_in_words(measured: Measurement) -> str:
    """The 99th percentile, with the rate and the load."""
    p99 = measured.latency_us.p99
    assert p99 is not None
    return f"p99 {p99 / 1000:.3g} ms at {whole(measured.rate or 0)} requests/s, {load_in_words(measured)}"


def load_in_words(measured: Measurement) -> str:
    """The workload, its clients and its variation of the records."""
    record = f", {measured.record}" if measured.record else ""
    return f"{measured.workload}, {plural(measured.clients, 'client')}{record}"


def losses_in_words(record: GuaranteeRecord) -> str:
    faults = plural(record.rounds, "fault")
    if record.outcome in SHOWN and record.lost == 0:
        return f"none of {plural(record.acknowledged, 'acknowledged write')} lost in {faults}"
    if record.lost:
        lost = lost_by(record)
        return f"{lost.counts} acknowledged writes lost ({lost.percent}) in {faults}"
    if damaged := [f"{plural(number, 'record')} {name}" for name in ANOMALIES if (number := getattr(record, name))]:
        return f"{', '.join(damaged)} in {faults}"
    if record.worst_loss is not None and record.worst_loss.shape == "unstartable":
        return f"it did not start again after {record.faults_with_loss} of {faults}"
    return f"{first_line(record.detail)} ({faults})"


def first_line(detail: str) -> str:
    """The first line of a detail, shortened."""
    line = detail.strip().partition("\n")[0]
    return f"{line[: _LINE - 1]}…" if len(line) > _LINE else line or "no detail"
