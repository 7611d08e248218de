"""Documents by what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import storeproof.adapters.mongodb.geo as geo
import storeproof.adapters.mongodb.query as asked
from storeproof.adapters.mongodb.collation import by_code_point, collation_of
from storeproof.adapters.mongodb.filter import Stages, settable
from storeproof.adapters.mongodb.link import Stored, sorting
from storeproof.adapters.mongodb.records import Fielded, dotted
from storeproof.adapters.mongodb.text import LANGUAGE, selected, text_index
from storeproof.contract import FacetedPage, Json, Key, Path, Unsupported
from storeproof.contract.families import Joined
from storeproof.spec.query import Aggregation, Browse, Query, Where

_ONE_BATCH: Final = 1_000_000
"""More results than the 16 MiB of a reply can hold, so that an answer takes one request. Not more than that: a server may make room for as
many as it is asked for (FerretDB 1.24.2 does)."""


class Requests(Fielded):
    """Requests, and the text index that some of them ask."""

    def prepare(self) -> None:
        """As of every collection; and the text index and the spatial ones, where the model has texts and places."""
        super().prepare()
        if texts := text_index(self._layout):
            with sorting():
                self._collection.create_index(texts, default_language="none", language_override=LANGUAGE)
        for place in geo.indexes(self._layout):
            with sorting():
                self._collection.create_index(place)

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        collation = collation_of(query, self._layout)
        if collation and query.filter:
            query = query.model_copy(update={"filter": by_code_point(query.filter)})
        return [asked.found(query, each) for each in self._answers(asked.finding(query, self._layout), collation)]

    def find_joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Sequence[Joined]:
        if collation_of(query, self._layout):
            raise Unsupported("a collation applies to a whole operation, so $lookup would compare keys with it too")
        return [asked.joined(query, fields, each) for each in self._answers(asked.joining(query, path, fields, self._layout))]

    def count_where(self, where: Where) -> int:
        return sum(each["n"] for each in self._answers(asked.counting(where, self._layout)))

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return [asked.row_of(aggregation, each) for each in self._answers(asked.aggregating(aggregation, self._layout))]

    def browse(self, browse: Browse) -> FacetedPage:
        """`$facet`, whose answer is one document of at most 16 MB."""
        return asked.browsed(browse, self._answers(asked.browsing(browse, self._layout))[0])

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        """update_many. What has no place to set the value in is left as it is, and not counted."""
        change = {"$set": {dotted(path): value}}
        both = {"$and": [selected(where.filter, self._layout), settable(path)]}
        with sorting(many=True):
            return self._collection.update_many(both, change, session=self._link.session).matched_count

    def delete_where(self, where: Where) -> int:
        with sorting(many=True):
            return self._collection.delete_many(selected(where.filter, self._layout), session=self._link.session).deleted_count

    def _answers(self, pipeline: Stages, collation: dict[str, Any] | None = None) -> list[Stored]:
        with sorting():
            return list(self._collection.aggregate(pipeline, batchSize=_ONE_BATCH, collation=collation, session=self._link.session))
