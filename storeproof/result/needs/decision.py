"""All candidates of a needs file beside each other: who meets the needs, who is nearest, and what one need less would buy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from storeproof.errors import UsageError
from storeproof.result.measured.lost import Lost, lost_by
from storeproof.result.needs.costs import Cost, cost_of
from storeproof.result.needs.joined_results import Evidence, ReadResult, join
from storeproof.result.needs.judge import judge_need
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.result.needs.loads import measurable
from storeproof.result.needs.need import Need, needs_of, title_of
from storeproof.result.needs.on_machine import on_machine
from storeproof.result.needs.together import command_of, deciding, judge_together, together_of
from storeproof.spec import Spec
from storeproof.spec.profile import AnyOf
from storeproof.spec.questions.needs import NeedsFile


@dataclass(frozen=True)
class Candidate:
    """A store for each role, and what is known of them."""

    name: str
    targets: Mapping[str, str]
    """`store:variant` by role."""
    judged: tuple[JudgedNeed, ...]
    """One for each need, in their order."""
    costs: tuple[Cost, ...] = ()
    """By role; empty without prices."""
    lost: Lost | None = None
    """What a power cut took of the store of which it took the greatest share; None where none was tried."""

    @cached_property
    def missed(self) -> tuple[JudgedNeed, ...]:
        """Needs that must be met and are not."""
        return tuple(each for each in self.judged if each.need.must and each.verdict is NeedVerdict.NOT_MET)

    @cached_property
    def open(self) -> tuple[JudgedNeed, ...]:
        """Needs that must be met and were not shown."""
        return tuple(each for each in self.judged if each.need.must and each.verdict is NeedVerdict.NOT_SHOWN)

    @cached_property
    def wishes_missed(self) -> tuple[JudgedNeed, ...]:
        """Needs that should be met and are not, or were not shown."""
        return tuple(each for each in self.judged if not each.need.must and each.verdict is not NeedVerdict.MET)

    @property
    def meets_all(self) -> bool:
        """Whether every need that must be met was shown to be."""
        return not self.missed and not self.open

    @property
    def mostly_tried(self) -> bool:
        """Whether at least half of the needs were shown to be met or not."""
        return 2 * sum(each.verdict is not NeedVerdict.NOT_SHOWN for each in self.judged) >= len(self.judged)

    @property
    def headroom(self) -> float | None:
        """The smallest of its roles: what was reached, as a multiple of what is needed; None where no rate is known that counts."""
        return None if self.tightest is None else self.tightest.headroom

    @property
    def tightest(self) -> JudgedNeed | None:
        """The rate with the smallest headroom, of those that were shown to be met or not."""
        known = [each for each in self.judged if each.headroom is not None and each.verdict is not NeedVerdict.NOT_SHOWN]
        return min(known, key=lambda each: each.headroom or 0, default=None)

    @property
    def binding(self) -> JudgedNeed | None:
        """The need that stands first against it: the first missed one, then the first that was not shown, then the smallest headroom."""
        if self.missed or self.open:
            return (*self.missed, *self.open)[0]
        return self.tightest

    @property
    def per_month(self) -> float | None:
        """Processor time and licences of all roles in a month; None where one is not known."""
        known = [each.per_month for each in self.costs if each.per_month is not None]
        if not self.costs or len(known) < len(self.costs):
            return None
        licences = {each.target.partition(":")[0]: each.licence_per_month for each in self.costs}
        return sum(known) + sum(licences.values())


@dataclass(frozen=True)
class Dropped:
    """A need without which some candidates would meet all."""

    need: Need
    candidates: tuple[str, ...]
    gain: float | None = None
    """The most of their headroom, over the most of those that meet the need as well, where both were measured in one run."""
    at_least: bool = False
    """Whether the gain may be larger: the load generator was the limit."""


@dataclass(frozen=True)
class Decision:
    needs: NeedsFile
    wanted: tuple[Need, ...]
    candidates: tuple[Candidate, ...]
    """The nearest first."""
    evidence: Mapping[str, Evidence]
    """Evidence on the stores of all candidates, by `store:variant`."""
    looser: tuple[Looser, ...] = ()
    """What a looser alternative in place of one need would buy."""

    @property
    def meeting(self) -> tuple[Candidate, ...]:
        return tuple(each for each in self.candidates if each.meets_all)

    @property
    def possible(self) -> tuple[Candidate, ...]:
        """Candidates that miss nothing, and have something not shown."""
        return tuple(each for each in self.candidates if not each.missed and each.open)

    @property
    def tried(self) -> tuple[Candidate, ...]:
        """Candidates of whose needs at least half were tried."""
        return tuple(each for each in self.candidates if each.mostly_tried)

    @property
    def untried(self) -> tuple[Candidate, ...]:
        return tuple(each for each in self.candidates if not each.mostly_tried)

    @cached_property
    def front(self) -> tuple[Candidate, ...]:
        """Candidates that no other beats: none lacks less, loses less, has more headroom and costs less, or is equal in some of these and
        better in one."""
        return tuple(each for each in self.candidates if not any(_beats(other, each) for other in self.candidates))

    @cached_property
    def dropped(self) -> tuple[Dropped, ...]:
        """What one need less would buy: those that buy most first."""
        found = []
        for need in (each for each in self.wanted if each.must):
            only = [each for each in self.candidates if [missed.need for missed in each.missed] == [need] and not each.open]
            if only:
                found.append(Dropped(need, tuple(each.name for each in only), *_gain(only, self.meeting)))
        return tuple(sorted(found, key=lambda each: -len(each.candidates)))


def decide(needs: NeedsFile, results: Iterable[ReadResult], spec: Spec, file: str = "FILE") -> Decision:
    """Judge every candidate.

    Args:
        file: the needs file, as commands name it.

    Raises:
        UsageError: no result holds any store, or none of those that a candidate names.
    """
    spec = spec.with_models(needs.own_models)
    evidence = join(results, spec)
    if not evidence:
        raise UsageError("the results hold no store that was reached; give results of runs of `pytest suites/`")
    wanted = needs_of(needs, spec)
    named: Mapping[str, Mapping[str, str]]
    if isinstance(needs.candidates, str):
        named = {target: dict.fromkeys(needs.roles, target) for target in evidence}
    else:
        named = needs.candidates
        if not any(target in evidence for targets in named.values() for target in targets.values()):
            raise UsageError(f"no result holds a store of a candidate; they hold {', '.join(evidence)}")
    found = [_candidate(name, targets, needs, wanted, evidence, spec, file) for name, targets in named.items()]
    candidates = tuple(sorted(found, key=_nearness))
    used = {target for targets in named.values() for target in targets.values()}
    known = {name: each for name, each in evidence.items() if name in used}
    return Decision(needs, wanted, candidates, known, tuple(_looser(candidates, needs, wanted, evidence, spec)))


def _candidate(
    name: str,
    targets: Mapping[str, str],
    needs: NeedsFile,
    wanted: Sequence[Need],
    evidence: Mapping[str, Evidence],
    spec: Spec,
    file: str,
) -> Candidate:
    judged, rates = list[JudgedNeed](), list[JudgedNeed]()
    loads = [(role.model, role.load) for role in needs.roles.values() if role.load is not None]
    together = together_of(needs, targets, evidence)
    trying = command_of(file, targets, spec)
    command = trying if all(measurable(load, model, spec) for model, load in loads) else ""
    for need in wanted:
        target, role = targets[need.role], needs.roles[need.role]
        known = evidence.get(target)
        if known is None:
            found = JudgedNeed(need, target, NeedVerdict.NOT_SHOWN, f"no result of {target}", command=trying)
        else:
            found = judge_need(need, role, known, spec)
        if need.subject == "model" and role.model in spec.own_models and found.command:
            found = replace(found, command=trying)  # only a run for these needs has the model
        if need.subject == "rate":
            rates.append(found)  # what an operation costs is measured where a load is alone
        if need.subject in ("rate", "p99", "back"):
            found = on_machine(found, needs.machine, command or trying)
        if need.subject in ("rate", "p99"):
            beside = judge_together(need, role, target, together[need.role], command) if need.role in together else None
            found = deciding(found, beside, command, several=len(loads) > 1)
        judged.append(found)
    costs = []
    if needs.costs is not None and needs.machine is not None:
        costs = [cost_of(needs.roles[each.need.role], each, needs.machine, needs.costs) for each in rates]
    losses = [lost for target in set(targets.values()) if (lost := _lost(evidence.get(target))) is not None]
    return Candidate(name, dict(targets), tuple(judged), tuple(costs), max(losses, key=lambda each: each.share, default=None))


def _looser(
    candidates: Sequence[Candidate], needs: NeedsFile, wanted: Sequence[Need], evidence: Mapping[str, Evidence], spec: Spec
) -> Iterator[Looser]:
    """For each need that alone keeps some candidates from meeting all, the strictest looser alternative that any of them has."""
    for need in wanted:
        only = [each for each in candidates if [missed.need for missed in each.missed] == [need] and not each.open]
        for other in looser_needs(need, spec) if only else ():
            targets = {each.name: evidence[each.targets[need.role]] for each in only}
            met = [
                name for name, known in targets.items() if judge_need(other, needs.roles[need.role], known, spec).verdict is NeedVerdict.MET
            ]
            if met:
                yield Looser(need, other, tuple(met))
                break


def _lost(evidence: Evidence | None) -> Lost | None:
    """What a power cut took, in the preferred result that tried one."""
    for source in evidence.sources if evidence else ():
        for record in source.store.durability.guarantees:
            if record.guarantee == "power_loss" and record.acknowledged:
                return lost_by(record)
    return None


def _nearness(candidate: Candidate) -> tuple[int, int, int, float, str]:
    return (
        len(candidate.missed) + len(candidate.open),  # one of which little was tried is not near because it has missed nothing yet
        len(candidate.missed),
        len(candidate.wishes_missed),
        -min((each.headroom for each in candidate.judged if each.headroom is not None), default=0.0),
        candidate.name,
    )


def _beats(one: Candidate, other: Candidate) -> bool:
    """Whether one is as good in everything that both are known for, and better in something."""
    lacks, lacked = ({each.need.id for each in (*side.missed, *side.open)} for side in (one, other))
    better = lacks < lacked
    if not lacks <= lacked:
        return False
    sides = ((_most(one.lost), _least(other.lost)), (_negative(one.headroom), _negative(other.headroom)), (one.per_month, other.per_month))
    for mine, theirs in sides:
        if mine == theirs:
            continue
        if mine is None or (theirs is not None and mine > theirs):
            return False
        better = True
    return better and (one.headroom is None or other.headroom is None or _one_run(one, other))


def _most(lost: Lost | None) -> float | None:
    """The share that was lost; None where it may be any greater one."""
    return None if lost is None or lost.at_least else lost.share


def _least(lost: Lost | None) -> float | None:
    """The share that was lost, or more."""
    return None if lost is None else lost.share


def _negative(number: float | None) -> float | None:
    return None if number is None else -number


def _one_run(one: Candidate, other: Candidate) -> bool:
    """Whether their rates were measured in the same runs: rates of two machines say nothing about two stores."""
    runs = [{seen.source.run for each in side.judged if each.headroom is not None for seen in each.seen} for side in (one, other)]
    return runs[0] == runs[1]


def _gain(without: Sequence[Candidate], meeting: Sequence[Candidate]) -> tuple[float | None, bool]:
    """The fastest of those that lack a need over the fastest that meets it too, where both are of the same runs; whether it is a lower
    bound. Where the latter is one itself, it may be as fast, and nothing is said."""
    gains = list[tuple[float, bool]]()
    for one in without:
        beside = [other for other in meeting if other.headroom and one.headroom and _one_run(one, other)]
        if beside and not any(other.tightest and other.tightest.at_least for other in beside):
            most = max(other.headroom or 0.0 for other in beside)
            gains.append(((one.headroom or 0.0) / most, bool(one.tightest and one.tightest.at_least)))
    return max(gains, default=(None, False))


@dataclass(frozen=True)
class Looser:
    """A need in place of another, with which some candidates would meet all."""

    need: Need
    instead: Need
    """What they meet in its place."""
    candidates: tuple[str, ...]


def looser_needs(need: Need, spec: Spec) -> Iterator[Need]:
    """What could stand in place of a need, the strictest first: nothing where no profile has an alternative to it."""
    for name in dict.fromkeys(_after(need, spec)):
        yield replace(need, name=name, alternatives=(name,), capabilities=((name,),), title=title_of((name,), spec))


def _after(need: Need, spec: Spec) -> Iterator[str]:
    for profile in spec.profiles.values():
        for wanted in profile.capabilities:
            if isinstance(wanted, AnyOf) and set(need.alternatives) & set(wanted.any_of):
                loosest = max(wanted.any_of.index(name) for name in need.alternatives if name in wanted.any_of)
                yield from wanted.any_of[loosest + 1 :]
