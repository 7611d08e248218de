"""All roles of a candidate are under load at the same time, each with its own numbers, and what breaks one store is its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest

from storeproof.contract import Refused, Unknown
from storeproof.errors import NotAvailable
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.experiments.roles import joint_loads
from storeproof.experiments.roles.joint_loads import CandidateUnderTest, JointLoads
from storeproof.experiments.roles.role_config import require_answers
from storeproof.experiments.roles.role_rounds import RoleRounds
from storeproof.load.quality.ceiling import Ceilings
from storeproof.outcome import Outcome, Stage
from storeproof.result.running_case import EndCase
from storeproof.spec.questions.needs import Role, requests_case
from storeproof.store_under_test import Options, StoreUnderTest
from tests.result.needs.needed import case
from tests.shipped import SHIPPED

needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
RATE = 200


def role(operation: str = "get", **load: Any) -> Role:
    """A hundred values, of which one operation is needed."""
    return Role.model_validate(
        {"model": "single_key", "records": 100, "load": {"mix": [{"operation": operation}], "rate": RATE, "clients": 2, **load}}
    )


def under_test(name: str, *, proven: bool = True) -> StoreUnderTest:
    """A store as a process, on which reads and writes are proven."""
    (target,) = SHIPPED.targets([name])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)
    for operation in ("get", "put") if proven else ():
        sut.record.proofs["single_key", operation] = [Outcome.PASS]
    sut.enter(Stage.PERFORMANCE)
    return sut


def candidate(roles: Mapping[str, Role], **suts: StoreUnderTest) -> CandidateUnderTest:
    return CandidateUnderTest("c", roles, suts)


@pytest.fixture
def loads() -> Iterator[JointLoads]:
    """Those of a run."""
    with closing(Ceilings()) as ceilings:
        yield JointLoads(ceilings)


def test_one_store_with_two_roles_has_a_collection_and_a_number_for_each(loads: JointLoads) -> None:
    """On one server, which is ended afterwards."""
    sut = under_test("sqlite:off")
    found = loads.of(candidate({"cache": role(), "home": role("put")}, cache=sut, home=sut), sut)
    assert found.problems == ()
    assert {name: each.workload for name, each in found.load.numbers.items()} == {"cache": "single-get", "home": "single-put-distinct-90"}
    for name, measured in found.load.numbers.items():
        assert (measured.load_model, measured.rate, measured.loaded, measured.verified) == ("open", RATE, 100, True), name
        assert "joint_start" in measured.gates
        assert measured.cost_reason == "the loads of all roles were on at the same time"
    assert [(each.role, each.store, each.mix) for each in found.load.roles] == [
        ("cache", "sqlite:off", {"get": 1}),
        ("home", "sqlite:off", {"put": 1}),
    ]
    assert sut._shared is None


@pytest.mark.servers
@needs_redis
def test_two_stores_run_side_by_side(loads: JointLoads, monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of both are there in every round; each has half of the memory, and the numbers of its own role."""
    cache, home = under_test("redis:volatile"), under_test("sqlite:off")
    there: list[bool] = []
    together = joint_loads._together

    def watched(*given: Any, **named: Any) -> None:
        there.append(all(sut._shared is not None and sut._shared.alive() for sut in (cache, home)))
        together(*given, **named)

    monkeypatch.setattr(joint_loads, "_together", watched)
    both = candidate({"cache": role(), "home": role("put")}, cache=cache, home=home)
    first, second = loads.of(both, cache), loads.of(both, home)
    assert there
    assert all(there)
    assert len(there) == 2 * SHIPPED.scales["smoke"].performance.rounds.at_least, "measured once for both, each round after a warm-up"
    assert (set(first.load.numbers), set(second.load.numbers)) == ({"cache"}, {"home"})
    assert first.load.roles == second.load.roles
    rounds = [next(iter(each.load.numbers.values())).rounds for each in (first, second)]
    assert len(rounds[0]) == len(rounds[1])


def test_a_store_that_cannot_be_had_is_not_the_fault_of_the_other(loads: JointLoads) -> None:
    """Its case says what is missing, and that of the other beside which it was to be."""
    absent, home = under_test("azure-redis-cache"), under_test("sqlite:off")
    both = candidate({"cache": role(), "home": role()}, cache=absent, home=home)
    with pytest.raises(NotAvailable):
        loads.of(both, absent)
    with pytest.raises(EndCase, match=r"^azure-redis-cache:.*, which was to be under load beside it, could not be measured: ") as ended:
        loads.of(both, home)
    assert ended.value.outcome is Outcome.NOT_RUN
    assert home._shared is None


def test_a_load_that_cannot_begin_is_not_the_fault_of_the_other(loads: JointLoads, monkeypatch: pytest.MonkeyPatch) -> None:
    """The round of the other is stopped before its first request, and has no rate that could be held against its store."""
    first, second = under_test("sqlite:off"), under_test("sqlite:wal-full")
    start = WorkloadRunner.start

    def refusing(runner: WorkloadRunner, seconds: float, rate: float = 0.0, start_ns: int = 0) -> Any:
        if start_ns and runner.config.workload.workload == "single-put-distinct-90" and seconds > 0.1:
            raise Refused("no more connections")
        return start(runner, seconds, rate, start_ns)

    monkeypatch.setattr(WorkloadRunner, "start", refusing)
    both = candidate({"cache": role(), "home": role("put")}, cache=first, home=second)
    with pytest.raises(Refused, match="no more connections"):
        loads.of(both, second)
    with pytest.raises(EndCase, match=r"^sqlite:wal-full, which was to be .*: no more connections$"):
        loads.of(both, first)


def test_a_store_that_cannot_be_cleared_is_not_the_fault_of_the_other(loads: JointLoads, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever case comes first, and the other keeps its number."""
    first, second = under_test("sqlite:off"), under_test("sqlite:wal-full")
    close = RoleRounds.close

    def failing(rounds: RoleRounds) -> None:
        close(rounds)
        if rounds.sut is second:
            raise Unknown("no reply")

    monkeypatch.setattr(RoleRounds, "close", failing)
    both = candidate({"cache": role(), "home": role("put")}, cache=first, home=second)
    assert set(loads.of(both, first).load.numbers) == {"cache"}
    with pytest.raises(Unknown, match="no reply"):
        loads.of(both, second)
    assert first._shared is None
    assert second._shared is None


def test_a_round_is_so_long_that_requests_are_due(loads: JointLoads, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of few requests may have none, and then it has no rate."""
    sut = under_test("sqlite:off")
    seconds: list[float] = []
    monkeypatch.setattr(joint_loads, "_together", lambda _loads, length, *, measured: seconds.append(length) if measured else None)
    monkeypatch.setattr(joint_loads, "judge_joint", lambda *_: {})
    monkeypatch.setattr(joint_loads, "_results", lambda *_: {sut: None})
    for rate in (10, 1000):
        loads.of(CandidateUnderTest(str(rate), {"cache": role(rate=rate)}, {"cache": sut}), sut)
    assert seconds == [2.0] * 3 + [4 * SHIPPED.scales["smoke"].performance.round_seconds] * 3


def test_no_speed_without_proof(loads: JointLoads) -> None:
    """As for every workload."""
    sut = under_test("sqlite:off", proven=False)
    with pytest.raises(EndCase, match="get on single_key was not verified in this run"):
        loads.of(candidate({"cache": role()}, cache=sut), sut)


def test_no_request_is_measured_that_was_not_answered_right() -> None:
    """What is proven of its operation on the model, by other requests, is not enough; nor is the case of another role's requests."""
    sut = under_test("sqlite:off", proven=False)
    sut.record.proofs["product", "find"] = [Outcome.PASS]
    asked = [{"mix": [{"operation": "find", "request": {"limit": limit}}], "rate": RATE} for limit in (1, 2)]
    mine, other = (Role.model_validate({"model": "product", "load": load}) for load in asked)
    names = [requests_case("data", each) for each in (mine, other)]
    assert names[0] != names[1]
    with pytest.raises(EndCase, match="was not tried in this run") as ended:
        require_answers("data", mine, sut)
    assert ended.value.outcome is Outcome.NOT_RUN
    for name, outcome, wanted in (
        (names[1], Outcome.PASS, Outcome.NOT_RUN),
        (names[0], Outcome.NOT_RUN, Outcome.NOT_RUN),
        (names[0], Outcome.FAIL, Outcome.NOT_RUN),
        (names[0], Outcome.UNSUPPORTED, Outcome.UNSUPPORTED),
    ):
        assert name is not None
        sut.record.outcomes[:] = [case(name, outcome)]
        with pytest.raises(EndCase) as ended:
            require_answers("data", mine, sut)
        assert ended.value.outcome is wanted
    assert names[0] is not None
    sut.record.outcomes[:] = [case(names[0])]
    require_answers("data", mine, sut)


def test_a_role_without_a_load_has_its_server(loads: JointLoads, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes its part of the machine, and has no number."""
    sut, idle = under_test("sqlite:off"), under_test("sqlite:wal-full")
    there: list[bool] = []
    together = joint_loads._together

    def watched(*given: Any, **named: Any) -> None:
        there.append(idle._shared is not None)
        together(*given, **named)

    monkeypatch.setattr(joint_loads, "_together", watched)
    archive = Role.model_validate({"model": "single_key"})
    both = candidate({"cache": role(), "archive": archive}, cache=sut, archive=idle)
    assert set(loads.of(both, sut).load.numbers) == {"cache"}
    assert loads.of(both, idle).load.numbers == {}
    assert there
    assert all(there)


def test_stores_of_a_candidate_share_its_memory() -> None:
    """Each has an equal part from its next start on, and the whole again afterwards."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process", memory=2**30), lambda _: None)
    assert sut._request().memory == 2**30
    sut.share_memory(2)
    assert sut._request().memory == 2**29
    sut.share_memory(1)
    assert sut._request().memory == 2**30
