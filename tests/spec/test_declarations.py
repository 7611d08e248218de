"""Each step of a case is declared by its capability, so that its cases need nothing of a store that cannot be seen there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest

from storeproof.contract import OPERATIONS
from storeproof.contract.families import KeyValue
from storeproof.spec import Capability
from storeproof.spec.operation import OperationName
from storeproof.spec.query import REQUESTS, And, Comparison, Condition, Filter, Not, Or, Where
from tests.shipped import SHIPPED

PLAIN = {*get_args(Comparison), "in"}
"""Operators that every store with `find` has, combined with `and`, `or` and `not`."""


def steps_of(capability: Capability) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """All operations of its cases, with their arguments."""
    for case in capability.cases:
        yield from ((step.do, step.args) for step in (*case.steps, *case.after))
        turns = case.interleaved.turns if case.interleaved else ()
        yield from ((turn.do, turn.args) for turn in turns if turn.do in OPERATIONS)  # and not the ends of a transaction


def operators_of(filter_: Filter | None) -> Iterator[str]:
    """The operators of a filter, those on the items of a list too."""
    match filter_:
        case Condition(operator=operator, value=value):
            yield operator
            if operator == "element":
                yield from operators_of(value)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from operators_of(part)
        case Not(part=part):
            yield from operators_of(part)


def operators_in(operation: str, args: tuple[Any, ...]) -> set[str]:
    """Those of the request, or of the filter of a stored search or of an index."""
    if operation in REQUESTS:
        return set(operators_of(Where.model_validate({"filter": (args[0] if args else {}).get("filter")}).filter))
    written = [args[1].get("filter")] if operation == "save_search" else [args[0].get("filter")] if operation == "create_index" else []
    return {operator for each in written for operator in operators_of(Where.model_validate({"filter": each}).filter)}


def undeclared(capability: Capability) -> set[str]:
    """Operations of a family of which the capability declares none, and operators that it does not declare."""
    declared = {OPERATIONS[name].family for name in (*capability.operations, *capability.uses) if name in OPERATIONS} | {KeyValue}
    steps = list(steps_of(capability))
    operations = {operation for operation, _ in steps if OPERATIONS[operation].family not in declared}
    return operations | set().union(*(operators_in(*step) for step in steps)) - PLAIN - set(capability.uses)


@pytest.mark.parametrize("name", SHIPPED.capabilities)
def test_every_step_is_declared(name: str) -> None:
    """By `operations`, which the cases show, or by `uses`. Whole records by key are of every store."""
    assert undeclared(SHIPPED.capabilities[name]) == set(), f"add to `uses` of {name}, or to its operations what its cases are about"


def test_nothing_is_declared_in_vain() -> None:
    """What no case needs would keep stores from claiming it; and an operation is shown or used, not both."""
    for name, capability in SHIPPED.capabilities.items():
        steps = list(steps_of(capability))
        needed = {operation for operation, _ in steps}.union(*(operators_in(*step) for step in steps))
        assert set(capability.uses) <= needed, name
        assert not set(capability.uses) & set(capability.operations), name


def test_what_is_not_declared_is_found() -> None:
    """An operation, an operator of a filter, and one within a list."""
    changed = {
        "expiry.after-multi-put": ("operations", ("put_expiring",), {"put_many"}),
        "geo.near": ("uses", (), {"near"}),
        "filter.list-element": ("uses", (), {"element"}),
        "bulk.delete-where": ("uses", (), {"find", "count_where"}),
    }
    for name, (field, kept, found) in changed.items():
        assert undeclared(SHIPPED.capabilities[name].model_copy(update={field: kept})) == found, name


def test_operations_and_operators_have_different_names() -> None:
    """`uses` has both."""
    assert not set(get_args(OperationName)) & set().union(*(get_args(each) for each in get_args(Comparison)), PLAIN)
