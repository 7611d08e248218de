"""The order of dependence: a package imports those to the left of it, never one to the right, and no modules import each other."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.architecture.installed import CHECKOUT

ORDER = (
    *(
        "outcome",
        "errors",
        "halt",
        "printable",
        "masking",
        "units",
        "regular_file",
        "support",
        "native",
        "native_support",
        "spec",
        "run_command",
        "history",
        "stats",
        "contract",
        "embedded",
    ),
    *("oracle", "check", "evidence", "blame", "machine", "disk", "network", "cleanup", "launch", "faults", "corpus", "records", "load"),
    *("result", "anatomy", "store_under_test", "experiments", "report", "site", "conformance", "cli", "plugin", "suites"),
)
FOLDERS = {"storeproof": "storeproof", "adapters": "storeproof.adapters", "suites": "storeproof.suites"}
FOR_ADAPTERS = ("contract", "embedded", "spec", "errors", "adapters")
KNOW_PYTEST = ("plugin", "suites")
LARGEST_SHARE = 0.2
MOST_FILES = 25


@cache
def modules() -> Mapping[str, Path]:
    """Every module of the project by its full name."""
    found = {}
    for folder, package in FOLDERS.items():
        for path in sorted(path for path in (CHECKOUT / folder).rglob("*.py*") if path.suffix in (".py", ".pyi")):
            inner = path.relative_to(CHECKOUT / folder).with_suffix("").parts
            found[".".join((package, *inner)).removesuffix(".__init__")] = path
    return found


@cache
def parsed(source: str) -> ast.Module:
    """A source that several tests look at."""
    return ast.parse(source)


def imports(source: str) -> Iterator[str]:
    """What a module imports anywhere in it, also inside functions and for types only."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # `from storeproof import x` may name a package: both readings are looked at.
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_modules(source: str) -> set[str]:
    """The modules of the project that a source imports. For `from package import module` that is the module alone."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            found |= submodules
            if len(submodules) < len(node.names):
                found.add(str(node.module))
    return found & modules().keys()


def part(module: str) -> str:
    """`contract` of `storeproof.contract.guard`; nothing for what is not ours."""
    names = module.split(".")
    return names[1] if names[0] == "storeproof" and len(names) > 1 else ""


def breaches(module: str, source: str) -> list[str]:
    """What a module imports and must not."""
    own, found = part(module), set[str]()
    for wanted in imports(source):
        other, outside = part(wanted), wanted.split(".")[0]
        if own in ORDER and other in ORDER and ORDER.index(other) > ORDER.index(own):
            found.add(f"{module} imports {other}, which is to the right of {own}")
        if own in ORDER and other == "adapters":
            found.add(f"{module} imports {wanted}: adapters are loaded by the name in the store's YAML")
        if own == "adapters" and other and other not in FOR_ADAPTERS:
            found.add(f"{module} imports {other}: adapters use the contract and the spec only")
        if own == "adapters" and wanted.startswith("storeproof.adapters.") and not _may_use(module.split(".")[2], wanted.split(".")[2]):
            found.add(f"{module} imports {wanted}: adapters do not import each other")
        if outside in ("pytest", "_pytest", "pytest_benchmark") and own not in KNOW_PYTEST:
            found.add(f"{module} imports {outside}: only {' and '.join(KNOW_PYTEST)} use pytest")
    return sorted(found)


def _may_use(adapter: str, other: str) -> bool:
    """A product that is built on another's uses its adapter, as `redis_stack` that of `redis`; `sql` is for all that speak it."""
    return adapter == other or other == "sql" or adapter.startswith(f"{other}_")


def test_no_module_breaks_the_order() -> None:
    """Every part has its place in the order, and imports only from parts before it."""
    assert len(modules()) > 60
    assert {part(name) for name in modules()} - {""} == {*ORDER, "adapters"}
    found = [breach for name, path in modules().items() for breach in breaches(name, path.read_text())]
    assert not found, "\n".join(found)


def test_the_check_sees_every_kind_of_breach() -> None:
    """Each rule is broken once, and what is allowed is not reported."""
    assert breaches("storeproof.spec.x", "from storeproof.contract import call")
    assert breaches("storeproof.spec.x", "from storeproof import contract")
    assert breaches("storeproof.check.x", "def f():\n    import storeproof.load.driver.client")
    assert breaches("storeproof.launch.x", "from storeproof.adapters.redis import connect")
    assert breaches("storeproof.adapters.x", "from storeproof.adapters.redis import connect")
    assert breaches("storeproof.adapters.x", "from storeproof.launch import launcher")
    assert breaches("storeproof.experiments.x", "from storeproof.plugin.run import Run")
    assert breaches("storeproof.store_under_test", "import pytest")
    assert breaches("storeproof.plugin.run", "from storeproof.suites import conftest")
    assert not breaches("storeproof.plugin.run", "import pytest\nfrom storeproof.store_under_test import StoreUnderTest")
    assert not breaches("storeproof.adapters.x", "from storeproof.contract import call\nfrom storeproof.spec import Model\nimport redis")


def test_no_modules_import_each_other() -> None:
    """There is no circle, not even one of imports inside functions or for types only."""
    graph = {name: imported_modules(path.read_text()) - {name} for name, path in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        raise AssertionError(" -> ".join(reversed(circle.args[1]))) from None


def test_no_package_is_most_of_the_machinery() -> None:
    """A package that holds more than a fifth of the lines holds more than one subject."""
    lines = Counter[str]()
    for name, path in modules().items():
        if part(name) not in ("", "adapters", "suites"):
            lines[part(name)] += len(path.read_text().splitlines())
    assert {name: count for name, count in lines.items() if count > LARGEST_SHARE * lines.total()} == {}


def test_no_folder_is_a_heap() -> None:
    """A folder of more than 25 source files is parted by subject."""
    sources = [*modules().values(), *(CHECKOUT / "native" / "src").rglob("*.rs"), *(CHECKOUT / "tests").rglob("*.py")]
    files = Counter(str(path.parent.relative_to(CHECKOUT)) for path in sources)
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}
