"""Classifies the data loss of one fault: its shape and its window.

A store that syncs late but in order loses a `suffix` of the history: every write after some time. `holes` are worse: a write is missing
although a later one, sent after its acknowledgement, is present.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storeproof.check.durability import Anomaly, Finding


class Shape(StrEnum):
    """The shape of a loss, in order of severity."""

    NOTHING = "nothing"
    SUFFIX = "suffix"
    HOLES = "holes"
    UNSTARTABLE = "unstartable"  # the store did not start again, so nothing can be read


@dataclass(frozen=True)
class Losses:
    shape: Shape
    records: int
    """Acknowledged operations that are certainly lost, including those that a later lost one had overwritten."""
    window_ms: float
    """From the acknowledgement of the oldest lost operation to the fault."""


def losses(findings: Iterable[Finding], struck: int) -> Losses:
    """Classify the loss of one fault. `struck`: its time, in nanoseconds on the operations' clock."""
    findings = list(findings)
    # Under a torn or invented record the data was damaged in place, which says nothing about the order of syncs.
    missing = [each for finding in findings if finding.anomaly not in (Anomaly.TORN, Anomaly.INVENTED) for each in finding.missing]
    ends = [each.completed for each in missing if each.completed is not None]
    if not ends:
        return Losses(Shape.NOTHING, 0, 0.0)
    oldest = min(ends)
    # Also counted is the survivor of a key that lost later writes: after put v1, put v2, finding v1 shows that v1 was kept.
    survived = [finding.survivor.invoked for finding in findings if finding.survivor is not None]
    shape = Shape.HOLES if any(invoked > oldest for invoked in survived) else Shape.SUFFIX
    return Losses(shape, len(missing), max(0.0, (struck - oldest) / 1e6))


def unstartable(acknowledged: int, started: int, struck: int) -> Losses:
    """The loss if the store does not start again: everything. `started`: the first acknowledgement, `struck`: the fault; in nanoseconds."""
    return Losses(Shape.UNSTARTABLE, acknowledged, (struck - started) / 1e6)


def worst(of: Sequence[Losses]) -> Losses:
    """The loss with the most severe shape, and of those the one with the longest window."""
    order = list(Shape)
    return max(of, key=lambda each: (order.index(each.shape), each.window_ms), default=Losses(Shape.NOTHING, 0, 0.0))
