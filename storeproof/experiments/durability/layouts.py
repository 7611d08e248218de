"""The collections that clients write during the faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storeproof.contract import Layout, Session, Unsupported
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.record_writes import writable
from storeproof.launch.handle import Handle
from storeproof.outcome import Lack
from storeproof.records.beside.index_entries import indexes_of
from storeproof.store_under_test import StoreUnderTest

MODELS: Final = ("single_key", "hash10", "nested", "row", "counter")
"""The models that are written, if the store claims them."""

STAMPED: Final = ("single_key", "hash10", "nested", "row")
"""The models whose records have a write id; a counter has none."""


def layouts_of(sut: StoreUnderTest, handle: Handle, models: Sequence[str] = MODELS, *, indexed: bool = False) -> dict[str, Layout]:
    """A collection for each claimed model that the adapter can write and read.

    Args:
        indexed: with an index where its entries can be looked at.

    Raises:
        NotAvailable: there is none.
    """
    session: Session = sut.connect(handle)
    try:
        layouts: dict[str, Layout] = {}
        for model in models:
            if model not in sut.target.store.claims.models:
                continue
            layout = sut.layout(model, indexes_of(sut.target, model) if indexed else 0)
            try:
                if writable(session, layout) is not None:
                    layouts[model] = layout
            except Unsupported:
                continue  # claimed and refused: correctness fails on it
    finally:
        session.close()
    if not layouts:
        raise NotAvailable(f"{sut.target.id} claims none of the models that fault tests write: {', '.join(models)}", lack=Lack.MODELS)
    return layouts
