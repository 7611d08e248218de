"""Which operations on a register can be removed from a history so that, if it was linearizable, the rest still is.

A read can always be removed. A write can be removed if no remaining answer depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.history import Operation


def only_reads(operation: Operation) -> bool:
    """Whether an operation certainly changed nothing: a `get`, or a write that was answered no."""
    return operation.action == "get" or (operation.answer_counts and operation.answer is False)


def unobserved(operation: Operation, among: Sequence[Operation]) -> bool:
    """Whether a write can be removed: every order that explains the history explains it without the write, too.

    Each write id is written once. If no read returned it and no `compare_and_set` expected it, then the operations between this write and
    the next could only have noticed it by a negative answer, or by whether the key was present; both are excluded here.
    """
    if only_reads(operation):
        return False
    others = [each for each in among if each is not operation and (each.answer_counts or each.action == "compare_and_set")]
    if any(each.answer_counts and each.action == "compare_and_set" and each.answer is False for each in others):
        return False
    if operation.action == "delete":
        return not any(
            _found_absent(each) and not _overwritten_between(operation, each, among, ("put", "put_if_absent")) for each in others
        )
    if any(operation.write_id in (each.answer if each.action == "get" else None, each.expected or None) for each in others):
        return False
    return operation.action == "compare_and_set" or not any(
        _found_present(each) and not _overwritten_between(operation, each, among, ("put",)) for each in others
    )


def _overwritten_between(write: Operation, reader: Operation, among: Sequence[Operation], by: tuple[str, ...]) -> bool:
    """Whether an acknowledged write, of an action in `by`, falls entirely between the end of `write` and the start of `reader`."""
    return write.completed is not None and any(
        each.action in by
        and each.outcome == "ok"
        and each.completed is not None
        and write.completed < each.invoked
        and each.completed < reader.invoked
        for each in among
    )


def _found_absent(operation: Operation) -> bool:
    wanted = {"get": None, "put_if_absent": True, "delete": False}
    return operation.answer_counts and operation.action in wanted and operation.answer is wanted[operation.action]


def _found_present(operation: Operation) -> bool:
    wanted = {"put_if_absent": False, "delete": True}
    return operation.answer_counts and operation.action in wanted and operation.answer is wanted[operation.action]
