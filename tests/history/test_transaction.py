"""Transactions that cannot have been are refused when they are recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from storeproof.history import Access, Transaction


@pytest.mark.parametrize(
    "recorded",
    [
        lambda: Access("write", "x", None),
        lambda: Access("write", "x", "1", predicate=True),
        lambda: Access("read", "x", "2", after="1"),
        lambda: Transaction(0, 5, None, "ok", ()),
        lambda: Transaction(0, 5, None, "refused", ()),
        lambda: Transaction(0, 5, 6, "unknown", ()),
        lambda: Transaction(0, 5, 4, "ok", ()),
    ],
)
def test_what_cannot_have_been_is_refused(recorded: Callable[[], object]) -> None:
    """A write of nothing, a reply to one that had none, an end before the beginning."""
    with pytest.raises(ValueError, match=r"found|before that"):
        recorded()
