"""Classifies a loss: its shape in time, and its window.

A store that syncs late but in order loses a `suffix`: everything after some moment. `holes` are worse: a write is missing although a write
that was sent after its acknowledgement is present, so that no moment separates kept from lost writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storeproof.check.durability import Anomaly, Finding


class Shape(StrEnum):
    """The shape of a loss."""

    NOTHING = "nothing"
    SUFFIX = "suffix"
    HOLES = "holes"
    UNSTARTABLE = "unstartable"  # the store did not start again: nothing could be read, so all of it is gone


@dataclass(frozen=True)
class Losses:
    """The loss of one fault."""

    shape: Shape
    records: int
    """Acknowledged operations that are certainly lost, including those that a newer lost one had replaced."""
    window_ms: float
    """From the acknowledgement of the oldest of them to the fault."""


def losses(findings: Iterable[Finding], struck: int) -> Losses:
    """Classify the loss. `struck`: the time of the fault, in nanoseconds on the operations' clock."""
    findings = list(findings)
    # Operations missing under a torn or invented record were damaged in place: they say nothing about the order of syncs.
    missing = [each for finding in findings if finding.anomaly not in (Anomaly.TORN, Anomaly.INVENTED) for each in finding.missing]
    ends = [each.completed for each in missing if each.completed is not None]
    if not ends:
        return Losses(Shape.NOTHING, 0, 0.0)
    oldest = min(ends)
    # A survivor of a key that lost newer writes survived too: put v1, put v2, found v1 keeps v1.
    survived = [finding.survivor.invoked for finding in findings if finding.survivor is not None]
    shape = Shape.HOLES if any(invoked > oldest for invoked in survived) else Shape.SUFFIX
    return Losses(shape, len(missing), max(0.0, (struck - oldest) / 1e6))


def unstartable(acknowledged: int, started: int, struck: int) -> Losses:
    """Everything, because the store does not start again. `started`: when the first operation was acknowledged, in nanoseconds."""
    return Losses(Shape.UNSTARTABLE, acknowledged, (struck - started) / 1e6)


def worst(of: Sequence[Losses]) -> Losses:
    """The loss with the gravest shape, and among equals the longest window."""
    order = list(Shape)
    return max(of, key=lambda each: (order.index(each.shape), each.window_ms), default=Losses(Shape.NOTHING, 0, 0.0))
