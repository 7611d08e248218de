"""The guard around every adapter: calls go through here, so that no reply is taken on trust."""

from __future__ import annotations

from typing import Any

from storeproof.contract.failures import Breach, Refused, Unknown, Unsupported
from storeproof.contract.families import Collection
from storeproof.contract.operations import OPERATIONS, wrong_reply
from storeproof.contract.values import Layout


def supports(collection: Collection, operation: str) -> bool:
    """Whether the collection implements the operation's family."""
    return isinstance(collection, OPERATIONS[operation].family)


def call(collection: Collection, layout: Layout, operation: str, *args: Any) -> Any:
    """Run one operation and verify its reply.

    Raises:
        Refused, Unknown: as the adapter sorted them.
        Unsupported: the family is not implemented, or the adapter said so.
        Breach: a reply of the wrong shape, or an exception that is none of the three.
    """
    described = OPERATIONS[operation]
    if not isinstance(collection, described.family):
        raise Unsupported(f"{operation} on {layout.model.model}: the adapter does not implement {described.family.__name__}")
    try:
        reply = getattr(collection, operation)(*args)
    except (Refused, Unknown, Unsupported):
        raise
    except Exception as leaked:
        raise Breach(f"{operation} raised {type(leaked).__name__}: {leaked}; adapters sort errors into Refused, Unknown and Unsupported") from leaked
    if wrong := wrong_reply(described, layout, args, reply):
        raise Breach(f"{operation}: {wrong}")
    return reply
