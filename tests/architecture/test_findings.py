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

READERS = {
    "blame.py": "an error of a client or a server",
    "cli/doctor.py": "a command with its remark",
    "conformance/said_twice.py": "the seed of a command that a detail repeats",
    "disk/fuse_host.py": "an error of the kernel",
    "report/parts/stale_reads.py": "a sentence without its beginning and its seed",
    "result/older_formats.py": "results of formats before 2.5, and the first of 2.5",
}
"""The modules that take words apart, and which. None may be added; who gives one of these a field removes it here."""


def names_in(expression: ast.expr) -> set[str]:
    """Of variables and attributes."""
    found = list(ast.walk(expression))
    return {each.attr for each in found if isinstance(each, ast.Attribute)} | {each.id for each in found if isinstance(each, ast.Name)}


def taken_apart(source: str) -> Iterator[str]:
    """The calls that take a detail or a reason apart; the first line of one may be shown alone."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            by_part = call.func.attr in PARTS and WORDS & names_in(call.func.value)
            by_pattern = call.func.attr in PATTERNS and any(WORDS & names_in(each) for each in call.args)
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
    ],
)
def test_what_takes_words_apart_is_found(source: str, found: int) -> None:
    """By its parts or by a pattern."""
    assert len(list(taken_apart(source))) == found


def test_no_other_module_takes_a_detail_or_a_reason_apart() -> None:
    """Who needs what it says gives the result a field."""
    package = Path(CHECKOUT) / "storeproof"
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if any(taken_apart(path.read_text(encoding="utf-8")))}
    assert found == READERS.keys()
