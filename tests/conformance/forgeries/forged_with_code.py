"""Forgeries by one who has this code, and computes every sum again: only what no run does gives them away."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from storeproof.conformance.archive import RESULT
from storeproof.conformance.reasons import Reason
from storeproof.conformance.verdicts import record_of
from storeproof.evidence import EVIDENCE, StoreEvidence, evidence_file, member_of
from storeproof.outcome import Outcome
from storeproof.result.capabilities import roll_up
from storeproof.result.model import EditionUsed, StoreResult
from storeproof.result.older_formats import lacked_of
from storeproof.result.profiles import judge_profile
from tests.conformance.forgeries.forged_evidence import CRASH
from tests.conformance.forgeries.forged_numbers import number_of
from tests.conformance.forgeries.forged_results import CASE, outcome_of
from tests.conformance.forging import Forge, Forgery, Json, result_in, sealed, stores_of, with_result, with_store, with_stores
from tests.conformance.true_bundle import CASES, EDITION, SPEEDS, TrueBundle, known, own_file

POWER = "a power cut needs a separate file system for the data, and only root may mount one"
NUMBER = SPEEDS[0]
EVERYTHING = tuple(each for each in CASES if not each.startswith(("settings", "performance")))


def resummed(store: Json) -> None:
    """Counts, capabilities and profiles follow from the outcomes."""
    found = StoreResult.model_validate(store)
    spec = known().in_edition(EditionUsed(version=EDITION, hash=known().frozen[EDITION].hash)).spec
    spec = replace(spec, withdrawn=frozenset())  # as at the time of the run
    target = known().own_target(own_file(), found.variant)
    store["counts"] = {each.value: sum(one.outcome is each for one in found.outcomes) for each in Outcome}
    rolled = [roll_up(name, found.outcomes, spec, claimed=target.claims(name)) for name in spec.capabilities]
    store["capabilities"] = [each.model_dump(mode="json") for each in rolled]
    record = record_of(found, target)
    store["profiles"] = [judge_profile(profile, record, spec).model_dump(mode="json") for profile in spec.profiles.values()]
    store["durability"]["proven"] = record.durability().proven


def called(outcome: str, detail: str, *cases: str) -> Callable[[Json], None]:
    """These cases have another outcome, for that reason."""

    def change(store: Json) -> None:
        for case in cases:
            outcome_of(store, case).update(outcome=outcome, detail=detail)
            if outcome == "not_run" and (lacked := lacked_of(detail)) is not None:
                outcome_of(store, case).update(lacked=lacked.model_dump(mode="json"))
        resummed(store)

    return change


def _unmeasured(detail: str) -> Callable[[Json], None]:
    """A number that did not suit is gone."""

    def change(store: Json) -> None:
        store["measurements"].remove(number_of(store))
        called("not_run", detail, NUMBER)(store)

    return change


def older(change: Callable[[bytes], bytes]) -> Forge:
    """A result in an older format, which was read with fewer questions, and its bytes changed."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        result = bundle.result
        content = result_in(result).replace(f'"format": "{result["format"]}"'.encode(), b'"format": "2.3"', 1)
        changed = change(content)
        assert changed != content
        file.write_bytes(sealed({**bundle.parts, RESULT: changed}))

    return forge


def _lost(value: bytes) -> Forge:
    return older(lambda content: content.replace(b'"lost": 0,', b'"lost": ' + value + b","))


def _started(text: str) -> Forge:
    return with_result(lambda result: result["run"].update(started=text))


def _commanded(more: str, pattern: str = "$") -> Forge:
    return with_result(lambda result: result["run"].update(command=re.sub(pattern, more, result["run"]["command"], count=1)))


def _short(result: Json) -> None:
    """A whole run in a second."""
    result["run"]["seconds"] = 1.0


def _longer(stores: list[StoreEvidence]) -> None:
    """Five kills, the last of them read back a minute after the case was over."""
    (store,) = [each for each in stores if each.case == CRASH]
    audit = store.rounds[-1].audit
    assert audit is not None
    store.rounds[-1].audit = replace(audit, ended=audit.ended + 60_000_000_000)


def _without_program(store: Json) -> None:
    store["binary_digest"] = None


def _left_out_number(result: Json) -> None:
    """A case that was measured is called one that the scale leaves out."""
    result["run"]["beyond_scale"].append(NUMBER)


def _no_order(store: Json) -> None:
    """A history that no order explains, of a case that passes."""
    store["histories"].append({"case": CASE, "key": "k", "operations": 2, "accesses": []})


def _relabelled(bundle: TrueBundle, file: Path) -> None:
    """The seed that suited is called the edition's own, in the result, the command and the histories."""
    stores, result = stores_of(bundle), bundle.result
    own = known().in_edition(EditionUsed(**result["edition"])).spec.edition.seed
    for each in stores:
        each.seed = f"{own} {each.seed.partition(' ')[2]}"
    result["run"] |= {"seed": own, "command": result["run"]["command"].replace("--seed=1", f"--seed={own}")}
    content = evidence_file(result["run"]["id"], map(member_of, stores))
    result["run"]["evidence"] = hashlib.sha256(content).hexdigest()
    file.write_bytes(sealed({**bundle.parts, EVIDENCE: content, RESULT: result_in(result)}))


WITH_CODE = (
    Forgery("seed relabelled", "as the one that no one chose", _relabelled, Reason.SEED, "is repeated with the seed 1, and the run had"),
    Forgery(
        "many not run",
        "every case but the settings and two numbers, for an invented reason",
        with_store(called("not_run", "the machine was in maintenance", *EVERYTHING)),
        Reason.NOT_RUN,
        "was not run: `the machine was in maintenance`, and it can be tried on any machine; 6 others likewise",
    ),
    Forgery(
        "not run for want of a disk",
        "a case that needs none",
        with_store(called("not_run", POWER, CASE)),
        Reason.NOT_RUN,
        "and it can be tried on any machine",
    ),
    Forgery(
        "fault not run for want of a disk",
        "a kill needs none",
        with_store(called("not_run", POWER, CRASH)),
        Reason.NOT_RUN,
        "is no reason by which a run leaves it out",
    ),
    Forgery(
        "called an endpoint",
        "which is never killed, and the server ran as a process",
        with_store(called("not_run", "the store was given as an endpoint: a server that storeproof did not start", CRASH)),
        Reason.NOT_RUN,
        "and the store ran as a process",
    ),
    Forgery(
        "number not run",
        "for an operation that was correct",
        with_store(_unmeasured("get on single_key was not correct in this run (fail); run the correctness stage with it")),
        Reason.NOT_RUN,
        "and get on single_key is pass in the result",
    ),
    Forgery(
        "refusal called unsupported",
        "of a capability that is claimed",
        with_store(called("unsupported", "the store has no such thing", CASE)),
        Reason.CASES,
        "claims it: a refusal is a failure",
    ),
    Forgery(
        "failure called known",
        "and the store's file knows of none",
        with_store(called("known_fail", "known until 2099-01-01: it is like that", CASE)),
        Reason.CASES,
        "is called a known failure, and the file of sqlite:wal-full names none",
    ),
    Forgery(
        "failures called inconclusive",
        "on a machine that was busy with nothing else",
        with_store(
            lambda store: called(
                "inconclusive",
                "spoiled by the machine",
                *(each["id"] for each in store["outcomes"] if not each["id"].startswith("performance.")),
            )(store)
        ),
        Reason.CASES,
        " cases are inconclusive, and of ",
    ),
    Forgery("losses as text", "in an older format", _lost(b'"0"'), Reason.RESULT, "is not written as a run writes it"),
    Forgery("losses as a truth value", "in an older format", _lost(b"false"), Reason.RESULT, "is not written as a run writes it"),
    Forgery("losses as a fraction", "in an older format", _lost(b"0.0"), Reason.RESULT, "is not written as a run writes it"),
    Forgery("year 1", "before there were computers", _started("0001-01-01T00:00:00+00:00"), Reason.TIME, "and its edition was frozen on"),
    Forgery("year 2099", "newer than all others", _started("2099-01-01T00:00:00+00:00"), Reason.TIME, "and here it is 2"),
    Forgery("local time", "in a zone of its own", _started("2026-12-01T00:00:00+14:00"), Reason.TIME, "a run writes that in UTC"),
    Forgery("run of a second", "with all of its cases", with_result(_short), Reason.TIME, "it took 1 s, and its cases"),
    Forgery(
        "case in no time", "with five kills in it", with_stores(_longer), Reason.TIME, "the histories of durability.process_crash have"
    ),
    Forgery("command that chooses", "cases by name", _commanded(" -k settings"), Reason.RUN, "its command has -k"),
    Forgery(
        "command of another scale", "for those who repeat it", _commanded(" --scale=full"), Reason.RUN, "its command has the scale full"
    ),
    Forgery("no program", "what was tried is not known", with_store(_without_program), Reason.RUN, "is no digest of its program"),
    Forgery(
        "listed as left out",
        "a case that was measured",
        with_result(_left_out_number),
        Reason.CASES,
        "is listed as one that the scale leaves out, and is pass",
    ),
    Forgery("failed history", "of a case that passes", with_store(_no_order), Reason.CASES, "has a history that no order explains"),
)
