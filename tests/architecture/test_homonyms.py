"""One thing for one word: no two public classes have one name, nor have functions that judge. `test_words.py` is about synonyms."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.architecture.installed import CHECKOUT


@cache
def sources() -> dict[str, str]:
    """The modules of `storeproof/`, without the folders that are linked into it."""
    paths = (CHECKOUT / "storeproof").rglob("*.py")
    return {str(path.relative_to(CHECKOUT)): path.read_text() for path in paths if not _linked(path)}


def _linked(path: Path) -> bool:
    return any(folder.is_symlink() for folder in path.parents)


def public_classes(source: str) -> Iterator[str]:
    """Their names; classes inside of classes are left out."""
    yield from (node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def homonyms(modules: Iterable[str]) -> set[str]:
    """Names of public classes that more than one module has."""
    seen: set[str] = set()
    twice: set[str] = set()
    for source in modules:
        for name in public_classes(source):
            (twice if name in seen else seen).add(name)
    return twice


def test_no_class_gets_the_name_of_another() -> None:
    """The name of a new class tells it from all others."""
    assert homonyms(sources().values()) == set(), "a class of that name is there already: say what tells both apart"


def test_what_judges_says_what() -> None:
    """A function is called `judge_need` and not `judge`."""
    assert [name for name, source in sources().items() if any(_is_judge(node) for node in ast.parse(source).body)] == []


def _is_judge(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "judge"


def test_the_check_sees_two_classes_of_one_name() -> None:
    """In two modules; private ones and those inside of a class are free."""
    assert homonyms(["class A: pass\nclass _B: pass", "class _B: pass\nclass A:\n    class C: pass", "class C: pass"]) == {"A"}
