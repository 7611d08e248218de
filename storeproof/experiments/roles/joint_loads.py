"""The loads of all roles of a candidate at the same time: its servers run side by side on what the machine grants, and interfere.

The case of a candidate is one for each of its stores. The first one measures all roles; the others then find theirs measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from os import sched_getaffinity
from time import monotonic_ns
from typing import Final, TypeVar

from storeproof.contract import Unknown
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.roles.role_config import require_answers, role_config
from storeproof.experiments.roles.role_rounds import RoleRounds
from storeproof.load.hosts.load_hosts import LoadEngines
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.quality.gates import GateJudgement, judge_joint
from storeproof.load.wire.wire_engine import allow_descriptors
from storeproof.outcome import Outcome
from storeproof.result.measurement import JointLoad, Measurement, RoleLoad
from storeproof.result.running_case import EndCase
from storeproof.spec.questions.needs import Role
from storeproof.spec.scale import PerformanceScale
from storeproof.stats.intervals import SAMPLES_BEYOND
from storeproof.store_under_test import StoreUnderTest


@dataclass(frozen=True)
class CandidateUnderTest:
    """A store for each role. Several roles may have the same store, which is then one server with a collection for each."""

    name: str
    roles: Mapping[str, Role]
    suts: Mapping[str, StoreUnderTest]
    """By role."""

    @property
    def stores(self) -> tuple[StoreUnderTest, ...]:
        return tuple(dict.fromkeys(self.suts.values()))

    @property
    def loaded(self) -> tuple[str, ...]:
        """The roles that have a load."""
        return tuple(name for name, role in self.roles.items() if role.load is not None)

    def must_answer_in_time(self, role: str) -> bool:
        """Whether a role needs its replies within a time."""
        load = self.roles[role].load
        return load is not None and load.p99_ms is not None


T = TypeVar("T")

_AHEAD_NS: Final = 20_000_000
_AHEAD_NS_PER_CLIENT: Final = 400_000
"""From the order to the start of a round: by then every engine has been told to begin, with all of its clients."""
_LONGER: Final = 4
"""Times as long as rounds are elsewhere: a store that is too slow must fall behind by more requests than its clients can have under way, or
none is due that is not sent."""
_DUE: Final = 20
"""Requests that are due in a round on average: then 2 rounds in 10⁹ have none, and no rate."""
_FOR_P99: Final = 100 * SAMPLES_BEYOND
"""Requests of which one in a hundred is slower than the 99th percentile: with fewer a result has none."""


@dataclass(frozen=True)
class JointResult:
    load: JointLoad
    problems: tuple[str, ...]
    """What was wrong with its data after the rounds."""


class JointLoads:
    """The joint loads of a run, one candidate after the other."""

    def __init__(self, ceilings: Ceilings) -> None:
        self._ceilings = ceilings
        self._found: dict[str, Mapping[StoreUnderTest, JointResult | Exception]] = {}
        """By candidate."""

    def of(self, candidate: CandidateUnderTest, sut: StoreUnderTest) -> JointResult:
        """The numbers of one store of a candidate, which is measured if it was not yet. Raises what went wrong."""
        if candidate.name not in self._found:
            self._measure(candidate)
        found = self._found[candidate.name][sut]
        if isinstance(found, Exception):
            raise found
        return found

    def _measure(self, candidate: CandidateUnderTest) -> None:
        wrong: dict[StoreUnderTest, Exception] = {}
        results: dict[StoreUnderTest, JointResult] = {}
        with ExitStack() as ending:
            for sut in candidate.stores:
                ending.callback(_own, wrong, sut, partial(sut.share_memory, 1))
                _own(wrong, sut, partial(sut.share_memory, len(candidate.stores)))
                _own(wrong, sut, sut.shared)  # also of a role without a load: it takes its part of the machine
            loads = {} if wrong else self._loads(candidate, ending, wrong)
            if not wrong:
                gates = self._run(candidate, loads, candidate.stores[0].scale.performance)
                results = _results(candidate, loads, gates, wrong)
        self._found[candidate.name] = {sut: _found(sut, results, wrong) for sut in candidate.stores}

    def _loads(self, candidate: CandidateUnderTest, ending: ExitStack, wrong: dict[StoreUnderTest, Exception]) -> Mapping[str, RoleRounds]:
        """The loads of all roles, with their records there; what went wrong goes into `wrong`."""
        configs: dict[str, BenchmarkConfig] = {}
        for role in candidate.loaded:
            sut = candidate.suts[role]
            _own(wrong, sut, partial(require_answers, role, candidate.roles[role], sut))
            if config := _own(wrong, sut, partial(role_config, candidate.roles[role], sut.spec, sut.options)):
                configs[role] = config
        if wrong:
            return {}
        allow_descriptors(sum(config.clients for config in configs.values()))  # an engine sees only its own
        loads: dict[str, RoleRounds] = {}
        for role, config in configs.items():
            sut = candidate.suts[role]
            loads[role] = rounds = RoleRounds(config, sut, partial(_engines, sut, ending), self._ceilings)
            ending.callback(_own, wrong, sut, rounds.close)
            rounds.prepare()
            if rounds.wrong is not None:
                wrong.setdefault(sut, _explained(sut, rounds.wrong))
                break  # the records of the others would be loaded in vain
        return loads

    def _run(self, candidate: CandidateUnderTest, loads: Mapping[str, RoleRounds], scale: PerformanceScale) -> dict[str, GateJudgement]:
        """All rounds; returns the gates that all loads have in common, none where one of them broke."""
        seconds, rounds = max(_LONGER * scale.round_seconds, *(_DUE / each.rate for each in loads.values())), scale.rounds
        measured = 0
        while measured < rounds.at_most:
            enough = all(each.requests >= _FOR_P99 for name, each in loads.items() if candidate.must_answer_in_time(name))
            if measured >= rounds.at_least and enough:
                break
            next(iter(loads.values())).sut.progress(f"{candidate.name}: all roles, round {measured + 1}, at most {rounds.at_most}")
            _together(loads, scale.round_warm_up_seconds, measured=False)
            _together(loads, seconds, measured=True)
            if any(each.wrong is not None for each in loads.values()):
                return {}
            measured += 1
        generator = candidate.stores[0].options.split.generator
        return judge_joint([each.one_of_several() for each in loads.values()], seconds, len(generator or sched_getaffinity(0)))


def _engines(sut: StoreUnderTest, ending: ExitStack) -> LoadEngines:
    """For one role: a connection belongs to one collection. They are closed before the collections are removed."""
    engines = sut.options.engines(sut.target, sut.shared().address)
    ending.callback(engines.close)
    return engines


def _together(loads: Mapping[str, RoleRounds], seconds: float, *, measured: bool) -> None:
    """One round of all roles, which begin at the same time. Where one cannot begin, the others end."""
    if any(each.wrong is not None for each in loads.values()):
        return
    clients = sum(each.clients for each in loads.values())
    start_ns = monotonic_ns() + _AHEAD_NS + _AHEAD_NS_PER_CLIENT * clients
    try:
        for each in loads.values():
            each.begin(seconds, start_ns)
        begun = all(each.wrong is None for each in loads.values())
        if not begun:
            for each in loads.values():
                each.stop()
        for each in loads.values():
            each.end(measured=measured and begun)  # a round that was stopped at its start has no rate
    except BaseException:  # an interrupt: no load goes on while what it writes to is removed
        for each in loads.values():
            each.stop()
        raise


def _results(
    candidate: CandidateUnderTest,
    loads: Mapping[str, RoleRounds],
    gates: Mapping[str, GateJudgement],
    wrong: dict[StoreUnderTest, Exception],
) -> dict[StoreUnderTest, JointResult]:
    """By store; what went wrong goes into `wrong`."""
    for role, rounds in loads.items():
        if rounds.wrong is not None:
            sut = candidate.suts[role]
            wrong.setdefault(sut, _explained(sut, rounds.wrong))
    if wrong:
        return {}  # the others were stopped, and have no numbers
    numbers, problems = dict[str, Measurement](), dict[str, tuple[str, ...]]()
    for role, rounds in loads.items():
        if found := _own(wrong, candidate.suts[role], partial(rounds.measurement, gates)):
            numbers[role], problems[role] = found
    if wrong:
        return {}
    asked = [_asked(candidate, role, rounds) for role, rounds in loads.items()]
    results = {}
    for sut in candidate.stores:
        own = [role for role in loads if candidate.suts[role] is sut]
        load = JointLoad(candidate=candidate.name, roles=asked, numbers={role: numbers[role] for role in own})
        results[sut] = JointResult(load, tuple(f"{role}: {problem}" for role in own for problem in problems[role]))
    return results


def _asked(candidate: CandidateUnderTest, name: str, rounds: RoleRounds) -> RoleLoad:
    role, workload = candidate.roles[name], rounds.workload
    assert role.load is not None
    mix: dict[str, int] = {}
    for each in workload.mix:
        mix[each.asked] = mix.get(each.asked, 0) + each.weight
    return RoleLoad(
        role=name,
        store=candidate.suts[name].target.id,
        model=role.model,
        workload=workload.workload,
        mix=mix,
        record=rounds.record,
        indexes=role.load.indexes,
        clients=rounds.clients,
        rate=role.load.rate,
    )


def _own(wrong: dict[StoreUnderTest, Exception], sut: StoreUnderTest, step: Callable[[], T]) -> T | None:
    """What goes wrong in a step on one store is that store's own, and its case raises it; the first counts. None then."""
    try:
        return step()
    except Exception as reason:  # noqa: BLE001 - whatever it is
        wrong.setdefault(sut, _explained(sut, reason))
        return None


def _explained(sut: StoreUnderTest, reason: Exception) -> Exception:
    """Why the store did not answer, while its server is still there to be looked at."""
    return sut.explain(reason) if isinstance(reason, Unknown) else reason


def _found(
    sut: StoreUnderTest, results: Mapping[StoreUnderTest, JointResult], wrong: Mapping[StoreUnderTest, Exception]
) -> JointResult | Exception:
    """What its case is told. A store beside which another broke was not measured, and is not to blame."""
    if sut in wrong:
        return wrong[sut]
    if sut in results:
        return results[sut]
    other, reason = next(iter(wrong.items()))
    first = str(reason).partition("\n")[0] or type(reason).__name__
    return EndCase(Outcome.NOT_RUN, f"{other.target.id}, which was to be under load beside it, could not be measured: {first}")
