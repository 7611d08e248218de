"""Interleaved rounds of all stores: a disturbance of the machine strikes all of them, and not the one that was measured just then.

A case is one store's. The first case of a comparison prepares all the stores that have it before them, with each number of indexes, and
runs their rounds: in each block every one of them has one, in random order. The other cases then find theirs measured. There are as many
blocks as it takes until all numbers are precise enough.

The loads of a series that can have the same records, with 1 to 1024 clients for example, take turns as well, block by block: what lasts
for some seconds is in the scatter of all of them, and does not make a step in a curve.

With several laps, the first case of all runs all laps but the last one, each over everything that is to be measured. Between two laps
all servers are started again. So the rounds of a number lie as far apart as those of two runs, and on different starts of its server.

A block beside which other programs took much of the machine, or the machine was slower than it had been, is run again, since neither says
anything about a store; by all of its stores, so that the rounds of a block stay comparable. For that a run has some blocks to spare at its
start, and one more for each two that count: what lasts some minutes is waited out, and what does not end is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Final

from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.blocks import Blocks
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.store_rounds import StoreRounds
from storeproof.experiments.performance.surroundings import Watch
from storeproof.load.hosts.load_hosts import LoadEngines
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.quality.machine_speed import MachineSpeed
from storeproof.machine.other_programs import OtherPrograms
from storeproof.store_under_test import StoreUnderTest

_SPARE: Final = 16
"""Blocks of a run that may be run again from its start."""
_EARNED: Final = 0.5
"""How many more may be for each one that counts."""
_WAITED: Final = 60.0
"""Seconds of rounds that do not count, of one comparison in a lap: as long as a slow moment lasts (see `MachineSpeed`). What is slow for
longer is how the machine is then."""

Place = tuple[StoreUnderTest, str]
"""A store, and the id of a case."""
Compared = Sequence[tuple[StoreUnderTest, BenchmarkConfig]]
"""What is measured at the same time: each load of a series, by each store, with each number of indexes."""


class InterleavedRounds:
    """All of a run, one comparison after the other, and the load engines with their connections, which outlast a comparison.

    A comparison is all that can have the same records, see `BenchmarkConfig.data`: by all stores, and with each number of indexes.
    """

    def __init__(
        self,
        ceilings: Ceilings,
        waiting: Callable[[str], Sequence[StoreUnderTest]],
        measured: Callable[[float], None],
        plan: Sequence[BenchmarkConfig],
        laps: int = 1,
        speed: MachineSpeed | None = None,
    ) -> None:
        """
        Args:
            waiting: by the id of a case the stores under test that have it before them.
            measured: told the work of how many cases was done; that of a case in one of two laps is half of it.
            plan: all that the scale can measure, in the order of the cases.
            laps: over what waits of it.
            speed: that of the machine; None: it is not read.
        """
        self._ceilings = ceilings
        self._waiting = waiting
        self._measured = measured
        self._plan = plan
        self._laps = laps
        self._speed = speed
        self._spare: float = _SPARE
        """Blocks that may still be run again."""
        self._waited = 0.0
        """Seconds of rounds of this comparison that do not count."""
        self._engines: dict[tuple[StoreUnderTest, int, str], tuple[object, LoadEngines]] = {}
        """By store, number of indexes, and reason against the wire engine: a connection belongs to one collection."""
        self._earlier = iter(range(1, laps))
        """The laps before the last one that are still to be run."""
        self._begun: dict[Place, StoreRounds] = {}
        """Stores' rounds that wait for the last lap."""
        self._rounds: dict[Place, StoreRounds] = {}
        """Those of the comparison that was measured last."""

    def rounds_of(self, config: BenchmarkConfig, sut: StoreUnderTest) -> StoreRounds:
        """Those of one store, whose case closes them: measured with those of the others, if they were not yet; and again by themselves, if
        another load on the same records ended in an error."""
        place = (sut, config.case)
        if place not in self._rounds:
            self._measure(config, sut)
        if self._rounds[place].lost:
            self._rounds.pop(place).close()
            again = self._of([(sut, config)])
            self._rounds |= again
            self._run_rounds(again)
        return self._rounds.pop(place)

    def close(self) -> None:
        """Remove what is left, and end all connections."""
        self._end_connections()  # first of all: no client may write to what is being removed
        self._rounds |= self._begun
        self._clear()

    def _measure(self, config: BenchmarkConfig, first: StoreUnderTest) -> None:
        self._clear()
        for number in self._earlier:
            self._run_lap(number, config, first)
        begun = list(self._begun.values())
        self._rounds = self._of(self._compared(config, config, first))
        self._run_rounds(self._rounds)
        own = self._rounds[first, config.case]
        for rounds in {*begun, *self._rounds.values()} - {own}:
            rounds.elsewhere += rounds.seconds
            own.elsewhere -= rounds.seconds
            rounds.seconds = 0.0

    def _run_lap(self, number: int, config: BenchmarkConfig, first: StoreUnderTest) -> None:
        """One before the last, over all comparisons that wait, on servers that are ended after it."""
        for each in self._comparisons(config, first):
            rounds = self._of(self._compared(each, config, first))
            self._begun |= rounds
            first.progress(f"{each.name}: lap {number} of {self._laps}")
            self._run_rounds(rounds)
            for one in rounds.values():
                one.end_lap()
        self._end_connections()
        for sut in dict.fromkeys(sut for sut, _ in self._begun):
            sut.close_shared()

    def _comparisons(self, config: BenchmarkConfig, first: StoreUnderTest) -> Iterator[BenchmarkConfig]:
        """One configuration of each, beginning with that of the case that runs."""
        known: set[tuple[object, ...]] = set()
        for each in (config, *self._plan):
            if each.data not in known and self._compared(each, config, first):
                known.add(each.data)
                yield each

    def _compared(self, config: BenchmarkConfig, running: BenchmarkConfig, first: StoreUnderTest) -> Compared:
        """What is measured at the same time; `running`: the case that runs on the store `first`, and waits no more."""
        return [
            (sut, each)
            for each in self._plan
            if each.data == config.data
            for sut in (*((first,) if each.case == running.case else ()), *self._waiting(each.case))
        ]

    def _of(self, compared: Compared) -> dict[Place, StoreRounds]:
        """Their rounds, begun in an earlier lap or new, each store's with one number of indexes on one collection."""
        no_wire = _no_wire(compared)
        collections: dict[tuple[StoreUnderTest, int], LoadedCollection] = {}
        most = max(each.clients for _, each in compared)
        found = {}
        for sut, each in compared:
            of_others = "" if sut.target.parts else no_wire  # a composite store has a reason of its own
            rounds = self._begun.pop((sut, each.case), None)
            if rounds is None:
                rounds = StoreRounds(each, sut, partial(self._engines_of, sut, each.indexes, of_others), self._ceilings)
                rounds.alone = len({other.indexes for owner, other in compared if owner is sut}) == 1
            rounds.share(collections.setdefault((sut, each.indexes), LoadedCollection(sut, each, most)))
            found[sut, each.case] = rounds
        return found

    def _run_rounds(self, compared: Mapping[Place, StoreRounds]) -> None:
        """One lap over a comparison."""
        for rounds in compared.values():
            rounds.prepare()
        local = all(sut.record.launch == "process" for sut, _ in compared)
        watch = Watch(OtherPrograms() if local else None, self._speed)
        loads: dict[tuple[object, ...], list[StoreRounds]] = {}
        for rounds in compared.values():
            loads.setdefault(rounds.config.load, []).append(rounds)
        self._waited = 0.0
        waiting = [Blocks(its, self._laps) for its in loads.values()]
        random = Random(waiting[0].seed)
        while waiting := [each for each in waiting if not each.ended]:
            random.shuffle(waiting)
            for blocks in waiting:
                self._run_block(blocks, watch)
        sound = {place: rounds for place, rounds in compared.items() if rounds.sound}
        for (sut, case), rounds in sound.items():
            rounds.interleaved_with = tuple(other.target.id for other, its in sound if other is not sut and its == case)
        self._measured(len(compared) / self._laps)

    def _run_block(self, blocks: Blocks, watch: Watch) -> None:
        """One that counts, or that has to be run again when its turn comes again."""
        blocks.run()
        beside = watch.after_block()
        if (beside.busy or beside.slow) and self._waited < _WAITED and self._spare >= 1 and blocks.adaptive:
            self._spare -= 1
            self._waited += blocks.seconds
            blocks.forget(beside)
            return
        self._spare += _EARNED
        blocks.keep(beside)

    def _clear(self) -> None:
        with ExitStack() as closing:
            for rounds in self._rounds.values():
                closing.callback(rounds.close)
            self._rounds = {}

    def _end_connections(self) -> None:
        for _address, engines in self._engines.values():
            engines.close()
        self._engines.clear()

    def _engines_of(self, sut: StoreUnderTest, indexes: int, no_wire: str) -> LoadEngines:
        """Engines for the store as it runs now."""
        address = sut.shared().address
        known = self._engines.get((sut, indexes, no_wire))
        if known is not None and known[0] != address:
            known[1].close()
            known = None
        if known is None:
            known = self._engines[sut, indexes, no_wire] = (address, sut.options.engines(sut.target, address, no_wire))
        return known[1]


def _no_wire(compared: Compared) -> str:
    """Why these stores are not measured with the wire engine; empty: they are, where it is possible.

    The layer of a composite store is in its client, so that only the client can load it. A ratio needs one engine for both stores, and
    against one store alone is what the question about a pair is.
    """
    suts = {sut for sut, _ in compared}
    layered = next((sut.target.id for sut, _ in compared if sut.target.parts), None)
    if layered is None or len(suts) == 1 or compared[0][1].pipeline > 1:  # a client has one request in flight
        return ""
    return f"{layered} is measured beside it, whose layer only a client has, and a ratio needs one engine for both"
