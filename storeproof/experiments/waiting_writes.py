"""Writes of a composite store that wait for its home.

It is given them before it is looked at past the layer, before the front is emptied, and before the bytes of another request are counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.contract import Cached, Layout, Session


def carry_out(session: Session, layouts: Iterable[Layout]) -> None:
    """Give the home all writes of these collections that wait. Raises `Unknown` if a server does not answer."""
    for layout in layouts:
        collection = session.collection(layout)
        if isinstance(collection, Cached):
            collection.carry_out()
