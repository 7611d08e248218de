"""Which stores would be measured without a proof, and which citation is refused before anything is looked at."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Stage
from storeproof.plugin.case import SuiteCase
from storeproof.plugin.citations import cite, without_proof
from storeproof.result.model import EditionUsed
from tests.result.records import store_record

WORKLOAD = SuiteCase(id="performance.x/0i/4c", stage=Stage.PERFORMANCE, workload="x", clients=4)
ANSWERS = SuiteCase(id="capabilities.key.one/001", stage=Stage.CORRECTNESS, capability="key.one")


def fault(guarantee: str) -> SuiteCase:
    return SuiteCase(id=f"durability.{guarantee}", stage=Stage.DURABILITY, guarantee=guarantee)


def store(claimed: str, proven: str | None = "none is cited") -> Any:
    """A store under test, as far as it is looked at; `proven`: by the run that is cited."""
    record = store_record(claimed)
    record.proof = None if proven == "none is cited" else SimpleNamespace(proven=proven)  # type: ignore[assignment]
    return SimpleNamespace(target=record.target, record=record)


@pytest.mark.parametrize(
    ("sut", "cases"),
    [
        (store("process_crash"), [ANSWERS, fault("clean_restart"), fault("process_crash")]),
        (store("volatile"), [ANSWERS]),
        (store("power_loss", "power_loss"), []),
        (store("power_loss", "process_crash"), []),
        (store("volatile", "volatile"), []),
        (store("process_crash", None), [fault("clean_restart"), fault("process_crash")]),
    ],
    ids=["both", "volatile", "cited", "cited-less", "volatile-cited", "correctness-cited"],
)
def test_what_is_proven_or_cited_has_a_proof(sut: Any, cases: list[SuiteCase]) -> None:
    """Correct answers, and all guarantees up to the claim; `volatile` is no promise."""
    assert list(without_proof([sut], [(sut, case) for case in [*cases, WORKLOAD]])) == []


@pytest.mark.parametrize(
    ("sut", "cases"),
    [
        (store("process_crash"), []),
        (store("process_crash"), [ANSWERS]),
        (store("process_crash"), [ANSWERS, fault("process_crash")]),
        (store("process_crash"), [fault("clean_restart"), fault("process_crash")]),
        (store("volatile"), []),
        (store("process_crash", None), [ANSWERS]),
        (
            store("process_crash"),
            [
                ANSWERS,
                fault("clean_restart"),
                SuiteCase(id="durability.bootstrap/process_kill", stage=Stage.DURABILITY, guarantee="process_crash"),
            ],
        ),
    ],
    ids=["neither", "no-faults", "one-fault", "no-answers", "volatile-no-answers", "correctness-cited", "bootstrap"],
)
def test_what_is_neither_proven_nor_cited_is_named(sut: Any, cases: list[SuiteCase]) -> None:
    """Also where a part is missing; what another store tries proves nothing of this one."""
    other = store("process_crash")
    beside = [(other, case) for case in (ANSWERS, fault("clean_restart"), fault("process_crash"), WORKLOAD)]
    assert list(without_proof([sut, other], [*beside, *((sut, case) for case in [*cases, WORKLOAD])])) == [sut]


def test_who_is_not_measured_needs_no_proof() -> None:
    """There is no number that could lack one."""
    sut = store("power_loss")
    assert list(without_proof([sut], [(sut, ANSWERS)])) == []


@pytest.mark.parametrize("given", ["report", "report/result.json", "./report"])
def test_a_proof_that_this_run_would_write_over_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    """It could not be looked up afterwards."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--proof .*report.* is in --report-dir report, where this run writes its own result"):
        cite([given], [], EditionUsed(version="1", hash="0"), Path("report"))
