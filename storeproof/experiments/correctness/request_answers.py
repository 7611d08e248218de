"""Whether a store's answer to a request is right: every record is found and no other, and page, facets and groups are those of the oracle.

Where a request leaves a choice, any is right: which of two records with equal values stands first, or which ten of many are on a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from storeproof.contract import Collection, Key, Layout, call
from storeproof.oracle import query as oracle
from storeproof.oracle.equality import same_lenient, same_unordered
from storeproof.spec.query import SEARCHES, Aggregation, Browse, Measure, Query

Records = Mapping[Key, Any]
"""What is in the collection."""
_INEXACT: Final = 1e-9
"""By which sums and means of doubles may differ, as a share: stores add them in any order."""


def wrong_answer(collection: Collection, layout: Layout, records: Records, operation: str, request: Any) -> str | None:
    """What is wrong with an answer, or None."""
    everything = [key for key, _ in call(collection, layout, "find", Query(filter=request.filter, fields=()))]
    found = {key: records[key] for key in everything if key in records}
    if len(found) < len(everything):
        return f"{len(everything)} records were found; only {len(found)} of them exist and were found once"
    wanted = {key for key, record in records.items() if oracle.holds(request.filter, record)}
    if lost := sorted(wanted - found.keys(), key=str):
        return f"{lost[0]} was not found, and {len(lost) - 1} more"
    # A text index may know other forms of a word; whatever else is asked for has one answer.
    if (more := found.keys() - wanted) and not _searches(request.filter):
        return f"{min(more, key=str)} was found, but does not match"
    answer = call(collection, layout, operation, request)
    if isinstance(request, Aggregation):
        return _wrong_rows(collection, layout, found, request, answer)
    if operation == "count_where":
        return None if answer == len(found) else f"the count is {answer}, but {len(found)} were found"
    if isinstance(request, Browse):
        return _wrong_page(found, request, answer.keys) or _wrong_facets(found, request, answer)
    if operation == "find":
        parts = {key: oracle.find({key: found[key]}, Query(fields=request.fields))[0][1] for key, _ in answer if key in found}
        torn = [key for key, part in answer if parts.get(key) != part]
        return _wrong_page(found, request, [key for key, _ in answer]) or (
            f"{torn[0]} does not have the requested fields" if torn else None
        )
    return f"{operation} has no check here"


def _wrong_page(found: Records, request: Query | Browse, keys: list[Key]) -> str | None:
    """The values are compared, since of records with equal values either may stand first."""
    skip = request.skip if isinstance(request, Query) else 0
    asked = Query(sort=request.sort, skip=skip, limit=request.limit or None)
    wanted = [key for key, _ in oracle.find(found, asked)] if request.limit != 0 else []
    if len(set(keys)) != len(wanted) or not set(keys) <= found.keys():
        return f"the page is {keys}; expected {len(wanted)} of {len(found)} records"
    sorts = [sort for sort in request.sort if sort.path]
    values, right = (
        [[oracle.sorted_by(oracle.at(found[key], sort.path), sort) for sort in sorts] for key in page] for page in (keys, wanted)
    )
    return None if values == right else f"the page is sorted as {values}; expected {right}"


def _wrong_facets(found: Records, request: Browse, answer: Any) -> str | None:
    right = oracle.browse(found, Browse(facets=request.facets))
    if answer.total != right.total:
        return f"the total is {answer.total}; expected {right.total}"
    return None if answer.facets == right.facets else f"the facets are {answer.facets}; expected {right.facets}"


def _wrong_rows(collection: Collection, layout: Layout, found: Records, request: Aggregation, answer: list[dict[str, Any]]) -> str | None:
    """First all groups in any order, and then those that were asked for: their number, their order, and that they are among all."""
    every = request.model_copy(update={"sort": (), "limit": None})
    rows = call(collection, layout, "aggregate", every)
    # A percentile without a kind may be either.
    kinds = [
        every.model_copy(
            update={"compute": {n: m.model_copy(update={"kind": m.kind or kind}) if m.share else m for n, m in request.compute.items()}}
        )
        for kind in ("smallest", "interpolated")
    ]
    right = [oracle.aggregate(found, each) for each in kinds]
    if not any(same_unordered(rows, each, partial(_same_row, request)) for each in right):
        return f"the groups are {rows}; expected {right[0]}"
    ordered = Query(sort=request.sort, limit=request.limit)
    wanted = [row for _, row in oracle.find(dict(enumerate(rows)), ordered)]
    paths = [sort.path for sort in request.sort]
    values, expected = ([[oracle.at(row, path) for path in paths] for row in page] for page in (answer, wanted))
    unknown = [row for row in answer if not any(_same_row(request, row, each) for each in rows)]
    if len(answer) != len(wanted) or unknown or not same_lenient(values, expected):
        return f"of the groups these are shown: {answer}; expected {wanted}"
    return None


def _same_row(request: Aggregation, row: dict[str, Any], right: dict[str, Any]) -> bool:
    return row.keys() == right.keys() and all(_same_cell(row[name], right[name], request.compute.get(name)) for name in row)


def _same_cell(found: Any, right: Any, measure: Measure | None) -> bool:
    if measure is None or measure.function not in ("sum", "avg", "percentile"):
        return oracle.equal(found, right)
    if found is None or right is None:
        return not found and not right  # the sum of nothing is null or zero
    return math.isclose(found, right, rel_tol=_INEXACT)


def _searches(condition: Any) -> bool:
    parts = getattr(condition, "parts", None) or [each for each in [getattr(condition, "part", None)] if each is not None]
    return getattr(condition, "operator", None) in SEARCHES or any(map(_searches, parts))
