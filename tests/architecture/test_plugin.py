"""The plugin is in every run of every project that has it installed: it must be light, and do nothing there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.installed import run_pytest

HEAVY = ("pydantic", "yaml", "hypothesis", "matplotlib", "docker", "testcontainers", "jinja2", "psutil", "rich", "typer", "msgpack")


def loaded_after(statement: str) -> set[str]:
    """The top-level packages that one statement loads in a fresh interpreter, without what the interpreter loads by itself."""
    code = f"import sys, json; before = set(sys.modules); {statement}; print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    """The entry point costs a foreign project no import but pytest's."""
    loaded = loaded_after("import storeproof.plugin")
    assert "pytest" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("process", ["disk.fuse_host", "embedded.fork_server", "load.wire.null_server_host", "cleanup.reaper"])
def test_processes_that_are_started_often_load_no_models(process: str) -> None:
    """A disk is one process: a run starts dozens, and each would spend a second on a specification that it never reads."""
    assert loaded_after(f"import storeproof.{process}").isdisjoint({"pydantic", "yaml", "numpy", "hypothesis"})


def test_the_test_would_see_a_heavy_import() -> None:
    """The measurement sees heavy packages where they are imported."""
    assert {"pydantic", "yaml"} <= loaded_after("import storeproof.spec")


def test_in_another_project_nothing_is_read_and_nothing_written(tmp_path: Path) -> None:
    """A run of other tests reads no specification and leaves no file."""
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_one():\n    assert 'storeproof.spec' not in sys.modules\n"
        "    assert 'storeproof.store_under_test' not in sys.modules\n"
    )
    for arguments in (("--collect-only", "-q"), ("-q", "test_other.py")):
        done = run_pytest(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "storeproof" not in done.stdout
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__", ".hypothesis", ".benchmarks"} == {"test_other.py"}


def test_in_another_project_a_folder_called_suites_is_its_own(tmp_path: Path) -> None:
    """A foreign folder named `suites` is not taken for the project's."""
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    done = run_pytest("suites/", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert not (tmp_path / "reports").exists()


@pytest.mark.slow
def test_collecting_the_suites_writes_no_report_and_starts_no_store(tmp_path: Path) -> None:
    """`--collect-only` lists the cases and leaves nothing."""
    done = run_pytest("--pyargs", "storeproof.suites", "--collect-only", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_capability[key_access.put-get/001-sqlite:wal-full]" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {".hypothesis", ".benchmarks", "__pycache__"}
