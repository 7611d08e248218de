"""Filters of MySQL and MariaDB: what a WHERE says.

A condition is true where the filter holds, and false or NULL where it does not; `IS NOT TRUE` turns it round. An index's column
stands in for the JSON where it says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from storeproof.adapters.mysql import decimals as decimals
from storeproof.adapters.mysql import geo as geo
from storeproof.adapters.mysql.columns import Column
from storeproof.adapters.mysql.json import SYMBOLS, Dialect, MySql, Sql, extract, joined, of_type, sql
from storeproof.adapters.mysql.text import Texts
from storeproof.contract import Path, Unsupported
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Or, SortKey

_ON_TEXT = ("prefix", "contains", "regex", "ieq", "icontains")


class Filters:
    """Conditions on what paths lead to: in a record, in an item of a list, in a group."""

    def __init__(
        self,
        dialect: Dialect,
        at: Callable[[Path], Sql],
        columns: Mapping[Path, Column],
        texts: Texts | None = None,
        depth: int = 0,
        exact: Collection[Path] = (),
    ) -> None:
        self._dialect = dialect
        self.at = at
        self._columns = columns
        self._texts = texts
        self._exact = exact
        self._alias = f"j{depth}"
        self._depth = depth

    def sql(self, condition: Filter | None) -> Sql:
        """What a WHERE says of a filter."""
        match condition:
            case None:
                return Sql("TRUE")
            case And(parts=parts):
                return self._of_parts(" AND ", list(map(self.sql, parts)), "TRUE")
            case Or(parts=parts):
                return self._of_parts(" OR ", list(map(self.sql, parts)), "FALSE")
            case Not(part=part):
                return self._opposite(self.sql(part))
        return self._condition(condition)

    def _of_parts(self, word: str, parts: Sequence[Sql], of_none: str) -> Sql:
        return sql("({})", joined(word, parts)) if parts else Sql(of_none)

    def _opposite(self, condition: Sql) -> Sql:
        return sql("({}) IS NOT TRUE", condition)

    def _condition(self, condition: Condition) -> Sql:
        indexed = self._by_index(condition)
        if indexed is not None:
            return indexed
        operator, wanted = condition.operator, condition.value
        if operator in SEARCHES:
            if self._texts is None:
                raise Unsupported("a text index covers records, not parts of them")
            return self._texts.search(condition.path, operator, wanted)
        if operator == "ne":
            return self._opposite(self._condition(condition.model_copy(update={"operator": "eq"})))
        return self._of_value(condition, self.at(condition.path))

    def _of_value(self, condition: Condition, value: Sql) -> Sql:
        operator, wanted = condition.operator, condition.value
        if condition.path in self._exact:
            return decimals.holds(self._dialect, value, operator, wanted)
        decimals.keeping_out(operator, wanted)
        if operator in _ON_TEXT:
            return self._on_text(operator, self._dialect.text(value), wanted)
        if operator in ("any", "all", "size", "element"):
            return self._on_list(operator, value, wanted)
        match operator:
            case "near" | "within_box" | "within_polygon":
                longitude, latitude = (self.at((*condition.path, "coordinates", part)) for part in (0, 1))
                return geo.located(self._dialect, operator, value, (longitude, latitude), wanted)
            case "eq":
                return self._dialect.equal(value, wanted)
            case "in":
                return self._of_parts(" OR ", [self._dialect.equal(value, each) for each in wanted], "FALSE")
            case "exists":
                return sql("{} IS NOT NULL" if wanted else "{} IS NULL", value)
            case "type":
                return of_type(value, wanted)
        return self._dialect.compared(value, operator, wanted)

    def _on_text(self, operator: str, text: Sql, wanted: str) -> Sql:
        match operator:
            case "prefix":
                return sql("{} LIKE {} ESCAPE '|'", text, begins(wanted))
            case "contains":
                return sql("LOCATE({}, {}) > 0", wanted, text)
            case "ieq":
                return sql("LOWER({}) = LOWER({})", text, wanted)
            case "icontains":
                return sql("LOCATE(LOWER({}), LOWER({})) > 0", wanted, text)
        return self._dialect.matches(text, wanted)

    def _on_list(self, operator: str, value: Sql, wanted: Any) -> Sql:
        is_list = of_type(value, "list")
        match operator:
            case "size":
                return sql("({} AND JSON_LENGTH({}) = {})", is_list, value, wanted)
            case "all":
                return self._of_parts(" AND ", [is_list, *(self._dialect.has_item(value, each) for each in wanted)], "TRUE")
            case "any" if wanted.operator == "eq":
                return self._dialect.has_item(value, wanted.value)
        item = self._dialect.item(self._alias)
        of_item = Filters(self._dialect, lambda path: extract(item, path), {}, None, self._depth + 1)
        if operator == "any":
            meets = of_item.sql(Condition(path=(), operator=wanted.operator, value=wanted.value))
        else:
            meets = sql("{} AND {}", of_type(item, "object"), of_item.sql(wanted))
        return self._dialect.some(value, self._alias, meets)

    def _by_index(self, condition: Condition) -> Sql | None:
        """The condition on the path's index, if that says the same."""
        column = self._columns.get(condition.path)
        values = condition.value if condition.operator == "in" else (condition.value,)
        if column is None or not values or not all(column.stands_for(value) for value in values):
            return None
        name = Sql(f"`{column.name}`")
        if condition.operator == "in":
            return sql("{} IN ({})", name, joined(", ", (sql("{}", value) for value in values)))
        if condition.operator in SYMBOLS:
            return sql(f"{{}} {SYMBOLS[condition.operator]} {{}}", name, condition.value)
        return sql("{} LIKE {} ESCAPE '|'", name, begins(condition.value)) if condition.operator == "prefix" else None

    def relevance(self, condition: Filter | None) -> Sql:
        """How well a record matches the searches of a filter."""
        found = self._relevances(condition)
        if not found:
            raise Unsupported("only the results of a text search can be ranked")
        return joined(" + ", found)

    def _relevances(self, condition: Filter | None) -> list[Sql]:
        match condition:
            case And(parts=parts) | Or(parts=parts):
                return [found for part in parts for found in self._relevances(part)]
            case Condition(path=path, operator=operator, value=value) if operator in SEARCHES and self._texts is not None:
                return [self._texts.relevance(path, value)]
        return []

    def order(self, keys: Sequence[SortKey], key: Sql | None = None) -> list[Sql]:
        """What to ORDER BY; `key` is the record's, a group has none."""
        found: list[Sql] = []
        for each in keys:
            direction = " DESC" if each.order == "desc" else ""
            if not each.path and key is not None:
                found.append(sql(f"{{}}{direction}", key))
                continue
            value = self.at(each.path)
            if each.origin is not None:
                found.append(sql(f"{{}}{direction}", geo.distance(value, each.origin)))
                continue
            if each.nulls:
                found.append(sql(f"COALESCE(JSON_TYPE({{}}), 'NULL') = 'NULL'{' DESC' if each.nulls == 'first' else ''}", value))
            terms = [decimals.exact(self._dialect, value)] if each.path in self._exact else self._dialect.order(value)
            if each.collation is not None:
                terms = [in_language(self._dialect, value, each)]
            found += [sql(f"{{}}{direction}", term) for term in terms]
        return found


def begins(text: str) -> str:
    """The pattern of texts that begin with a text, for LIKE ... ESCAPE '|'."""
    return text.replace("|", "||").replace("%", "|%").replace("_", "|_") + "%"


_LIKE_UNICODE: Final = frozenset({"de", "en", "fr", "it", "nl", "pt"})
"""Languages without letters of their own: in CLDR they have the root's order."""

_NAMES: Final = {
    "cs": "czech",
    "da": "danish",
    "es": "spanish",
    "et": "estonian",
    "hr": "croatian",
    "hu": "hungarian",
    "lt": "lithuanian",
    "lv": "latvian",
    "pl": "polish",
    "ro": "romanian",
    "sk": "slovak",
    "sl": "slovenian",
    "sv": "swedish",
    "tr": "turkish",
}
"""By tag, which is MySQL's name of a language: what MariaDB calls it (since 10.10)."""


def in_language(dialect: Dialect, value: Sql, key: SortKey) -> Sql:
    """What to sort by; NULL where the value is no text."""
    language = key.collation or ""
    if language not in _NAMES and language not in _LIKE_UNICODE:
        raise Unsupported(f"there is no collation for the language {language}")
    text = dialect.text(value)
    text = sql("LOWER({})", text) if key.case == "ignored" else sql("({})", text)
    if isinstance(dialect, MySql):
        collation = f"utf8mb4_{language}_0900_as_cs" if language in _NAMES else "utf8mb4_0900_as_cs"
        return sql(f"{{}} COLLATE {collation}", text)
    # A text of any length, as of JSON, MariaDB sorts by its letters alone: marks and case have no room in max_sort_length behind them.
    collation = f"utf8mb4_uca1400_{_NAMES[language]}_nopad_as_cs" if language in _NAMES else "utf8mb4_uca1400_nopad_as_cs"
    return sql(f"WEIGHT_STRING({{}} COLLATE {collation})", text)
