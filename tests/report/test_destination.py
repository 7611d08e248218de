"""The report reaches some place, and a better one is not lost for it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.outcome import Outcome
from storeproof.report.destination import save_report
from storeproof.report.previous import keep_report, keep_unfinished
from storeproof.result.json_file import read_result, write_result
from storeproof.result.model import Result
from tests.report.sample import TARGETS, sample_result

pytestmark = pytest.mark.usefixtures("undrawn")

SMALL, LARGE = sample_result(TARGETS[:1]), sample_result(TARGETS[:2])


def _started(result: Result, when: str) -> Result:
    return result.model_copy(update={"run": result.run.model_copy(update={"started": when})})


def test_a_report_that_cannot_be_written_where_it_was_wanted_is_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the report directory cannot be made, the report goes to the temporary directory, and the message says so."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    saved = save_report(SMALL, tmp_path / "file" / "report", cut_short=False)
    assert saved.file is not None
    assert saved.file.parent.parent == tmp_path / "temporary"
    assert read_result(saved.file.parent) == SMALL
    assert saved.complaint.startswith(f"the report could not be written to {tmp_path / 'file' / 'report'}: Not a directory")
    assert f"it is in {saved.file.parent}; name another directory with --report-dir" in saved.complaint


def test_what_is_rendered_is_elsewhere_where_only_the_result_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only result.json could be written, the whole report goes to the temporary directory as well."""
    wanted = tmp_path / "report"
    (wanted / "report.html").mkdir(parents=True)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    saved = save_report(SMALL, wanted, cut_short=False)
    assert read_result(wanted) == SMALL
    assert saved.file is not None
    assert saved.file.parent.parent == tmp_path / "temporary"
    assert f"{wanted / 'result.json'} is whole, but the report could not be written beside it: Is a directory" in saved.complaint


def test_where_nothing_can_be_written_the_result_goes_to_the_standard_error(tmp_path: Path) -> None:
    """If no file can be written anywhere, result.json goes to stderr, and no partial file is left."""
    code = (
        "import sys; from pathlib import Path; from storeproof.report.destination import save_report\n"
        "from tests.report.test_destination import SMALL; print(save_report(SMALL, Path(sys.argv[1]), cut_short=False).complaint)"
    )

    def no_file_may_grow() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = [sys.executable, "-B", "-c", code, str(tmp_path / "report")]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, preexec_fn=no_file_may_grow, capture_output=True, text=True, check=True)
    assert Result.model_validate_json(done.stderr[done.stderr.index("\n{") :]) == SMALL
    assert "File too large" in done.stdout
    assert "result.json went to the standard error" in done.stdout
    assert not list(tmp_path.rglob("*.json")), "no half of a file"


def test_a_report_that_holds_more_is_kept(tmp_path: Path) -> None:
    """A larger report that would be overwritten is moved to `previous/`, and the message says so."""
    assert save_report(_started(LARGE, "first"), tmp_path, cut_short=False).earlier == ""
    saved = save_report(_started(SMALL, "second"), tmp_path, cut_short=False)
    assert read_result(tmp_path).run.started == "second"
    assert read_result(tmp_path / "previous").run.started == "first"
    assert (tmp_path / "previous" / "report.html").is_file()
    assert saved.earlier.startswith("the report of first (")
    assert saved.earlier.endswith(f"holds more than this one; it is kept in {tmp_path / 'previous'}")


def test_the_kept_one_gives_way_only_to_one_that_holds_more(tmp_path: Path) -> None:
    """`previous/` is replaced by a larger report only."""
    for result, name in ((LARGE, "first"), (SMALL, "second"), (sample_result(TARGETS[2:3]), "third")):
        saved = save_report(_started(result, name), tmp_path, cut_short=False)
    assert read_result(tmp_path / "previous").run.started == "first"
    assert "keeps the report of first" in saved.earlier
    assert "the one of second" in saved.earlier


@pytest.mark.parametrize(
    ("new", "cut_short", "kept"),
    [
        (SMALL, False, False),
        (LARGE, False, False),
        (SMALL, True, True),
        (sample_result(TARGETS[1:2]), False, True),
        (sample_result(TARGETS[:1], scale="smoke"), False, True),
    ],
    ids=["the same again", "more", "interrupted", "another store", "a smaller scale"],
)
def test_what_holds_more(new: Result, cut_short: bool, kept: bool, tmp_path: Path) -> None:
    """An earlier report is kept if the new run was interrupted, or lacks a store, or a scale that the earlier one had."""
    write_result(SMALL, tmp_path / "result.json")
    assert bool(keep_report(tmp_path, new, cut_short=cut_short)) is kept
    assert (tmp_path / "previous" / "result.json").exists() is kept


def test_a_report_of_a_run_that_was_cut_short_does_not_hold_less(tmp_path: Path) -> None:
    """It has other cases, maybe, and no fewer: only that is said."""
    write_result(SMALL, tmp_path / "result.json")
    said = keep_report(tmp_path, LARGE, cut_short=True)
    assert said.endswith(f"is kept in {tmp_path / 'previous'}, since this run was cut short")


@pytest.mark.parametrize("cut_short", [False, True])
def test_a_report_in_which_nothing_was_tried_is_not_kept(cut_short: bool, tmp_path: Path) -> None:
    """At no scale does it hold what a later one would lack."""
    idle = LARGE.model_copy(update={"stores": [each.model_copy(update={"counts": {Outcome.NOT_RUN: 9}}) for each in LARGE.stores]})
    write_result(idle, tmp_path / "result.json")
    smaller = sample_result(TARGETS[2:3], scale="smoke")
    assert keep_report(tmp_path, smaller, cut_short=cut_short) == ""
    assert not (tmp_path / "previous").exists()


def test_a_report_of_another_version_is_kept(tmp_path: Path) -> None:
    """A result that this version cannot read is kept."""
    (tmp_path / "result.json").write_text(json.dumps({"format": "9.0", "stores": []}))
    assert "of another version of storeproof" in keep_report(tmp_path, LARGE, cut_short=False)
    assert json.loads((tmp_path / "previous" / "result.json").read_text())["format"] == "9.0"


def test_what_a_killed_run_had_found_is_kept(tmp_path: Path) -> None:
    """What a killed run had found becomes a report of its own at the next start."""
    write_result(SMALL, tmp_path / "unfinished.json")
    said = keep_unfinished(tmp_path)
    assert f"`storeproof report {tmp_path / 'cut-off'}`" in said
    assert read_result(tmp_path / "cut-off") == SMALL
    assert not (tmp_path / "unfinished.json").exists()
    assert keep_unfinished(tmp_path) == ""
