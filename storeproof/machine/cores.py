"""Splits the cores between the servers of a measurement and the load generator: disjoint sets, if the machine has four cores or more.

On shared cores the scheduler would influence the result. Affinity is a property of a thread, inherited by the threads and processes that it
starts. So it is set on the thread that starts a server, before the server's first instruction, and checked on all of the server's threads.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from storeproof.errors import MachineFailed
from storeproof.units import plural

FEWEST: Final = 4
"""Fewest cores that are split: of fewer, a server and a load generator that each keep several cores busy would get too few."""
_FEWEST_OF_GENERATOR: Final = 2
"""A request costs the load generator up to 10 µs (docs/ENGINE.md), as much as the fastest server: one core would be the bottleneck."""
_GENERATOR_SHARE: Final = 4
"""One core in four: a server that uses several cores spends several times as much CPU time on a request as the load generator."""


@dataclass(frozen=True)
class CoreSplit:
    """The cores of the server and of the load generator, in ascending order; the same for every store of a run."""

    server: tuple[int, ...]
    generator: tuple[int, ...]
    shared: str = ""
    """The reason why both use the same cores; empty if they have no core in common."""

    @property
    def apart(self) -> tuple[int, ...]:
        """The load generator's cores if it has its own; else empty."""
        return () if self.shared else self.generator

    def giving(self, cores: int) -> CoreSplit:
        """A split that gives each store only the first `cores` of the server's. If all are shared, the load generator gets the rest.
        Raises `ValueError`: the server does not have that many, or `cores` is less than 1."""
        if not 1 <= cores <= len(self.server):
            raise ValueError(f"a store can be given 1 to {len(self.server)} cores here")
        given = self.server[:cores]
        if not self.shared:
            return replace(self, server=given)
        rest = tuple(core for core in self.generator if core not in given)
        return CoreSplit(given, rest) if rest else replace(self, server=given)


UNSPLIT: Final = CoreSplit((), (), "nothing was parted")
"""Assigns no core to either side."""


def split(cores: Iterable[int], siblings: Iterable[Collection[int]] = (), *, fewest: int = FEWEST) -> CoreSplit:
    """Split cores: the last quarter of them, but at least two, for the load generator, the others for the server.

    Args:
        cores: numbers of the logical cores that may be used.
        siblings: sets of logical cores that are threads of one physical core; a set is never split, since its threads share the core.
        fewest: the fewest cores that are split; of fewer, both sides use all. Of two or three cores each side gets at least one.
    """
    usable = sorted(set(cores))
    everything = tuple(usable)
    if len(usable) < fewest:
        return CoreSplit(everything, everything, f"{plural(len(usable), 'core')}: client and server share them")
    whole = {core: tuple(sorted(each for each in group if each in usable)) for group in siblings for core in group}
    physical = sorted({whole.get(core, (core,)) for core in usable})
    if len(physical) < 2:
        return CoreSplit(everything, everything, f"{len(usable)} threads of one core: client and server share it")
    wanted = min(max(len(usable) // _GENERATOR_SHARE, _FEWEST_OF_GENERATOR), len(usable) // 2)
    generator: list[int] = []
    while len(generator) < wanted and len(physical) > 1:
        generator += physical.pop()
    return CoreSplit(tuple(sorted(core for group in physical for core in group)), tuple(sorted(generator)))


def split_of_this_machine() -> CoreSplit:
    """Split the cores that this thread may use."""
    usable = os.sched_getaffinity(0)
    return split(usable, _siblings(usable))


@contextlib.contextmanager
def running_on(cores: Sequence[int]) -> Iterator[None]:
    """Run this thread, and the threads and processes that it starts within the block, on these cores; empty: change nothing. After the
    block this thread has its former affinity; what it started keeps the new one.

    Raises:
        MachineFailed: the kernel refuses or ignores the affinity.
    """
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cores)
    except OSError as reason:
        raise MachineFailed(f"cores {shown(cores)} cannot be used: {reason.strerror}", _REMEDY) from None
    if (found := os.sched_getaffinity(0)) != set(cores):
        raise MachineFailed(f"the load generator runs on cores {shown(found)}, not on {shown(cores)}", _REMEDY)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def hold(pids: Iterable[int], cores: Collection[int], name: str) -> None:
    """Make sure that all threads of these processes run on these cores or a subset. A thread that has set other cores is moved back.
    Raises `MachineFailed`: a thread cannot be moved."""
    wanted = set(cores)
    threads = [thread for pid in pids for thread in _threads(pid)]
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            if not os.sched_getaffinity(thread) <= wanted:
                os.sched_setaffinity(thread, wanted)
                if not (found := os.sched_getaffinity(thread)) <= wanted:
                    raise MachineFailed(f"{name} runs on cores {shown(found)}, not on {shown(wanted)}", _REMEDY)


def shown(cores: Iterable[int]) -> str:
    """Format cores as the kernel does: `0-5,8`."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1][1:] = [core]
        else:
            runs.append([core])
    return ",".join("-".join(map(str, run)) for run in runs)


def read_cores(text: str) -> list[int]:
    runs = [part.partition("-") for part in text.strip().split(",")]
    return [core for first, _, last in runs for core in range(int(first), int(last or first) + 1)]


_REMEDY: Final = "run it where no other program sets the cores of processes"


def _threads(pid: int) -> list[int]:
    try:
        return [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:  # it has ended
        return []


def _siblings(cores: Iterable[int]) -> list[frozenset[int]]:
    """For each core, the set of logical cores of its physical core, itself included; omitted if the kernel does not report it."""
    found = []
    for core in cores:
        with contextlib.suppress(OSError, ValueError):
            text = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text(encoding="ascii")
            found.append(frozenset(read_cores(text)))
    return found
