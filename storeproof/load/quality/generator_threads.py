"""How many threads the load generator needs: one more where it is the limit, as long as there are cores for it and it helps.

It is decided in the warm-up, so that all rounds of a measurement have the same number. Where a thread more is not possible, or does not
help, the number is a lower bound (the gates `client_cpu` and `client_ceiling`).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from storeproof.load.engine import RunResult
from storeproof.load.quality.gates import BOTTLENECK, CEILING, judge_rounds
from storeproof.stats.ratio import paired_ratio_of

NEAR: Final = 0.9
"""Share of a gate's limit from which on the generator counts as the limit here: what is just below it in the warm-up may be above it in a
round."""
PAIRS: Final = 5
"""Pairs of a window with fewer threads and one with more. They take turns, since the machine changes meanwhile."""
GAIN: Final = 1.05
"""A thread that is worth less is not kept, whatever the interval: where the server shares the cores, it takes one of them from it."""


def choose_threads(
    first: Sequence[RunResult],
    run: Callable[[int], RunResult],
    ceiling: Callable[[int], float | None],
    *,
    at_most: int,
    pipeline: int = 1,
    offered: float = 0.0,
) -> int:
    """The number of threads for the rounds of a measurement.

    Twice as many are tried as long as the generator is the limit, and kept if the rate rises by more than the noise: the 95 % interval of
    the paired ratio lies above 1, and the ratio is `GAIN` at least.

    Args:
        first: windows of the warm-up, in a closed loop with one thread.
        run: a further window with that many threads.
        ceiling: requests per second that this number of threads reaches against a server that does nothing; None where it is not known.
        at_most: threads.
        offered: requests per second of the open loop that is to be measured, which needs no more threads than that rate does; 0: a closed
            loop.
    """
    threads, found = 1, list(first)
    while threads < at_most and _is_limit(found, ceiling(threads), pipeline, offered):
        more = min(2 * threads, at_most)
        fewer, found = _in_turns(run, threads, more)
        if not _helps(fewer, found):
            break
        threads = more
    return threads


def free_cores(server: Sequence[int], host: str) -> int:
    """Cores that the generator can use and the server leaves to it: those of this process, less one where the server may use any of them.

    Args:
        server: its processes, where they are known; without them a server on this machine may use every core.
        host: where it answers.
    """
    ours = os.sched_getaffinity(0)
    theirs: set[int] = set()
    for pid in server:
        try:
            theirs |= os.sched_getaffinity(pid)
        except OSError:  # it ended, or belongs to someone else
            theirs |= ours
    shared = bool(ours & theirs) if server else _is_here(host)
    return max(len(ours) - shared, 1)


def _is_limit(found: Sequence[RunResult], ceiling: float | None, pipeline: int, offered: float) -> bool:
    if offered:
        return ceiling is not None and offered > NEAR * CEILING * ceiling
    gates = judge_rounds(found, pipeline=pipeline, ceiling=ceiling)
    return any(gates[name].value > NEAR * gates[name].limit for name in BOTTLENECK if name in gates)


def _in_turns(run: Callable[[int], RunResult], fewer: int, more: int) -> tuple[list[RunResult], list[RunResult]]:
    found: dict[int, list[RunResult]] = {fewer: [], more: []}
    for number in range(PAIRS):
        for threads in (fewer, more) if number % 2 else (more, fewer):
            found[threads].append(run(threads))
    return found[fewer], found[more]


def _helps(fewer: Sequence[RunResult], more: Sequence[RunResult]) -> bool:
    new, old = ([each.request_rate for each in side] for side in (more, fewer))
    if min(*new, *old) <= 0:
        return False
    ratio = paired_ratio_of(new, old)
    return ratio.low > 1 and ratio.middle >= GAIN


def _is_here(host: str) -> bool:
    """Whether an address is one of this machine: only then can a socket be bound to it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True
