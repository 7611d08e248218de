"""Records of models with text search: articles, since filler has no words to search for.

The key determines the article, and each write makes a revision of it. The write id is in `revision`, at the end of `body`, and in
`bookmark`, which may also be set alone. Preloaded records (client 0) are the articles unchanged. A later revision has the same words,
rotated, and another date, so that searches find the same records before and after an update.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from storeproof.contract.values import Json, Key, Path, Record
from storeproof.corpus.articles import Articles
from storeproof.records.filler import place_of
from storeproof.records.readback import INVENTED, Identified, is_write_id
from storeproof.spec.model import Document, Model

REVISION: Final = "revision"
BOOKMARK: Final = "bookmark"
FIELDS: Final = frozenset({"title", "body", "language", "categories", "published", REVISION, BOOKMARK})
_LATER: Final = datetime(2027, 1, 1, tzinfo=UTC)
"""Revisions are dated after all preloaded articles."""
_YEAR: Final = 365 * 24 * 60 * 60
_SAMPLED: Final = 200


class ArticleRecipe:
    """Makes the records of one model with text search, and identifies those read back."""

    def __init__(self, model: Model, articles: Articles) -> None:
        shape = model.record
        if not isinstance(shape, Document) or shape.shape.object.keys() != FIELDS or model.key != "text":
            raise ValueError(f"{model.model} has texts that are searched, so its records are articles: {', '.join(sorted(FIELDS))}")
        self.model = model
        self.articles = articles

    def key(self, number: int) -> Key:
        return self.articles.key(number)

    def make(self, key: Key, write_id: str) -> Record:
        """The record that the write with this id stores under this key. Raises `ValueError` for a key without an article."""
        article = self.articles.under(key)
        if article is None:
            raise ValueError(f"{key} is the key of no article")
        body, published = article.body, article.published
        if not write_id.startswith("0:"):
            place = place_of(key, write_id)
            body = _turned(body, place)
            published = (_LATER + timedelta(seconds=place % _YEAR)).strftime("%Y-%m-%dT%H:%M:%SZ")
        record: dict[str, Json] = {
            "title": article.title,
            "body": f"{body} {write_id}",
            "language": article.language,
            "categories": list(article.categories),
            "published": published,
            REVISION: write_id,
            BOOKMARK: write_id,
        }
        return record

    def part(self, key: Key, write_id: str, path: Path) -> Any:
        """One part of the record that `make` returns: the value at a path."""
        if path == (BOOKMARK,):
            return write_id
        part: Any = self.make(key, write_id)
        for step in path:
            part = part[step]
        return part

    def identify(self, key: Key, record: Record) -> Identified:
        """Identify the write of a record that was read under `key`."""
        if not isinstance(record, dict) or not record.keys() <= FIELDS or self.articles.under(key) is None:
            return INVENTED
        carried = (record.get(REVISION), str(record.get("body", "")).rpartition(" ")[2], record.get(BOOKMARK))
        claimed: dict[str, Any] = {str(write_id): self.make(key, str(write_id)) for write_id in carried if is_write_id(write_id)}
        parts: dict[Path, str | None] = {
            (name,): next((write_id for write_id, made in claimed.items() if _same(made[name], value)), None)
            for name, value in record.items()
        }
        write_ids = tuple(dict.fromkeys(write_id for write_id in parts.values() if write_id is not None))
        if not write_ids:
            return Identified("invented", (), parts)
        complete = len(parts) == len(FIELDS) and None not in parts.values()
        kind: Literal["whole", "torn"] = "whole" if complete and len(write_ids) == 1 else "torn"
        return Identified(kind, write_ids, parts, complete)

    def payload_bytes(self) -> int:
        """Mean bytes of text per record, in UTF-8, over the first 200 records."""
        made: list[Any] = [self.make(self.key(number), f"0:{number}") for number in range(_SAMPLED)]
        return sum(_text_bytes(value) for record in made for value in record.values()) // _SAMPLED


def _turned(body: str, place: int) -> str:
    """Rotate the words of the body by an amount that depends on `place`. A body without a later space stays as it is."""
    cut = body.find(" ", place % len(body)) if body else -1
    return body if cut < 0 else f"{body[cut + 1 :]} {body[:cut]}"


def _same(made: Any, found: Any) -> bool:
    return type(made) is type(found) and bool(made == found)


def _text_bytes(value: str | list[str]) -> int:
    return len(value.encode()) if isinstance(value, str) else sum(len(each.encode()) for each in value)
