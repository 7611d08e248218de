"""`storeproof claims`: the answer first, on one screen of 80 columns, and a page with all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from storeproof.result.claims import JudgedClaims
from storeproof.result.json_file import write_result
from storeproof.result.model import Result
from tests.cli.test_commands import Run
from tests.result.claimed import around, number, result, store
from tests.result.test_analyses import case, seen
from tests.result.test_analyses import run as transactions_run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


def measured(version: str = "Redis 7.0.15") -> Result:
    """One claim refuted by hashes that are too fast, one reproduced by a store that loses nothing, and others not measured."""
    put = number("hash10-put", *around(60_000), model="hash10", operation="put")
    return result(
        store("redis:aof-always", number("single-put-distinct-100", *around(100_000)), put, version=version),
        store("tarantool:memtx-tree-write", proven="process_crash", lost=False),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_result(measured(), tmp_path / "result.json")
    return tmp_path


@pytest.mark.slow
def test_the_screen_begins_with_the_answer_and_fits(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each claim has its figure beside the text's, or the reason why it cannot be said."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("claims", path)
    lines = out.splitlines()
    assert code == 0
    assert re.fullmatch(r"Of \d+ claims: 1 reproduced, 1 refuted, \d+ cannot say\.", lines[0])
    assert max(map(len, lines)) <= 80
    at = lines.index("✘ 000 hash-against-value  text 0.359  here 0.6 [0.583, 0.617]")
    assert lines[at + 1] == "      redis:aof-always: hash10-put / single-put-distinct-100, 50 clients"
    assert any(line.startswith("✔ 002 tarantool-log-keeps  text kept through process_crash") for line in lines)
    assert "      not measured: tarantool:memtx-hash-none and redis:volatile" in lines
    assert any(line.startswith("      not measured: single-put-distinct-100 on marklogic:fast or mongodb") for line in lines)
    assert any(re.fullmatch(r"Of Jepsen's \d+ anomalies: 0 reproduced, 0 still so, 0 not seen, \d+ cannot say\.", line) for line in lines)


@pytest.mark.slow
def test_an_anomaly_that_an_analysis_reports_is_said_of_the_results_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It alone is an answer, and has two lines that fit."""
    monkeypatch.setenv("COLUMNS", "80")
    write_result(transactions_run(case(seen("lost-update")), version="MySQL 8.0.34"), tmp_path / "result.json")
    code, out, _ = run("claims", tmp_path)
    lines = out.splitlines()
    assert code == 0
    assert max(map(len, lines)) <= 80
    assert (
        lines[lines.index("✔ MySQL 8.0.34: lost update, repeatable read, one node") + 1]
        == "      reproduced: MySQL 8.0.34: first after 17 commits"
    )


@pytest.mark.slow
def test_several_results_are_held_against_the_claims_together(run: Run, path: Path, tmp_path: Path) -> None:
    """What one lacks another may have."""
    other = result(store("tarantool:memtx-tree-write", proven="clean_restart", lost=True), run="r2")
    write_result(other, tmp_path / "other.json")
    assert "0 reproduced, 2 refuted" in run("claims", path, tmp_path / "other.json")[1]


@pytest.mark.parametrize("suffix", [".md", ".html"])
@pytest.mark.slow
def test_a_page_has_the_numbers_the_differences_and_the_commands(run: Run, path: Path, tmp_path: Path, suffix: str) -> None:
    """The same on both kinds of page."""
    page = tmp_path / f"claims{suffix}"
    assert run("claims", path, "--output", page)[0] == 0
    text = page.read_text().replace("\\[", "[").replace("\\]", "]")
    for part in (
        "1 reproduced, 1 refuted",
        "Text 000 (2015), estimated; A/B 0.359 (7,651 against 21,313 a second); reproduced between 0.278 and 0.441.",
        "60,000 [59,400, 60,600] A",
        "0.6 [0.583, 0.617], separate rounds",
        "Redis 7.0.15 (text: 3.0.3)",
        "the text calculated the rate of hashes",
        "Cannot say: not measured: tarantool:memtx-hash-none and redis:volatile.",
        "pytest suites/ --store=tarantool:memtx-hash-none --store=redis:volatile --scale=full -k",
        "r1, 2026-01-01, standard, edition 2026.11: redis:aof-always, tarantool:memtx-tree-write",
    ):
        assert part in text, part


@pytest.mark.slow
def test_the_json_page_is_read_back_as_it_was_judged(run: Run, path: Path, tmp_path: Path) -> None:
    """Other tools read it: every verdict, with the numbers behind it."""
    page = tmp_path / "claims.json"
    run("claims", path, "--output", page)
    judged = JudgedClaims.model_validate(json.loads(page.read_text()))
    (refuted,) = [each for each in judged.claims if each.verdict == "refuted"]
    assert (refuted.claim, refuted.figure_a, refuted.ratios[0].a.rate) == ("hash-against-value", 7651.32, 60_000)


@pytest.mark.slow
def test_what_a_server_says_is_no_markup_on_a_page(run: Run, tmp_path: Path) -> None:
    """Nor does it reach the terminal as it is."""
    write_result(measured("<b>x</b> | \x1b[31m`y`"), tmp_path / "result.json")
    for suffix in (".md", ".html"):
        page = tmp_path / f"claims{suffix}"
        assert "\x1b" not in run("claims", tmp_path, "--output", page)[1]
        text = page.read_text()
        assert "<b>x</b>" not in text
        assert "\x1b" not in text
        assert "&lt;b&gt;x&lt;/b&gt;" in text
    assert "\\| \\\\x1b\\[31m\\`y\\`" in (tmp_path / "claims.md").read_text()


@pytest.mark.slow
def test_one_where_nothing_can_be_said(run: Run, tmp_path: Path) -> None:
    """As of every command that has no answer."""
    write_result(result(store("sqlite:wal-full")), tmp_path / "result.json")
    code, out, _ = run("claims", tmp_path)
    assert code == 1
    assert "0 reproduced, 0 refuted" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "nothing.json does not exist"),
        (["R", "--output", "claims.pdf"], "--output claims.pdf ends in .pdf; allowed: .md, .html, .json"),
        (["R", "--output", "claims"], "--output claims ends in nothing; allowed: .md, .html, .json"),
        (["R", "--output", "/proc/no/claims.md"], "/proc/no/claims.md cannot be written"),
        (["R", "--colour"], "No such option"),
        ([], "Missing argument"),
    ],
)
@pytest.mark.slow
def test_a_wrong_command_line_is_one_message_and_four(run: Run, path: Path, arguments: list[str], message: str) -> None:
    """With what is allowed, and without a traceback."""
    code, out, err = run("claims", *(str(path) if each == "R" else each for each in arguments))
    assert code == 4
    assert message in err
    assert "Traceback" not in out + err
