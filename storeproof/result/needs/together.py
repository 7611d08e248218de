"""Judges the loads of a candidate's roles by a run in which all of them were on at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from storeproof.result.measurement import JointLoad, Measurement, RoleLoad
from storeproof.result.needs.joined_results import Evidence, JoinedPart
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen
from storeproof.result.needs.loads import same_shares
from storeproof.result.needs.need import Need
from storeproof.result.needs.on_machine import had_machine
from storeproof.run_command import RunCommand
from storeproof.spec import Spec
from storeproof.spec.questions.needs import NeedsFile, Role
from storeproof.units import amount, plural, whole

_UNSENT: Final = "missed_send_ratio"
_LATE: Final = "schedule_lag"


@dataclass(frozen=True)
class JointNeed:
    """The load of one role beside those of the others."""

    source: JoinedPart
    name: str
    """The name of the number."""
    asked: RoleLoad
    measured: Measurement
    others: int
    """Roles whose loads were on at the same time."""

    @property
    def beside(self) -> str:
        return ", beside the other roles" if self.others else ""


def together_of(needs: NeedsFile, targets: Mapping[str, str], evidence: Mapping[str, Evidence]) -> Mapping[str, JointNeed]:
    """By role, from the preferred run that had all loads of these needs on at the same time, each on its store; empty where none had.
    `targets`: the store of each role, as `store:variant`."""
    loaded = [name for name, role in needs.roles.items() if role.load is not None]
    runs: dict[str, dict[str, JointNeed]] = {}  # those that are preferred come first, as in the evidence
    for name in loaded:
        known = evidence.get(targets[name])
        for source in known.sources if known else ():
            for joint in source.store.joint:
                if name in joint.numbers and _is_of(joint, needs, targets) and had_machine(source.environment, needs.machine):
                    asked = next(each for each in joint.roles if each.role == name)
                    runs.setdefault(source.run, {})[name] = JointNeed(
                        source, joint.name_of(name), asked, joint.numbers[name], len(joint.roles) - 1
                    )
    return next((found for found in runs.values() if found.keys() == set(loaded)), {})


def judge_together(need: Need, role: Role, target: str, found: JointNeed, command: str) -> JudgedNeed:
    """Whether the store kept up with the rate of the role, or answered in time, beside the other roles.

    Requests that were due and never sent, although the load generator was in time, refute both where the whole interval is below the rate:
    all clients waited for the store. A round that the machine disturbed decides nothing, except that a load generator which was late, and
    sent every request all the same, shows the rate: the load was less even, and not lower. Where the needs do not say how many clients
    there are, more of them may get more.

    Args:
        command: what would show it, where this run does not.
    """
    assert role.load is not None
    measured, gate = found.measured, found.measured.gates.get(_UNSENT)
    seen = (Seen(found.source, found.name, _reached(found), measured),)

    def judged(verdict: NeedVerdict, reason: str) -> JudgedNeed:
        return JudgedNeed(need, target, verdict, reason, seen, command if verdict is NeedVerdict.NOT_SHOWN else "")

    harmless = {_UNSENT, _LATE} if need.subject == "rate" and gate is not None and gate.ok else {_UNSENT}
    if broken := [each for each in measured.invalid if each not in harmless]:
        return judged(NeedVerdict.NOT_SHOWN, f"{_reached(found)}: not valid: {', '.join(broken)}")
    if gate is None or not gate.ok:
        why = f"{_reached(found)}{found.beside}"
        if measured.at_least:
            return judged(NeedVerdict.NOT_SHOWN, f"{why}, where the load generator was the limit")
        if measured.throughput.high >= found.asked.rate:
            return judged(NeedVerdict.NOT_SHOWN, f"{why}; some rounds kept up, which does not decide it")
        if role.load.clients is None:
            return judged(NeedVerdict.NOT_SHOWN, f"{why}; more clients may get more: say `clients`")
        return judged(NeedVerdict.NOT_MET, why)
    if role.records is not None and (measured.loaded or 0) < role.records:
        return judged(NeedVerdict.NOT_SHOWN, f"{_reached(found)}, with {whole(measured.loaded or 0)} of {plural(role.records, 'record')}")
    if need.subject == "rate":
        return judged(NeedVerdict.MET, f"{_reached(found)}{found.beside}")
    p99, limit = measured.latency_us.p99, role.load.p99_ms
    assert limit is not None
    if p99 is None:
        return judged(NeedVerdict.NOT_SHOWN, f"{plural(measured.latency_us.samples, 'request')}, too few for a 99th percentile")
    reason = f"p99 {p99 / 1000:.3g} ms{found.beside}, at {whole(found.asked.rate)} operations/s"
    if p99 / 1000 <= limit:
        return judged(NeedVerdict.MET, reason)
    if measured.at_least:
        return judged(NeedVerdict.NOT_SHOWN, f"{reason}, where the load generator was the limit")
    return judged(NeedVerdict.NOT_MET, reason)


def deciding(alone: JudgedNeed, beside: JudgedNeed | None, command: str, *, several: bool) -> JudgedNeed:
    """What is said of a load, from what is said of it by itself and by a run for these needs.

    What is missed alone is missed beside other roles too, and what is met alone may not be.

    Args:
        beside: None where there was no such run.
        command: what would have all roles under load.
        several: whether several roles have a load.
    """
    enough = alone.verdict is NeedVerdict.NOT_MET or (alone.verdict is NeedVerdict.MET and not several)
    if beside is not None and (beside.verdict is not NeedVerdict.NOT_SHOWN or not enough):
        return beside
    if enough or (alone.command and not several):
        return alone
    reason = f"alone: {alone.reason}; not measured beside the other roles" if alone.verdict is NeedVerdict.MET else alone.reason
    return replace(alone, verdict=NeedVerdict.NOT_SHOWN, reason=reason, command=command or alone.command)


def command_of(file: str, targets: Mapping[str, str], spec: Spec) -> str:
    """What has all roles of a candidate under load. `file`: the needs file, as a command names it."""
    stores = list(dict.fromkeys(targets.values()))
    return str(RunCommand(store=stores, needs=file, scale="standard", edition=spec.edition.version))


def _is_of(joint: JointLoad, needs: NeedsFile, targets: Mapping[str, str]) -> bool:
    """Whether the roles were these, with these loads, on these stores."""
    asked = {each.role: each for each in joint.roles}
    wanted = {name: role for name, role in needs.roles.items() if role.load is not None}
    return asked.keys() == wanted.keys() and all(
        asked[name].store == targets[name] and _same(asked[name], role) for name, role in wanted.items()
    )


def _same(asked: RoleLoad, role: Role) -> bool:
    load = role.load
    assert load is not None
    same = (asked.model, asked.indexes, asked.rate) == (role.model, load.indexes, load.rate)
    requests = asked.workload == load.workload if load.workload is not None else same_shares(load, asked.mix)
    return same and requests and load.record in (None, asked.record) and (load.clients is None or asked.clients <= load.clients)


def _reached(found: JointNeed) -> str:
    rate, asked = found.measured.throughput, found.asked
    of = f"{amount(rate.median)} of {whole(asked.rate)} {rate.unit}"
    return f"{of}, {asked.workload}, {plural(asked.clients, 'client')}"
