"""The gates of loads that are on at the same time: whether they were, and whether the load generator had the cores for all of them.

Each load has the gates of its own round as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from storeproof.load.engine import RunResult
from storeproof.load.quality.gates import CEILING, START, GateJudgement


@dataclass(frozen=True)
class OneOfSeveral:
    """One of the loads."""

    rounds: Sequence[RunResult]
    begins_ns: Sequence[int]
    """When each round began, of the monotonic clock."""
    threads: int
    """Threads of the wire engine."""
    ceiling: float | None
    """Requests per second that these threads reach against a server that does nothing; None where it was not measured."""


def judge_joint(loads: Sequence[OneOfSeveral], seconds: float, cores: int) -> dict[str, GateJudgement]:
    """The gates that all of the loads have in common.

    Args:
        loads: with as many rounds each.
        seconds: the length of a round.
        cores: of the load generator. They are enough if the processor time that the loads need by their ceilings is less than they have.

    A ceiling that was not measured leaves the gate `joint_ceiling` out: it is not passed, and the gate on the lag says who was late.
    """
    begun = zip(*(each.begins_ns for each in loads), strict=True)
    apart = [(max(times) - min(times)) / 1e9 / seconds for times in begun]
    gates = {"joint_start": GateJudgement(median(apart), START)}
    shares = [
        each.threads * median(result.request_rate for result in each.rounds) / each.ceiling for each in loads if each.ceiling is not None
    ]
    if len(shares) == len(loads):
        gates["joint_ceiling"] = GateJudgement(sum(shares) / cores, CEILING)
    return gates
