"""What is computed of the values of one range index, of the documents that a query selects (`/v1/values`).

The server has lists of values with the number of documents of each, too. They are no groups: documents without a value are in
no index, and an index of texts cannot tell a text from a number that is written alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from storeproof.adapters.marklogic.query import RangeIndex, Translation
from storeproof.contract import Json, Unsupported
from storeproof.spec.query import Aggregation

NAME: Final = "storeproof"
"""The name of the list of values, which is defined with the request."""

_FUNCTIONS: Final = ("count", "sum", "avg", "min", "max")
"""Functions of the query language, which the server calls the same."""


@dataclass(frozen=True)
class Computation:
    """One request, and how its answer is read."""

    index: RangeIndex
    functions: Mapping[str, str]
    """By the names of the answer."""

    def body(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """The request's, a combined query."""
        applied = [{"apply": function} for function in dict.fromkeys(self.functions.values())]
        values = {"name": NAME, "style": "consistent", "range": self.index.reference, "aggregate": applied}
        return {"search": {"query": query, "options": {"values": [values]}}}

    def row(self, answer: Mapping[str, Any]) -> dict[str, Json]:
        found = {each["name"]: each.get("_value") for each in answer["values-response"].get("aggregate-result", [])}
        return {name: self._read(function, found.get(function)) for name, function in self.functions.items()}

    def _read(self, function: str, written: Any) -> Json:
        if function == "count":
            return int(written or 0)
        if written in (None, ""):
            return None  # of no values
        return self.index.value(written) if function in ("min", "max") else float(written)


def computation(words: Translation, aggregation: Aggregation) -> Computation:
    """The request for what is computed of all records of a filter.
    Raises `Unsupported`: by groups, of several fields, or what the server does not compute."""
    if aggregation.by:
        raise Unsupported(
            "an index has no entry for documents without a value, so there is no group for them; of a group only the size is known"
        )
    if aggregation.having is not None:
        raise Unsupported("conditions on computed values are not possible")
    functions = {name: measure.function for name, measure in aggregation.compute.items()}
    if wrong := [function for function in functions.values() if function not in _FUNCTIONS]:
        raise Unsupported(f"the server computes {', '.join(_FUNCTIONS)} of an index, not {wrong[0]}")
    paths = list(dict.fromkeys(measure.path or () for measure in aggregation.compute.values()))  # records are counted by their keys
    if len(paths) != 1:
        raise Unsupported("one request computes over one index only, not over several fields")
    index = words.index(paths[0])
    if index.many:
        raise Unsupported(f"the range index {index.path} contains the items of a list, not the list")
    if index.type == "string" and {"sum", "avg"} & {*functions.values()}:
        raise Unsupported(f"the range index {index.path} contains text, which has no sum")
    return Computation(index, functions)
