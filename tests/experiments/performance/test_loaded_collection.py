"""Several loads on the same records: prepared, loaded and read back once, and removed by the last."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.contract import Layout
from storeproof.errors import MachineFailed
from storeproof.experiments.performance import loaded_collection
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig, configs
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.store_rounds import StoreRounds
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.result.running_case import EndCase
from tests.shipped import SHIPPED

ONE, MANY = 1, 32
LAYOUT = Layout("c", SHIPPED.models["usertable"])


class Session:
    """With a store that has one collection, and notes what becomes of it."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def collection(self, _layout: Layout) -> Any:
        named = {"indexes": "0"}
        return SimpleNamespace(
            prepare=lambda: self.log.append("prepare"),
            clear=lambda: self.log.append("clear"),
            describe=lambda: named,
            get=None,
            set_field=None,
        )

    def close(self) -> None:
        self.log.append("close")


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def sut(session: Session, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A store that claims the model, with nothing proven."""
    monkeypatch.setattr(loaded_collection, "require_proof", lambda *_: None)
    monkeypatch.setattr(loaded_collection, "supports", lambda *_: True)
    return SimpleNamespace(
        target=SimpleNamespace(
            store=SimpleNamespace(claims=SimpleNamespace(models=["usertable"])), configuration=SimpleNamespace(auto_indexed=False)
        ),
        shared=lambda: None,
        connect=lambda _handle: session,
        layout=lambda *_: LAYOUT,
        answers=lambda: True,
        options=SimpleNamespace(split=SimpleNamespace(apart=())),
    )


def ycsb(letter: str) -> list[BenchmarkConfig]:
    """Those of a workload at standard scale."""
    return list(configs(SHIPPED.workloads[f"ycsb-{letter}"], SHIPPED.scales["standard"].performance))


def test_loads_that_keep_the_records_share_them() -> None:
    """Whatever their clients are; but each load is compared by itself."""
    assert len({each.data for each in ycsb("b")}) == 1
    assert len({each.load for each in ycsb("b")}) == 8
    assert len({each.data for each in ycsb("d")}) == 8, "it adds records"
    assert ycsb("b")[0].data != ycsb("c")[0].data
    rates = list(configs(SHIPPED.workloads["single-mixed-rates"], SHIPPED.scales["standard"].performance))
    assert (len({each.data for each in rates}), len({each.load for each in rates})) == (1, 6)


def test_it_is_prepared_once_and_removed_by_the_last(sut: Any, session: Session) -> None:
    """One that leaves twice has left once."""
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    assert shared.enter("one") is shared.enter("other") is LAYOUT
    shared.leave("one")
    shared.leave("one")
    assert session.log == ["prepare"]
    shared.leave("other")
    assert session.log == ["prepare", "clear", "close"]


def test_what_could_not_be_prepared_is_removed_and_tried_again(sut: Any, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each user has its own answer, and nothing is left of the one before."""
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    monkeypatch.setattr(loaded_collection, "supports", lambda *_: False)
    for user in ("one", "other"):
        with pytest.raises(EndCase, match="does not offer it"):
            shared.enter(user)
    assert session.log == ["prepare", "clear", "close"] * 2


def test_it_is_read_back_once(sut: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found is of all loads."""
    asked: list[int] = []
    monkeypatch.setattr(loaded_collection, "audit", lambda _collection, _plan, every, _seed: asked.append(len(every)) or "found")
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    shared.enter("one")
    shared.every += [SimpleNamespace(), SimpleNamespace()]  # type: ignore[list-item]
    plan: Any = None
    assert [shared.audit(plan, 1), shared.audit(plan, 1)] == ["found", "found"]
    assert asked == [2]


def test_its_records_are_for_one_engine(sut: Any) -> None:
    """The wire engine has other numbers in documents."""
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    shared.fill_for("wire")
    shared.fill_for("wire")
    with pytest.raises(MachineFailed, match="`wire` loaded the records, and with more clients it would be `driver`"):
        shared.fill_for("driver")


def test_a_load_with_few_clients_has_the_first_of_them(sut: Any) -> None:
    """New keys and writers are numbered alike in all loads; a round with all clients names none."""
    nothing: Any = None
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    scale = SHIPPED.scales["standard"].performance
    few, all_of_them = (
        WorkloadRunner(each, LAYOUT, scale, 1, nothing, nothing, None, shared) for each in ycsb("b") if each.clients in (8, MANY)
    )
    assert (few.plan.clients, few.plan.numbers) == (MANY, tuple(range(8)))
    assert (all_of_them.plan.clients, all_of_them.plan.share, len(all_of_them.plan.numbers)) == (MANY, (), MANY)
    shared.every.append(SimpleNamespace(indeterminate=(7,), positions=(0,) * 8, removed=(0,) * 8))  # type: ignore[arg-type]
    assert (all_of_them.plan.number, all_of_them.plan.positions, all_of_them.plan.indeterminate) == (1, (), {7})


def test_a_load_that_ends_in_an_error_leaves_the_others_to_be_run_again(sut: Any) -> None:
    """Not one that ended before it wrote anything."""
    nothing: Any = None
    shared = LoadedCollection(sut, ycsb("b")[0], MANY)
    one, other = (StoreRounds(each, sut, nothing, nothing) for each in ycsb("b")[:2])
    for each in (one, other):
        each.share(shared)

    def fail() -> None:
        raise MachineFailed("no")

    one._try(fail)
    assert (one.sound, one.lost, other.sound, other.lost) == (False, False, True, False)
    begun: Any = SimpleNamespace(begun=True)
    other._runner = begun
    other._try(fail)
    assert (other.lost, one.lost) == (False, True)
    third = StoreRounds(ycsb("b")[2], sut, nothing, nothing)
    third.share(shared)
    assert (third.sound, third.lost) == (False, True)
