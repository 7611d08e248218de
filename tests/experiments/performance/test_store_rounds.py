"""In each block every store has one round, whatever became of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.experiments.performance import interleaved_rounds
from storeproof.experiments.performance.interleaved_rounds import InterleavedRounds
from storeproof.experiments.performance.surroundings import Surroundings

AT_LEAST, AT_MOST, EVERY = 4, 12, 2
SPARE = 16
"""Blocks of a run that may be run again from its start."""
STORES = ["a", "b", "broken", "c"]
SECONDS = {"a": 1.0, "b": 2.0, "broken": 4.0, "c": 8.0}
"""That each takes."""
LOG: list[str] = []
KEPT: dict[str, list[float | None]] = {}
"""By store, for each round that counts, the speed of the machine, or where that was not read what other programs took of it."""


def unheard(_cases: float) -> None:
    """In place of the estimate of the time left."""


class Store:
    """In place of a store under test."""

    def __init__(self, name: str, *, composite: bool = False) -> None:
        self.target = SimpleNamespace(id=name, parts={"front": None, "home": None} if composite else {})
        self.options = SimpleNamespace(engines=lambda target, address, no_wire: (target, address, no_wire))
        self.shared = lambda: SimpleNamespace(address=name)
        rounds = SimpleNamespace(at_least=AT_LEAST, at_most=AT_MOST, every=EVERY, adaptive=True)
        self.scale = SimpleNamespace(performance=SimpleNamespace(rounds=rounds))
        self.record = SimpleNamespace(launch="process")
        self.seed = 1
        self.progress = lambda _text: None

    def close_shared(self) -> None:
        LOG.append(f"stop {self.target.id}")


class Logged:
    """In place of `StoreRounds`: notes what is asked of it, and has enough after six rounds."""

    def __init__(self, config: Any, sut: Any, engines: Any, _ceilings: Any) -> None:
        self.engines = engines
        self.name = sut.target.id + "i" * config.indexes + "c" * (config.clients > 1)
        self.config = config
        self.sut = sut
        self.lost = False
        self.interleaved_with: tuple[str, ...] = ()
        self.sound = sut.target.id != "broken"
        self.ran = 0
        self.elsewhere = 0.0
        self.seconds = SECONDS[sut.target.id]
        self.in_round = IN_ROUND["seconds"]

    def share(self, collection: Any) -> None:
        self.collection = collection

    def prepare(self) -> None:
        LOG.append(f"prepare {self.name}")

    def run_round(self) -> None:
        self.ran += 1
        LOG.append(self.name)

    def keep_round(self, beside: Surroundings) -> None:
        KEPT.setdefault(self.name, []).append(beside.others if beside.speed is None else beside.speed)

    def forget_round(self, _beside: Surroundings) -> None:
        self.ran -= 1

    def enough(self, _laps: int) -> bool:
        return not self.sound or self.ran >= WANTED["rounds"]

    def end_lap(self) -> None:
        LOG.append(f"end {self.name}")

    def close(self) -> None:
        LOG.append(f"close {self.name}")


WANTED = {"rounds": 6}
IN_ROUND = {"seconds": 0.5}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else runs on the machine of the tests."""
    watch_others(monkeypatch, [])


def watch_others(monkeypatch: pytest.MonkeyPatch, busy: Sequence[float]) -> None:
    """Other programs take these shares of the machine beside the first blocks, and then nothing."""
    shares = iter(busy)
    monkeypatch.setattr(interleaved_rounds, "OtherPrograms", lambda: SimpleNamespace(share=lambda: next(shares, 0.0)))


class Speed:
    """In place of the readings of the machine: these rates, and then always the last."""

    def __init__(self, *rates: float) -> None:
        self.rates = list(rates)
        self.baseline = 0.0

    def read(self) -> float:
        rate = self.rates.pop(0) if len(self.rates) > 1 else self.rates[0]
        self.baseline = max(self.baseline, rate)
        return rate


def config(indexes: tuple[int, ...] = (0,), clients: tuple[int, ...] = (1,)) -> Any:
    """A configuration of a workload that is measured with these numbers of indexes, and of clients on the same records."""
    every = [Config(count, number) for number in clients for count in indexes]
    for each in every:
        each.every = every
    return every[0]


class Config:
    """In place of a `BenchmarkConfig`, which has no hash where its workload asks a request."""

    every: list[Config]
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, indexes: int, clients: int = 1, data: str = "w") -> None:
        self.indexes, self.clients = indexes, clients
        self.name = f"{data}{indexes}" + f"/{clients}" * (clients > 1)
        self.case = f"performance.{self.name}"
        self.pipeline = 1
        self.data, self.load = (data,), (data, clients)


def blocks_of(names: list[str]) -> list[tuple[str, ...]]:
    """What was logged after the preparations, in blocks of one round each."""
    rounds = LOG[len(names) :]
    return [tuple(rounds[first : first + len(names)]) for first in range(0, len(rounds), len(names))]


def measure(
    monkeypatch: pytest.MonkeyPatch, first: Any, *, wanted: int = 6, busy: Sequence[float] = (), speed: Any = None
) -> tuple[InterleavedRounds, list[Any]]:
    """The rounds of all stores, of which the first one's case has come; `busy`: what other programs take beside the first blocks."""
    LOG.clear()
    KEPT.clear()
    monkeypatch.setattr(interleaved_rounds, "StoreRounds", Logged)
    watch_others(monkeypatch, busy)
    monkeypatch.setitem(WANTED, "rounds", wanted)
    suts: list[Any] = [Store(name) for name in STORES]
    ceilings: Any = None
    return InterleavedRounds(ceilings, lambda case: suts[1:] if case == first.case else suts, unheard, first.every, speed=speed), suts


def test_rounds_of_all_stores_are_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are prepared before the first round; the order within the blocks changes; who was sound knows interleaved_with whom."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first)

    found = {sut.target.id: rounds_of_all.rounds_of(first, sut) for sut in suts}

    assert LOG[: len(STORES)] == [f"prepare {name}" for name in STORES]
    blocks = blocks_of(STORES)
    assert all(Counter(block) == Counter(STORES) for block in blocks)
    assert len(set(blocks)) > 1
    assert {name: each.interleaved_with for name, each in found.items()} == {
        "a": ("b", "c"),
        "b": ("a", "c"),
        "c": ("a", "b"),
        "broken": (),
    }
    rounds_of_all.close()
    assert LOG[-1] in STORES, "what its case took over, its case closes"


@pytest.mark.parametrize(("wanted", "blocks"), [(1, AT_LEAST), (5, 6), (6, 6), (99, AT_MOST)])
def test_there_are_as_many_blocks_as_the_least_precise_store_needs(monkeypatch: pytest.MonkeyPatch, wanted: int, blocks: int) -> None:
    """They end at a look only, not before the fewest and not after the most; a store that broke is not waited for."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, wanted=wanted)
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == blocks


@pytest.mark.parametrize(
    ("busy", "ran", "kept"),
    [
        ([0.5, 0.0, 0.06, 0.05], 8, [0.0, 0.05, 0.0, 0.0, 0.0, 0.0]),  # a twentieth is not too much
        ([0.5] * 99, SPARE + 6 + 2, [0.5] * 6),  # two of the six that count have one more to spare each two
    ],
)
def test_a_block_beside_other_programs_is_run_again(
    monkeypatch: pytest.MonkeyPatch, busy: list[float], ran: int, kept: list[float]
) -> None:
    """By all of its stores, as often as there are blocks to spare; what is kept then says so."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, busy=busy)
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == ran
    assert dict.fromkeys(STORES, kept) == KEPT


@pytest.mark.parametrize(
    ("rates", "ran", "kept"),
    [
        ([100, 100, 86, 100], 6, [100, 86, 86, 100, 100, 100]),  # 0.85 is fast
        ([100, 100, 80, 80, 100], 9, [100, 100, 100, 100, 100, 100]),  # also the block that ends in a fast moment began in a slow one
        ([80, 80, 100], 7, [80, 100, 100, 100, 100, 100]),  # what is fast the run has not seen before
        ([100, 80], SPARE + 6 + 2, [80] * 6),
    ],
)
def test_a_block_on_a_slow_machine_is_run_again(monkeypatch: pytest.MonkeyPatch, rates: list[float], ran: int, kept: list[float]) -> None:
    """The machine is read before and after each block; what is fast says the baseline of the run."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, speed=Speed(*rates))
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == ran
    assert dict.fromkeys(STORES, kept) == KEPT


def test_all_loads_have_the_same_blocks_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the run: two of the twelve that count have one more to spare, and the last one has no use for it."""
    first = config(clients=(1, 50))
    rounds_of_all, suts = measure(monkeypatch, first, busy=[0.5] * 99)
    rounds_of_all.rounds_of(first, suts[0])
    assert len(LOG[2 * len(STORES) :]) == (SPARE + 12 + 5) * len(STORES)


def test_what_is_slow_for_longer_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute in rounds that do not count: of four stores, 5 s each, three blocks."""
    monkeypatch.setitem(IN_ROUND, "seconds", 5.0)
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, speed=Speed(100, 80))
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == 3 + 6


def test_no_block_is_run_again_where_their_number_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A smoke is over when it should be, on any machine."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, busy=[0.5] * 99)
    suts[0].scale.performance.rounds.adaptive = False
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == 6


def test_what_else_runs_is_not_known_beside_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server, and the proxy before it, are no descendants of this process, and would be taken for other programs."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first, busy=[0.5] * 99)
    suts[2].record.launch = "container"
    rounds_of_all.rounds_of(first, suts[0])
    assert len(blocks_of(STORES)) == 6
    assert dict.fromkeys(STORES, [None] * 6) == KEPT


def test_all_numbers_of_indexes_are_in_the_same_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an index costs is a ratio within a block; the cases of the other numbers find theirs measured."""
    first = config((0, 1))
    rounds_of_all, suts = measure(monkeypatch, first)
    for each in first.every:
        for sut in suts:
            rounds_of_all.rounds_of(each, sut)
    names = [*STORES, *(f"{name}i" for name in STORES)]
    assert LOG[: len(names)] == [f"prepare {name}" for name in names]
    assert all(Counter(block) == Counter(names) for block in blocks_of(names))
    assert len(blocks_of(names)) == 6


def test_the_loads_of_a_series_take_turns_on_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Block by block, in an order that changes; one that is precise enough ends, whatever the others need."""
    first = config(clients=(1, 50))
    rounds_of_all, suts = measure(monkeypatch, first)
    enough = Logged.enough
    monkeypatch.setattr(Logged, "enough", lambda rounds, laps: rounds.config.clients == 1 or enough(rounds, laps))
    found = {(sut.target.id, each.clients): rounds_of_all.rounds_of(each, sut) for each in first.every for sut in suts}
    rounds = LOG[2 * len(STORES) :]
    blocks = [tuple(sorted(rounds[at : at + len(STORES)])) for at in range(0, len(rounds), len(STORES))]
    few, many = tuple(sorted(STORES)), tuple(sorted(f"{name}c" for name in STORES))
    assert Counter(blocks) == {few: AT_LEAST, many: 6}
    turns = [block == few for block in blocks[: 2 * AT_LEAST]]
    assert all(turns[at] != turns[at + 1] for at in range(0, 2 * AT_LEAST, 2)), "each has its turn before any has another one"
    assert len({found["a", clients].collection for clients in (1, 50)}) == 1
    assert {found["a", 1].collection.clients, found["b", 1].collection.clients} == {50}
    assert found["a", 1].collection is not found["b", 1].collection
    assert found["a", 50].interleaved_with == ("b", "c")


def test_what_another_load_took_down_is_measured_again_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a load that ended in an error has written is not known, and the others are not to blame for it."""
    first = config(clients=(1, 50))
    rounds_of_all, suts = measure(monkeypatch, first)
    rounds_of_all.rounds_of(first, suts[0])
    rounds_of_all._rounds[suts[0], first.every[1].case].lost = True
    LOG.clear()
    again: Any = rounds_of_all.rounds_of(first.every[1], suts[0])
    assert ["close ac", "prepare ac", *["ac"] * 6] == LOG
    assert again.collection.clients == 50
    rounds_of_all.rounds_of(first, suts[1])
    assert len(LOG) == 8, "the others are there still"


def test_each_store_is_billed_for_its_own_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pass in the case of the first, which is relieved of those of the others; nothing is billed twice."""
    first = config()
    rounds_of_all, suts = measure(monkeypatch, first)
    moved = {sut.target.id: rounds_of_all.rounds_of(first, sut).elsewhere for sut in suts}
    assert moved == {"a": -14.0, "b": 2.0, "broken": 4.0, "c": 8.0}


def test_a_store_alone_is_billed_for_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to move."""
    first = config()
    _, suts = measure(monkeypatch, first)
    ceilings: Any = None
    alone = InterleavedRounds(ceilings, lambda _case: [], unheard, first.every)
    assert alone.rounds_of(first, suts[0]).elsewhere == 0


def test_laps_are_over_everything_and_on_servers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first case runs all but the last; then each comparison goes on where it was. Everything is once in each lap."""
    LOG.clear()
    monkeypatch.setattr(interleaved_rounds, "StoreRounds", Logged)
    monkeypatch.setitem(WANTED, "rounds", 99)
    plan: list[Any] = [config(), Config(1, data="v")]
    suts: list[Any] = [Store("a"), Store("b")]
    begun: set[tuple[str, str]] = set()

    def waiting(case: str) -> list[Any]:
        return [sut for sut in suts if (sut.target.id, case) not in begun]

    ceilings: Any = None
    told: list[float] = []
    rounds_of_all = InterleavedRounds(ceilings, waiting, told.append, plan, laps=2)
    found: list[Any] = []
    for each in plan:
        for sut in suts:
            begun.add((sut.target.id, each.case))
            found.append(rounds_of_all.rounds_of(each, sut))
            LOG.append(f"case {each.name} {sut.target.id}")
    assert told == [1.0] * 4, "two cases in each of two comparisons, half of their work in each lap"
    half = AT_MOST // 2
    assert [each.ran for each in found] == [AT_MOST] * 4
    of_pass, stop = LOG[: LOG.index("stop a")], LOG.index("stop a")
    assert [each for each in of_pass if " " in each] == [
        *("prepare a", "prepare b", "end a", "end b"),
        *("prepare ai", "prepare bi", "end ai", "end bi"),
    ]
    assert Counter(of_pass)["a"] == Counter(of_pass)["bi"] == half
    assert [each for each in LOG[stop:] if " " in each] == [
        *("stop a", "stop b", "prepare a", "prepare b", "case w0 a", "case w0 b"),
        *("prepare ai", "prepare bi", "case v1 a", "case v1 b"),
    ]
    # In the case that came first: all of the first lap, and the first comparison of the last one.
    assert [each.elsewhere for each in found] == [-(2.0 + 1.0 + 2.0), 2.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("composite", "pipeline", "why"),
    [(True, 1, "both is measured beside it, whose layer only a client has"), (True, 8, ""), (False, 1, "")],
)
def test_beside_a_composite_store_all_have_its_engine(composite: bool, pipeline: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else there is no ratio of the pair and one store; not where no client of a composite store can do it."""
    first = config()
    first.pipeline = pipeline
    monkeypatch.setattr(interleaved_rounds, "StoreRounds", Logged)
    monkeypatch.setitem(SECONDS, "both", 1.0)
    suts: list[Any] = [Store("a"), Store("both", composite=composite)]
    ceilings: Any = None
    rounds_of_all = InterleavedRounds(ceilings, lambda case: suts[1:] if case == first.case else suts, unheard, first.every)
    for sut in suts:
        logged: Any = rounds_of_all.rounds_of(first, sut)
        target, address, no_wire = logged.engines()
        assert (target.id, address) == (sut.target.id, sut.target.id)
        expected = "" if sut.target.parts else why
        assert no_wire.startswith(expected)
        assert bool(no_wire) is bool(expected)
