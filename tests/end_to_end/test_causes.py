"""One mistake in an adapter is told once on the terminal, and a thousand times in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.running import run, store_file

_ADAPTER = """
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values


class Forgetful(Values):
    def put(self, key, value):
        self._nothing.put(key, value)

    def exists(self, key):
        return True


class Broken(SQLite):
    tables = {**SQLite.tables, "value": Forgetful}


def connect(address, options):
    return Broken(Link(address))
"""


@pytest.mark.slow
def test_errors_of_one_cause_are_shown_once(tmp_path: Path) -> None:
    """Many errors of one cause take one place on the terminal and one outcome each in the report."""
    (tmp_path / "broken.py").write_text(_ADAPTER)
    store = store_file(
        tmp_path / "mine.yaml", ("store: sqlite\n", "store: mine\n"), ("adapter: sqlite\n", f"adapter: {tmp_path / 'broken.py'}\n")
    )
    done = run(tmp_path, f"--store={store}", "-k", "key_access or conditional", suites="correctness")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    broken = [each for each in done.outcomes.values() if each["outcome"] == "error"]
    assert len(broken) > 5, done.counted
    assert done.said.count("no attribute '_nothing'") <= 6, done.said
    assert f"and {len(broken) - 1} more like this" in done.said
    assert f"{len(broken)} error" in done.said, "pytest counts all of them"
    assert "fail" in done.counted
    assert len(done.said.splitlines()) < 200
    lines = done.said.splitlines()
    assert next(line for line in reversed(lines[:-1]) if line).startswith("report  "), "the screen comes last"
