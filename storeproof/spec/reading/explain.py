"""Error messages for specification files: where, what was found, what is allowed, what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic_core import ErrorDetails

from storeproof.printable import shortened
from storeproof.spec.base import PATTERN_WORDS, RuleError, SpecFile

Location = tuple[int | str, ...]
"""Field names and list positions, from the top of a file."""


@dataclass(frozen=True)
class SourcePosition:
    """A position in a file."""

    file: str
    line: int
    """1-based line of the field, or of what should contain it."""
    field: str
    """The dotted path of the field."""
    text: str | None
    """The text there, if it is a scalar."""


def locate(node: yaml.Node, location: Location) -> SourcePosition:
    """The position of a field. Parts of pydantic's location that are not in the file, such as tags of unions, are skipped."""
    mark, named = node.start_mark, []
    for number, part in enumerate(location):
        if part == "[key]":
            continue
        found = _child(node, part)
        if found is not None:
            mark, node = found
            named.append(str(part))
        elif number == len(location) - 1:
            named.append(str(part))
            return SourcePosition(mark.name, mark.line + 1, ".".join(named), None)
    text = node.value if isinstance(node, yaml.ScalarNode) else None
    return SourcePosition(mark.name, mark.line + 1, ".".join(named) or "(the file)", text)


def explain(node: yaml.Node, kind: type[SpecFile], breach: ErrorDetails) -> tuple[str, int, str] | None:
    """File, line and message of one validation error; None if it only repeats another."""
    location, found, context = breach["loc"], breach["input"], breach.get("ctx", {})
    error = context.get("error")
    if isinstance(error, RuleError):
        place = locate(node, (*location, *error.location))
        return place.file, place.line, f"{place.field}: {error}"
    if breach["type"] == "too_short" and found:
        return None  # its items have errors: pydantic counts only the valid ones
    if breach["type"] == "missing" and isinstance(found, dict) and any(kind.RENAMED.get(str(name)) == location[-1] for name in found):
        return None  # it is present under its old name, which has its own message
    if breach["type"] in ("union_tag_invalid", "union_tag_not_found"):
        # The wrong field is the one that names the alternative.
        place = locate(node, (*location, context["discriminator"].strip("'")))
    else:
        place = locate(node, location)
    return place.file, place.line, f"{place.field}: {_message(kind, breach, place)}"


def unknown(what: str, found: str, allowed: Iterable[str], extra: str = "") -> str:
    """The message for a name that does not exist."""
    names = sorted(allowed)
    return f"unknown {what} `{found}`{_meant(found, names)}; allowed: {', '.join([*names, extra] if extra else names)}"


def summary(value: object) -> str:
    """A value in a few words, as in YAML."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"a mapping of {', '.join(map(str, list(value)[:5]))}{', ...' if len(value) > 5 else ''}" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    return shortened(repr(value), 60)


def _child(node: yaml.Node, part: int | str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark, value) for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark, item
    return None


def _message(kind: type[SpecFile], breach: ErrorDetails, place: SourcePosition) -> str:
    context = breach.get("ctx", {})
    if breach["type"] == "missing":
        return "is missing, and must be given"
    if breach["type"] == "extra_forbidden":
        known, name = _fields_beside(kind, breach["loc"]), str(breach["loc"][-1])
        if kind.RENAMED.get(name) in known:
            return f"`{name}` is now called `{kind.RENAMED[name]}`: rename it"
        return f"unknown field{_meant(name, known)}; allowed: {', '.join(known)}"
    if breach["type"] == "union_tag_invalid":
        tags = re.findall(r"'([^']*)'", context["expected_tags"])
        return f"found {context['tag']!r}{_meant(context['tag'], tags)}; allowed: {', '.join(tags)}"
    if breach["type"] == "union_tag_not_found":
        return "is missing, and must be given"
    if breach["type"] == "value_error":
        return f"found {summary(breach['input'])}; {breach['msg'].removeprefix('Value error, ')}"
    word = _ALLOWED.get(breach["type"])
    allowed = word(breach["input"], context, place) if word else breach["msg"]
    return f"found {summary(breach['input'])}{_meant_choice(breach)}; allowed: {allowed}"


def _text(found: Any, _context: Mapping[str, Any], place: SourcePosition) -> str:
    if found is None:
        return 'text; for empty text write ""'
    # The text of the file, not the value: YAML reads 0755 as 493, and 12:30 as 750.
    return f'text; quote it: "{place.text}"' if place.text is not None else "text"


def _whole_number(found: Any, _context: Mapping[str, Any], _place: SourcePosition) -> str:
    return f"a whole number, without quotes: {found}" if isinstance(found, str) and found.lstrip("-").isdigit() else "a whole number"


def _boolean(found: Any, _context: Mapping[str, Any], _place: SourcePosition) -> str:
    return "true or false, without quotes" if found in ("true", "false") else "true or false"


def _choice(_found: Any, context: Mapping[str, Any], _place: SourcePosition) -> str:
    return ", ".join(_choices(context["expected"])) or str(context["expected"])


def _always(words: str) -> Callable[[Any, Mapping[str, Any], SourcePosition], str]:
    return lambda _found, context, _place: words.format(**context)


_ALLOWED: Mapping[str, Callable[[Any, Mapping[str, Any], SourcePosition], str]] = {
    "string_type": _text,
    "int_type": _whole_number,
    "int_from_float": _whole_number,
    "float_type": _always("a number"),
    "date_from_datetime_parsing": _always("a day, as in 2027-12-31"),
    "float_parsing": _always("a number"),
    "bool_type": _boolean,
    "tuple_type": _always("a list, as in [a, b]"),
    "dict_type": _always("a mapping, as in {{name: value}}"),
    "model_type": _always("a mapping, as in {{name: value}}"),
    "literal_error": _choice,
    "string_pattern_mismatch": lambda _found, context, _place: PATTERN_WORDS.get(context["pattern"], context["pattern"]),
    "greater_than": _always("more than {gt:g}"),
    "greater_than_equal": _always("{ge:g} or more"),
    "less_than": _always("less than {lt:g}"),
    "less_than_equal": _always("{le:g} or less"),
    "too_short": _always("at least {min_length}"),
    "too_long": _always("at most {max_length}"),
    "recursion_loop": _always("a value that does not contain itself"),
}
"""What is allowed, by pydantic's error type: (found, context, position) -> text."""


def _choices(expected: str) -> list[str]:
    return re.findall(r"'([^']*)'", expected)


def _meant_choice(breach: ErrorDetails) -> str:
    if breach["type"] != "literal_error":
        return ""
    return _meant(str(breach["input"]), _choices(breach["ctx"]["expected"]))


def _meant(found: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(found, list(names), n=1)
    return f" (did you mean `{close[0]}`?)" if close else ""


def _fields_beside(kind: type[SpecFile], location: Location) -> list[str]:
    """The allowed field names where an unknown one was found."""
    schema = kind.model_json_schema()
    here: Any = schema
    for part in location[:-1]:
        here = _descend(schema, here, part)
    return sorted(_options(schema, here)[0].get("properties", {}))


def _descend(schema: Mapping[str, Any], here: Any, part: int | str) -> Any:
    for option in _options(schema, here):
        if "oneOf" in here and str(part) in (option.get("title"), option.get("title", "").lower()):
            return option  # the tag of a union
        if isinstance(part, int) and "items" in option:
            return option["items"]
        if part in option.get("properties", {}):
            return option["properties"][part]
        if isinstance(option.get("additionalProperties"), dict):
            return option["additionalProperties"]
        if "patternProperties" in option:
            return next(iter(option["patternProperties"].values()))
    return {}


def _options(schema: Mapping[str, Any], part: Any) -> list[dict[str, Any]]:
    """The alternatives of a part of a JSON Schema, with references resolved."""
    options = part.get("anyOf") or part.get("oneOf") or [part]
    return [schema["$defs"][option["$ref"].rsplit("/", 1)[1]] if "$ref" in option else option for option in options]
