"""What holds for every file: none grows too long, and there is no drawer for odds and ends."""

from __future__ import annotations

import ast

from tests.architecture.installed import CHECKOUT

LONGEST = 400

RUST = [path.relative_to(CHECKOUT) for path in (CHECKOUT / "native" / "src").rglob("*.rs")]
FILES = [
    path.relative_to(CHECKOUT)
    for folder in (".", "storeproof", "spec", "adapters", "suites", "tests")
    for path in (CHECKOUT.glob("*.py") if folder == "." else (CHECKOUT / folder).rglob("*.py"))
]


def test_no_file_is_too_long() -> None:
    """No Python or Rust file has more than 400 lines."""
    lengths = {str(path): len((CHECKOUT / path).read_text().splitlines()) for path in (*FILES, *RUST)}
    assert len(lengths) > 100
    assert len(RUST) > 3
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    """No file or folder is called utils, helpers or the like."""
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}
    assert [str(path) for path in FILES if drawers & {part.removesuffix(".py") for part in path.parts}] == []


def test_every_test_says_what_behaviour_it_holds() -> None:
    """Each test function has a docstring."""
    tests = [
        (path, node)
        for path in FILES
        if path.name.startswith("test_")
        for node in ast.walk(ast.parse((CHECKOUT / path).read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(tests) > 1000
    assert [f"{path}:{node.lineno}: {node.name}" for path, node in tests if not ast.get_docstring(node)] == []
