"""Runs the suites as a user does: in a process of their own, with a directory of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

SUITES = Path(__file__).parents[2] / "suites"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def command(folder: Path, *arguments: str, suites: str = "") -> list[str]:
    """A command line of the suites that writes its report and its data under `folder`."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    return [
        *(sys.executable, "-m", "pytest", str(SUITES / suites), "-p", "no:cacheprovider", "--seed=1"),
        *(f"--report-dir={folder / 'report'}", f"--data-dir={data}", *arguments),
    ]


def run(folder: Path, *arguments: str, suites: str = "") -> subprocess.CompletedProcess[str]:
    """Run to the end."""
    return subprocess.run(command(folder, *arguments, suites=suites), cwd=folder, env=CLEAN, capture_output=True, text=True, timeout=180, check=False)


def start(folder: Path, *arguments: str, suites: str = "") -> subprocess.Popen[str]:
    """Start, to be disturbed."""
    return subprocess.Popen(command(folder, *arguments, suites=suites), cwd=folder, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    """The outcomes of the only store of the run, by id."""
    result = json.loads((folder / "report" / "result.json").read_text())
    return {outcome["id"]: outcome for outcome in result["stores"][0]["outcomes"]}


def servers_of(folder: Path) -> list[psutil.Process]:
    """Running processes that work in the folder's data directory, other than the suites themselves."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if any(str(folder / "data") + os.sep in word for word in words) and "pytest" not in words:
            found.append(process)
    return found


def left_behind(folder: Path) -> list[str]:
    """What a run left: processes that work in its data directory, and files in it."""
    return [str(process) for process in servers_of(folder)] + [str(path) for path in (folder / "data").rglob("*")]


def wait_for(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait until the condition holds, and return what it returned."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return value
