"""The command line of a host: what it reads, and what it says of a wrong one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from storeproof.embedded.command_line import read_command_line


def test_options_are_read_in_any_order_and_settings_by_name() -> None:
    """A value may have an equals sign of its own; the last of two settings of one name counts."""
    given = ["--set", "a=1=2", "--port", "80", "--set", "b=", "--data", "/x", "--set", "b=3"]
    assert read_command_line("data", "set", given) == ("/x", 80, {"a": "1=2", "b": "3"})
    assert read_command_line("database", "pragma", ["--database", "x.db", "--port", "1"]) == ("x.db", 1, {})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "found ;"),
        (["--data"], "--data has no value"),
        (["--data", "/x"], "found --data /x;"),
        (["--data", "/x", "--port", "http"], "found --data /x --port http;"),
        (["--data", "/x", "--port", "80", "--set", "a"], "found --set a;"),
        (["--database", "/x", "--port", "80"], "found --database /x;"),
        (["--help"], "--help has no value"),
    ],
)
def test_a_wrong_command_line_gets_one_message(given: list[str], found: str) -> None:
    """It has what was found, and the usage."""
    with pytest.raises(SystemExit) as ended:
        read_command_line("data", "set", given)
    assert str(ended.value).startswith(found)
    assert str(ended.value).endswith("usage: --data PATH --port N [--set NAME=VALUE ...]")


def test_a_host_starts_without_what_it_does_not_need() -> None:
    """Its start counts as the recovery of its library, and each of these takes as long as the library itself."""
    slow = {"argparse", "pathlib", "shutil", "storeproof.contract", "traceback", "typing"}
    source = f"import sys; before = set(sys.modules); import storeproof.adapters.sqlite.host; print(*{slow} & set(sys.modules) - before)"
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []
