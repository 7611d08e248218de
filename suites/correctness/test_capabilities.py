"""The fixed cases of the specification: steps on an empty collection, and the correct answers."""

from __future__ import annotations

from typing import Any, Final

import pytest

from storeproof.contract import MISSING, Collection, Layout, Refused, Unsupported, WrongReply, call
from storeproof.contract.notation import answer_from, arguments_from, shown
from storeproof.errors import MachineFailed
from storeproof.experiments.case_collections import OpenCollection, fill, others
from storeproof.experiments.correctness.clock_jump import Clock
from storeproof.experiments.correctness.interleaved_sessions import play
from storeproof.oracle import same_answer
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult, WrongAnswer
from storeproof.spec import Capability, CapabilityCase, Step
from storeproof.store_under_test import StoreUnderTest

_BATCH: Final = 500
"""Other records in one request."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    spec = suite_run(metafunc.config).spec
    metafunc.parametrize(
        ("name", "case"),
        [
            pytest.param(
                name,
                case,
                id=f"{name}/{case.id}",
                marks=pytest.mark.case(
                    id=f"capabilities.{name}/{case.id}",
                    revision=case.revision,
                    model=capability.model,
                    operations=capability.operations,
                    capability=name,
                ),
            )
            for name, capability in spec.capabilities.items()
            for case in capability.cases
        ],
    )


def test_capability(name: str, case: CapabilityCase, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """The answers of one case are those of the oracle; a store that does not claim the capability may refuse."""
    capability: Capability = sut.spec.capabilities[name]
    collection, layout = fresh(capability.model, case.indexes)
    if case.indexes:
        live = collection.describe().get("indexes")
        assert live == str(case.indexes), f"{case.indexes} indexes were requested; the live store reports {live}"
    history: list[str] = []
    clock = Clock()
    try:
        if capability.dataset:
            for key, record in sut.spec.datasets[capability.dataset].records.items():
                call(collection, layout, "put", *arguments_from(layout.model, "put", (key, record)))
            history.append(f"(given {capability.dataset})")
        if case.beside:
            fill(collection, layout, others(case.beside), _BATCH)
            history.append(f"(beside {case.beside} other records)")
        for step in case.steps:
            _take(step, collection, layout, history, case_result, clock)
        if case.interleaved:
            case_result.add(play(case.interleaved, lambda: sut.connect(sut.shared()), layout, history, case_result.attempt))
        for step in case.after:
            _take(step, collection, layout, history, case_result, clock)
    except (Refused, Unsupported, WrongReply) as reason:
        case_result.end(reason, history)
    except AssertionError as wrong:
        if capability.timed and (disturbed := clock.disturbed()):
            raise MachineFailed(f"{disturbed}, and the answers depend on time: {wrong}") from None
        raise
    if not case_result.claimed:
        case_result.settle(Outcome.UNDECLARED, "works though the store does not claim it")


def _take(step: Step, collection: Collection, layout: Layout, history: list[str], case_result: CaseResult, clock: Clock) -> None:
    args = arguments_from(layout.model, step.do, step.args)
    if step.wait:
        clock.wait(step.wait)
        history.append(f"(wait {step.wait:g} s)")
    history.append(shown(step.do, args))
    clock.look()
    try:
        found = _ask(step, args, collection, layout, case_result, clock)
    except Refused as reason:
        if not step.refused:
            raise
        history[-1] += f" -> refused: {reason}"
        if step.alternatives is not None or step.missing:
            case_result.add("alternative: refused")
        return
    history[-1] += f" -> {found!r}"
    if step.alternatives is not None:
        known = {name: answer_from(layout.model, step.do, written) for name, written in step.alternatives.items()}
        names = [name for name, wanted in known.items() if same_answer(step.do, args, found, wanted)]
        if not names:
            raise WrongAnswer(history, step.do, found, f"one of the alternatives: {', '.join(step.alternatives)}")
        case_result.add(f"alternative: {names[0]}")
    elif expected := _expected_instead(step, args, layout, found):
        raise WrongAnswer(history, step.do, found, expected)


def _expected_instead(step: Step, args: tuple[Any, ...], layout: Layout, found: Any) -> str:
    """The answer that was expected; empty where it was given."""
    if step.missing:
        return "" if found is MISSING else "MISSING" + " or a refusal" * step.refused
    if step.refused:
        return "a refusal"
    if step.between is not None:
        low, high = step.between
        return "" if found is not None and low <= found <= high else f"from {low:g} to {high:g}"
    if not _answers(step):
        return ""
    wanted = answer_from(layout.model, step.do, step.expect)
    return "" if same_answer(step.do, args, found, wanted) else repr(wanted)


def _ask(step: Step, args: tuple[Any, ...], collection: Collection, layout: Layout, case_result: CaseResult, clock: Clock) -> Any:
    """The answer, or the last of several where it has some time to become the expected one."""
    if not step.within:
        return call(collection, layout, step.do, *args)
    wanted = answer_from(layout.model, step.do, step.expect)
    found: Any = None
    for seconds in clock.attempts(step.within):
        found = call(collection, layout, step.do, *args)
        if same_answer(step.do, args, found, wanted):
            case_result.add(f"the answer to {shown(step.do, args)} was as expected after {seconds:.0f} s")
            break
    return found


def _answers(step: Step) -> bool:
    """Whether the step has an expected answer; operations that return nothing have no `expect`."""
    return "expect" in step.model_fields_set
