"""Groups of checks whose inputs are closed: CI runs one again when its inputs are not those it last passed with.

`.ci/verified`, which is committed, has a line for each group: the checksum of all its inputs, and its name. The inputs are derived and not
listed, since a file that a list forgets would never be checked again: the group's own files, what these import, and what they load by name.
Only the standard library is needed here: nox may stand in an environment of its own.
"""

from __future__ import annotations

import ast
import hashlib
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERIFIED = Path(".ci/verified")
ALL = "ALL_GROUPS"
"""The environment variable with which every group runs: `.ci/run all` sets it."""

_ALWAYS = (
    *("pyproject.toml", "setup.py", "conftest.py", "noxfile.py", "native/**/*", "storeproof/native*.pyi"),
    *(".ci/setup", ".ci/products", ".ci/*.py", ".ci/images/**/*"),
)
"""What every group stands on: the packages, the compiled part, the servers and images of the machine."""
_PLUGIN = ("storeproof/plugin/*.py",)
"""What every pytest here registers. What it imports later, inside functions, serves the suites alone."""
_BY_NAME = ("spec/**/*", "adapters/**/*", "storeproof/faults/*")
"""What storeproof loads by a name that its code does not have."""
_PROGRAMS = ("storeproof/**/*", "suites/**/*")
"""What a group runs that starts the suites or a command: all of it, since a child's imports are not seen here."""
_PACKAGES = {"storeproof.adapters": "adapters", "storeproof.suites": "suites", "storeproof": "storeproof", "tests": "tests"}


@dataclass(frozen=True)
class Group:
    """A group of checks, which runs as a whole or not at all.

    Attributes:
        name: as in `.ci/verified`, and in what is printed.
        tests: folders and files under `tests/`; nothing for a session of noxfile.py that tries stores.
        files: patterns of further inputs, by name or with what they import if they are Python's.
    """

    name: str
    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


TESTS = (
    Group("stubs", ("tests/stubs",)),
    Group("vendor", ("tests/vendor",)),
    Group("published pages", ("tests/site/test_published.py",)),
    Group("browser", ("tests/site/browser",)),
    Group("containers", ("tests/launch/container",)),
    Group("network", ("tests/network",)),
    Group("disk", ("tests/disk",)),
)
"""Groups of our own tests."""

NDB = Group(
    "mysql-ndb",
    files=(
        *(".ci/images/common.sh", ".ci/images/mysql-ndb/*", "spec/stores/mysql-ndb.yaml", "spec/guarantees/*_node*.yaml"),
        *("adapters/mysql/**/*.py", "storeproof/launch/in_container.py", "storeproof/faults/*_node*_kill.py"),
    ),
)
"""What is the cluster's own, without what it imports: it takes 40 minutes, and all else the other stores try too."""


def trial(store: str, launch: str) -> Group:
    """The trial of a store, launched by `process` or by `container`: it rests on what the suites load, and on no test of ours."""
    return Group(f"{store} by {launch}", files=("storeproof/plugin/**/*.py", "suites/**/*"))


def changed(groups: Iterable[Group]) -> dict[Group, str]:
    """Those whose inputs are not those they last passed with, and the checksums of now; all of them if ALL_GROUPS is set."""
    verified = _verified()
    found = {group: checksum(group) for group in groups}
    return {group: digest for group, digest in found.items() if os.environ.get(ALL) or verified.get(group.name) != digest}


def passed(groups: Mapping[Group, str]) -> None:
    """Write down that these passed with the inputs of these checksums, which were taken before they began."""
    lines = _verified() | {group.name: digest for group, digest in groups.items()}
    VERIFIED.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(lines.items())))


def whole(groups: Mapping[Group, str], reports: Iterable[Path]) -> dict[Group, str]:
    """Those of which every test ran: a test that was skipped, for want of a server, has shown nothing.

    Args:
        groups: groups of tests with their checksums, whose passes ended without a failure.
        reports: the JUnit files of the passes.
    """
    cases = [case for report in reports for case in ElementTree.parse(report).iter("testcase")]  # noqa: S314 (pytest wrote it for us)

    def tests_of(group: Group) -> list[ElementTree.Element]:
        names = tuple(part.removesuffix(".py").replace("/", ".") for part in group.tests)
        return [case for case in cases if f"{case.get('classname')}.{case.get('name')}".lstrip(".").startswith(names)]

    ran = {group: [case.find("skipped") is None for case in tests_of(group)] for group in groups}
    return {group: digest for group, digest in groups.items() if ran[group] and all(ran[group])}


def checksum(group: Group) -> str:
    """Of all inputs of a group together, with their names."""
    digest = hashlib.sha256()
    for path in inputs(group):
        digest.update(f"{hashlib.sha256(Path(path).read_bytes()).hexdigest()}  {path}\n".encode())
    return digest.hexdigest()


def inputs(group: Group) -> list[str]:
    """The paths of all files that a group's verdict rests on, in order."""
    if group is NDB:
        return sorted(_files(group.files))
    own = set(_files(f"{each}/**/*" if Path(each).is_dir() else each for each in group.tests)) | set(_files(group.files))
    begun = own | set(_files((*_BY_NAME, "tests/conftest.py", "tests/__init__.py")))
    plugin = set(_files(_PLUGIN))
    return sorted({*_files(_ALWAYS), *_closure(begun, later=True), *_closure(plugin, later=False)})


def _closure(begun: set[str], *, later: bool) -> set[str]:
    """Those files and all that they reach; `later` also by imports that wait for a function to be called."""
    found, read = set(begun), set[str]()
    while todo := {path for path in found - read if path.endswith(".py")}:
        read |= todo
        found.update(*(_reached(path, later) for path in todo))
    return found


@cache
def _reached(path: str, later: bool) -> frozenset[str]:
    """What a Python file imports, with the files beside that, and what of the checkout it names."""
    found: set[str] = set()
    for node in _nodes(ast.parse(Path(path).read_text()), later):
        if isinstance(node, ast.Import):
            found.update(*(_module(alias.name) for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.update(_module(node.module), *(_module(f"{node.module}.{alias.name}") for alias in node.names))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= _modules_named(node.value)
            if path.startswith("tests/"):
                found |= _named(node.value)
    return frozenset(found)


def _nodes(tree: ast.AST, later: bool) -> Iterator[ast.AST]:
    """All nodes of a file, or those outside of functions."""
    for node in ast.iter_child_nodes(tree):
        if later or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _nodes(node, later)


@cache
def _module(name: str) -> frozenset[str]:
    """The files of a module of ours: its own, those of the packages around it, and what lies beside them that is not Python's."""
    package = next((each for each in _PACKAGES if name == each or name.startswith(f"{each}.")), None)
    if package is None:
        return frozenset()
    at = Path(_PACKAGES[package], *name.removeprefix(package).strip(".").split("."))
    found = {at.with_suffix(".py"), *(folder / each for folder in (at, *at.parents) for each in ("__init__.py", "conftest.py"))}
    beside = {path for path in at.parent.iterdir() if path.suffix != ".py"} if at.parent.is_dir() and at.parent != Path() else set()
    below = {path for path in at.rglob("*") if path.suffix != ".py"} if at.is_dir() and len(at.parts) > 1 else set()
    return frozenset(str(path) for path in found | beside | below if _counts(path))


@cache
def _modules_named(text: str) -> frozenset[str]:
    """The module of ours that a text names: of a child process, or of what a test replaces in it."""
    parts = text.split(".") if text.startswith("storeproof.") else []
    return frozenset().union(*(_module(".".join(parts[:end])) for end in range(2, len(parts) + 1)))


@cache
def _named(text: str) -> frozenset[str]:
    """What a test's text names of the checkout: `reports`, `README.md`; the suites and our command with all that they may load."""
    folder = text.partition("/")[0]
    if text == "storeproof" or folder == "suites":
        return frozenset(_files((*_PROGRAMS, *_BY_NAME)))
    if folder in ("reports", "conformance", "examples", "docs", ".github"):
        return frozenset(_files((f"{folder}/**/*",)))
    return frozenset({text}) if text.endswith(".md") and Path(text).is_file() else frozenset()


def _files(patterns: Iterable[str]) -> Iterator[str]:
    return (str(path) for pattern in patterns for path in Path().glob(pattern) if _counts(path))


def _counts(path: Path) -> bool:
    """It is a file that is committed: not what Python, Cargo and our own build leave."""
    return path.is_file() and not {"__pycache__", "target"} & set(path.parts) and path.suffix not in (".so", ".pyc")


def _verified() -> dict[str, str]:
    lines = VERIFIED.read_text().splitlines() if VERIFIED.exists() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
