"""The JSON of MySQL and MariaDB as SQL: where a value is, what it is equal to, and what comes before it.

MySQL has a type for JSON that compares, sorts and groups by value. MariaDB keeps JSON as text, so that every comparison says
first of what type the text is. What a comparison says of a value that is not there is NULL, which a WHERE takes for false.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from storeproof.contract import Json, Path, Refused, Unsupported
from storeproof.spec.query import Measure

SYMBOLS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "eq": "="}
"""The comparisons of the query language, as SQL writes them."""

EXACT = 2**53
"""Below it, a comparison of doubles is one of the numbers themselves, also where the other side is a larger whole number."""

_TYPES = {
    "null": ("NULL",),
    "boolean": ("BOOLEAN",),
    "number": ("INTEGER", "UNSIGNED INTEGER", "DOUBLE", "DECIMAL"),
    "text": ("STRING",),
    "list": ("ARRAY",),
    "object": ("OBJECT",),
}


@dataclass(frozen=True)
class Sql:
    """A piece of a statement with the values of its `%s`, in order."""

    text: str
    values: tuple[Any, ...] = ()


DOC = Sql("doc")
"""The column of the documents."""


def sql(template: str, *parts: Any) -> Sql:
    """The template with a part in the place of each `{}`: a piece as it is, anything else as a parameter."""
    pieces = [part if isinstance(part, Sql) else Sql("%s", (part,)) for part in parts]
    return Sql(template.format(*(piece.text for piece in pieces)), tuple(value for piece in pieces for value in piece.values))


def joined(separator: str, pieces: Iterable[Sql]) -> Sql:
    listed = list(pieces)
    return Sql(separator.join(piece.text for piece in listed), tuple(value for piece in listed for value in piece.values))


def to_json(value: Json) -> str:
    """JSON text in which every character is written in one way only, so that MariaDB's texts compare as the values do."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_decimal)
    except (ValueError, RecursionError) as reason:
        raise Refused(f"not a JSON value that can be written: {reason}; the statement was not sent") from reason


def _decimal(value: Any) -> str:
    if isinstance(value, Decimal):
        return digits(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def digits(number: Decimal) -> str:
    """An exact decimal as a text. A DECIMAL(65, 30) has 35 digits before the point and 30 behind it; what has more is refused."""
    exponent = number.as_tuple().exponent
    if number.adjusted() >= 35 or (isinstance(exponent, int) and exponent < -30):
        raise Refused(f"a DECIMAL(65, 30) has not the digits of {number}; the statement was not sent")
    return f"{number:f}"


def json_path(path: Path) -> str:
    """A JSON path. A quoted member name is read like a JSON string, so that dots, `$`, quotes and emptiness are part of the name."""
    steps = "$"
    for step in path:
        if isinstance(step, str):
            steps += "." + json.dumps(step, ensure_ascii=False)
        elif step >= 0:
            steps += f"[{step}]"
        else:
            raise Refused(f"a list has no position {step}")  # MariaDB would count from its end
    return steps


def extract(root: Sql, path: Path) -> Sql:
    """The JSON at a path, NULL where it leads nowhere.

    The server takes anything that is not a list for a list of one: `$.a[0].b` would find `{"a": {"b": 1}}`.
    """
    found = sql("JSON_EXTRACT({}, {})", root, json_path(path)) if path else root
    for depth in reversed([depth for depth, step in enumerate(path) if isinstance(step, int)]):
        found = sql("IF({} = 'ARRAY', {}, NULL)", sql("JSON_TYPE({})", extract(root, path[:depth])), found)
    return found


def of_type(value: Sql, name: str) -> Sql:
    """Whether the value is of a type of the query language."""
    return sql(f"JSON_TYPE({{}}) IN ({', '.join(map(repr, _TYPES[name]))})", value)


def there(value: Sql) -> Sql:
    """The value, NULL where it is JSON's null."""
    return sql("IF(JSON_TYPE({}) <> 'NULL', {}, NULL)", value, value)


class Dialect(ABC):
    """How one of the two says it."""

    collation: str
    """By code point, in which a space at the end counts."""
    of_words: str
    """What takes letters for the same in a search by words: without regard to case and marks."""
    null: Sql
    """JSON's null."""

    def text(self, value: Sql) -> Sql:
        """The text that the value is, NULL where it is none."""
        return sql(f"IF({{}}, JSON_UNQUOTE({{}}), NULL) COLLATE {self.collation}", of_type(value, "text"), value)

    def items(self, value: Sql, alias: str) -> Sql:
        """A table of the items of a list, in a column `item`; without rows where the value is no list."""
        return sql(f"JSON_TABLE(IF({{}}, {{}}, NULL), '$[*]' COLUMNS (item JSON PATH '$')) AS {alias}", of_type(value, "list"), value)

    def some(self, value: Sql, alias: str, meets: Sql) -> Sql:
        """Whether the value is a list, of which an item meets a condition."""
        # MySQL (as of 9.7) may look at the items before it has the list that they are of, and find none, unless told not to.
        return sql("EXISTS (SELECT /*+ NO_SEMIJOIN() */ 1 FROM {} WHERE {})", self.items(value, alias), meets)

    @abstractmethod
    def item(self, alias: str) -> Sql:
        """An item of `items`."""

    @abstractmethod
    def has_item(self, value: Sql, item: Json) -> Sql:
        """Whether the value is a list with an item that is equal."""

    @abstractmethod
    def without(self, value: Sql, item: Json) -> Sql:
        """The list that the value is, without the items that are equal, in their order."""

    def _others(self, value: Sql, item: Json) -> Sql:
        """The rest of a SELECT of these items, which are `item` of the row, with their places, `place`."""
        columns = "place FOR ORDINALITY, item JSON PATH '$'"
        equal = self.equal(self.item("i"), item)
        return sql(f"FROM JSON_TABLE({{}}, '$[*]' COLUMNS ({columns})) AS i WHERE ({{}}) IS NOT TRUE", value, equal)

    @abstractmethod
    def number(self, value: Sql) -> Sql:
        """The double nearest to the number that the value is, NULL where it is none."""

    @abstractmethod
    def equal(self, value: Sql, wanted: Json) -> Sql:
        """Whether the value is equal."""

    @abstractmethod
    def compared(self, value: Sql, operator: str, wanted: int | float | str) -> Sql:
        """Whether the value is of the type of the other, and smaller or larger."""

    @abstractmethod
    def matches(self, text: Sql, pattern: str) -> Sql:
        """Whether a part of the text matches a regular expression."""

    @abstractmethod
    def order(self, value: Sql) -> list[Sql]:
        """What to sort by, for the order of the values; NULL for null and missing."""

    @abstractmethod
    def same(self, value: Sql) -> Sql:
        """What is the same for equal values and no others, to group by."""

    def identity(self, value: Sql) -> Sql:
        """A text that is the same for equal values and no others, but for the numbers in lists and objects: 1.0 is not 1 there."""
        number = self.number(value)
        whole = sql(f"JSON_TYPE({{}}) = 'DOUBLE' AND {{}} = FLOOR({{}}) AND ABS({{}}) < {EXACT}", value, number, number, number)
        return sql("IF({}, CAST(CAST({} AS SIGNED) AS CHAR), {})", whole, number, self.written(value))

    @abstractmethod
    def written(self, value: Sql) -> Sql:
        """The text of the value, in which the order of fields and the spaces are always the same."""

    @abstractmethod
    def from_number(self, number: Sql) -> Sql:
        """The JSON of a number of SQL."""

    @abstractmethod
    def from_text(self, text: Sql) -> Sql:
        """The JSON of a text of SQL."""

    @abstractmethod
    def percentile(self, measure: Measure, number: Sql, groups: Sequence[Sql]) -> Sql:
        """A column of numbers; the smallest in a group is the number at the measure's share of it."""

    @abstractmethod
    def extreme(self, function: str, value: Sql) -> Sql:
        """The JSON of the smallest (`MIN`) or largest (`MAX`) of the values of a group, which are of one type."""


class MySql(Dialect):
    collation = "utf8mb4_0900_bin"
    of_words = "utf8mb4_0900_ai_ci"
    null = Sql("CAST('null' AS JSON)")

    def number(self, value: Sql) -> Sql:
        return sql("IF({}, {} + 0e0, NULL)", of_type(value, "number"), value)

    def item(self, alias: str) -> Sql:
        return sql(f"COALESCE({alias}.item, {{}})", self.null)  # JSON_TABLE makes NULL of a null

    def has_item(self, value: Sql, item: Json) -> Sql:
        return sql("({} AND CAST({} AS JSON) MEMBER OF ({}))", of_type(value, "list"), to_json(item), value)

    def without(self, value: Sql, item: Json) -> Sql:
        # It has no ORDER BY in the function, but one in its window: the same list on all rows.
        window = "ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        listed = sql(f"SELECT JSON_ARRAYAGG(item) OVER ({window}) {{}} LIMIT 1", self._others(value, item))
        return sql("COALESCE(({}), JSON_ARRAY())", listed)

    def equal(self, value: Sql, wanted: Json) -> Sql:
        return sql("{} = CAST({} AS JSON)", value, to_json(wanted))

    def compared(self, value: Sql, operator: str, wanted: int | float | str) -> Sql:
        typed = of_type(value, "text" if isinstance(wanted, str) else "number")
        return sql(f"({{}} AND {{}} {SYMBOLS[operator]} CAST({{}} AS JSON))", typed, value, to_json(wanted))

    def matches(self, text: Sql, pattern: str) -> Sql:
        return sql("REGEXP_LIKE({}, {}, 'cu')", text, pattern)  # c: the case of letters counts; u: only \n ends a line

    def order(self, value: Sql) -> list[Sql]:
        return [there(value)]

    def same(self, value: Sql) -> Sql:
        return value

    def written(self, value: Sql) -> Sql:
        return sql("CAST({} AS CHAR)", value)

    def from_number(self, number: Sql) -> Sql:
        return sql("CAST({} AS JSON)", number)

    def from_text(self, text: Sql) -> Sql:
        return sql("CAST(JSON_QUOTE({}) AS JSON)", text)

    def percentile(self, measure: Measure, number: Sql, groups: Sequence[Sql]) -> Sql:
        if measure.kind == "interpolated":
            raise Unsupported("MySQL has no percentile function; CUME_DIST only ranks existing values and does not interpolate")
        partition = joined(", ", [*groups, sql("{} IS NULL", number)])
        return sql("IF(CUME_DIST() OVER (PARTITION BY {} ORDER BY {}) >= {}, {}, NULL)", partition, number, measure.share, number)

    def extreme(self, function: str, value: Sql) -> Sql:
        return sql(f"{function}({{}})", there(value))


class MariaDb(Dialect):
    """Texts are sorted by their first `max_sort_length` bytes, 1024 unless the server is set otherwise."""

    collation = "utf8mb4_nopad_bin"
    of_words = "utf8mb4_unicode_520_ci"
    null = Sql("'null'")

    def number(self, value: Sql) -> Sql:
        return sql("IF({}, CAST({} AS DOUBLE), NULL)", of_type(value, "number"), value)

    def item(self, alias: str) -> Sql:
        return Sql(f"{alias}.item")

    def has_item(self, value: Sql, item: Json) -> Sql:
        return self.some(value, "i", self.equal(self.item("i"), item))

    def without(self, value: Sql, item: Json) -> Sql:
        # JSON_EXTRACT turns the text of an item into JSON.
        listed = sql("SELECT JSON_ARRAYAGG(JSON_EXTRACT(item, '$') ORDER BY place) {}", self._others(value, item))
        return sql("COALESCE(({}), JSON_ARRAY())", listed)

    def equal(self, value: Sql, wanted: Json) -> Sql:
        if wanted is None:
            return of_type(value, "null")
        if isinstance(wanted, bool):
            # MariaDB unquotes what JSON_EXTRACT finds before it compares it, and then the text "true" would be equal.
            return sql("({} AND {} = {})", of_type(value, "boolean"), value, to_json(wanted))
        if isinstance(wanted, (int, float, str)):
            return self.compared(value, "eq", wanted)
        # What JSON_EQUALS says of NULL is left over from another row.
        return sql("({} AND JSON_EQUALS({}, {}))", of_type(value, "object" if isinstance(wanted, dict) else "list"), value, to_json(wanted))

    def compared(self, value: Sql, operator: str, wanted: int | float | str) -> Sql:
        symbol = SYMBOLS[operator]
        if isinstance(wanted, str):
            return sql(f"{{}} {symbol} {{}}", self.text(value), wanted)
        if EXACT <= abs(wanted) < 2**64:
            # Whole numbers that are one double are told apart by their digits.
            return sql(f"({{}}, {{}}) {symbol} ({{}}, {{}})", self.number(value), self._whole(value), float(wanted), int(wanted))
        return sql(f"{{}} {symbol} {{}}", self.number(value), _double(wanted))

    def _whole(self, value: Sql) -> Sql:
        return sql("IF({}, CAST({} AS DECIMAL(65, 0)), NULL)", of_type(value, "number"), value)

    def matches(self, text: Sql, pattern: str) -> Sql:
        return sql("{} REGEXP {}", text, pattern)

    def order(self, value: Sql) -> list[Sql]:
        # As bytes, since a sort of texts takes a NUL at the end for nothing.
        written = sql("CAST(IF(JSON_TYPE({}) IN ('STRING', 'BOOLEAN'), JSON_UNQUOTE({}), NULL) AS BINARY)", value, value)
        return [self.number(value), self._whole(value), written]

    def same(self, value: Sql) -> Sql:
        return sql("JSON_NORMALIZE({})", value)

    def written(self, value: Sql) -> Sql:
        return sql("IF(JSON_TYPE({}) = 'INTEGER', {}, JSON_NORMALIZE({}))", value, value, value)  # which makes doubles of them

    def from_number(self, number: Sql) -> Sql:
        return sql("CAST({} AS CHAR)", number)

    def from_text(self, text: Sql) -> Sql:
        return sql("JSON_QUOTE({})", text)

    def percentile(self, measure: Measure, number: Sql, groups: Sequence[Sql]) -> Sql:
        function = "PERCENTILE_CONT" if measure.kind == "interpolated" else "PERCENTILE_DISC"
        window = sql("PARTITION BY {}", joined(", ", groups)) if groups else Sql("")
        return sql(f"{function}({{}}) WITHIN GROUP (ORDER BY {{}}) OVER ({{}})", measure.share, number, window)

    def extreme(self, function: str, value: Sql) -> Sql:
        double = sql(f"{function}({{}})", self.number(value))
        # A double has the digits of whole numbers up to 2**53.
        digits = sql(f"IF(ABS({{}}) BETWEEN {EXACT} AND {2**64}, CAST({function}({{}}) AS CHAR), NULL)", double, self._whole(value))
        text = sql(f"JSON_QUOTE({function}({{}}))", self.text(value))
        truth = sql(f"{function}(IF({{}}, {{}}, NULL))", of_type(value, "boolean"), value)
        return sql("COALESCE({}, {}, {}, {})", digits, self.from_number(double), text, truth)


def _double(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError as reason:
        raise Refused(f"no number of JSON: {reason}; the statement was not sent") from reason
