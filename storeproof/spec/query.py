"""The models of the query language; QUERY.md defines its meaning."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveInt,
    Strict,
    Tag,
    ValidationError,
    model_validator,
)

from storeproof.spec.base import Frozen, RuleError
from storeproof.spec.place import PLACES, WRITTEN, is_place, locates

Comparison = Literal["eq", "ne", "lt", "lte", "gt", "gte"]
Operator = Literal[
    "eq",
    "ne",
    "lt",
    "lte",
    "gt",
    "gte",
    "in",
    "exists",
    "type",
    "prefix",
    "contains",
    "regex",
    "ieq",
    "icontains",
    "any",
    "all",
    "size",
    "element",
    "words",
    "any_word",
    "phrase",
    "word_prefix",
    "fuzzy",
    "within_box",
    "within_polygon",
    "near",
]
TypeName = Literal["null", "boolean", "number", "text", "list", "object"]
Function = Literal["count", "sum", "min", "max", "avg", "distinct", "percentile"]
Unit = Literal["year", "month", "day", "hour"]


def _path(written: Any) -> Any:
    """`maker.country` and `[maker, country]` are the same path; names with a dot and list positions need the second form."""
    return tuple(written.split(".")) if isinstance(written, str) else written


FieldPath = Annotated[tuple[str | int, ...], Strict(False), BeforeValidator(_path)]
"""Field names and list positions from the root of a document. A name does not reach through a list."""

SEARCHES = frozenset({"words", "any_word", "phrase", "word_prefix", "fuzzy"})
"""Full-text operators; the model's `text` names the indexed paths."""
_TEXT_OPERATORS = frozenset({"prefix", "contains", "regex", "ieq", "icontains", *SEARCHES})
_TYPE_NAMES = get_args(TypeName)


class Comparing(Frozen):
    """The condition of `any` on the items of a list. Written `[OPERATOR, VALUE]`."""

    operator: Comparison
    value: Any

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, written: Any) -> Any:
        return dict(zip(("operator", "value"), written, strict=False)) if isinstance(written, (list, tuple)) else written


class Condition(Frozen):
    """A condition on the value at a path. Written `[PATH, OPERATOR, VALUE]`."""

    path: FieldPath
    operator: Operator
    value: Any
    """A JSON value; a `Comparing` for `any`, a filter on the items for `element`."""

    @model_validator(mode="before")
    @classmethod
    def _from_triple(cls, written: Any) -> Any:
        if not isinstance(written, (list, tuple)):
            return written
        if len(written) != 3:
            raise ValueError("a condition is [PATH, OPERATOR, VALUE]")
        parts = dict(zip(("path", "operator", "value"), with_decimals(written), strict=True))
        if parts["operator"] == "any":
            parts["value"] = Comparing.model_validate(parts["value"])
        if parts["operator"] == "element":
            parts["value"] = Where.model_validate({"filter": parts["value"]}).filter
        return parts

    @model_validator(mode="after")
    def _value_suits(self) -> Self:
        allowed = {
            **dict.fromkeys(("lt", "lte", "gt", "gte"), ("a number or a text", type(self.value) in (int, float, str, Decimal))),
            **dict.fromkeys(("in", "all"), ("a list of values", isinstance(self.value, (list, tuple)))),
            **dict.fromkeys(_TEXT_OPERATORS, ("a text", isinstance(self.value, str))),
            "exists": ("true or false", isinstance(self.value, bool)),
            "type": (", ".join(_TYPE_NAMES), self.value in _TYPE_NAMES),
            "size": ("a number of items", type(self.value) is int and self.value >= 0),
            **{operator: (WRITTEN[operator], locates(operator, self.value)) for operator in PLACES},
        }
        words, suits = allowed.get(self.operator, ("", True))
        if not suits:
            raise RuleError(f"found {self.value!r} behind `{self.operator}`; allowed: {words}", 2)
        return self


class And(Frozen):
    """All parts match; an empty one matches everything."""

    parts: Annotated[tuple[Filter, ...], Strict(False), Field(alias="and")]


class Or(Frozen):
    """One of the parts matches; an empty one matches nothing."""

    parts: Annotated[tuple[Filter, ...], Strict(False), Field(alias="or")]


class Not(Frozen):
    """The part does not match. Every record matches either a filter or its `not`."""

    part: Annotated[Filter, Field(alias="not")]


def _kind_of_filter(written: Any) -> str | None:
    if isinstance(written, (list, tuple, Condition)):
        return "Condition"
    if isinstance(written, (And, Or, Not)):
        return type(written).__name__
    return next((word.capitalize() for word in ("and", "or", "not") if isinstance(written, dict) and word in written), None)


Filter = Annotated[
    Annotated[Condition, Tag("Condition")] | Annotated[And, Tag("And")] | Annotated[Or, Tag("Or")] | Annotated[Not, Tag("Not")],
    Discriminator(
        _kind_of_filter,
        custom_error_type="filter",
        custom_error_message="a filter: [PATH, OPERATOR, VALUE], {and: [FILTER, ...]}, {or: [FILTER, ...]} or {not: FILTER}",
    ),
]
"""A condition on records."""


def conjuncts(condition: Filter | None) -> list[Filter]:
    """The conditions that must all hold, taken out of every `and` that is not inside another kind of filter; none for None."""
    match condition:
        case None:
            return []
        case And(parts=parts):
            return [inner for part in parts for inner in conjuncts(part)]
    return [condition]


class Where(Frozen):
    """The part all requests have: a filter. Without one, all records match."""

    filter: Filter | None = None


And.model_rebuild()
Or.model_rebuild()
Not.model_rebuild()
Where.model_rebuild()


LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
"""The pattern of a language tag."""
_SORT_WORDS = {"from": "origin"}
"""Attributes of a sort key whose name in YAML is a Python keyword."""


class SortKey(Frozen):
    """One sort key. Written `[PATH, asc|desc]`, or `[PATH, asc|desc, first|last]` for the position of null and missing values.

    `[PATH, asc|desc, {from: [longitude, latitude]}]` sorts by distance, `[PATH, asc|desc, {collation: LANGUAGE}]` in the order of a
    language; `case: ignored` and `nulls: first|last` may be added.
    """

    path: FieldPath
    """The empty path is the record's key."""
    order: Literal["asc", "desc"]
    nulls: Literal["first", "last"] | None = None
    origin: Annotated[tuple[float, float], Strict(False)] | None = None
    """Longitude and latitude in degrees: sorts by the distance from there."""
    collation: Annotated[str, Field(pattern=LANGUAGE)] | None = None
    """The language of the sort order, as an IETF tag."""
    case: Literal["ignored"] | None = None
    """Case-insensitive."""

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, written: Any) -> Any:
        if not isinstance(written, (list, tuple)):
            return written
        parts = dict(zip(("path", "order", "nulls"), written, strict=False))
        if isinstance(parts.get("nulls"), dict):
            if "nothing" in parts["nulls"]:
                raise ValueError("`nothing` is now called `nulls`: rename it")
            parts |= {_SORT_WORDS.get(word, word): value for word, value in parts.pop("nulls").items()}
        return parts

    @model_validator(mode="after")
    def _words_suit(self) -> Self:
        if self.origin is not None and not is_place(self.origin):
            raise RuleError(f"found {list(self.origin)}; allowed: [longitude, latitude] in degrees")
        if self.origin is not None and self.collation is not None:
            raise RuleError("a distance is not text: give `from` or `collation`")
        if self.case is not None and self.collation is None:
            raise RuleError("`case` goes with a `collation`")
        return self


def _by_value(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
    if any(key.origin is not None or key.collation is not None for key in keys):
        raise ValueError("only `find` sorts by distance or collation")
    return keys


ByValue = Annotated[tuple[SortKey, ...], Strict(False), AfterValidator(_by_value)]
"""Sort keys of groups and of pages with facets: by value only."""


class Query(Where):
    """Records: sorted, paged, whole or projected."""

    sort: Annotated[tuple[SortKey, ...], Strict(False)] = ()
    """Without it, any order is correct."""
    skip: NonNegativeInt = 0
    limit: PositiveInt | None = None
    fields: Annotated[tuple[FieldPath, ...], Strict(False)] | None = None
    """The projection: each field is returned at its path. None is the whole record, () the key alone."""
    ranked: bool = False
    """By the store's relevance of a text search, best first."""
    highlight: FieldPath | None = None
    """The path of a text: the answer has it under `highlight`, with the matching words between <b> and </b>."""


class Bucket(Frozen):
    """A grouping key: the value at a path, or its bucket. Without options, written as the path alone."""

    path: FieldPath
    each: bool = False
    """The path is a list: the record counts once for each distinct item."""
    width: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Numbers in buckets of this width, named by their lower bound, a multiple of it."""
    unit: Unit | None = None
    """Dates by calendar unit in UTC, named by its first second."""

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, written: Any) -> Any:
        return written if isinstance(written, (dict, Bucket)) else {"path": written}


class Measure(Frozen):
    """An aggregate of each group. Written `[count]`, `[FUNCTION, PATH]` or `[percentile, PATH, SHARE]`, the last with or without a kind."""

    function: Function
    path: FieldPath | None = None
    share: Annotated[float, Field(gt=0, lt=1, strict=False)] | None = None
    kind: Literal["smallest", "interpolated"] | None = None
    """Which percentile: one of the values, or interpolated between two. Without it, the store may choose."""

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, written: Any) -> Any:
        return dict(zip(("function", "path", "share", "kind"), written, strict=False)) if isinstance(written, (list, tuple)) else written

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if (self.path is None) != (self.function == "count"):
            raise RuleError(f"`{self.function}` {'needs a path' if self.path is None else 'takes no path'}")
        if (self.share is None) != (self.function != "percentile"):
            raise RuleError(f"`{self.function}` {'needs a share, as in 0.9' if self.share is None else 'takes no share'}")
        if self.kind is not None and self.share is None:
            raise RuleError(f"`{self.function}` takes no kind")
        return self


class Aggregation(Where):
    """Groups and their aggregates, as rows of named values."""

    by: dict[str, Bucket] = Field(default_factory=dict)
    """Grouping keys by name. Without any there is one group of all records, even if it is empty."""
    compute: dict[str, Measure] = Field(default_factory=dict)
    having: Filter | None = None
    """A filter on groups; its paths are the names in `by` and `compute`."""
    sort: ByValue = ()
    """Its paths are the names in `by` and `compute`."""
    limit: PositiveInt | None = None


class Facet(Bucket):
    """Values of a path with the number of records that have them: most frequent first, ties by value."""

    limit: PositiveInt | None = None


class Browse(Where):
    """A page of keys and facets over all matches, in one request."""

    facets: dict[str, Facet] = Field(default_factory=dict)
    sort: ByValue = ()
    limit: NonNegativeInt = 0
    """Size of the page."""


REQUESTS: dict[str, type[Frozen]] = {
    "find": Query,
    "count_where": Where,
    "aggregate": Aggregation,
    "browse": Browse,
    "update_where": Where,
    "delete_where": Where,
    "find_joined": Query,
}
"""Operations whose first argument is a request."""

READING = REQUESTS.keys() - {"update_where", "delete_where"}
"""The requests that change nothing."""


def check_request(operation: str, args: tuple[Any, ...]) -> None:
    """Validate the request in an operation's arguments, if it has one. Raises `RuleError`: it is not valid in the query language."""
    if operation in REQUESTS:
        try:
            REQUESTS[operation].model_validate(args[0] if args else {})
        except ValidationError as reason:
            first = reason.errors()[0]
            words = first["msg"].removeprefix("Value error, ")
            raise RuleError(f"{'.'.join(map(str, first['loc']))}: {words}; see spec/QUERY.md", "args", 0) from None


_WORD = "decimal"


def with_decimals(written: Any) -> Any:
    """Replace each `{decimal: "0.10"}` in a value by its `Decimal`.
    Raises `RuleError`: the value of `decimal` is not the text of a finite number."""
    if isinstance(written, dict):
        if written.keys() == {_WORD}:
            return _number(written[_WORD])
        return {name: with_decimals(value) for name, value in written.items()}
    if isinstance(written, (list, tuple)):
        return type(written)(map(with_decimals, written)) if type(written) in (list, tuple) else written
    return written


def _number(text: Any) -> Decimal:
    try:
        number = Decimal(text) if isinstance(text, str) else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise RuleError(f'found {text!r} behind `decimal`; allowed: a number in quotes, as in "0.10"')
    return number
