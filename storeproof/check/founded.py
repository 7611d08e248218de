"""What a transaction had read is there wherever that transaction is, whether its writer was told so or not.

A store that recovers a later transaction without an earlier one that it read from has a state that no order of transactions gives: what is
there must be closed under "had read from". So the presence of a reader proves the commit of the writer as an acknowledgement would.

    a, b together v1 |--???    c, d together v2, which read v1 |--???    v2 alone is wrong: v1 is lost, although nothing was acknowledged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storeproof.history import Observation, Operation, Place, Seen


def founded(operations: Sequence[Operation], seen: Mapping[Place, Seen]) -> Sequence[Operation]:
    """The history in which a write without a reply counts as acknowledged if a transaction that had read it is there, or one that had read
    that one, and so on. It was acknowledged last of all: nothing is concluded from when.

    `operations`: those of all keys. `seen`: what was read back.
    """
    had_read = {each.write_id: each.expected for each in operations if each.action == "put" and each.expected}
    if not had_read:
        return operations
    left = {each.write_id for each in seen.values() if isinstance(each, Observation) and each.write_id in had_read}
    proven = set[str]()
    while left:
        read = had_read.get(left.pop())
        if read is not None and read not in proven:
            proven.add(read)
            left.add(read)
    last = 1 + max((each.invoked if each.completed is None else each.completed for each in operations), default=0)

    def known(each: Operation) -> Operation:
        return replace(each, completed=last, outcome="ok") if each.outcome == "unknown" and each.write_id in proven else each

    return list(map(known, operations))
