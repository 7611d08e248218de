"""The command line of a host: `--data DIRECTORY --port N [--set NAME=VALUE ...]`, with its own names for the first and the last."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def read_command_line(place: str, setting: str, arguments: Sequence[str] | None = None) -> tuple[str, int, dict[str, str]]:
    """What the options say: where the data is, the port, and the settings by name. `argparse` would take longer than all else in a start.

    Args:
        place: the name of the option that says where the data is, as `data`.
        setting: the name of the option for settings, each `NAME=VALUE`, as `set`.
        arguments: by default those of this process.

    Raises:
        SystemExit: an option or a value is missing or wrong; the message has the usage.
    """
    usage = f"usage: --{place} PATH --port N [--{setting} NAME=VALUE ...]"
    given = list(sys.argv[1:] if arguments is None else arguments)
    found: dict[str, str] = {}
    settings: dict[str, str] = {}
    for option, value in zip(given[::2], [*given[1::2], None][: len(given[::2])], strict=True):
        name, equals, of_setting = (value or "").partition("=")
        if value is None:
            sys.exit(f"{option} has no value; {usage}")
        elif option == f"--{setting}" and equals:
            settings[name] = of_setting
        elif option in (f"--{place}", "--port"):
            found[option[2:]] = value
        else:
            sys.exit(f"found {option} {value}; {usage}")
    if place not in found or not found.get("port", "").isdecimal():
        sys.exit(f"found {' '.join(given)}; {usage}")
    return found[place], int(found["port"]), settings
