"""Commands whose output cannot be written, or is not read to its end: one message, the right exit code, and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.cli.standard_output import standard_output

FULL = Path("/dev/full")
COMMAND = str(Path(sys.executable).with_name("storeproof"))


def called(*words: str, into: Path | None = None, errors_into: Path | None = None) -> tuple[int, str]:
    """The exit code of the command, and its standard error; `into`: where the shell sends its output, None: to a reader that has left."""
    with (into or Path("/dev/null")).open("wb") as out, (errors_into or Path("/dev/null")).open("wb") as errors:
        child = subprocess.Popen(
            [COMMAND, *words], stdout=subprocess.PIPE if into is None else out, stderr=errors if errors_into else subprocess.PIPE, text=True
        )
        if child.stdout is not None:
            child.stdout.close()
        said = child.stderr.read() if child.stderr is not None else ""
        return child.wait(), said


@pytest.mark.parametrize("words", [["--version"], ["manual", "all"]], ids=["short", "longer-than-a-buffer"])
def test_a_full_disk_is_one_message(words: list[str]) -> None:
    """And a usage error: the command was told to write there."""
    full = "storeproof: standard output cannot be written: No space left on device; send it to another file, or make room\n"
    assert called(*words, into=FULL) == (4, full)


@pytest.mark.slow
def test_a_reader_that_leaves_changes_nothing(tmp_path: Path) -> None:
    """The exit code is the command's: 0, and 1 of a bundle that is refused."""
    assert called("manual", "all") == (0, "")
    (tmp_path / "x.tar").touch()
    assert called("verify", str(tmp_path / "x.tar")) == (1, "")


@pytest.mark.parametrize("words", [["verify", "--nope"], ["verify", "missing.tar"]], ids=["option", "file"])
@pytest.mark.slow
def test_where_nothing_can_be_said_the_exit_code_says_it(words: list[str]) -> None:
    """Neither output can be written."""
    assert called(*words, into=FULL, errors_into=FULL) == (4, "")


def test_a_closed_output_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `>&-` leaves it: Python then has none."""
    for name in ("stdout", "__stdout__"):
        monkeypatch.setattr(sys, name, None)
    with standard_output():
        print("not read")
    assert sys.stdout is None
