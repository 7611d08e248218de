"""`storeproof site`: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.result.json_file import write_result
from tests.cli.test_commands import Run
from tests.cli.test_decide import NEEDS, whole
from tests.result.needs.needed import SHAPE, known
from tests.site.made import ran, result

MADE = result(whole(known("redis:aof-always", cases=[SHAPE])), run="r1")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder of two results in folders of their own."""
    write_result(MADE, tmp_path / "reports" / "one" / "result.json")
    write_result(ran(MADE, "r2"), tmp_path / "reports" / "two" / "result.json")
    return tmp_path / "reports"


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_examples_are_answered_and_needs_that_are_given_in_their_place(run: Run, reports: Path, tmp_path: Path) -> None:
    """Each on a page of its own."""
    (tmp_path / "needs.yaml").write_text(NEEDS)
    (tmp_path / "more.yaml").write_text(NEEDS.replace("decision: d", "decision: e"))
    assert run("site", reports, "--out", tmp_path / "site")[0] == 0
    assert (tmp_path / "site" / "decision" / "one-store-or-two.html").is_file()
    given = ("--needs", tmp_path / "needs.yaml", "--needs", tmp_path / "more.yaml")
    assert run("site", reports, "--out", tmp_path / "site", *given)[0] == 0
    assert {path.name for path in (tmp_path / "site" / "decision").iterdir()} == {"d.html", "e.html"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"none.yaml": None}, "none.yaml"),
        ({"a.yaml": "{}"}, "a.yaml"),
        ({"a.yaml": NEEDS, "b.yaml": NEEDS}, "b.yaml is the second needs file with the decision d; name it differently"),
        (
            {"a.yaml": NEEDS + "candidates: {one: {sessions: memcached:volatile}}\n"},
            "no result holds a store of a candidate; they hold redis:aof-always",
        ),
    ],
)
def test_needs_that_cannot_be_answered_are_one_message(
    run: Run, reports: Path, tmp_path: Path, files: dict[str, str | None], message: str
) -> None:
    """Those that a user names; nothing is written."""
    for name, text in files.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    given = [word for name in files for word in ("--needs", tmp_path / name)]
    code, printed, error = run("site", reports, "--out", tmp_path / "site", *given)
    assert (code, printed) == (4, "")
    assert message in error
    assert "Traceback" not in error
    assert not (tmp_path / "site").exists()


def test_a_result_that_was_changed_by_hand_is_not_published(run: Run, reports: Path, tmp_path: Path) -> None:
    """The message says what does not agree."""
    file = reports / "one" / "result.json"
    file.write_text(file.read_text().replace('"pass"', '"fail"', 1))
    code, _, error = run("site", reports, "--out", tmp_path / "site")
    assert code == 4
    assert "one/result.json does not agree with itself, so it was changed after its run: redis:aof-always: " in error
