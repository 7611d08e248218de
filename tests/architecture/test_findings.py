"""A verdict is a field of the result, and never read back out of the words in which it was told."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.installed import CHECKOUT

WORDS = {"detail", "reason"}
PARTS = {"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix", "removesuffix"}
PATTERNS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "split"}
FIRST_LINE = ("'\\n'", "chr(10)")

OLDER = "older_formats.py"
"""The one place for what results and files said in words before they had fields."""


def errors_in(tree: ast.AST) -> set[ast.Name]:
    """Where an exception is named: what it says is the word of the operating system, a store or a client, and no verdict."""
    found = set[ast.Name]()
    for scope in ast.walk(tree):
        names = set[str | None]()
        if isinstance(scope, ast.ExceptHandler):
            names = {scope.name}
        elif isinstance(scope, ast.FunctionDef):
            given = [each for each in (*scope.args.args, *scope.args.kwonlyargs) if each.annotation is not None]
            names = {each.arg for each in given if ast.unparse(each.annotation).endswith(("Exception", "Error"))}  # type: ignore[arg-type]
        found |= {each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id in names}
    return found


def names_in(expression: ast.expr, errors: set[ast.Name]) -> set[str]:
    """Of variables and attributes, but for errors and what these say."""
    found = list(ast.walk(expression))
    said = {each.attr for each in found if isinstance(each, ast.Attribute) and each.value not in errors}
    return said | {each.id for each in found if isinstance(each, ast.Name) and each not in errors}


def taken_apart(source: str) -> Iterator[str]:
    """The calls that take a detail or a reason apart; the first line of one may be shown alone."""
    tree = ast.parse(source)
    errors = errors_in(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            by_part = call.func.attr in PARTS and WORDS & names_in(call.func.value, errors)
            by_pattern = call.func.attr in PATTERNS and any(WORDS & names_in(each, errors) for each in call.args)
            if (by_part and [ast.unparse(each) for each in call.args] not in [[each] for each in FIRST_LINE]) or by_pattern:
                yield ast.unparse(call)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("case.detail.startswith('stale')", 1),
        ("_STALE.search(found.detail)", 1),
        ("re.match('x', reason)", 1),
        ("what, *rest = each.reason.strip().split(': ')", 1),
        ("detail.partition('\\n')[0]", 0),
        ("case.id.startswith('durability.')", 0),
        ("try:\n    x()\nexcept OSError as reason:\n    str(reason).split()\nreason.split()", 1),
        ("def f(error: BaseException, case):\n    _FULL.search(error.reason)\n    _FULL.search(case.reason)", 1),
    ],
)
def test_what_takes_words_apart_is_found(source: str, found: int) -> None:
    """By its parts or by a pattern."""
    assert len(list(taken_apart(source))) == found


def test_no_module_takes_a_detail_or_a_reason_apart() -> None:
    """Who needs what it says gives the result a field."""
    modules = [path for path in (Path(CHECKOUT) / "storeproof").rglob("*.py") if path.name != OLDER]
    assert [str(path) for path in modules if any(taken_apart(path.read_text(encoding="utf-8")))] == []
