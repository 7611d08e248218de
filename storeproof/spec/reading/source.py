"""Reads one YAML file; each error names file, line and field."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from storeproof.errors import SpecError
from storeproof.printable import in_one_line
from storeproof.regular_file import Unreadable, text_of
from storeproof.spec.base import SpecFile
from storeproof.spec.reading import inheritance
from storeproof.spec.reading.explain import explain, locate, summary
from storeproof.spec.reading.reader import reader

F = TypeVar("F", bound=SpecFile)


LONGEST = 1 << 20
"""Bytes of a file; its nodes take about a hundred times as much memory."""
DEEPEST = 50
"""Levels of nested mappings and lists. libyaml and its callers are recursive, and crash at some depth."""
_COMPOSED = 1500
"""A depth that libyaml takes."""


class _Named(io.StringIO):
    """A text whose YAML nodes have the name of its file."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


class _Loader(yaml.SafeLoader):
    """Safe YAML with only `true` and `false` as booleans: `no`, `off` and `yes` are settings of real stores."""


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same with libyaml, ten times as fast; its messages about invalid YAML are less clear."""

    def descend_resolver(self, current_node: object, current_index: object) -> None:
        """Nothing: no tag depends on where a value stands, and this is called for each."""

    def ascend_resolver(self) -> None:
        """Nothing, likewise."""


def _number(construct: Callable[[Any, yaml.Node], Any]) -> Callable[[Any, yaml.Node], Any]:
    """The same, with the line in the error: Python rejects numbers of more than 4,300 digits, and `0x_`."""

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


def read(path: Path, kind: type[F], bases: Path = inheritance.STORES) -> F:
    """The file as a frozen `kind`.

    Args:
        path: the file.
        kind: its model.
        bases: the folder in which `extends:` finds stores by name.

    Raises:
        SpecError: with one line per breach: `file:line: field: what was found; what is allowed`.
    """
    node, data = _parse(path, inherits="extends" in kind.model_fields, bases=bases)
    try:
        return kind.model_validate(data)
    except ValidationError as breaches:
        lines = {explain(node, kind, breach) for breach in breaches.errors(include_url=False)} - {None}
        raise SpecError([f"{file}:{line}: {text}" for file, line, text in sorted(filter(None, lines))]) from None


def plain(path: Path) -> dict[Any, Any]:
    """The values of one file, not validated and without inherited ones. Raises `SpecError` if it is not YAML."""
    return _parse(path, inherits=False)[1]


def at(path: Path, *location: int | str) -> str:
    """`file:line: field`, for errors found after reading the file."""
    node, _ = _parse(path)
    place = locate(node, location)
    return f"{place.file}:{place.line}: {place.field}"


def values(path: Path) -> dict[Any, Any]:
    """The file's values, with inherited ones. Raises `SpecError`."""
    return _parse(path)[1]


def _parse(path: Path, *, inherits: bool = True, bases: Path = inheritance.STORES) -> tuple[yaml.Node, dict[Any, Any]]:
    """The file as YAML nodes, which know their file and line, and as plain values; both with inherited ones."""
    node, loader = _composed(path)
    if inherits:
        node = _with_base(path, node, (reader().settled(path),), bases)
    try:
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as problem:
        raise _not_yaml(path, problem) from None
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: found {summary(data)}; allowed: a mapping that starts with `format: ...`"])
    return node, data


def _with_base(path: Path, node: yaml.Node, chain: tuple[Path, ...], bases: Path) -> yaml.Node:
    """`chain`: the files extended so far, this one last."""
    inheritance.settle(path, node, extended=len(chain) > 1)
    found = inheritance.base_of(path, node, bases)
    if found is None:
        return node
    base, line = found
    if base in chain:
        circle = " extends ".join(str(each) for each in (*chain[chain.index(base) :], base))
        raise SpecError([f"{path}:{line}: extends: {circle}; allowed: no cycles"])
    return inheritance.merged(path, _with_base(base, _composed(base)[0], (*chain, base), bases), node)


def _composed(path: Path) -> tuple[yaml.Node, _Loader | _FastLoader]:
    """The file's own nodes, and the loader that constructs their values."""
    try:
        with reader().open(path) as file:
            text = text_of(file, LONGEST)
    except Unreadable as reason:
        raise SpecError([f"{path}: {reason}; allowed: a YAML file of at most {LONGEST >> 10:,} KiB"]) from None
    try:
        return _composed_by(_FastLoader, path, text)
    except yaml.YAMLError:  # the other loader has the better message
        pass
    try:
        return _composed_by(_Loader, path, text)
    except yaml.reader.ReaderError as problem:
        raise SpecError([f"{path}: not YAML: {problem.reason}, found U+{problem.character:04X} at position {problem.position}"]) from None
    except yaml.MarkedYAMLError as problem:
        raise _not_yaml(path, problem) from None


def _composed_by(kind: type[_Loader | _FastLoader], path: Path, text: str) -> tuple[yaml.Node, _Loader | _FastLoader]:
    _check_depth(path, text, kind)
    loader = kind(_Named(text, str(path)))
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    if node is None:
        raise SpecError([f"{path}:1: the file is empty; allowed: a mapping that starts with `format: ...`"])
    if isinstance(node, yaml.CollectionNode):
        repeated = [
            f"{path}:{line}: {field}: the key is given twice; keep one" for line, field in sorted(_repeated_keys(path, node, 0, set()))
        ]
        if repeated:
            raise SpecError(repeated)
    return node, loader


def _not_yaml(path: Path, problem: yaml.MarkedYAMLError) -> SpecError:
    mark = problem.problem_mark
    context = f"{problem.context}, " if problem.context and problem.context.startswith("expected") else ""
    return SpecError([f"{mark.name if mark else path}:{mark.line + 1 if mark else 1}: not YAML: {context}{problem.problem}"])


def _check_depth(path: Path, text: str, kind: type[_Loader | _FastLoader]) -> None:
    """Refuse a file that is too deep to be composed. The check costs half as much as reading, so it is skipped if the file cannot be."""
    in_lines = max((len(line) - len(line.lstrip()) + line.count("- ") + line.count("? ") for line in text.splitlines()), default=0)
    if text.count("[") + text.count("{") + in_lines <= (DEEPEST if kind is _Loader else _COMPOSED):
        return
    with suppress(yaml.YAMLError):  # reported when the file is read
        depth = 0
        for event in yaml.parse(text, Loader=kind):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise _too_deep(path, event.start_mark)


def _too_deep(path: Path, mark: Any) -> SpecError:
    line = mark.line + 1 if mark else 1
    return SpecError([f"{path}:{line}: mappings and lists are more than {DEEPEST} levels deep; no field is so deep"])


def _repeated_keys(path: Path, node: yaml.CollectionNode, above: int, visited: set[int]) -> list[tuple[int, str]]:
    """Repeated keys of mappings, of which YAML would silently keep the last. Raises `SpecError`: the node is too deep."""
    if id(node) in visited:  # an alias may refer to it again, also from inside
        return []
    visited.add(id(node))
    if above == DEEPEST:
        raise _too_deep(path, node.start_mark)
    found: list[tuple[int, str]] = []
    if isinstance(node, yaml.MappingNode):
        names = [str(key.value) for key, _ in node.value]
        if len(set(names)) < len(names):
            found = [
                (key.start_mark.line + 1, name)
                for at, ((key, _), name) in enumerate(zip(node.value, names, strict=True))
                if name in names[:at]
            ]
        parts = [(name, part) for name, pair in zip(names, node.value, strict=True) for part in pair if type(part) is not yaml.ScalarNode]
    else:
        parts = [(str(position), part) for position, part in enumerate(node.value) if type(part) is not yaml.ScalarNode]
    for name, part in parts:
        found += [(line, f"{name}.{below}") for line, below in _repeated_keys(path, part, above + 1, visited)]
    return found
