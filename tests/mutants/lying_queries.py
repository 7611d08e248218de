"""Answers to requests that are wrong in one way each: the variant's option `lie` says which.

The lies are those that real stores and careless adapters tell: SQL's third truth value, an unescaped wildcard, a page of the
client's own making.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, SQLite
from storeproof.contract import Address, FacetedPage, Json, Key, Path
from storeproof.oracle import query as oracle
from storeproof.spec.interleaving import Isolation
from storeproof.spec.model import Index
from storeproof.spec.query import Aggregation, And, Browse, Condition, Filter, Not, Or, Query, Where

Conditions = Callable[[Condition], Filter]


class Honest(Documents):
    """Asks SQLite; a mutant changes the request before, or the answer after."""

    def all(self) -> dict[Key, Any]:
        """Every record, as a client reads them that filters by itself."""
        return dict(super().find(Query()))


def rewritten(filter_: Filter | None, change: Conditions, around_not: Callable[[Filter], Filter] = lambda part: part) -> Filter | None:
    """The filter with every condition changed, and something put around every `not`."""
    match filter_:
        case None:
            return None
        case And(parts=parts):
            return And.model_validate({"and": [rewritten(part, change, around_not) for part in parts]})
        case Or(parts=parts):
            return Or.model_validate({"or": [rewritten(part, change, around_not) for part in parts]})
        case Not(part=part):
            return around_not(Not.model_validate({"not": rewritten(part, change, around_not)}))
    return change(filter_)


def conditions(change: Conditions, around_not: Callable[[Filter], Filter] = lambda part: part) -> type[Honest]:
    """A mutant that evaluates conditions wrongly."""

    class Mutant(Honest):
        def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
            return super().find(query.model_copy(update={"filter": rewritten(query.filter, change, around_not)}))

    return Mutant


def other(condition: Condition, **changes: Any) -> Condition:
    return condition.model_copy(update=changes)


def either(*parts: Filter) -> Filter:
    return Or.model_construct(parts=parts)


def both(*parts: Filter) -> Filter:
    return And.model_construct(parts=parts)


def swapped(**operators: str) -> type[Honest]:
    """One operator for another."""
    return conditions(lambda each: other(each, operator=operators.get(each.operator, each.operator)))


def present(each: Condition) -> Filter:
    return Condition(path=each.path, operator="exists", value=True)


def on(operator: str, change: Conditions) -> type[Honest]:
    return conditions(lambda each: change(each) if each.operator == operator else each)


def _three_truths(part: Filter) -> Filter:
    """`not` as SQL has it: unknown stays unknown where there is no value."""
    inner = part.part if isinstance(part, Not) else part
    return both(part, present(inner)) if isinstance(inner, Condition) else part


def _like(each: Condition) -> Filter:
    """A prefix given to LIKE as it is: `_` is any letter, so that `_` alone is any text that is not empty."""
    return other(each, operator="gt", value="") if each.value in ("_", "%") else each


class FilteredByTheClient(Honest):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return oracle.find(self.all(), query)


class CountedByTheClient(Honest):
    def count_where(self, where: Where) -> int:
        return len(super().find(Query(filter=where.filter)))


class LastPageDropped(Honest):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        found = super().find(query)
        return [] if query.skip and query.limit and len(found) < query.limit else found


class OneTooFew(Honest):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return super().find(query)[: (query.limit or 10**9) - 1]


class Unsorted(Honest):
    """By the first key only."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return super().find(query.model_copy(update={"sort": query.sort[:1]}))


class NothingAnywhere(Honest):
    """Null and missing go where the store likes."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return super().find(query.model_copy(update={"sort": tuple(key.model_copy(update={"nulls": None}) for key in query.sort)}))


class SortedIgnoringCase(Honest):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        found = list(super().find(query))
        if [key.path for key in query.sort] == [("name",)]:
            names = {key: document["name"].lower() for key, document in super().find(Query(fields=(("name",),)))}
            found.sort(key=lambda entry: names[entry[0]], reverse=query.sort[0].order == "desc")
        return found


class WholeRecords(Honest):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return super().find(query.model_copy(update={"fields": query.fields and None}))


class TotalOfAPage(Honest):
    def count_where(self, where: Where) -> int:
        return min(super().count_where(where), 10)


class Groups(Honest):
    """A mutant that aggregates wrongly."""

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return self.lied(aggregation, [dict(row) for row in super().aggregate(self.asked(aggregation))])

    def asked(self, aggregation: Aggregation) -> Aggregation:
        return aggregation

    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows


class NoGroupOfNothing(Groups):
    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if all(row[name] is not None for name in aggregation.by)]


class HavingIgnored(Groups):
    def asked(self, aggregation: Aggregation) -> Aggregation:
        return aggregation.model_copy(update={"having": None})


class AverageOverAll(Groups):
    """Null and missing count as zero."""

    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        averages = [name for name, measure in aggregation.compute.items() if measure.function == "avg"]
        for row in rows if averages and not aggregation.by else ():
            path = aggregation.compute[averages[0]].path or ()
            number = self.count_where(aggregation)
            counted = self.count_where(Where(filter=both(aggregation.filter or both(), Condition(path=path, operator="gte", value=-1e9))))
            row[averages[0]] = row[averages[0]] * counted / number if number and counted else None
        return rows


class WholeSums(Groups):
    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sums = [name for name, measure in aggregation.compute.items() if measure.function == "sum"]
        return [{name: int(value) if name in sums and value is not None else value for name, value in row.items()} for row in rows]


class TowardsZero(Groups):
    """A histogram that cuts digits off where it should go down."""

    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        widths = {name: bucket.width for name, bucket in aggregation.by.items() if bucket.width}
        return [{name: value + widths[name] if name in widths and value < 0 else value for name, value in row.items()} for row in rows]


class LocalTime(Groups):
    """Days begin an hour early: the year of the last second is the next one."""

    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        years = [name for name, bucket in aggregation.by.items() if bucket.unit == "year"]
        return [{name: value.replace("2025", "2026") if name in years else value for name, value in row.items()} for row in rows]


class ItemsCountedTwice(Groups):
    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        each = [name for name, bucket in aggregation.by.items() if bucket.each]
        return [{**row, "n": row["n"] + 1} if each and row[each[0]] == "light" and row["n"] == 1 else row for row in rows]


class NullCounted(Groups):
    """Null is one more value."""

    def lied(self, aggregation: Aggregation, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        distinct = [name for name, measure in aggregation.compute.items() if measure.function == "distinct"]
        return [{name: value + 1 if name in distinct else value for name, value in row.items()} for row in rows]


class FacetsOffByOne(Honest):
    def browse(self, browse: Browse) -> FacetedPage:
        found = super().browse(browse)
        return found._replace(facets={name: [(value, count + 1) for value, count in facet] for name, facet in found.facets.items()})


class FacetsOfThePage(Honest):
    def browse(self, browse: Browse) -> FacetedPage:
        found = super().browse(browse)
        if not browse.limit:
            return found
        page = oracle.browse({key: record for key, record in self.all().items() if key in found.keys}, browse)
        return found._replace(facets=page.facets)


class FacetsUnfiltered(Honest):
    def browse(self, browse: Browse) -> FacetedPage:
        return super().browse(browse)._replace(facets=super().browse(browse.model_copy(update={"filter": None})).facets)


class UpdatesTheFirst(Honest):
    def update_where(self, where: Where, path: Path, value: Json) -> int:
        number = self.count_where(where)
        for key, _ in super().find(Query(filter=where.filter, fields=()))[:1]:
            self.set_path(key, path, value)
        return number


class CountsChanged(Honest):
    """How many were changed, where it was asked how many matched."""

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        same = Condition(path=path, operator="eq", value=value)
        changed = self.count_where(Where(filter=both(where.filter or both(), Not.model_construct(part=same))))
        super().update_where(where, path, value)
        return changed


class DeletesAll(Honest):
    def delete_where(self, where: Where) -> int:
        number = self.count_where(where)
        super().delete_where(Where())
        return number


class UniqueForgotten(Honest):
    """An index that was to be unique, and is not."""

    def create_index(self, index: Index) -> None:
        super().create_index(index.model_copy(update={"unique": False}))


class OnlyLetters(Honest):
    """A search that takes words between spaces only, as one made for European languages does."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        unspaced = isinstance(query.filter, Condition) and re.search(r"[\u3040-\u30ff]", str(query.filter.value))
        return [] if unspaced else super().find(query)


class Mutant(SQLite):
    """A session whose documents lie, or that lies itself."""

    def __init__(self, link: Link, liar: type[Honest]) -> None:
        super().__init__(link)
        self.tables = {**SQLite.tables, "document": liar}


class NoSnapshot(Mutant):
    """Every read at the level of repeatable reads sees what was committed last."""

    led = False

    def begin(self, isolation: Isolation) -> None:
        self.led = isolation != "repeatable_read"
        if self.led:
            super().begin(isolation)

    def commit(self) -> None:
        if self.led:
            super().commit()

    def rollback(self) -> None:
        if self.led:
            super().rollback()


class CommitsAtOnce(Mutant):
    """No transaction at all: every write lasts."""

    def begin(self, isolation: Isolation) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...


@dataclasses.dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    liar: type[Honest] = Honest
    session: type[Mutant] = Mutant


LIES: Mapping[str, Lie] = {
    "range-includes-its-end": Lie("filter.range-number/001", swapped(gt="gte", lt="lte")),
    "case-does-not-count": Lie(
        "filter.eq-text/002", on("eq", lambda each: other(each, operator="ieq") if isinstance(each.value, str) else each)
    ),
    "text-equals-number": Lie(
        "filter.eq-number/005",
        on("eq", lambda each: other(each, value=int(each.value)) if isinstance(each.value, str) and each.value.isdigit() else each),
    ),
    "one-is-true": Lie("filter.eq-boolean/003", on("eq", lambda each: other(each, value=True) if each.value == 1 else each)),
    "null-is-missing": Lie(
        "filter.null-or-missing/001",
        on("eq", lambda each: each if each.value is not None else either(each, other(each, operator="exists", value=False))),
    ),
    "missing-is-not-different": Lie("filter.ne/001", on("ne", lambda each: both(each, present(each)))),
    "three-truths": Lie("filter.not/002", conditions(lambda each: each, _three_truths)),
    "null-exists-not": Lie(
        "filter.exists/001",
        on("exists", lambda each: both(each, Condition(path=each.path, operator="ne", value=None)) if each.value else each),
    ),
    "wildcards-in-prefix": Lie("filter.prefix/003", on("prefix", _like)),
    "substring-ignores-case": Lie("filter.contains/004", swapped(contains="icontains")),
    "first-item-only": Lie(
        "filter.list-any/001",
        on("any", lambda each: Condition(path=(*each.path, 0), operator=each.value.operator, value=each.value.value)),
    ),
    "any-for-all": Lie("filter.list-all/001", on("all", lambda each: other(each, value=each.value[:1]))),
    "conditions-on-two-items": Lie(
        "filter.list-element/002",
        on(
            "element",
            lambda each: both(*(other(each, value=part) for part in each.value.parts)) if isinstance(each.value, And) else each,
        ),
    ),
    "empty-is-missing": Lie(
        "filter.list-size/002",
        on("size", lambda each: either(each, other(each, operator="exists", value=False)) if not each.value else each),
    ),
    "filtered-by-the-client": Lie("filter.eq-text/pushdown", FilteredByTheClient),
    "counted-by-the-client": Lie("paging.total/pushdown", CountedByTheClient),
    "last-page-dropped": Lie("paging.offset/002", LastPageDropped),
    "one-too-few": Lie("paging.limit/001", OneTooFew),
    "second-key-ignored": Lie("sort.by-several/001", Unsorted),
    "nothing-anywhere": Lie("sort.nothing-last/001", NothingAnywhere),
    "sorted-ignoring-case": Lie("sort.by-text/001", SortedIgnoringCase),
    "whole-records": Lie("paging.projection/001", WholeRecords),
    "total-of-a-page": Lie("paging.total/001", TotalOfAPage),
    "no-group-of-nothing": Lie("aggregation.group-by-one/001", NoGroupOfNothing),
    "having-ignored": Lie("aggregation.having/001", HavingIgnored),
    "average-over-all": Lie("aggregation.avg/001", AverageOverAll),
    "whole-sums": Lie("aggregation.sum/002", WholeSums),
    "towards-zero": Lie("aggregation.number-histogram/002", TowardsZero),
    "local-time": Lie("aggregation.date-histogram/002", LocalTime),
    "items-counted-twice": Lie("aggregation.group-by-items/002", ItemsCountedTwice),
    "null-is-a-value": Lie("aggregation.distinct/001", NullCounted),
    "facets-off-by-one": Lie("facets.one/001", FacetsOffByOne),
    "facets-of-the-page": Lie("facets.with-page/001", FacetsOfThePage),
    "facets-unfiltered": Lie("facets.one/002", FacetsUnfiltered),
    "updates-the-first": Lie("bulk.update-where/001", UpdatesTheFirst),
    "counts-changed": Lie("bulk.update-where/006", CountsChanged),
    "deletes-all": Lie("bulk.delete-where/001", DeletesAll),
    "unique-forgotten": Lie("indexes.unique/001", UniqueForgotten),
    "ignores-japanese": Lie("text.language-ja/001", OnlyLetters),
    "words-for-a-phrase": Lie("text.phrase/002", swapped(phrase="words")),
    "prefix-for-a-word": Lie("text.word/003", swapped(words="word_prefix")),
    "no-snapshot": Lie("transactions.no-non-repeatable-read/001", session=NoSnapshot),
    "no-rollback": Lie("transactions.rollback/001", session=CommitsAtOnce),
    "dirty-reads": Lie("transactions.no-dirty-read/001", session=CommitsAtOnce),
}
"""By name."""


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    lie = LIES[options["lie"]] if options else Lie("")
    return lie.session(Link(address), lie.liar)
