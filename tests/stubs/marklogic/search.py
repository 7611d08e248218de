"""Structured queries on JSON documents: conditions, order, page, extraction, facets.

What it does not know is refused. MarkLogic takes a query that it does not understand for one that matches everything.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tests.stubs.marklogic import RestError
from tests.stubs.marklogic.database import Stored
from tests.stubs.marklogic.paths import select, sparse
from tests.stubs.marklogic.words import WordQuery

Documents = Mapping[str, Stored]
Test = Callable[[str, Stored], bool]

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
_OPTIONS = {
    *("search-option", "return-results", "return-facets", "return-metrics", "return-qtext", "return-query", "transform-results"),
    *("sort-order", "extract-document-data", "constraint", "debug"),
}


class Search:
    """One search over the documents of one moment."""

    def __init__(self, documents: Documents, indexes: Sequence[Mapping[str, Any]], request: Mapping[str, Any]) -> None:
        self._documents = documents
        self._indexes = {(each["path-expression"], each["scalar-type"], each["collation"]) for each in indexes}
        inner = request.get("search", request)
        self._options: Mapping[str, Any] = inner.get("options", {})
        if unknown := {*inner} - {"query", "options"} or {*self._options} - _OPTIONS:
            raise _unknown(", ".join(sorted(unknown)))
        self._filtered = "filtered" in self._options.get("search-option", [])
        self._words: list[WordQuery] = []
        test = self._all((inner.get("query") or {}).get("queries", []))
        self._scores = {uri: self._score(documents[uri]) for uri in sorted(documents) if test(uri, documents[uri])}
        self.found = sorted(self._scores, key=lambda uri: -self._scores[uri])
        for order in reversed(_many(self._options.get("sort-order", []))):
            self._sort(order)

    def page(self, start: int, length: int) -> list[str]:
        """The URIs of a page; the first result is number 1."""
        return self.found[start - 1 : start - 1 + length]

    def answer(self, start: int, length: int) -> dict[str, Any]:
        """The search response."""
        answer: dict[str, Any] = {"snippet-format": "empty-snippet", "total": len(self.found), "start": start, "page-length": length}
        if self._options.get("return-results", True):
            answer["results"] = [self._result(number, uri) for number, uri in enumerate(self.page(start, length), start)]
        if self._options.get("return-facets", True):
            answer["facets"] = {each["name"]: self._facet(each["range"]) for each in _many(self._options.get("constraint", []))}
        return answer

    def extracted(self, uri: str) -> dict[str, Any] | None:
        """What is extracted of a document, if an extraction was asked for."""
        wanted = self._options.get("extract-document-data")
        if wanted is None:
            return None
        parsed = self._documents[uri].parsed
        if wanted["selected"] == "all":
            return {"kind": "object", "content": [parsed]}
        if wanted["selected"] != "include-with-ancestors":
            raise _unknown(f"selected: {wanted['selected']}")
        places = [place for path in _many(wanted["extract-path"]) for place in select(parsed, path)]
        return {"kind": "object", "content": [sparse(parsed, places)]} if places else None

    def _result(self, number: int, uri: str) -> dict[str, Any]:
        where = {"index": number, "uri": uri, "path": f'fn:doc("{uri}")', "href": f"/v1/documents?uri={quote(uri, safe='')}"}
        result: dict[str, Any] = {
            **where,
            "score": self._scores[uri],
            "confidence": 0,
            "fitness": 0,
            "mimetype": self._documents[uri].type,
            "format": "json",
        }
        if "extract-document-data" in self._options:
            extracted = self.extracted(uri)
            result |= {"extracted": extracted} if extracted else {"extracted-none": ""}
        return result

    def _score(self, stored: Stored) -> int:
        """The more often the words are there, the better; MarkLogic also weighs how rare they are."""
        return sum(words.occurrences(stored.parsed) for words in self._words)

    def _all(self, queries: Sequence[Mapping[str, Any]]) -> Test:
        tests = [self._test(query) for query in queries]
        return lambda uri, stored: all(test(uri, stored) for test in tests)

    def _test(self, query: Mapping[str, Any]) -> Test:
        ((kind, details),) = query.items()
        match kind:
            case "and-query":
                return self._all(details["queries"])
            case "or-query":
                tests = [self._test(each) for each in details["queries"]]
                return lambda uri, stored: any(test(uri, stored) for test in tests)
            case "not-query":
                inner = self._test(details)
                return lambda uri, stored: not inner(uri, stored)
            case "collection-query":
                return lambda _, stored: not {*details["uri"]}.isdisjoint(stored.collections)
            case "directory-query":
                return lambda uri, _: any(uri.startswith(directory) for directory in details["uri"])
            case "document-query":
                return lambda uri, _: uri in details["uri"]
            case "range-query":
                return self._range(details)
            case "value-query":
                return lambda _, stored: any(value in details["text"] for value in _properties(stored.parsed, details["json-property"]))
            case "word-query" | "term-query":
                words = WordQuery(details, filtered=self._filtered)
                self._words.append(words)
                return lambda _, stored: words.occurrences(stored.parsed) > 0
        raise _unknown(kind)

    def _range(self, details: Mapping[str, Any]) -> Test:
        values = self.values(details)
        compare = _COMPARE[details["range-operator"]]
        wanted = [_cast(value, details["type"]) for value in details["value"]]
        if None in wanted:
            raise RestError(400, "XDMP-CAST", f"Invalid cast: {details['value']} to {details['type']}")
        return lambda _, stored: any(compare(value, each) for value in values(stored) for each in wanted)

    def values(self, reference: Mapping[str, Any]) -> Callable[[Stored], list[Any]]:
        """What the range index has of a document."""
        path, type_ = reference["path-index"]["text"], reference["type"]
        if (path, type_.removeprefix("xs:"), reference.get("collation", "")) not in self._indexes:
            raise RestError(400, "XDMP-PATHRIDXNOTFOUND", f"No {type_} path range index for {path}")
        return lambda stored: [value for place in select(stored.parsed, path) if (value := _cast(place.value, type_)) is not None]

    def _sort(self, order: Mapping[str, Any]) -> None:
        """Stable, so that the last key is sorted by first; documents without a value come last, either way."""
        values = self.values(order)
        first = {uri: found[0] for uri in self.found if (found := values(self._documents[uri]))}
        having = sorted((uri for uri in self.found if uri in first), key=first.__getitem__, reverse=order["direction"] == "descending")
        self.found = having + [uri for uri in self.found if uri not in first]

    def _facet(self, constraint: Mapping[str, Any]) -> dict[str, Any]:
        values = self.values(constraint)
        counts = Counter(value for uri in self.found for value in {*values(self._documents[uri])})
        options = list(constraint.get("facet-option", []))
        ordered = (
            sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])) if "frequency-order" in options else sorted(counts.items())
        )
        limit = next((int(option.partition("=")[2]) for option in options if option.startswith("limit=")), None)
        entries = [{"name": str(value), "count": count, "value": value} for value, count in ordered[:limit]]
        return {"type": constraint["type"], "facetValues": entries}


def _cast(value: Any, type_: str) -> Any:
    """A value as an index of a type has it; None if it has not."""
    if value is None or isinstance(value, (list, dict)):
        return None
    try:
        match type_.removeprefix("xs:"):
            case "string":
                return str(value).lower() if isinstance(value, bool) else str(value)
            case "double":
                return None if isinstance(value, bool) else float(value)
            case "long":
                return None if isinstance(value, bool) or int(value) != value else int(value)
    except ValueError:
        return None
    raise _unknown(f"index type {type_}")


def _properties(value: Any, name: str) -> list[Any]:
    """The values of all properties of a name, however deep."""
    if isinstance(value, list):
        return [found for each in value for found in _properties(each, name)]
    if not isinstance(value, dict):
        return []
    own = [value[name]] if name in value else []
    leaves = [leaf for each in own for leaf in (each if isinstance(each, list) else [each]) if not isinstance(leaf, (list, dict))]
    return leaves + [found for each in value.values() for found in _properties(each, name)]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _unknown(what: str) -> RestError:
    return RestError(400, "SEARCH-BADQUERY", f"the stub does not know {what}")
