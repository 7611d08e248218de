"""Which operations on a register may be taken out of a history, so that what is left is right if the whole was right.

What only looked may go whatever it was answered. A write may go if, in an order that explains the others, nobody would notice.
"""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.history import Access


def changes_nothing(access: Access) -> bool:
    """Whether an operation only looked."""
    return access.action == "get" or (access.heard and access.answer is False)


def unseen(access: Access, among: Sequence[Access]) -> bool:
    """Whether a write may be taken out: in an order that explains the others nobody would notice.

    Each value is written once. If nobody read it, and nobody replaced it, then between this write and the next one nobody looked, but for
    those who were answered no, or asked whether there was anything.
    """
    if changes_nothing(access):
        return False
    others = [each for each in among if each is not access and (each.heard or each.action == "compare_and_set")]
    if any(each.heard and each.action == "compare_and_set" and each.answer is False for each in others):
        return False
    if access.action == "delete":
        return not any(_saw_nothing(each) and not _ended_between(access, each, among, ("put", "put_if_absent")) for each in others)
    if any(access.value in (each.answer if each.action == "get" else None, each.expected or None) for each in others):
        return False
    return access.action == "compare_and_set" or not any(
        _saw_something(each) and not _ended_between(access, each, among, ("put",)) for each in others
    )


def _ended_between(write: Access, looked: Access, among: Sequence[Access], by: tuple[str, ...]) -> bool:
    """Whether what a write left was certainly over when somebody looked: another write came after the one and before the other."""
    return write.completed is not None and any(
        each.action in by
        and each.outcome == "ok"
        and each.completed is not None
        and write.completed < each.invoked
        and each.completed < looked.invoked
        for each in among
    )


def _saw_nothing(access: Access) -> bool:
    wanted = {"get": None, "put_if_absent": True, "delete": False}
    return access.heard and access.action in wanted and access.answer is wanted[access.action]


def _saw_something(access: Access) -> bool:
    wanted = {"put_if_absent": False, "delete": True}
    return access.heard and access.action in wanted and access.answer is wanted[access.action]
