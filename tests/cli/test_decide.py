"""`storeproof decide`: the answer first, on one screen of 80 columns, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storeproof.outcome import Outcome, count
from storeproof.result.json_file import write_result
from storeproof.result.model import Harm, Result, StoreResult
from storeproof.spec.edition import VERSION
from storeproof.spec.editions.frozen import frozen_editions
from tests.architecture.installed import CHECKOUT
from tests.cli.test_commands import Run
from tests.result.claimed import result
from tests.result.needs.needed import SHAPE, capability, known

DRAFT = ("--edition", VERSION)
"""The results of these tests have the cases of the draft; by default the newest frozen edition decides."""

NEEDS = """\
format: "1.0"
decision: d
question: Which store keeps our sessions?
roles:
  sessions:
    model: single_key
    must: [expiry.put-expiring]
"""


def test_a_frozen_edition_decides_by_default(run: Run, needs: Path, tmp_path: Path) -> None:
    """What a draft demands may be newer than any result: a case that it changed is one of the edition's all the same."""
    (frozen,) = [*frozen_editions()][-1:]
    cases = capability("expiry.put-expiring")
    assert {each.revision for each in cases} != {1}, "the draft has changed one; if not, name another capability here"
    there = written(tmp_path / "r", known("redis:volatile", cases=cases))
    assert f"--edition={frozen}" in run("decide", needs, there)[1], "what would show it"
    assert "--edition=" not in run("decide", *DRAFT, needs, there)[1]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


@pytest.fixture
def needs(tmp_path: Path) -> Path:
    path = tmp_path / "needs.yaml"
    path.write_text(NEEDS)
    return path


def whole(store: StoreResult) -> StoreResult:
    """With the sums that a run writes."""
    durability = store.durability.model_copy(update=dict.fromkeys(Harm.model_fields, 0) | {"proven": None, "guarantees": []})
    return store.model_copy(update={"durability": durability, "counts": count(each.outcome for each in store.outcomes), "capabilities": []})


def written(path: Path, *stores: StoreResult) -> Path:
    found: Result = result(*(whole(each) for each in stores))
    write_result(found, path / "result.json")
    return path


def store(target: str, expires: Outcome | None) -> StoreResult:
    return known(target, cases=[SHAPE, *(capability("expiry.put-expiring", expires) if expires else [])])


@pytest.mark.parametrize(
    ("expires", "code", "answer"),
    [
        (Outcome.PASS, 0, "redis:volatile meets every need."),
        (
            Outcome.UNSUPPORTED,
            1,
            "No candidate meets every need. Nearest: redis:volatile, without “Store a record with a time to live” (sessions).",
        ),
        (
            None,
            2,
            (
                "No candidate is shown to meet every need. Nearest: redis:volatile, of which 1 of its needs is not shown: "
                "“Store a record with a time to live” (sessions)."
            ),
        ),
    ],
)
def test_the_exit_code_is_the_answer(run: Run, needs: Path, tmp_path: Path, expires: Outcome | None, code: int, answer: str) -> None:
    """0 one meets all, 1 none does, 2 something is not shown; the answer is the second line, below the question."""
    found, out, err = run("decide", *DRAFT, needs, written(tmp_path / "r", store("redis:volatile", expires)))
    assert (found, err) == (code, "")
    assert out.splitlines()[:2] == ["Which store keeps our sessions?", answer]


def test_the_way_in_which_a_need_is_met_is_said(run: Run, needs: Path, tmp_path: Path) -> None:
    """A need with alternatives, of which the store has a looser one: in the answer itself, not in small print."""
    needs.write_text(needs.read_text().replace("must: [expiry.put-expiring]", "must: [{any_of: [counters, expiry.put-expiring]}]"))
    out = run("decide", *DRAFT, needs, written(tmp_path / "r", store("redis:volatile", Outcome.PASS)))[1]
    title = "store a record with a time to live"
    way = f"counters or 1 alternative (sessions) only by expiry.put-expiring ({title})"
    assert out.splitlines()[1] == f"redis:volatile meets every need; {way}."


def test_a_wrong_command_line_has_another_code(run: Run, needs: Path) -> None:
    """Typer's own is 2, which is an answer here."""
    assert run("decide")[0] == 4
    assert run("decide", needs, "--no-such-option")[0] == 4


def test_what_would_show_it_is_printed(run: Run, needs: Path, tmp_path: Path) -> None:
    """As a command."""
    out = run("decide", *DRAFT, needs, written(tmp_path / "r", store("redis:volatile", None)))[1]
    assert "  pytest suites/ --store=redis:volatile --scale=standard -k expiry.put-expiring/" in out.splitlines()


def test_a_looser_need_that_would_do_is_told(run: Run, needs: Path, tmp_path: Path) -> None:
    """In plain words: what the reader may take instead."""
    cases = [SHAPE, *capability("expiry.put-expiring", Outcome.UNSUPPORTED), *capability("expiry.swept")]
    out = run("decide", *DRAFT, needs, written(tmp_path / "r", known("mongodb:journaled", cases=cases)))[1]
    instead = "“Expired records are removed within two minutes” in place of “Store a record with a time to live” (sessions)"
    assert f"With {instead}: mongodb:journaled meets every need." in out.splitlines()


@pytest.mark.parametrize("columns", [80, 100])
def test_the_screen_fits(run: Run, needs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """The candidates, and what stands against them, as far as the line goes; the answer is a sentence, which the terminal wraps."""
    monkeypatch.setenv("COLUMNS", str(columns))
    stores = [store(f"store-{number}:a-variant-with-a-long-name", Outcome.UNSUPPORTED) for number in range(12)]
    lines = run("decide", *DRAFT, needs, written(tmp_path / "r", *stores))[1].splitlines()
    candidates = [number for number, line in enumerate(lines) if line.startswith("✘")]
    assert len(candidates) == 5
    against = [lines[number + 1] for number in candidates]
    assert {each.partition(":")[0] for each in against} == {"  lacks “Store a record with a time to live” (sessions)"}
    assert max(len(line) for line in lines if line.startswith(("✘", "  lacks"))) <= columns
    assert "  and 7 candidates further from it" in lines
    assert len(lines) + sum(len(line) // columns for line in lines) <= 24, "with the lines that the terminal wraps"


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_the_evidence_is_in_a_file(run: Run, needs: Path, tmp_path: Path, suffix: str) -> None:
    """With each need, its verdict, and the run that shows it."""
    there = written(tmp_path / "r", store("redis:volatile", Outcome.PASS), store("mongodb:journaled", Outcome.UNSUPPORTED))
    output = tmp_path / f"decision{suffix}"
    assert run("decide", *DRAFT, needs, there, "--output", output)[0] == 0
    text = output.read_text()
    assert "redis:volatile meets every need." in text
    assert "the detail" in text
    if suffix == ".json":
        assert [each["name"] for each in json.loads(text)["candidates"]] == ["redis:volatile", "mongodb:journaled"]


def test_bad_input_gets_one_message(run: Run, needs: Path, tmp_path: Path) -> None:
    """And nothing is written."""
    there = written(tmp_path / "r", store("redis:volatile", Outcome.PASS))
    for arguments, message in (
        (("decide", tmp_path / "none.yaml", there), "none.yaml"),
        (("decide", needs, tmp_path / "none"), "none does not exist"),
        (("decide", needs, there, "--output", "x.pdf"), "--output x.pdf ends in .pdf; allowed: .html, .md, .json"),
        (("needs", "init", needs), "exists; name another file, or remove it"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (4, ""), arguments
        assert message in err, err
        assert "Traceback" not in err


def test_a_result_that_was_changed_by_hand_is_no_evidence(run: Run, needs: Path, tmp_path: Path) -> None:
    """The message says what does not agree."""
    there = written(tmp_path / "r", store("redis:volatile", Outcome.UNSUPPORTED)) / "result.json"
    there.write_text(there.read_text().replace('"unsupported"', '"pass"', 1))
    code, _, err = run("decide", *DRAFT, needs, there)
    assert code == 4
    assert "does not agree with itself, so it was changed after its run: redis:volatile: " in err


def test_needs_init_writes_a_file_that_is_answered(run: Run, tmp_path: Path) -> None:
    """With comments."""
    file = tmp_path / "mine.yaml"
    assert run("needs", "init", file)[0] == 0
    assert file.read_text().startswith("# What your data needs")
    assert run("decide", *DRAFT, file, written(tmp_path / "r", store("redis:volatile", Outcome.PASS)))[0] == 1


@pytest.mark.slow
def test_the_published_evidence_answers_the_example(run: Run) -> None:
    """Without a name of a result, those of the checkout are read."""
    code, out, err = run("decide", CHECKOUT / "examples" / "one-store-or-two.yaml")
    assert (code, err) == (0, "")
    question, answer, *_ = out.splitlines()
    assert question == "Can one store be our session cache and our catalogue?"
    assert answer.startswith("mongodb:journaled meets every need; ")
    assert "only by expiry.swept" in answer
