"""`storeproof site`: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.result.json_file import write_result
from tests.cli.test_commands import Run
from tests.site.made import fault, ran, result, struck

MADE = result(struck("redis:aof-always", fault("process_crash")), run="r1")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder of two results in folders of their own."""
    write_result(MADE, tmp_path / "reports" / "one" / "result.json")
    write_result(ran(MADE, "r2"), tmp_path / "reports" / "two" / "result.json")
    return tmp_path / "reports"


def test_a_folder_of_results_becomes_a_site(run: Run, reports: Path, tmp_path: Path) -> None:
    """It says how many pages, of what, where, and what a first visit loads."""
    code, out, _ = run("site", reports, "--out", tmp_path / "site")
    assert code == 0
    assert f"pages on 1 variant from 2 results to {tmp_path / 'site'}; first load " in out
    assert (tmp_path / "site" / "run" / "r2.html").is_file()
    assert run("site", reports, "--out", tmp_path / "site")[0] == 0, "an older site is replaced"


def test_files_and_folders_are_taken_and_the_same_file_once(run: Run, reports: Path, tmp_path: Path) -> None:
    """However they are named."""
    code, out, _ = run("site", reports / "one", reports / "one" / "result.json", reports / "two", "--out", tmp_path / "site")
    assert code == 0
    assert "from 2 results" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["empty"], r"empty holds no result.json, and no folder in it does; give a result.json, its folder, or the folder of such folders"),
        (["none"], r"none does not exist; give a result.json"),
        (["reports", "copy"], r"are both of run r1; give one of them"),
        (["reports", "--out", "reports"], r"reports is not empty and not a site of storeproof"),
    ],
)
def test_bad_input_is_one_message(
    run: Run, reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    """What was found, and what to do; nothing is written."""
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    write_result(MADE, Path("copy/result.json"))
    out = [] if "--out" in arguments else ["--out", "site"]
    code, printed, error = run("site", *arguments, *out)
    assert (code, printed) == (4, "")
    assert message in error
    assert not Path("site").exists()
    assert {path.name for path in reports.iterdir()} == {"one", "two"}
