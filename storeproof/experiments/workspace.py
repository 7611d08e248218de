"""Collections of our own in a store, which are removed when the work on them is done."""

from __future__ import annotations

from collections.abc import Callable

from storeproof.contract import Collection, Layout, Refused, Session, Unknown, Unsupported
from storeproof.outcome import Outcome
from storeproof.result.case_result import EndCase
from storeproof.spec.variation import AS_IT_IS, Variation
from storeproof.store_under_test import StoreUnderTest

OpenCollection = Callable[..., tuple[Collection, Layout]]
"""`Workspace.fresh`."""


class Workspace:
    """Those of one session with the store that the cases of a stage share."""

    def __init__(self, sut: StoreUnderTest, session: Session, *, claimed: bool = True) -> None:
        """`claimed`: whether the case that works here is claimed, also where its model is not."""
        self._sut = sut
        self._claimed = claimed
        self._session = session
        self._opened: list[Collection] = []

    def fresh(self, model: str, indexes: int = 0, record: Variation = AS_IT_IS) -> tuple[Collection, Layout]:
        """An empty collection.

        Raises:
            EndCase: the store does not keep the model: `unsupported` where it is not claimed, `fail` where it is.
        """
        claims = model in self._sut.target.store.claims.models
        if not claims and not self._claimed:
            raise EndCase(Outcome.UNSUPPORTED, f"the store does not claim the model {model}")
        layout = self._sut.layout(model, indexes, record)
        try:
            collection = self._session.collection(layout)
            self._opened.append(collection)
            collection.prepare()
        except Unsupported as reason:
            # What a model is claimed for is the model as it is.
            claimed = claims and not indexes and record == AS_IT_IS
            outcome = Outcome.FAIL if claimed else Outcome.UNSUPPORTED
            raise EndCase(outcome, f"{'claimed, but ' if claimed else ''}{reason}") from None
        return collection, layout

    def clear(self) -> None:
        """Remove them. Raises `StoreDied`, `MachineFailed` or `Unknown` where the store does not answer, `Refused` where it refuses."""
        opened, self._opened = self._opened, []
        for collection in opened:
            if not self._sut.answers():
                return  # the store is gone, and what it held with it
            try:
                collection.clear()
            except Unknown as reason:
                raise self._sut.explain(reason) from None
            except Refused:
                self._sut.close_shared()  # what is left must not reach the next case
                raise
