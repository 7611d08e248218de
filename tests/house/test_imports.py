"""The order of dependence: a part imports what stands left of it, never what stands right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.installed import CHECKOUT

ORDER = (
    *("errors", "printable", "regular_file", "outcome", "native", "compiled", "spec", "history", "contract", "embedded", "oracle"),
    *("check", "blame"),
    *("launch", "faults", "corpus", "load", "result", "report", "trial", "cli", "plugin"),
)
PACKAGES = {"storeproof": "storeproof", "spec": "storeproof.spec", "adapters": "storeproof.adapters", "suites": "storeproof.suites"}
FOR_ADAPTERS = ("contract", "embedded", "spec", "errors", "adapters")


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the project by its full name."""
    for folder, package in PACKAGES.items():
        for path in sorted(path for path in (CHECKOUT / folder).rglob("*.py*") if path.suffix in (".py", ".pyi")):
            inner = path.relative_to(CHECKOUT / folder).with_suffix("").parts
            yield ".".join((package, *inner)).removesuffix(".__init__"), path


def imports(source: str) -> Iterator[str]:
    """What a module imports anywhere in it, also inside functions and for types only."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # `from storeproof import x` may name a package: both readings are looked at.
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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
            found.add(f"{module} imports {other}, which stands right of {own}")
        if own in ORDER and other in ("adapters", "suites"):
            found.add(f"{module} imports {other}: the machinery knows neither by name")
        if own == "adapters" and other and other not in FOR_ADAPTERS:
            found.add(f"{module} imports {other}: adapters know the contract and the words of the spec")
        if own == "adapters" and other == "adapters" and wanted != "storeproof.adapters" and not wanted.startswith(module.split("_")[0]):
            found.add(f"{module} imports {wanted}: adapters do not know each other")
        if outside in ("pytest", "_pytest", "pytest_benchmark") and own not in ("plugin", "suites"):
            found.add(f"{module} imports {outside}: only plugin and suites know pytest")
    return sorted(found)


def test_no_module_breaks_the_order() -> None:
    every = list(modules())
    assert len(every) > 60
    assert {part(name) for name, _ in every} - {""} == {*ORDER, "adapters", "suites"}, "a new part has a place in the order"
    found = [breach for name, path in every for breach in breaches(name, path.read_text())]
    assert not found, "\n".join(found)


def test_the_test_sees_every_kind_of_breach() -> None:
    assert breaches("storeproof.spec.x", "from storeproof.contract import call")
    assert breaches("storeproof.spec.x", "from storeproof import contract")
    assert breaches("storeproof.check.x", "def f():\n    import storeproof.load.client")
    assert breaches("storeproof.launch.x", "from storeproof.adapters.redis import connect")
    assert breaches("storeproof.adapters.x", "from storeproof.adapters.redis import connect")
    assert breaches("storeproof.adapters.x", "from storeproof.launch import choose")
    assert breaches("storeproof.trial", "import pytest")
    assert not breaches("storeproof.plugin.run", "import pytest\nfrom storeproof.trial import Trial")
    assert not breaches("storeproof.adapters.x", "from storeproof.contract import call\nfrom storeproof.spec import Model\nimport redis")


def test_the_package_map_is_complete() -> None:
    """A package that the build does not know would be missing from the wheel only, where nobody looks."""
    built = (CHECKOUT / "pyproject.toml").read_text().split("packages = [")[1].split("]")[0]
    folders = {name if path.name == "__init__.py" else name.rpartition(".")[0] for name, path in modules()}
    assert sorted(line.strip(' ",') for line in built.splitlines() if line.strip()) == sorted(folders)
