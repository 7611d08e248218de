"""Reads one YAML file and turns every breach of its schema into a line with file, line and field."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from storeproof.errors import SpecError
from storeproof.printable import in_one_line
from storeproof.regular_file import Unreadable, read_text
from storeproof.spec.base import SpecFile
from storeproof.spec.explain import explain, locate, summary

F = TypeVar("F", bound=SpecFile)


LONGEST = 1 << 20
"""Bytes of a file: its nodes take some hundred times as much."""
DEEPEST = 50
"""Levels of mappings and lists in one another. libyaml and what comes after it go down by recursion, and at some depth die of it."""


class _Loader(yaml.SafeLoader):
    """Safe YAML where only `true` and `false` are booleans: `no`, `off` and `yes` are settings of real stores."""


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same by libyaml, ten times as fast; what it says of a file that is not YAML is less clear."""


def _number(construct: Callable[[Any, yaml.Node], Any]) -> Callable[[Any, yaml.Node], Any]:
    """The same, with an error that knows its line: Python makes no number of 4,300 digits or more, nor of `0x_`."""

    def constructed(loader: Any, node: yaml.Node) -> Any:
        try:
            return construct(loader, node)
        except ValueError:
            found = in_one_line(str(node.value), 40)
            raise yaml.constructor.ConstructorError(None, None, f"found {found}, which is no number; quote it", node.start_mark) from None

    return constructed


for _each in (_Loader, _FastLoader):
    _each.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _each.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
    for _what in ("int", "float"):
        _each.add_constructor(f"tag:yaml.org,2002:{_what}", _number(_each.yaml_constructors[f"tag:yaml.org,2002:{_what}"]))


def read(path: Path, kind: type[F]) -> F:
    """The file as a frozen `kind`.

    Raises:
        SpecError: with one line per breach: `file:line: field: what was found; what is allowed`.
    """
    node, data = _parse(path)
    try:
        return kind.model_validate(data)
    except ValidationError as breaches:
        lines = {explain(node, kind, breach) for breach in breaches.errors(include_url=False)} - {None}
        raise SpecError([f"{path}:{line}: {text}" for line, text in sorted(filter(None, lines))]) from None


def at(path: Path, *location: int | str) -> str:
    """`file:line: field`, for errors that are found after the file was read."""
    node, _ = _parse(path)
    place = locate(node, location)
    return f"{path}:{place.line}: {place.field}"


def _parse(path: Path) -> tuple[yaml.Node, dict[Any, Any]]:
    """The file as YAML's nodes, which know their lines, and as plain values."""
    try:
        text = read_text(path, LONGEST)
    except Unreadable as reason:
        raise SpecError([f"{path}: {reason}; allowed: a YAML file of at most {LONGEST >> 10:,} KiB"]) from None
    try:
        return _parsed(path, text, _FastLoader)
    except yaml.YAMLError:
        return _parsed(path, text, _Loader)


def _parsed(path: Path, text: str, kind: type[_Loader | _FastLoader]) -> tuple[yaml.Node, dict[Any, Any]]:
    _check_depth(path, text, kind)
    try:
        loader = kind(text)
    except yaml.reader.ReaderError as problem:
        if kind is _FastLoader:
            raise
        raise SpecError([f"{path}: not YAML: {problem.reason}, found U+{problem.character:04X} at position {problem.position}"]) from None
    try:
        node = loader.get_single_node()
        if node is None:
            raise SpecError([f'{path}:1: the file is empty; allowed: a mapping that starts with `format: "1.0"`'])
        repeated = [f"{path}:{line}: {field}: the key is given twice; keep one" for line, field in _repeated_keys(node, "", set())]
        if repeated:
            raise SpecError(repeated)
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as problem:
        if kind is _FastLoader:
            raise  # to be told by the other one
        mark = problem.problem_mark
        context = f"{problem.context}, " if problem.context and problem.context.startswith("expected") else ""
        raise SpecError([f"{path}:{mark.line + 1 if mark else 1}: not YAML: {context}{problem.problem}"]) from None
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise SpecError([f'{path}:1: found {summary(data)}; allowed: a mapping that starts with `format: "1.0"`'])
    return node, data


def _check_depth(path: Path, text: str, kind: type[_Loader | _FastLoader]) -> None:
    """Refuse a file that is too deep. To look costs half as much as to read: where fewer levels begin than are allowed it is not done."""
    in_lines = max((len(line) - len(line.lstrip()) + line.count("- ") + line.count("? ") for line in text.splitlines()), default=0)
    if text.count("[") + text.count("{") + in_lines <= DEEPEST:
        return
    with suppress(yaml.YAMLError):  # told when it is read, which gets no further
        depth = 0
        for event in yaml.parse(text, Loader=kind):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                mark = event.start_mark
                raise SpecError(
                    [f"{path}:{mark.line + 1 if mark else 1}: mappings and lists are more than {DEEPEST} levels deep; no field is so deep"]
                )


def _repeated_keys(node: yaml.Node, prefix: str, visited: set[int]) -> list[tuple[int, str]]:
    """Keys that one mapping has twice: YAML would keep the last and say nothing."""
    if id(node) in visited:  # an anchor may be referred to again, also from within itself
        return []
    visited.add(id(node))
    found: list[tuple[int, str]] = []
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = f"{prefix}{key.value}"
            if str(key.value) in seen:
                found.append((key.start_mark.line + 1, name))
            seen.add(str(key.value))
            found += _repeated_keys(value, f"{name}.", visited)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            found += _repeated_keys(value, f"{prefix}{position}.", visited)
    return found
