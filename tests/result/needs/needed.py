"""Small results and needs files for the tests of decisions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from storeproof.outcome import Outcome, Stage
from storeproof.result.measurement import Measurement
from storeproof.result.model import GuaranteeRecord, OutcomeRecord, Result, StoreResult
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.joined_results import ReadResult
from storeproof.result.needs.judged_need import JudgedNeed
from storeproof.spec import Spec
from storeproof.spec.cases import PUSHDOWN
from storeproof.spec.questions.needs import NeedsFile
from tests.report.sample import sample_guarantee
from tests.result.claimed import result, store
from tests.shipped import SHIPPED


def case(name: str, outcome: Outcome = Outcome.PASS, revision: int = 1, detail: str = "") -> OutcomeRecord:
    """The outcome of one case of correctness."""
    return OutcomeRecord(id=name, revision=revision, stage=Stage.CORRECTNESS, outcome=outcome, detail=detail, seconds=0.1)


def capability(name: str, outcome: Outcome = Outcome.PASS) -> list[OutcomeRecord]:
    """All cases of a shipped capability, with the same outcome."""
    known = SHIPPED.capabilities[name]
    numbers = {each.id: each.revision for each in known.cases} | ({PUSHDOWN: 1} if known.questions else {})
    return [case(f"capabilities.{name}/{number}", outcome, revision, "the detail") for number, revision in numbers.items()]


def struck(guarantee: str, lost: int = 0, **changed: Any) -> GuaranteeRecord:
    """Twenty faults; with losses, they are those of the last moments."""
    found = sample_guarantee(guarantee, Outcome.FAIL if lost else Outcome.PASS, lost, random.Random(1), 20)
    return found.model_copy(update={"torn": 0} | changed)


def known(
    target: str,
    *numbers: Measurement,
    cases: Iterable[OutcomeRecord] = (),
    faults: Iterable[GuaranteeRecord] = (),
    claimed: str = "power_loss",
    **changed: Any,
) -> StoreResult:
    """What a run shows of `store:variant`."""
    found = store(target, *numbers)
    durability = found.durability.model_copy(update={"claimed": claimed, "guarantees": list(faults)})
    settings = changed.pop("settings", {})
    update = {"outcomes": list(cases), "durability": durability, "settings": settings, "outages": changed.pop("outages", [])}
    return found.model_copy(update=update | changed)


def needs(candidates: Any = "all", **role: Any) -> NeedsFile:
    """A file with the one role `data`, of single keys."""
    return NeedsFile.model_validate(
        {
            "format": "1.0",
            "decision": "d",
            "question": "Which store?",
            "roles": {"data": {"model": "single_key", **role}},
            "candidates": candidates,
        }
    )


def decided(file: NeedsFile, *results: Result | StoreResult, spec: Spec = SHIPPED) -> Decision:
    """The decision from these results; a store stands for a run of its own."""
    whole = [each if isinstance(each, Result) else result(each, run=f"r{number}") for number, each in enumerate(results)]
    return decide(file, [ReadResult(Path(f"{each.run.id}.json"), each) for each in whole], spec)


def judgement(decision: Decision, subject: str, candidate: int = 0) -> JudgedNeed:
    """The first judgement of a candidate on a subject."""
    return next(each for each in decision.candidates[candidate].judged if each.need.subject == subject)


def verdicts(decision: Decision) -> Mapping[str, Mapping[str, str]]:
    """By candidate and need."""
    return {each.name: {found.need.name: str(found.verdict) for found in each.judged} for each in decision.candidates}


SHAPE = case("stateful.single_key")
"""Shows that records of single keys are kept."""
