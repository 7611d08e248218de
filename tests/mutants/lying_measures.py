"""Stores that lie about places, exact decimals, the order of words and percentiles. The variant's option `lie` says which lie it is."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, SQLite
from storeproof.contract import Address, Collection, Json, Key, Layout
from storeproof.oracle import query as oracle
from storeproof.spec.query import Aggregation, And, Condition, Filter, Measure, Not, Or, Query, SortKey, with_decimals

_DEGREE = 111_195
"""Metres on the equator."""


class Honest(Documents):
    """Asks SQLite for what it can. For exact decimals and the order of languages, which it has not, the oracle answers."""

    exact = False
    """Whether the model has exact decimals."""

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        return (json.dumps(record, default=self.written),)

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        record: dict[str, Json] = with_decimals(json.loads(columns[0]))
        return record

    def written(self, number: Decimal) -> Any:
        """How a decimal is kept."""
        return {"decimal": str(number)}

    def all(self) -> dict[Key, Any]:
        """Every record."""
        return dict(self.scan(None, 1_000_000, False))

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        if self.exact or any(key.collation for key in query.sort):
            return oracle.find(self.all(), query)
        return super().find(query)

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return oracle.aggregate(self.all(), aggregation) if self.exact else super().aggregate(aggregation)


class Sorting(Honest):
    """A mutant that sorts wrongly."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return super().find(query.model_copy(update={"sort": tuple(key for key in map(self.sorted_by, query.sort) if key)}))

    def sorted_by(self, key: SortKey) -> SortKey | None:
        return key


class CodePoints(Sorting):
    """Words are sorted by code point, whatever the language."""

    def sorted_by(self, key: SortKey) -> SortKey:
        return key.model_copy(update={"collation": None, "case": None})


class OneLanguage(Sorting):
    """Marks are marks in every language."""

    def sorted_by(self, key: SortKey) -> SortKey:
        return key.model_copy(update={"collation": key.collation and "de"})


class CaseCounts(Sorting):
    """Capitals are never equal to small letters."""

    def sorted_by(self, key: SortKey) -> SortKey:
        return key.model_copy(update={"case": None})


class AnyDistance(Sorting):
    """What was asked to be the nearest comes in the order of the keys."""

    def sorted_by(self, key: SortKey) -> SortKey | None:
        return None if key.origin else key


def places(change: Callable[[Condition], Filter]) -> type[Honest]:
    """A mutant that evaluates conditions on places wrongly."""

    def changed(filter_: Filter) -> Filter:
        match filter_:
            case And(parts=parts) | Or(parts=parts):
                return filter_.model_copy(update={"parts": tuple(map(changed, parts))})
            case Not(part=part):
                return filter_.model_copy(update={"part": changed(part)})
        return change(filter_)

    class Misplaced(Honest):
        def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
            return super().find(query.model_copy(update={"filter": query.filter and changed(query.filter)}))

    return Misplaced


def _degrees(each: Condition) -> Filter:
    """A circle that is a square of degrees, as long in the north as at the equator."""
    if each.operator != "near":
        return each
    longitude, latitude, metres = each.value
    around = metres / _DEGREE
    west, south = max(-180, longitude - around), max(-90, latitude - around)
    box = [west, south, min(180, longitude + around), min(90, latitude + around)]
    return each.model_copy(update={"operator": "within_box", "value": box})


def _one_side(each: Condition) -> Filter:
    """Nothing is found on the other side of the antimeridian."""
    if each.operator != "near":
        return each
    half = [0, -90, 180, 90] if each.value[0] >= 0 else [-180, -90, 0, 90]
    return And.model_construct(parts=(each, each.model_copy(update={"operator": "within_box", "value": half})))


def _around(each: Condition) -> Filter:
    """A box that crosses the antimeridian is taken for the rest of the Earth."""
    if each.operator != "within_box" or each.value[0] <= each.value[2]:
        return each
    west, south, east, north = each.value
    return each.model_copy(update={"value": [east, south, west, north]})


class Doubles(Honest):
    """Decimals are kept as doubles, and written with the digits that make the same double."""

    def written(self, number: Decimal) -> Any:
        return {"decimal": repr(float(number))}


class SumsOfDoubles(Honest):
    """Decimals are kept exactly, and added as doubles."""

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        sums = {name for name, measure in aggregation.compute.items() if measure.function == "sum"}
        return [
            {name: Decimal(repr(float(value))) if name in sums and isinstance(value, Decimal) else value for name, value in row.items()}
            for row in super().aggregate(aggregation)
        ]


class Measuring(Honest):
    """A mutant that computes percentiles wrongly."""

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        compute = {name: self.measured(measure) for name, measure in aggregation.compute.items()}
        return super().aggregate(aggregation.model_copy(update={"compute": compute}))

    def measured(self, measure: Measure) -> Measure:
        raise NotImplementedError


class OneTooFar(Measuring):
    """The value behind the one at the share, where the share falls on one."""

    def measured(self, measure: Measure) -> Measure:
        return measure.model_copy(update={"share": measure.share and math.nextafter(measure.share, 1)})


class AlwaysTheMedian(Measuring):
    """Every percentile of a request is that of its first."""

    def measured(self, measure: Measure) -> Measure:
        return measure.model_copy(update={"share": measure.share and 0.5})


@dataclasses.dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    liar: type[Honest]


LIES: Mapping[str, Lie] = {
    "degrees-for-metres": Lie("geo.near/003", places(_degrees)),
    "one-side-of-the-antimeridian": Lie("geo.near-antimeridian/001", places(_one_side)),
    "box-of-the-rest": Lie("geo.within-box-antimeridian/001", places(_around)),
    "any-distance": Lie("geo.by-distance/001", AnyDistance),
    "doubles-for-decimals": Lie("decimals.compared/001", Doubles),
    "doubles-are-added": Lie("decimals.summed/002", SumsOfDoubles),
    "words-by-code-point": Lie("collation.swedish/001", CodePoints),
    "one-language-for-all": Lie("collation.spanish/001", OneLanguage),
    "case-counts": Lie("collation.case-ignored/001", CaseCounts),
    "percentile-off-by-one": Lie("aggregation.percentile-smallest/003", OneTooFar),
    "always-the-median": Lie("aggregation.percentile-smallest/001", AlwaysTheMedian),
}
"""By name."""


class Mutant(SQLite):
    """A session whose documents lie."""

    def __init__(self, link: Link, liar: type[Honest]) -> None:
        super().__init__(link)
        self.tables = {**SQLite.tables, "document": liar}

    def collection(self, layout: Layout) -> Collection:
        plain = layout.model.model_copy(update={"decimals": ()})
        made = super().collection(dataclasses.replace(layout, model=plain))
        if isinstance(made, Honest):
            made.exact = bool(layout.model.decimals)
        return made


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    """Open one session that lies as `lie` says."""
    return Mutant(Link(address), LIES[options["lie"]].liar if options else Honest)
