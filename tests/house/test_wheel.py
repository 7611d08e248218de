"""The wheel holds all that a vendor without a checkout needs, and the suites run from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.installed import CHECKOUT, outcomes_of, run_pytest

FOLDERS = {"storeproof": "storeproof", "spec": "storeproof/spec", "adapters": "storeproof/adapters", "suites": "storeproof/suites"}

pytestmark = pytest.mark.slow


def run(command: list[str], cwd: Path | None = None) -> str:
    """What a command prints; all that it says, where it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: pip builds in place, and the checkout stays as it is."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in FOLDERS:
        shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copytree(CHECKOUT / "native", source / "native", ignore=shutil.ignore_patterns("target"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CONTRIBUTING.md"):
        shutil.copy(CHECKOUT / name, source)
    # Where setuptools is at hand nothing is downloaded.
    wanted = ("setuptools", "setuptools_rust")
    at_hand = all(find_spec(name) is not None for name in wanted) and int(version("setuptools").split(".")[0]) >= 77
    isolation = ["--no-build-isolation"] if at_hand else []
    run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *isolation, "--wheel-dir", str(built), str(source)])
    (path,) = built.glob("storeproof-*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment of its own that has the wheel, and borrows the other packages of this one.

    They are borrowed by a path file: what lies on such a path is not asked for path files of its own, so the editable
    install of the checkout stays out of it.
    """
    root = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(root)])
    python = root / "bin" / "python"
    site = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    run([sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)])
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + os.linesep)
    return str(python)


def test_the_wheel_holds_every_file_and_nothing_generic(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {"storeproof/py.typed", "storeproof/native.pyi"}
    if shutil.which("cargo"):  # the compiled part; without a toolchain, all the rest
        wanted.add("storeproof/native.abi3.so")
    for folder, package in FOLDERS.items():
        for path in (CHECKOUT / folder).rglob("*"):
            # The manual is in the package as links to what a checkout has elsewhere.
            if path.parent.name == "pages" or (
                path.suffix in (".py", ".yaml", ".json", ".j2", ".css", ".txt") and "__pycache__" not in path.parts
            ):
                wanted.add(f"{package}/{path.relative_to(CHECKOUT / folder)}")
    assert packed == wanted


def test_the_suites_run_from_the_wheel(python: str, tmp_path: Path) -> None:
    selection = "capabilities and key_access.put-get"
    arguments = ("--pyargs", "storeproof.suites", "--store=sqlite", "-k", selection, "--report-dir=report")
    done = run_pytest(*arguments, cwd=tmp_path, python=python)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = {name for name, outcome in outcomes_of(tmp_path / "report").items() if outcome["outcome"] == "pass"}
    assert "capabilities.key_access.put-get/001" in passed
    assert all(name.startswith("capabilities.key_access.put-get/") for name in passed)
    assert {"result.json", "report.html", "report.md", "junit.xml"} <= {path.name for path in (tmp_path / "report").iterdir()}
    modules = ("storeproof", "storeproof.spec", "storeproof.adapters", "storeproof.suites")
    tell = f"import sys, {', '.join(modules)}; print(*(sys.modules[name].__file__ for name in {modules}))"
    imported = run([python, "-c", tell], cwd=tmp_path).split()
    assert all(Path(file).is_relative_to(Path(python).parents[1]) for file in imported), imported


def test_the_command_runs_from_the_wheel(python: str, tmp_path: Path) -> None:
    command = str(Path(python).with_name("storeproof"))
    run([command, "schema", "--check"], cwd=tmp_path)
    assert "`${here}`" in run([command, "manual", "add a store"], cwd=tmp_path)
    assert run([command, "manual", "query"], cwd=tmp_path).rstrip() == (CHECKOUT / "spec" / "QUERY.md").read_text().rstrip()
    assert "--pyargs storeproof.suites --store=mine.yaml" in run([command, "new-store", "mine", "--embedded"], cwd=tmp_path)
