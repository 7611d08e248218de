"""The suites of a second checkout, beside the one that is installed: one message, in place of an error for each of their files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.errors import UsageError
from storeproof.plugin.case import SUITES
from storeproof.plugin.other_checkout import refuse_another


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Its root, with as much of it as pytest collects."""
    (tmp_path / "storeproof" / "plugin").mkdir(parents=True)
    (tmp_path / "storeproof" / "plugin" / "__init__.py").touch()
    (tmp_path / "suites" / "correctness").mkdir(parents=True)
    text = "from storeproof.plugin.suite import suite_run\n\ndef pytest_generate_tests(metafunc):\n    suite_run(metafunc.config)\n"
    (tmp_path / "suites" / "correctness" / "test_settings.py").write_text(f"{text}\ndef test_it(sut):\n    pass\n")
    return tmp_path


@pytest.mark.parametrize("argument", ["suites", "suites/correctness/test_settings.py::test_it", "."])
def test_it_is_refused(other: Path, argument: str) -> None:
    """Both paths are named, and what to do."""
    with pytest.raises(UsageError) as refused:
        refuse_another([argument], other)
    assert f"the suites of {other}, and storeproof is installed from {SUITES.parent}; run `pip install -e {other}`" in str(refused.value)


def test_the_installed_one_and_other_projects_are_not_refused(other: Path) -> None:
    """A project may have suites too."""
    refuse_another([str(SUITES), str(SUITES.parent), f"{SUITES}/correctness"], other)
    refuse_another(["tests", "suites_of_mine"], other)
    (other / "storeproof" / "plugin" / "__init__.py").unlink()
    refuse_another(["suites", "."], other)


def test_it_is_one_line_and_a_usage_error(other: Path) -> None:
    """As a user sees it."""
    command = [str(Path(sys.executable).with_name("pytest")), "suites/", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=other, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert next(line for line in done.stderr.splitlines() if line).startswith(f"ERROR: these are the suites of {other}")
    assert "StashKey" not in done.stdout + done.stderr
