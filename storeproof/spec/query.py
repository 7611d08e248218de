"""The query language: what a store is asked, in words that belong to no store. QUERY.md says what each of them means."""

from __future__ import annotations

from decimal import Decimal
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
from storeproof.spec.decimals import with_decimals
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
    """`maker.country` and `[maker, country]` are one path; a name with a dot in it, and a position, need the second form."""
    return tuple(written.split(".")) if isinstance(written, str) else written


FieldPath = Annotated[tuple[str | int, ...], Strict(False), BeforeValidator(_path)]
"""From the root of a document: field names, and positions in lists. Lists are not passed through."""

SEARCHES = frozenset({"words", "any_word", "phrase", "word_prefix", "fuzzy"})
"""Operators that ask a text index: the model's `text` says which paths have one."""
_TEXT_OPERATORS = frozenset({"prefix", "contains", "regex", "ieq", "icontains", *SEARCHES})
_TYPE_NAMES = get_args(TypeName)


class Comparing(Frozen):
    """What `any` asks of the items of a list. Written `[OPERATOR, VALUE]`."""

    operator: Comparison
    value: Any

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, written: Any) -> Any:
        return dict(zip(("operator", "value"), written, strict=False)) if isinstance(written, (list, tuple)) else written


class Condition(Frozen):
    """What is asked of the value at a path. Written `[PATH, OPERATOR, VALUE]`."""

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
    """All of the parts hold; of none, all do."""

    parts: Annotated[tuple[Filter, ...], Strict(False), Field(alias="and")]


class Or(Frozen):
    """One of the parts holds; of none, none does."""

    parts: Annotated[tuple[Filter, ...], Strict(False), Field(alias="or")]


class Not(Frozen):
    """The part does not hold. Every record is either in a filter or in its `not`."""

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
"""Which records are meant."""


class Where(Frozen):
    """What every request has: which records it is about. Without a filter it is all of them."""

    filter: Filter | None = None


And.model_rebuild()
Or.model_rebuild()
Not.model_rebuild()
Where.model_rebuild()


LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
"""The pattern of a language's tag."""
_SORT_WORDS = {"from": "origin"}
"""What a sort key's words are called here, where that is another word."""


class SortKey(Frozen):
    """One thing to sort by. Written `[PATH, asc|desc]`, or `[PATH, asc|desc, first|last]` to say where null and missing go.

    `[PATH, asc|desc, {from: [longitude, latitude]}]` sorts by distance, and `[PATH, asc|desc, {collation: LANGUAGE}]` as a language does;
    `case: ignored` and `nulls: first|last` may stand beside these.
    """

    path: FieldPath
    """The empty path is the record's key."""
    order: Literal["asc", "desc"]
    nulls: Literal["first", "last"] | None = None
    origin: Annotated[tuple[float, float], Strict(False)] | None = None
    """Longitude and latitude, in degrees, of the place to which the distances are."""
    collation: Annotated[str, Field(pattern=LANGUAGE)] | None = None
    """The language in whose order texts are, as an IETF tag."""
    case: Literal["ignored"] | None = None
    """Capitals and small letters are equal."""

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
            raise RuleError("a distance is no text; give `from` or `collation`")
        if self.case is not None and self.collation is None:
            raise RuleError("`case` goes with a `collation`")
        return self


def _by_value(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
    if any(key.origin is not None or key.collation is not None for key in keys):
        raise ValueError("only `find` sorts by distance, and as a language does")
    return keys


ByValue = Annotated[tuple[SortKey, ...], Strict(False), AfterValidator(_by_value)]
"""Groups, and a page with its facets, are sorted by the values themselves."""


class Query(Where):
    """Records, in order, a page of them, whole or in part."""

    sort: Annotated[tuple[SortKey, ...], Strict(False)] = ()
    """Without it, any order is right."""
    skip: NonNegativeInt = 0
    limit: PositiveInt | None = None
    fields: Annotated[tuple[FieldPath, ...], Strict(False)] | None = None
    """The parts that are wanted: the answer has them where they were. None is the whole record, () its key alone."""
    ranked: bool = False
    """Best first, by the store's own judgement of a text search."""
    highlight: FieldPath | None = None
    """The path of a text: the answer has it under `highlight`, the words that were found between <b> and </b>."""


class Bucket(Frozen):
    """What a group has in common: the value at a path, or the range that it falls into. A bare path is written as such."""

    path: FieldPath
    each: bool = False
    """The path leads to a list, and every distinct item of it counts the record once."""
    width: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Numbers by ranges of this width; the group is named by the lower bound, a multiple of it."""
    unit: Unit | None = None
    """Dates by calendar unit in UTC; the group is named by its first second."""

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, written: Any) -> Any:
        return written if isinstance(written, (dict, Bucket)) else {"path": written}


class Measure(Frozen):
    """What is computed of each group. Written `[count]` or `[FUNCTION, PATH]`, of a percentile with the share behind it, and its kind."""

    function: Function
    path: FieldPath | None = None
    share: Annotated[float, Field(gt=0, lt=1, strict=False)] | None = None
    kind: Literal["smallest", "interpolated"] | None = None
    """Which percentile: one of the values, or between two of them. Without it, the store may choose."""

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
    """Groups of records and what is computed of them: rows of named values."""

    by: dict[str, Bucket] = Field(default_factory=dict)
    """The group's values by name. Without any, all records are one group, which is there even if it is empty."""
    compute: dict[str, Measure] = Field(default_factory=dict)
    having: Filter | None = None
    """Which groups are meant; its paths are the names of `by` and `compute`."""
    sort: ByValue = ()
    """Its paths are the names of `by` and `compute`."""
    limit: PositiveInt | None = None


class Facet(Bucket):
    """Values of a path with the number of records that have them: most first, equals in the order of the values."""

    limit: PositiveInt | None = None


class Browse(Where):
    """A page of records together with facets over all that match, in one request."""

    facets: dict[str, Facet] = Field(default_factory=dict)
    sort: ByValue = ()
    limit: NonNegativeInt = 0
    """How many keys are wanted."""


REQUESTS: dict[str, type[Frozen]] = {
    "find": Query,
    "count_where": Where,
    "aggregate": Aggregation,
    "browse": Browse,
    "update_where": Where,
    "delete_where": Where,
    "find_joined": Query,
}
"""The operations whose first argument is a request."""

READING = REQUESTS.keys() - {"update_where", "delete_where"}
"""Those of them that change nothing."""


def check_request(operation: str, args: tuple[Any, ...]) -> None:
    """Read the request in an operation's arguments, where it has one.

    Raises:
        RuleError: it is not in the language.
    """
    if operation in REQUESTS:
        try:
            REQUESTS[operation].model_validate(args[0] if args else {})
        except ValidationError as reason:
            first = reason.errors()[0]
            words = first["msg"].removeprefix("Value error, ")
            raise RuleError(f"{'.'.join(map(str, first['loc']))}: {words}; spec/QUERY.md has the language", "args", 0) from None
