"""The order of dependence in the compiled part: no modules of `native/src` use each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.installed import CHECKOUT

SOURCES = CHECKOUT / "native" / "src"
_IGNORED = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|#\[cfg\(test\)\]\s*mod \w+;')
"""Texts, comments, and the tests of a module in a file of their own, which use what they test."""
_GROUP = re.compile(r"((?:\w+::)+)\{([^{}]*)\}")
_PATH = re.compile(r"(?<![\w:])((?:crate|super|self)(?:::\w+)+)")
_CHILD = re.compile(r"^\s*(?:pub(?:\(\w+\))? )?mod (\w+);", re.MULTILINE)


def modules(root: Path) -> dict[str, Path]:
    """Every module by its path from the crate: `crate`, `crate::load`, `crate::load::frame::resp`."""
    found = {}
    for path in sorted(root.rglob("*.rs")):
        parts = path.relative_to(root).with_suffix("").parts
        inner = parts[:-1] if parts[-1] in ("lib", "mod") else parts
        found["::".join(("crate", *inner))] = path
    return found


def _spread(source: str) -> str:
    """`a::{b, c::{d}}` as `a::b, a::c::d`: one path for each name."""
    while (
        shorter := _GROUP.sub(lambda group: ", ".join(group[1] + name.strip() for name in group[2].split(",") if name.strip()), source)
    ) != source:
        source = shorter
    return source


def used(module: str, source: str, known: Mapping[str, object]) -> set[str]:
    """The modules that one uses, in a `use` or in a path, and those that it declares."""
    text = _spread(_IGNORED.sub(" ", source))
    found = {f"{module}::{child}" for child in _CHILD.findall(text)}
    for path in _PATH.findall(text):
        names = path.split("::")
        base = [] if names[0] == "crate" else module.split("::")
        while names and names[0] in ("super", "self"):
            if names.pop(0) == "super":
                base.pop()
        names = base + names
        while "::".join(names) not in known:  # the last names are those of items
            names.pop()
        found.add("::".join(names))
    return found - {module}


def circle(sources: Mapping[str, str]) -> str:
    """The modules that use each other, in their order; empty where none do."""
    try:
        TopologicalSorter({name: used(name, source, sources) for name, source in sources.items()}).prepare()
    except CycleError as found:
        return " -> ".join(reversed(found.args[1]))
    return ""


def test_no_modules_of_the_compiled_part_use_each_other() -> None:
    """Also not by way of others, and not a module and its parent."""
    found = {name: path.read_text() for name, path in modules(SOURCES).items()}
    assert len(found) > 30
    assert used("crate::load::pump", found["crate::load::pump"], found) >= {"crate::dice", "crate::load::connection", "crate::load::frame"}
    assert circle(found) == ""


@pytest.mark.parametrize(
    "source",
    [
        "use crate::a::B;",
        "use super::{a::{B, C}, other};",
        "pub fn f() -> super::a::B {}",
        "use crate::{a, dice};",
    ],
)
def test_a_circle_is_seen_however_it_is_written(source: str) -> None:
    """In a `use`, in a group of names, or in a path; not in a text, a comment or a test."""
    rest = {"crate": "mod a;\nmod b;", "crate::a": "use crate::b::f;", "crate::dice": "", "crate::other": ""}
    assert circle({**rest, "crate::b": source}) in ("crate::a -> crate::b -> crate::a", "crate::b -> crate::a -> crate::b")
    assert circle({**rest, "crate::b": 'const A: &str = "crate::a";  // crate::a\n'}) == ""


def test_a_child_that_uses_its_parent_is_a_circle() -> None:
    """Its tests may, and it may use its siblings."""
    parent = "pub struct Shared;\nmod child;\nmod sibling;\n#[cfg(test)]\nmod tests;"
    rest = {"crate": "mod parent;", "crate::parent": parent, "crate::parent::sibling": "", "crate::parent::tests": "use super::Shared;"}
    assert circle({**rest, "crate::parent::child": "use super::Shared;"})
    assert circle({**rest, "crate::parent::child": "use super::sibling::X;"}) == ""
