"""How much transactions got in each other's way: without that, any store looks isolated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from storeproof.history import Transaction


def contended(transactions: Sequence[Transaction]) -> int:
    """The number of acknowledged commits that wrote a record which another one, at the same time, wrote or read."""
    accessed: defaultdict[str, dict[int, bool]] = defaultdict(dict)
    """For each key: who accessed it, and whether to write."""
    for index in sorted(range(len(transactions)), key=lambda index: transactions[index].invoked):
        if transactions[index].outcome == "ok":
            for access in transactions[index].accesses:
                of_key = accessed[access.key]
                of_key[index] = of_key.get(index, False) or access.action == "write"
    found: set[int] = set()
    for of_key in accessed.values():
        latest = -1
        """The last completion of those that were invoked before."""
        waiting: int | None = None
        """The one invoked right before, if it wrote: it is contended if this one was invoked before it completed."""
        for index, wrote in of_key.items():
            invoked, completed = transactions[index].invoked, transactions[index].completed or 0
            if waiting is not None and invoked <= (transactions[waiting].completed or 0):
                found.add(waiting)
            if wrote and invoked <= latest:
                found.add(index)
            waiting, latest = index if wrote else None, max(latest, completed)
    return len(found)
