"""Collections that a case creates in a store, fills with many records, and removes at its end."""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Mapping
from typing import Final

from storeproof.contract import Collection, Key, Layout, Record, Refused, Session, Unknown, Unsupported, call, supports
from storeproof.outcome import Outcome
from storeproof.result.running_case import EndCase
from storeproof.spec.variation import AS_IT_IS, Variation
from storeproof.store_under_test import StoreUnderTest

OpenCollection = Callable[..., tuple[Collection, Layout]]
"""`Workspace.fresh`."""


class Workspace:
    """The collections of one session with the store that the cases of a stage share."""

    def __init__(self, sut: StoreUnderTest, session: Session, *, claimed: bool = True) -> None:
        """`claimed`: whether the variant claims the case, even if it does not claim the model."""
        self._sut = sut
        self._claimed = claimed
        self._session = session
        self._opened: list[Collection] = []

    def fresh(self, model: str, indexes: int = 0, record: Variation = AS_IT_IS) -> tuple[Collection, Layout]:
        """An empty collection. Raises `EndCase`: the store does not support the model: `fail` if it claims it, else `unsupported`."""
        claims = model in self._sut.target.store.claims.models
        if not claims and not self._claimed:
            raise EndCase(Outcome.UNSUPPORTED, f"the store does not claim the model {model}")
        layout = self._sut.layout(model, indexes, record)
        try:
            collection = self._session.collection(layout)
            self._opened.append(collection)
            collection.prepare()
        except Unsupported as reason:
            # A claim is about the model without indexes and variations.
            claimed = claims and not indexes and record == AS_IT_IS
            outcome = Outcome.FAIL if claimed else Outcome.UNSUPPORTED
            raise EndCase(outcome, f"{'claimed, but ' if claimed else ''}{reason}") from None
        return collection, layout

    def clear(self) -> None:
        """Remove the collections. Raises `StoreDied`, `MachineFailed` or `Unknown` without an answer, `Refused` on a refusal."""
        opened, self._opened = self._opened, []
        for collection in opened:
            if not self._sut.answers():
                return  # the store is gone with all its data
            try:
                collection.clear()
            except Unknown as reason:
                raise self._sut.explain(reason) from None
            except Refused:
                self._sut.close_shared()  # leftovers must not reach the next case
                raise


def fill(collection: Collection, layout: Layout, records: Mapping[Key, Record], batch: int) -> None:
    """Put the records, `batch` of them a request."""
    if not supports(collection, "put_many"):
        for key, record in records.items():
            call(collection, layout, "put", key, record)
        return
    items = iter(records.items())
    while part := dict(itertools.islice(items, batch)):
        call(collection, layout, "put_many", part)


_BYTES: Final = 100


def others(number: int) -> dict[Key, Record]:
    """That many values of 100 bytes, under keys such as `m-000012`, of all letters in turn: what cases have `beside` their own records."""
    letters = itertools.cycle(string.ascii_lowercase)
    keys = (f"{letter}-{each:06}" for letter, each in zip(letters, range(number), strict=False))
    return {key: key.encode().ljust(_BYTES, b".") for key in keys}
