"""The workflow that publishes the site: it can be read, its command exists, and a linter for workflows finds nothing."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.architecture.installed import CHECKOUT
from tests.cli.test_commands import Run

FILE = CHECKOUT / ".github" / "workflows" / "site.yml"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


def test_its_command_takes_these_arguments(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout without results it says so: the command and its options exist."""
    jobs = yaml.safe_load(FILE.read_text())["jobs"]
    (command,) = [step["run"] for step in jobs["build"]["steps"] if "storeproof" in step.get("run", "")]
    program, *arguments = shlex.split(command)
    assert program == "storeproof"
    assert arguments[-1] == "_site", "the folder that the upload takes by default"
    (tmp_path / "reports").mkdir()
    monkeypatch.chdir(tmp_path)
    code, _, error = run(*arguments)
    assert code == 4
    assert "reports holds no result.json" in error


def test_it_may_write_pages_and_nothing_else() -> None:
    """The job that installs packages only reads."""
    workflow = yaml.safe_load(FILE.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["build"]
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_a_linter_for_workflows_finds_nothing() -> None:
    """actionlint, where it is installed."""
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("needs the program actionlint")
    done = subprocess.run([program, "-no-color", str(FILE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
