"""The project as one plain package, as a wheel lays it out, so that a test may change it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
_IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info")


def lay_out(root: Path) -> Path:
    """Copy the package to `root/storeproof`, the linked folders as real ones; put `root` on PYTHONPATH to use it."""
    shutil.copytree(CHECKOUT / "storeproof", root / "storeproof", ignore=_IGNORED)
    return root


def run_pytest(
    *arguments: str,
    cwd: Path,
    package: Path | None = None,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """Run pytest as a user does, in a directory of its own; `package` is made by `lay_out`. After 15 minutes it is taken to hang."""
    # The options and the coverage of the outer run are none of the inner one's.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "PYTHONDONTWRITE"))}
    environment = {**inherited, **(environment or {})}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900, check=False)


def outcomes_of(report_dir: Path) -> dict[str, dict[str, Any]]:
    """The outcomes of the one store of a report, by id."""
    (store,) = json.loads((report_dir / "result.json").read_text())["stores"]
    return {outcome["id"]: outcome for outcome in store["outcomes"]}
