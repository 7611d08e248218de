"""Nothing that a terminal obeys is left of a result, and one that has no such thing is not copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.result import terminal_safe
from storeproof.result.json_file import NAME, read_result, write_result
from storeproof.result.terminal_safe import read_shown, shown_of
from tests.report.sample import sample_result


@pytest.mark.parametrize("hidden", ["\x1b[31m", "\u202e", "a\r\nb", "\\\x1b", "\x9f", "\b"])
def test_what_a_terminal_obeys_is_escaped(hidden: str, tmp_path: Path) -> None:
    """However JSON writes it: as itself, or as an escape."""
    result = sample_result()
    result.stores[0].settings["motd"] = hidden
    write_result(result, tmp_path / NAME)
    shown = read_shown(tmp_path)
    assert shown == shown_of(read_result(tmp_path))
    assert hidden not in shown.stores[0].settings["motd"]


def test_a_result_without_such_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that only look like an escape do not count."""
    result = shown_of(sample_result())
    result.stores[0].settings["motd"] = "\\u202e and \\\\b, “ü”\n\t"
    write_result(result, tmp_path / NAME)
    monkeypatch.delattr(terminal_safe, "shown_of")
    assert read_shown(tmp_path) == result
