"""The published results: this version reads them all, and their pictures show what is in them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from storeproof.cli import main
from storeproof.report.markdown import table_of
from storeproof.report.parts.crash_table import crash_table
from storeproof.report.resources.anatomy import anatomies
from storeproof.report.speed.noise import below
from storeproof.result.json_file import COMPRESSED, read_result
from storeproof.result.ratios.noise import noise_of
from tests.architecture.installed import CHECKOUT
from tests.shipped import read_once

REPORTS = CHECKOUT / "reports"
RUNS = sorted(path for path in REPORTS.iterdir() if path.is_dir() and path.name != "latest")
COMMANDS = re.findall(r"^storeproof picture (.+)$", (REPORTS / "README.md").read_text(), flags=re.MULTILINE)
AGREEMENTS = re.findall(r"^storeproof (compare .+ --agreement)$", (REPORTS / "README.md").read_text(), flags=re.MULTILINE)
CLAIMS = re.findall(r"^storeproof claims (.+)$", (REPORTS / "README.md").read_text(), flags=re.MULTILINE)
DECISIONS = re.findall(r"^storeproof decide (.+)$", (REPORTS / "README.md").read_text(), flags=re.MULTILINE)
LARGEST = 8_000_000
"""Bytes of reports/: a checkout is not a data store."""


Write = Callable[..., None]
"""Carries out a line of the page: its command, its words and, in place of the file that it writes, another one."""


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch) -> Write:
    read_once(monkeypatch)
    monkeypatch.chdir(CHECKOUT)

    def write(command: str, words: list[str], output: Path) -> None:
        monkeypatch.setattr(sys, "argv", ["storeproof", command, *words, "--output", str(output)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code

    return write


def _with_output(line: str) -> tuple[list[str], Path]:
    """The words of a line without `--output` and its file, and the file."""
    words = shlex.split(line)
    at = words.index("--output")
    return words[:at] + words[at + 2 :], CHECKOUT / words[at + 1]


def _said(svg: Path) -> list[str]:
    """The words of a picture; how they are laid out depends on the version of the drawing library."""
    return re.findall(r"<text [^>]*>([^<]+)</text>", svg.read_text())


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_a_published_result_is_read_by_this_version(run: Path) -> None:
    """And its folder holds nothing that could be drawn again, but one picture in one or two widths, where there is something to draw."""
    assert read_result(run).stores
    assert {path.name for path in run.iterdir()} - {"narrow.svg", "overview.svg"} == {COMPRESSED}


def test_every_published_run_is_explained_and_drawn_by_a_command() -> None:
    """No folder without a command for its picture, and none that is missing."""
    outputs = {words[words.index("--output") + 1] for words in map(shlex.split, COMMANDS)}
    assert outputs == {str(path.relative_to(CHECKOUT)) for run in RUNS for path in run.glob("*.svg")}


@pytest.mark.parametrize("run", [each for each in RUNS if "-crash-states-" in each.name], ids=lambda run: run.name)
def test_the_table_of_crash_states_is_that_of_its_result(run: Path) -> None:
    """Row by row, as the report of the run has it."""
    assert table_of(crash_table(read_result(run))) in (REPORTS / "README.md").read_text()


@pytest.mark.parametrize("workload", ["single-put-distinct-100", "corpus-replace"])
def test_the_table_of_waits_is_that_of_its_result(workload: str) -> None:
    """Row by row, as the report of the run has it."""
    stores = read_result(REPORTS / "2026-12-01-disks").stores
    measured = [(store, each) for store in stores for each in store.measurements if each.workload == workload]
    waits = anatomies(measured)
    assert waits is not None
    assert table_of(waits) in (REPORTS / "README.md").read_text()


def test_the_noise_floors_are_those_of_the_result() -> None:
    """Rounded up, where the page says which differences are noise."""
    floors = {kind: below(each.floor) for kind, each in noise_of(read_result(REPORTS / "2026-11-27-series")).items()}
    assert {floors[kind] for kind in ("value-read", "hash-read")} == {"7 %"}
    assert (floors["hash-write"], floors["value-write"]) == ("20 %", "21 %")
    text = (REPORTS / "README.md").read_text()
    assert "below 21 % are noise for a value that is written, below 20 % for a hash that is written" in text
    assert "below 7 % for a value or a hash that is read" in text


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.partition("--output ")[2].partition(" ")[0])
def test_a_published_picture_shows_what_its_command_draws(command: str, tmp_path: Path, write: Write) -> None:
    """No picture is drawn by hand, and none is older than its result."""
    words, published = _with_output(command)
    write("picture", words, tmp_path / "drawn.svg")
    again = "draw the pictures again: grep '^storeproof picture' reports/README.md | sh"
    assert _said(tmp_path / "drawn.svg") == _said(published), again


@pytest.mark.slow
def test_the_published_claims_are_held_against_all_published_results(tmp_path: Path, write: Write) -> None:
    """The page is what its command writes, and no result is left out because of what it says."""
    words, published = _with_output(*CLAIMS)
    assert sorted(words) == [str(run.relative_to(CHECKOUT)) for run in RUNS]
    write("claims", words, tmp_path / "claims.md")
    again = "write the page again: grep '^storeproof claims' reports/README.md | sh"
    assert (tmp_path / "claims.md").read_text() == published.read_text(), again


@pytest.mark.slow
def test_the_published_decision_is_that_of_the_published_results(tmp_path: Path, write: Write) -> None:
    """The record is what its command writes; a candidate meets all needs."""
    words, published = _with_output(*DECISIONS)
    write("decide", words, tmp_path / "decision.md")
    again = "write the record again: grep '^storeproof decide' reports/README.md | sh"
    assert (tmp_path / "decision.md").read_text() == published.read_text(), again


@pytest.mark.parametrize("command", AGREEMENTS)
def test_what_two_runs_of_a_plan_say_is_told_as_it_is(command: str, tmp_path: Path, write: Write) -> None:
    """The table of two published runs, and how many of the stores' ratios agree, whatever they are."""
    write("compare", shlex.split(command)[1:], tmp_path / "agreement.md")
    written, page = (tmp_path / "agreement.md").read_text(), (REPORTS / "README.md").read_text()
    assert "\n".join(line for line in written.splitlines() if line.startswith("|")) in page
    for ratios in re.findall(r"\*\*(\d+) of (\d+) ratios of two stores agree \((\d+ %)\)", written):
        assert "Of {1} ratios of two stores {0} agree ({2}).".format(*ratios) in page


def test_the_published_results_are_small() -> None:
    """What `storeproof report` can draw again is not published."""
    pages = [path for path in REPORTS.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in (*pages, *(file for run in RUNS for file in run.iterdir()))) <= LARGEST
