"""Reads one YAML file and turns every breach of its schema into a line with file, line and field."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from storeproof.errors import SpecError
from storeproof.spec.base import SpecFile

F = TypeVar("F", bound=SpecFile)
Location = tuple[int | str, ...]


class _Loader(yaml.SafeLoader):
    """Safe YAML where only `true` and `false` are booleans: `no`, `off` and `yes` are settings of real stores."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def read(path: Path, kind: type[F]) -> F:
    """The file as a frozen `kind`.

    Raises:
        SpecError: with one line per breach: `file:line: field: what was found; what is allowed`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise SpecError([f"{path}: cannot be read: {reason}"]) from None
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise SpecError([f"{path}:1: the file is empty; allowed: a {kind.__name__} file, starting with `format: \"1.0\"`"])
        repeated = [f"{path}:{line}: {field}: the key is given twice; keep one" for line, field in _repeated_keys(node)]
        if repeated:
            raise SpecError(repeated)
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        line = mark.line + 1 if mark else 1
        raise SpecError([f"{path}:{line}: not YAML: {problem.problem}"]) from None
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: found {_shown(data)}; allowed: a mapping that starts with `format: \"1.0\"`"])
    try:
        return kind.model_validate(data)
    except ValidationError as breaches:
        lines = [_explain(path, node, kind, breach) for breach in breaches.errors(include_url=False)]
        raise SpecError(sorted(set(lines))) from None


def line_of(path: Path, location: Location) -> int:
    """The line at which a field stands, for errors that are found after the file was read."""
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    return 1 if node is None else _line(node, location)


def _explain(path: Path, node: yaml.Node, kind: type[SpecFile], breach: ErrorDetails) -> str:
    location = breach["loc"]
    field = ".".join(str(part) for part in location) or "(the file)"
    where = f"{path}:{_line(node, location)}: {field}"
    if breach["type"] == "missing":
        return f"{where}: is missing; every {kind.__name__} needs it"
    if breach["type"] == "extra_forbidden":
        known = _siblings(kind, location)
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"allowed: {', '.join(known)}"
        return f"{where}: unknown field; {hint}"
    return f"{where}: found {_shown(breach['input'])}; {breach['msg'].removeprefix('Value error, ')}"


def _siblings(kind: type[SpecFile], location: Location) -> list[str]:
    """The field names allowed beside the unknown one, where the path down to it is plain; else those of the file."""
    schema = kind.model_json_schema()
    here: Any = schema
    for part in location[:-1]:
        here = _resolve(schema, here)
        if isinstance(part, int):
            here = here.get("items", {})
        else:
            here = here.get("properties", {}).get(part, here.get("additionalProperties", here))
    return sorted(_resolve(schema, here).get("properties", {}))


def _resolve(schema: dict[str, Any], part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {}
    options = part.get("anyOf", [part])
    for option in options:
        if "$ref" in option:
            found: dict[str, Any] = schema["$defs"][option["$ref"].rsplit("/", 1)[1]]
            return found
    return dict(options[0])


def _line(node: yaml.Node, location: Location) -> int:
    """The 1-based line of the deepest part of `location` that is written in the file."""
    line = int(node.start_mark.line) + 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            match = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if match is None:
                continue  # a tag of a union in pydantic's location, not a key of the file
            line, node = match[0].start_mark.line + 1, match[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _repeated_keys(node: yaml.Node, prefix: str = "") -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = f"{prefix}{key.value}"
            if str(key.value) in seen:
                found.append((key.start_mark.line + 1, name))
            seen.add(str(key.value))
            found += _repeated_keys(value, f"{name}.")
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            found += _repeated_keys(value, f"{prefix}{position}.")
    return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
