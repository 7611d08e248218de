"""Lists of the values of one range index, and what is computed of them: `/v1/values`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.stubs.marklogic import RestError
from tests.stubs.marklogic.search import Documents, Search

_COMPUTE = {"sum": sum, "min": min, "max": max, "avg": lambda values: sum(values) / len(values)}


def values(documents: Documents, indexes: Sequence[Mapping[str, Any]], name: str, request: Mapping[str, Any], view: str) -> dict[str, Any]:
    """The answer to a request that defines the list which it asks for."""
    inner = request["search"]
    defined = inner["options"].get("values", [])
    if (
        {*inner} - {"query", "options"}
        or {*inner["options"]} != {"values"}
        or len(defined) != 1
        or view not in ("all", "values", "aggregate")
    ):
        raise _unknown("more than one list of values of one query")
    (listed,) = defined
    if {*listed} - {"name", "style", "range", "aggregate"}:
        raise _unknown(", ".join(sorted(listed)))
    if listed["name"] != name:
        raise RestError(400, "SEARCH-BADOPTION", f"there is no values specification of the name {name}")
    search = Search(documents, indexes, {"query": inner.get("query"), "options": {}})
    of_index = search.values(listed["range"])
    found = [of_index(documents[uri]) for uri in search.found]
    answer: dict[str, Any] = {"name": name, "type": listed["range"]["type"]}
    if view != "aggregate":
        counts = Counter(value for each in found for value in {*each})
        answer["distinct-value"] = [{"frequency": count, "_value": value} for value, count in sorted(counts.items())]
    if view != "values" and "aggregate" in listed:
        answer["aggregate-result"] = [_computed(each, [value for values in found for value in {*values}]) for each in listed["aggregate"]]
    return {"values-response": answer}


def _computed(wanted: Mapping[str, Any], found: Sequence[Any]) -> dict[str, Any]:
    (name,) = wanted.values()
    if list(wanted) != ["apply"] or name not in {"count", *_COMPUTE}:
        raise _unknown(f"aggregate {wanted}")
    if name == "count":
        return {"name": name, "_value": str(len(found))}
    return {"name": name, "_value": str(_COMPUTE[name](found))} if found else {"name": name}


def _unknown(what: str) -> RestError:
    return RestError(400, "SEARCH-BADQUERY", f"the stub does not know {what} of values")
