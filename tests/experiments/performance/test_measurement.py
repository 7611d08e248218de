"""A round has a warm-up, of which nothing is kept and nothing demanded; of the round itself something must have been found.

No workload puts more bytes into a store than the scale allows: of large records fewer are loaded, and rounds that insert many end earlier.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.contract import Layout
from storeproof.errors import MachineFailed
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.measurement import Number
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.spec.variation import Variation
from tests.shipped import SHIPPED

WARM_UP, ROUND, RATE = 0.05, 0.2, 100.0


def runner(monkeypatch: pytest.MonkeyPatch, found: dict[float, int], misses: int = 7) -> tuple[WorkloadRunner, list[tuple[float, float]]]:
    """One that finds `found` records by seconds, and what it was asked to run."""
    asked: list[tuple[float, float]] = []

    def run(_self: WorkloadRunner, seconds: float, rate: float = 0.0) -> Any:
        asked.append((seconds, rate))
        return SimpleNamespace(ok=found[seconds], misses=misses, errors=0)

    monkeypatch.setattr(WorkloadRunner, "_run", run)
    nothing: Any = None
    config: Any = SimpleNamespace(rate=RATE, workload=SimpleNamespace(keeps_records=True))
    scale: Any = SimpleNamespace(round_warm_up_seconds=WARM_UP, round_seconds=ROUND)
    return WorkloadRunner(config, nothing, scale, 1, nothing, nothing, None, LoadedCollection(nothing, config, 1)), asked


def test_a_warm_up_comes_first_and_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the rate of the round, in which nothing may be due in so short a time."""
    one, asked = runner(monkeypatch, {WARM_UP: 0, ROUND: 3})
    one.run_round()
    assert asked == [(WARM_UP, RATE), (ROUND, RATE)]
    assert [each.ok for each in one.rounds] == [3]


def test_a_round_that_found_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that met no loaded record fails, and is not measured."""
    one, _ = runner(monkeypatch, {WARM_UP: 3, ROUND: 0})
    with pytest.raises(AssertionError, match="of 7 loaded records"):
        one.run_round()
    assert one.rounds == []


def test_a_round_in_which_nothing_came_back_is_not_the_stores_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one request was answered, and none failed: the machine stood still."""
    one, _ = runner(monkeypatch, {WARM_UP: 3, ROUND: 0}, misses=0)
    with pytest.raises(MachineFailed, match="not one request was answered"):
        one.run_round()


def measured(*laps: list[float], series: bool = False) -> Number:
    """One whose rounds had these rates in each lap, wanted at 5 %, or at 10 % in a series."""
    nothing: Any = None
    config: Any = SimpleNamespace(series=series)
    scale: Any = SimpleNamespace(rounds=SimpleNamespace(headline=0.05, series=0.10))
    runners = [WorkloadRunner(config, nothing, scale, 1, nothing, nothing, None, LoadedCollection(nothing, config, 1)) for _ in laps]
    for one, rates in zip(runners, laps, strict=True):
        one.rounds = [SimpleNamespace(throughput=each) for each in rates]  # type: ignore[misc]
    return Number(runners)


def test_rounds_are_enough_when_they_are_close() -> None:
    """Rounds that scatter by 7 % are precise enough for a series and not for a headline."""
    close, apart = [100.0, 101, 99, 100, 102, 98, 100, 101], [100.0, 107, 93, 100, 106, 94, 100, 107]
    assert measured(close).precise()
    assert not measured(apart).precise()
    assert measured(apart, series=True).precise()


def test_rounds_go_on_while_a_trend_is_in_sight() -> None:
    """A store that grows slower by half a per cent a round is close enough after eight, and may be drifting."""
    assert not measured([100 * 0.995**number * (1.002, 0.998)[number % 2] for number in range(8)]).precise()


def test_a_first_lap_ends_when_as_many_rounds_again_will_do() -> None:
    """Twice the rounds make an interval narrower by the root of two; a second lap that is faster makes it wider, and is no drift."""
    apart = [100.0, 106, 94, 100, 105, 95, 100, 105]
    first = measured(apart)
    assert 0.05 < first.rate.half_interval < 0.07
    assert not first.precise()
    assert first.precise(laps=2)
    assert measured(apart, [100.0, 104, 96, 101, 103, 97, 100, 104]).precise(laps=2)
    faster = measured(apart, [each * 1.3 for each in apart])
    assert not faster.precise(laps=2)
    assert not faster.trend.drifting
    assert (faster.laps, len(faster.rounds)) == ([8, 8], 16)


def workload(size: int, *, load: bool, rounds: int = 4, preload_records: int | None = None, records: int | None = None) -> WorkloadRunner:
    """One with values of `size` bytes, at a scale of a thousand records and of a hundred thousand bytes."""
    model = Variation(size=size).applied(SHIPPED.models["single_key"])
    config: Any = SimpleNamespace(workload=SimpleNamespace(preload=load, preload_records=preload_records, keeps_records=False))
    scale: Any = SimpleNamespace(
        records=1000, data_bytes=100_000, rounds=SimpleNamespace(at_most=rounds), round_warm_up_seconds=WARM_UP, round_seconds=ROUND
    )
    nothing: Any = None
    return WorkloadRunner(
        config, Layout("c", model), scale, 1, nothing, nothing, None, LoadedCollection(nothing, config, 1), records=records
    )


@pytest.mark.parametrize(("size", "load", "loaded"), [(100, True, 1000), (101, True, 990), (1000, True, 100), (100, False, 0)])
def test_of_large_records_fewer_are_loaded(size: int, load: bool, loaded: int) -> None:
    """The scale limits the bytes that are loaded."""
    assert workload(size, load=load).loaded == loaded


@pytest.mark.parametrize(
    ("load", "preload_records", "records", "loaded"),
    [
        (True, None, None, 1000),
        (True, 1, None, 1),
        (True, None, 5000, 5000),
        (True, None, 7, 7),
        (True, 1, 5000, 1),
        (False, None, 5000, 0),
    ],
)
def test_a_number_of_records_may_be_given(load: bool, preload_records: int | None, records: int | None, loaded: int) -> None:
    """By the workload, else on the command line, whatever the scale says of records and bytes; where nothing is loaded there are none."""
    assert workload(100, load=load, preload_records=preload_records, records=records).loaded == loaded


def round_of(positions: tuple[int, ...], removed: tuple[int, ...] = ()) -> Any:
    """One of half a second, after which the clients had used these numbers of new keys."""
    return SimpleNamespace(positions=positions, removed=removed, elapsed_seconds=0.5)


@pytest.mark.parametrize(
    ("every", "seconds"),
    [
        ([], ROUND),
        ([round_of((0, 0))], ROUND),
        ([round_of((100, 100))], 100_000 / 4 / (400 * 500)),
        ([round_of((50, 50)), round_of((150, 150))], 100_000 / 4 / (300 * 500)),
        ([round_of((10, 10))], ROUND),
        ([round_of((100, 100), (100, 100))], ROUND),
    ],
    ids=["nothing ran", "nothing inserted", "much", "much in two rounds", "little", "removed again"],
)
def test_rounds_that_insert_much_are_shorter(every: list[Any], seconds: float) -> None:
    """In bytes per second, of values of 500: all rounds together then add what may be added."""
    one = workload(500, load=False)
    one.collection.every = every
    assert one._round_seconds == pytest.approx(seconds)
