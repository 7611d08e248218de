"""The guard around every adapter: calls go through here, so that no reply is taken on trust."""

from __future__ import annotations

from typing import Any

from storeproof.contract.failures import Breach, Refused, Unknown, Unsupported
from storeproof.contract.families import Collection, Lacking
from storeproof.contract.operations import OPERATIONS, wrong_reply
from storeproof.contract.values import Layout


def supports(collection: Collection, operation: str) -> bool:
    """Whether the collection implements the operation's family."""
    return isinstance(collection, OPERATIONS[operation].family)


def why_not(where: object, family: str) -> str:
    """Why a session or a collection is without a family, in its own words where it has some (`Lacking`)."""
    own = where.lacks.get(family) if isinstance(where, Lacking) else None
    return own or f"the adapter does not implement {family}"


def call(collection: Collection, layout: Layout, operation: str, *args: Any) -> Any:
    """Run one operation and verify its reply.

    Raises:
        Refused, Unknown: as the adapter sorted them.
        Unsupported: the family is not implemented, or the adapter said so.
        Breach: a reply of the wrong shape, an exception that is none of the three, or a family that is there in part.
    """
    described = OPERATIONS[operation]
    if not isinstance(collection, described.family):
        family = described.family.__name__
        lacking = [other.name for other in OPERATIONS.values() if other.family is described.family and not hasattr(collection, other.name)]
        if any(other.family is described.family and other.name not in lacking for other in OPERATIONS.values()):
            raise Breach(f"{family} is implemented in part: it lacks {', '.join(lacking)}; a family is implemented whole or not at all")
        raise Unsupported(f"{operation} on {layout.model.model}: {why_not(collection, family)}")
    try:
        reply = getattr(collection, operation)(*args)
    except (Refused, Unknown, Unsupported):
        raise
    except Exception as leaked:
        what = f"{operation} raised {type(leaked).__name__}: {leaked}"
        raise Breach(f"{what}; adapters sort errors into Refused, Unknown and Unsupported") from leaked
    if wrong := wrong_reply(described, layout, args, reply):
        raise Breach(f"{operation}: {wrong}")
    return reply
