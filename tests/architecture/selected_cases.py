"""Says which cases each of several command lines selects, all in one process: what a process costs is paid once.

    python -m tests.architecture.selected_cases FILE

FILE has a list of lines in JSON; it is replaced by the list of what each selects: targets, each with the ids of a case and of its test.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

import tests.mini_edition.spec_root  # noqa: F401 - the edition that SPEC_ROOT_OF_THE_TEST names is the one that is read


class Selected:
    """A pytest plugin: the cases that are left when pytest has selected."""

    def __init__(self) -> None:
        self.cases: list[tuple[str, str, str]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep them."""
        for item in session.items:
            marker = item.get_closest_marker("case")
            if marker is not None:
                self.cases.append((item.callspec.params["sut"].target.id, marker.kwargs["id"], item.nodeid))  # type: ignore[attr-defined]


def selected_by(line: str) -> list[tuple[str, str, str]]:
    """What a line selects, run from here. Raises `AssertionError`: pytest does not accept the line."""
    program, *words = shlex.split(line)
    assert program == "pytest", line
    plugin = Selected()
    quick = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")  # the latter collects garbage, which takes half of the time
    code = pytest.main([*words, "--collect-only", "-qq", *quick], plugins=[plugin])
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), (line, code)
    return plugin.cases


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(json.dumps([selected_by(line) for line in json.loads(file.read_text())]))
