"""The status line on a terminal comes and goes below what pytest writes, and leaves no trace."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.end_to_end.running import SUITES

COLUMNS = 90
_TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|(.)", re.DOTALL)


def _what_a_terminal_gets(folder: Path, *arguments: str, **more: str) -> str:
    folder.mkdir(exist_ok=True)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "pytest", str(SUITES), "-p", "no:cacheprovider", f"--report-dir={folder / 'report'}", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COLUMNS", "NO_COLOR"))}
    process = subprocess.Popen(
        command, cwd=folder, env={**environment, "TERM": "xterm", **more}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # how Linux says that no one holds the other end any more
            break
        if not some:
            break
        written += some
    os.close(ours)
    assert process.wait() == 0, written.decode()
    return written.decode()


def _screen(written: str) -> str:
    """What can be read in the end on a terminal without a last line."""
    rows, row, column = [[" "] * COLUMNS], 0, 0
    for numbers, letter, text in _TOKEN.findall(written):
        if letter == "A":
            row -= int(numbers or 1)
        elif letter == "C":
            column = min(column + int(numbers or 1), COLUMNS - 1)
        elif letter == "K":
            rows[row] = [" "] * COLUMNS
        elif text == "\r":
            column = 0
        elif text:
            if text == "\n" or column == COLUMNS:
                row, column = row + 1, 0
                rows.extend([[" "] * COLUMNS] if row == len(rows) else [])
            if text != "\n":
                rows[row][column] = text
                column += 1
    return "\n".join("".join(each).rstrip() for each in rows)


@pytest.mark.slow
def test_progress_shows_while_it_lasts_and_is_gone_afterwards(tmp_path: Path) -> None:
    """The status line shows case and round, and the final screen has only pytest's lines."""
    written = _what_a_terminal_gets(tmp_path, "-k", "key_access.put-get or stateful and counter or guarantee and clean_restart")
    assert re.search(r"9/10 · sqlite:wal-full · stateful.counter", written)
    assert re.search(r"10/10 · sqlite:wal-full · durability.clean_restart · clean_restart · round 2/5", written)
    screen = _screen(written)
    assert "9/10" not in screen
    assert "2/5" not in screen
    assert "test_capabilities.py" not in screen, "the line that counts stands for the letters"
    assert "claimed power_loss · proven clean_restart" in screen
    assert max(map(len, screen.splitlines())) <= COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize(("option", "wanted"), [("-q", r"\.{9} +\[100%\]"), ("-v", r"PASSED +\[ *\d+%\]")])
def test_quiet_and_verbose_are_those_of_pytest(tmp_path: Path, option: str, wanted: str) -> None:
    """Who asks for less or more gets the letters, or the line for each case, that pytest writes."""
    written = _what_a_terminal_gets(tmp_path, "-k", "key_access.put-get or stateful and counter", option, "--color=no")
    assert re.search(wanted, written), written


@pytest.mark.slow
def test_progress_has_no_colour_where_none_is_wanted(tmp_path: Path) -> None:
    """NO_COLOR leaves the status line without colour."""
    selected = ("-k", "key_access.put-get or stateful and counter")
    assert "\x1b[36m" in _what_a_terminal_gets(tmp_path / "with", *selected)
    written = _what_a_terminal_gets(tmp_path / "without", *selected, NO_COLOR="1")
    assert "stateful.counter" in written
    assert not re.search(r"\x1b\[[0-9;]*m", written)
