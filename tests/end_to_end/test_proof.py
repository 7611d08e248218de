"""One run proves a store, and others cite it: of the same store for its numbers, and of any other they are refused at the start."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storeproof.blame import Party, judge_error
from storeproof.errors import NotAvailable, SettingsMismatch, UsageError
from storeproof.machine.programs import digest_of
from storeproof.outcome import Outcome
from storeproof.result.json_file import UNFINISHED
from storeproof.result.model import EditionUsed
from storeproof.result.proof import proofs_of, read_cited
from storeproof.store_under_test import Options, StoreUnderTest
from tests.end_to_end.running import Run, run, run_all, store_file
from tests.shipped import SHIPPED

pytestmark = pytest.mark.slow

STORE = "sqlite:wal-full"
SPEED = "performance.single-get/0i/4c"
SHOWN = ("capabilities.key_access.put-get/001", "durability.clean_restart", "durability.process_crash")


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that shows the operations of a group of capabilities, and two guarantees."""
    done = run(tmp_path_factory.mktemp("proof") / "proven", "--store", STORE, cases={STORE: SHOWN})
    assert done.code == 0, done.said
    return done


def _only(done: Run) -> dict[str, Any]:
    (store,) = done.result["stores"]
    return store  # type: ignore[no-any-return]


def test_a_result_says_what_may_be_cited(proven: Run) -> None:
    """The operations that were correct, the guarantee that held, and which program it was."""
    store = _only(proven)
    assert store["operations"]["single_key"]["get"] == "pass"
    assert (store["durability"]["proven"], store["durability"]["cited"], store["cites"]) == ("process_crash", None, None)
    assert store["binary_digest"] == digest_of(sys.executable)
    assert [each["kind"] for each in store["origin"]["programs"]] == ["interpreter"]


def test_a_result_holds_the_command_but_not_where_the_report_went(proven: Run) -> None:
    """The command can be published as it is."""
    words = shlex.split(proven.result["run"]["command"])
    assert words[0] == "pytest"
    assert "--seed=1" in words
    assert not [each for each in words if "report-dir" in each]


def test_a_run_that_cites_is_measured_and_says_so(proven: Run, tmp_path: Path) -> None:
    """Its counts are its own, its durability is that of the proof, and the screen says that it is cited."""
    done = run(tmp_path, "--store", STORE, f"--proof={proven.folder / 'report'}", cases={STORE: [SPEED]}, pages=True)
    assert done.code == 0, done.said
    assert done.outcomes[SPEED]["outcome"] == "pass"
    assert done.counted == {"pass": 1, "excluded": len(done.outcomes) - 1}
    store, run_of = _only(done), proven.result["run"]
    file = proven.folder / "report" / "result.json"
    assert store["durability"]["proven"] == "process_crash"
    assert store["durability"]["cited"] == store["cites"]
    found = [store["cites"][name] for name in ("run", "started", "scale", "seed", "sha256")]
    assert found == [run_of["id"], run_of["started"], "smoke", 1, hashlib.sha256(file.read_bytes()).hexdigest()]
    assert store["durability"]["rounds"] == 0
    assert store["operations"] == {}, "what is cited cannot be cited again"
    assert "proven process_crash (cited)" in done.said


def test_without_a_proof_nothing_is_measured(tmp_path: Path) -> None:
    """The same case alone; at another scale than smoke the run says at its start what is lacking, and the command that provides it."""
    done = run(tmp_path, "--store", STORE, "--scale=standard", cases={STORE: ["performance.single-get/0i/50c"]})
    assert set(done.counted) == {"not_run", "excluded"}, done.said
    start, _, end = done.said.partition("storeproof  STANDARD")
    words = " ".join(start.split())
    assert f"note {STORE}: this run neither tries all that is claimed nor cites a proof." in words
    assert "To prove it first: pytest --pyargs storeproof.suites --store=" in words
    assert f":wal-full --scale=standard --data-dir={tmp_path / 'data'} --seed=1 -k 'correctness or durability'" in words
    assert "--report-dir=reports/proof and then" in words
    assert "and then to measure: this command with --proof=reports/proof" in words
    assert "neither tries" not in end


def test_smoke_says_nothing_of_proofs(proven: Run) -> None:
    """Its numbers decide nothing. Nor does a run without numbers."""
    assert "neither tries" not in proven.said


def _citing(proven: Run) -> StoreUnderTest:
    """A store under test with its proof."""
    result = read_cited(proven.folder / "report", EditionUsed.model_validate(proven.result["edition"]))
    (target,) = SHIPPED.targets([STORE])
    sut = StoreUnderTest(SHIPPED, target, Options(scale=SHIPPED.scales["smoke"], seed=1), lambda _: None)
    sut.record.proof = proofs_of([result], [STORE])[STORE]
    return sut


Change = Callable[[dict[str, Any]], None]


def _setting(result: dict[str, Any]) -> None:
    result["stores"][0]["settings"]["synchronous"] = "EXTRA"


def _version(result: dict[str, Any]) -> None:
    result["stores"][0]["version"] = "SQLite 3.0.0"


def _binary(result: dict[str, Any]) -> None:
    result["stores"][0]["binary_digest"] = "sha256:" + "0" * 64


def _edition(result: dict[str, Any]) -> None:
    result["edition"]["hash"] = "0123456789abcdef"


def _form(result: dict[str, Any]) -> None:
    result["stores"][0]["durability"]["proven"] = 3


def _chain(result: dict[str, Any]) -> None:
    result["stores"][0]["cites"] = {"run": "the-first", "started": "", "scale": "full", "seed": 1, "sha256": ""}


EDITED: tuple[tuple[Change, str], ...] = (
    (_setting, "is not of this sqlite:wal-full: setting synchronous is 'EXTRA' there and 'FULL' here; prove this one"),
    (_version, "is not of this sqlite:wal-full: version is SQLite 3.0.0 there and SQLite 3."),
    (_binary, "is not of this sqlite:wal-full: the program is a binary, sha256:000000000000 there and a binary, sha256:"),
    (_edition, "and this run of"),
    (_form, "is not a result in format"),
    (_chain, "sqlite:wal-full is not proven there but cited from run the-first; give the result of that run"),
)


def test_a_proof_that_does_not_hold_ends_the_run_before_it_begins(proven: Run, tmp_path: Path) -> None:
    """One message with what differs, and no report: also where only the live store shows it."""
    lines, messages = [], []
    for number, (change, message) in enumerate(EDITED):
        result = json.loads(json.dumps(proven.result))
        change(result)
        file = tmp_path / f"edited{number}.json"
        file.write_text(json.dumps(result))
        lines.append(["--store", STORE, f"--proof={file}"])
        messages.append(message)
    there = proven.folder / "report"
    other = store_file(tmp_path / "other.yaml", ("synchronous: FULL", "synchronous: EXTRA"))
    (tmp_path / UNFINISHED).write_text((there / "result.json").read_text())
    lines += [
        ["--store=sqlite:off", f"--proof={there}"],
        [f"--store={other}", f"--proof={there}"],
        ["--store", STORE, f"--proof={tmp_path / UNFINISHED}"],
        ["--store", STORE, f"--proof={tmp_path}"],
        ["--store", STORE, f"--proof={tmp_path / 'nothing'}"],
    ]
    messages += [
        "holds sqlite:wal-full, and this run tries sqlite:off; give a result of the same store and variant",
        "setting synchronous is 'FULL' there and 'EXTRA' here",
        "is of a run that did not end",
        "is of a run that did not end",
        "does not exist; give a result.json",
    ]
    done = run_all(tmp_path / "runs", [[*line, "-k", "single-get"] for line in lines])
    for each, message in zip(done, messages, strict=True):
        assert each.code == pytest.ExitCode.USAGE_ERROR, each.said
        assert message in " ".join(each.said.split()), each.said
        assert "Traceback" not in each.said
        assert not (each.folder / "report").exists(), "nothing was tried, and nothing is reported"


def test_a_store_that_becomes_another_one_during_the_run_is_an_error_of_the_users(proven: Run) -> None:
    """An upgrade in the middle, say: what cites the old program is not measured on the new one."""
    sut = _citing(proven)
    sut.check_options()
    assert sut.record.proof is not None
    with closing(sut.launch("a case")):
        pass
    sut.record.proof = replace(sut.record.proof, store=sut.record.proof.store.model_copy(update={"version": "SQLite 3.0.0"}))
    with pytest.raises(UsageError, match=r"version is SQLite 3.0.0 there") as refused:
        sut.launch("a case")
    judged = judge_error(refused.value, claimed=True)
    assert (judged.outcome, judged.party) == (Outcome.ERROR, Party.USER)
    with pytest.raises(NotAvailable, match=r"the store could not be tested: --proof .* is not of this"):
        sut.launch("the next case")


def test_what_else_is_wrong_with_a_store_its_cases_say(proven: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look before the run hides nothing: other settings than the variant's are still an error of the first case."""
    sut = _citing(proven)

    def differ(_handle: object, _of_front: object) -> None:
        raise SettingsMismatch("it runs with other settings")

    monkeypatch.setattr(sut, "_verify", differ)
    sut.check_options()
    with pytest.raises(SettingsMismatch):
        sut.launch("the first case")


def test_a_store_that_cannot_start_is_not_run_and_no_wrong_proof(proven: Run, tmp_path: Path) -> None:
    """Its cases say what is lacking, as they do without a proof."""
    store = store_file(tmp_path / "gone.yaml", ("binary: ${python}", "binary: no-such-server"))
    done = run(tmp_path / "run", f"--store={store}", f"--proof={proven.folder / 'report'}", "-k", "single-get")
    assert set(done.counted) == {"not_run", "excluded"}, done.said
    assert "no-such-server was not found" in done.outcomes[SPEED]["detail"]
