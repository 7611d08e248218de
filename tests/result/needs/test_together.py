"""Loads of several roles are met by a run that had all of them on at the same time, and by no other."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.result.machine import Placement
from storeproof.result.measurement import JointLoad, Measurement, RoleLoad
from storeproof.result.model import Result
from storeproof.result.needs.decision import Candidate
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.spec.questions.needs import NeedsFile
from storeproof.spec.workload import what_is_asked
from tests.result.claimed import around, number, result
from tests.result.needs.needed import decided, known
from tests.result.needs.test_loads import opened

ONE, TWO = "redis:volatile", "mongodb:journaled"
LOAD: dict[str, Any] = {"mix": [{"operation": "get"}, {"operation": "put"}], "rate": 1000, "clients": 50, "p99_ms": 5}


def file(**changed: Any) -> NeedsFile:
    """Two roles of single keys with the same load, on one store or on two."""
    role = {"model": "single_key", "load": {**LOAD, **changed.pop("load", {})}, **changed.pop("role", {})}
    candidates = {"one": {"cache": ONE, "home": ONE}, "two": {"cache": ONE, "home": TWO}}
    text = {"format": "1.0", "decision": "d", "question": "One or two?", "roles": {"cache": role, "home": role}}
    return NeedsFile.model_validate({**text, "candidates": candidates, **changed})


def asked(role: str, store: str, **changed: Any) -> RoleLoad:
    """As a run of these needs keeps it."""
    base = {"role": role, "store": store, "model": "single_key", "workload": "single-mixed-rates", "mix": {"get": 1, "put": 1}}
    return RoleLoad.model_validate({**base, "record": "", "indexes": 0, "clients": 50, "rate": 1000, **changed})


def reached(rate: float = 1000, p99_us: float | None = 4000, *, gates: dict[str, float] | None = None, **changed: Any) -> Measurement:
    """An open loop; `gates`: values beside the limits of those that fail."""
    values = {"missed_send_ratio": 0.0} | (gates or {})
    limits = {name: {"ok": value <= 0.5, "value": value, "limit": 0.5} for name, value in values.items()}
    return Measurement.model_validate(opened(rate, p99_us).model_dump() | {"gates": limits} | changed)


def together(cache: Measurement, home: Measurement, home_store: str = TWO, placement: Placement | None = None, **changed: Any) -> Result:
    """A run in which both were on at the same time."""
    roles = [asked("cache", ONE, **changed), asked("home", home_store, **changed)]
    name = "two" if home_store == TWO else "one"
    if home_store == ONE:
        stores = [known(ONE, joint=[JointLoad(candidate=name, roles=roles, numbers={"cache": cache, "home": home})])]
    else:
        stores = [
            known(ONE, joint=[JointLoad(candidate=name, roles=roles, numbers={"cache": cache})]),
            known(TWO, joint=[JointLoad(candidate=name, roles=roles, numbers={"home": home})]),
        ]
    run = result(*stores, run="together")
    return run.model_copy(update={"environment": run.environment.model_copy(update={"placement": placement})})


def candidate(name: str, needs: NeedsFile, *results: Result) -> Candidate:
    return next(each for each in decided(needs, *results).candidates if each.name == name)


def verdicts(found: Candidate) -> dict[str, str]:
    """By role and subject."""
    return {f"{each.need.role} {each.need.subject}": str(each.verdict) for each in found.judged if each.need.subject in ("rate", "p99")}


def rate_of(found: Candidate, role: str = "cache", subject: str = "rate") -> JudgedNeed:
    return next(each for each in found.judged if (each.need.role, each.need.subject) == (role, subject))


def alone() -> Result:
    """Each load by itself, far above what is needed."""
    numbers = (number("single-mixed-sizes", *around(50_000)), opened(2000, 1000))
    return result(known(ONE, *numbers), known(TWO, *numbers), run="alone")


def test_what_is_met_alone_is_not_shown_beside_another_role() -> None:
    """With what it was alone, and the command that has both on."""
    found = rate_of(candidate("two", file(), alone()))
    assert found.verdict is NeedVerdict.NOT_SHOWN
    assert found.reason.startswith("alone: ")
    assert found.command == f"pytest suites/ --needs=FILE --store={ONE} --store={TWO} --scale=standard"


def test_what_is_missed_alone_is_missed_together() -> None:
    """Another role can only make it slower."""
    slow = number("single-mixed-sizes", *around(100))
    found = candidate("two", file(), result(known(ONE, slow), known(TWO, slow)))
    assert rate_of(found).verdict is NeedVerdict.NOT_MET


def test_a_role_by_itself_is_met_alone() -> None:
    """There is nothing to be beside."""
    needs = file()
    single = needs.model_copy(update={"roles": {"cache": needs.roles["cache"]}, "candidates": {"a": {"cache": ONE}}})
    assert rate_of(candidate("a", single, alone())).verdict is NeedVerdict.MET


def test_both_are_met_together() -> None:
    """On the stores that they were measured on, and on no others."""
    run = together(reached(), reached())
    assert set(verdicts(candidate("two", file(), run)).values()) == {"met"}
    assert set(verdicts(candidate("one", file(), run, alone())).values()) == {"not shown"}
    assert set(verdicts(candidate("one", file(), together(reached(), reached(), ONE))).values()) == {"met"}
    assert rate_of(candidate("two", file(), run)).reason.endswith("beside the other roles")


def test_a_store_that_does_not_keep_up_misses_the_rate_and_the_response_time() -> None:
    """Requests that were due were never sent, since all clients waited; the other role is judged by its own."""
    overloaded = reached(700, 90_000, gates={"missed_send_ratio": 0.9}, invalid=["missed_send_ratio"])
    found = candidate("two", file(), together(reached(), overloaded), alone())
    assert verdicts(found) == {"cache rate": "met", "cache p99": "met", "home rate": "not met", "home p99": "not met"}
    assert rate_of(found, "home").reason == "700 of 1,000 operations/s, single-mixed-rates, 50 clients, beside the other roles"


def test_a_generator_that_was_late_and_sent_all_shows_the_rate_alone() -> None:
    """Its requests came less evenly, and there were no fewer of them; its response times are not those of the schedule."""
    late = reached(invalid=["schedule_lag"])
    found = candidate("two", file(), together(late, late))
    assert verdicts(found) == {"cache rate": "met", "cache p99": "not shown", "home rate": "met", "home p99": "not shown"}


def test_replies_that_come_too_late_miss_the_response_time_alone() -> None:
    """The rate was kept."""
    found = candidate("two", file(), together(reached(p99_us=6000), reached()))
    assert verdicts(found) == {"cache rate": "met", "cache p99": "not met", "home rate": "met", "home p99": "met"}


OVERLOAD = {"missed_send_ratio": 0.9}


@pytest.mark.parametrize(
    ("measured", "needs", "words"),
    [
        (reached(gates=OVERLOAD, invalid=["schedule_lag", "missed_send_ratio"]), file(), "not valid: schedule_lag"),
        (reached(invalid=["joint_start"]), file(), "not valid: joint_start"),
        (reached(gates=OVERLOAD, invalid=["missed_send_ratio"], at_least=True), file(), "the load generator was the limit"),
        (reached(700, gates=OVERLOAD, invalid=["missed_send_ratio"]), file(load={"clients": None}), "more clients may get more"),
        (reached(995, gates=OVERLOAD, invalid=["missed_send_ratio"]), file(), "some rounds kept up"),
        (reached(loaded=10), file(role={"records": 1000}), "with 10 of 1,000 records"),
    ],
)
def test_what_decides_nothing_is_not_shown(measured: Measurement, needs: NeedsFile, words: str) -> None:
    """Neither for the store nor against it, with the reason and the command."""
    found = rate_of(candidate("two", needs, together(measured, reached())))
    assert found.verdict is NeedVerdict.NOT_SHOWN
    assert words in found.reason
    assert "--needs" in found.command


def test_what_a_disturbed_run_does_not_show_other_results_still_do() -> None:
    """Alone a rate is refuted beside other roles too, and met where there is one role."""
    disturbed = reached(invalid=["joint_start"])
    slow = number("single-mixed-sizes", *around(100))
    run, alone_slow = together(disturbed, disturbed), result(known(ONE, slow), known(TWO, slow), run="alone")
    assert rate_of(candidate("two", file(), run, alone_slow)).verdict is NeedVerdict.NOT_MET
    assert rate_of(candidate("two", file(), run, alone())).verdict is NeedVerdict.NOT_SHOWN
    roles = {"cache": file().roles["cache"]}
    single = file().model_copy(update={"roles": roles, "candidates": {"a": {"cache": ONE}}})
    load = JointLoad(candidate="a", roles=[asked("cache", ONE)], numbers={"cache": disturbed})
    assert rate_of(candidate("a", single, result(known(ONE, joint=[load]), run="together"), alone())).verdict is NeedVerdict.MET


def test_too_few_requests_have_no_99th_percentile() -> None:
    """The rate is met by them all the same."""
    found = candidate("two", file(), together(reached(p99_us=None), reached()))
    assert rate_of(found).verdict is NeedVerdict.MET
    assert rate_of(found, subject="p99").verdict is NeedVerdict.NOT_SHOWN


def test_a_slow_generator_blames_no_store_for_late_replies() -> None:
    """It may have been late itself."""
    late = reached(p99_us=9000, at_least=True)
    assert rate_of(candidate("two", file(), together(late, reached())), subject="p99").verdict is NeedVerdict.NOT_SHOWN


@pytest.mark.parametrize("changed", [{"rate": 900}, {"clients": 51}, {"indexes": 1}, {"mix": {"get": 3, "put": 1}}, {"model": "hash10"}])
def test_another_load_is_no_evidence(changed: dict[str, Any]) -> None:
    """It is as if both had not been on together."""
    assert set(verdicts(candidate("two", file(), together(reached(), reached(), **changed))).values()) == {"not shown"}


ASKED = {"filter": ["field0", "prefix", "a"], "limit": 10}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({what_is_asked("find", ASKED): 1, "get": 1}, "met"),
        ({what_is_asked("find", ASKED | {"limit": 11}): 1, "get": 1}, "not shown"),
        ({what_is_asked("find", ASKED | {"filter": ["field0", "prefix", "b"]}): 1, "get": 1}, "not shown"),
        ({"find": 1, "get": 1}, "not shown"),
        ({what_is_asked("find", ASKED): 1, "get": 9}, "not shown"),
    ],
)
def test_a_run_with_another_request_is_no_evidence(given: dict[str, int], verdict: str) -> None:
    """Results from before requests were kept have the operation alone, and may have asked anything."""
    mix = [{"operation": "get"}, {"operation": "find", "request": ASKED}]
    needs = file(load={"mix": mix, "p99_ms": None}, role={"model": "document10"})
    run = together(reached(), reached(), model="document10", workload="mix", mix=given)
    assert set(verdicts(candidate("two", needs, run)).values()) == {verdict}


def test_a_run_of_one_role_without_the_other_is_no_evidence() -> None:
    """A result from which a store was taken out holds half of it."""
    run = together(reached(), reached())
    half = run.model_copy(update={"stores": run.stores[:1]})
    assert rate_of(candidate("two", file(), half, alone())).verdict is NeedVerdict.NOT_SHOWN


def test_the_machine_is_the_one_that_the_needs_grant() -> None:
    """More cores, or more memory, would be another answer."""
    needs = file(machine={"cores": 2, "memory": "4GiB"})

    def on(cores: int, memory: int | None) -> set[str]:
        placed = Placement(server=list(range(cores)), generator=[7], shared="", memory_bytes=memory)
        return set(verdicts(candidate("two", needs, together(reached(), reached(), placement=placed))).values())

    assert on(2, 4 << 30) == {"met"}
    assert on(4, 4 << 30) == on(2, 8 << 30) == on(2, None) == {"not shown"}
    assert set(verdicts(candidate("two", needs, together(reached(), reached()))).values()) == {"not shown"}
