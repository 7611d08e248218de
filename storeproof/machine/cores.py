"""Which cores the servers of a measurement run on, and which the load generator: disjoint ones, where the machine has four or more.

On shared cores the scheduler decides a part of the result. Affinity is a property of threads, which threads and processes that they start
inherit: so it is set on the thread that starts a server, before the server's first instruction, and read back from all of its threads.
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
"""Cores that are parted: of fewer, a server and a load generator that each keep several busy would get too little."""
_FEWEST_OF_GENERATOR: Final = 2
"""A request costs the load generator up to 10 µs (docs/ENGINE.md), about as much as the fastest server: on one core it is the limit."""
_GENERATOR_SHARE: Final = 4
"""One core in four: servers that use several cores need several times as long for a request as the load generator."""


@dataclass(frozen=True)
class CoreSplit:
    """The cores of each side, in ascending order; the same for every store of a run."""

    server: tuple[int, ...]
    generator: tuple[int, ...]
    shared: str = ""
    """Why both may use all; empty where the two have no core in common."""

    @property
    def apart(self) -> tuple[int, ...]:
        """The load generator's cores, where it has its own; else none."""
        return () if self.shared else self.generator

    def giving(self, cores: int) -> CoreSplit:
        """The same, where each store is given that many of the server's cores. On cores that were shared, the generator has the rest.

        Raises:
            ValueError: there are fewer.
        """
        if not 1 <= cores <= len(self.server):
            raise ValueError(f"a store can be given 1 to {len(self.server)} cores here")
        given = self.server[:cores]
        if not self.shared:
            return replace(self, server=given)
        rest = tuple(core for core in self.generator if core not in given)
        return CoreSplit(given, rest) if rest else replace(self, server=given)


UNSPLIT: Final = CoreSplit((), (), "nothing was parted")
"""No core is said to be anyone's."""


def split(cores: Iterable[int], siblings: Iterable[Collection[int]] = (), *, fewest: int = FEWEST) -> CoreSplit:
    """Part the cores that may be used: the last quarter of them, and at least two, to the load generator, the rest to the server.

    Args:
        cores: numbers of logical cores.
        siblings: sets of logical cores that are threads of one physical core; they are never parted, since they share its units.
        fewest: cores that are parted; of fewer, both use all. With two or three each side has at least one.
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
    """Of the cores that this thread may use."""
    usable = os.sched_getaffinity(0)
    return split(usable, _siblings(usable))


@contextlib.contextmanager
def running_on(cores: Sequence[int]) -> Iterator[None]:
    """This thread, and what threads and processes it starts meanwhile, run on these cores; none: as before. Afterwards this thread is
    released, and what it started stays.

    Raises:
        MachineFailed: the kernel does not do it.
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
    """Make sure that all threads of these processes run on these cores, or on some of them. One that has chosen others is put back.

    Raises:
        MachineFailed: they do not.
    """
    wanted = set(cores)
    threads = [thread for pid in pids for thread in _threads(pid)]
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            if not os.sched_getaffinity(thread) <= wanted:
                os.sched_setaffinity(thread, wanted)
                if not (found := os.sched_getaffinity(thread)) <= wanted:
                    raise MachineFailed(f"{name} runs on cores {shown(found)}, not on {shown(wanted)}", _REMEDY)


def shown(cores: Iterable[int]) -> str:
    """As the kernel writes them: `0-5,8`."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1][1:] = [core]
        else:
            runs.append([core])
    return ",".join("-".join(map(str, run)) for run in runs)


def read_cores(text: str) -> list[int]:
    """What `shown` wrote."""
    runs = [part.partition("-") for part in text.strip().split(",")]
    return [core for first, _, last in runs for core in range(int(first), int(last or first) + 1)]


_REMEDY: Final = "run it where no other program sets the cores of processes"


def _threads(pid: int) -> list[int]:
    try:
        return [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:  # it has ended
        return []


def _siblings(cores: Iterable[int]) -> list[frozenset[int]]:
    """Of each core, itself and those that share its physical core; none where the kernel does not say."""
    found = []
    for core in cores:
        with contextlib.suppress(OSError, ValueError):
            text = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text(encoding="ascii")
            found.append(frozenset(read_cores(text)))
    return found
