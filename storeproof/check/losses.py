"""Says what kind of loss it was: its shape in time, and the window it took.

A `suffix` is what a store loses that syncs late but in order: everything from some moment on. `holes` are worse: a write
is gone though one that began after it was acknowledged is still there, so that no moment separates kept from lost.
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
    """What one fault took."""

    shape: Shape
    records: int
    """Acknowledged operations that are certainly gone: those that a newer lost one had already replaced count too."""
    window_ms: float
    """From the acknowledgement of the oldest of them to the fault."""


def losses(findings: Iterable[Finding], struck: int) -> Losses:
    """Classify what was lost. `struck`: when the fault struck, in nanoseconds of the operations' clock."""
    findings = list(findings)
    # What is missing under a torn or invented record is damaged in its place: it says nothing of the order of syncs.
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
