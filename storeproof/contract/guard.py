"""Wraps every call of an adapter, and checks the shape of its reply and the kind of its errors."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from storeproof.contract.failures import RAISES, Breach, Refused, Unknown, Unsupported, WrongReply
from storeproof.contract.families import Collection, Lacking
from storeproof.contract.operations import OPERATIONS, OperationKind, is_of_adapter, wrong_reply
from storeproof.contract.values import Key, Layout, Record
from storeproof.contract.whole import WholeTransactions
from storeproof.errors import SHORTAGES
from storeproof.halt import halt


def supports(collection: Collection, operation: str) -> bool:
    """Whether the collection implements the operation's family."""
    family = OPERATIONS[operation].family
    return _is_of(type(collection), family) or isinstance(collection, family)


@lru_cache(maxsize=1024)
def _is_of(kind: type, family: type) -> bool:
    """Whether a class has all methods of a family: known once, where `isinstance` looks for each of them in each request."""
    return issubclass(kind, family)


def why_not(where: object, family: str) -> str:
    """Why a session or a collection does not implement a family: its own reason, if it gives one (`Lacking`)."""
    own = where.unsupported_because.get(family) if isinstance(where, Lacking) else None
    return own or f"the adapter does not implement {family}"


def call(collection: Collection, layout: Layout, operation: str, *args: Any) -> Any:
    """Run one operation and verify its reply.

    Raises:
        Refused, Unknown: as the adapter raised them.
        Unsupported: the family is not implemented, or the adapter said so.
        WrongReply: the server's answer has a form that the operation does not allow.
        Breach: a wrong reply of a type that only the adapter creates, any other exception, or a partly implemented family.
        Halted: the case has had its time, or the run is interrupted; nothing is sent.
    """
    halt.check(operation)
    described = OPERATIONS[operation]
    if not supports(collection, operation):
        family = described.family.__name__
        lacking = [other.name for other in OPERATIONS.values() if other.family is described.family and not hasattr(collection, other.name)]
        if any(other.family is described.family and other.name not in lacking for other in OPERATIONS.values()):
            raise Breach(f"{family} is implemented only partly: it lacks {', '.join(lacking)}; implement all methods of a family, or none")
        raise Unsupported(why_not(collection, family), f"{operation} on {layout.model.model}")
    return _verified(collection, layout, operation, described, args)


def call_whole(
    collection: WholeTransactions, layout: Layout, reads: Sequence[Key], writes: Mapping[Key, Record]
) -> Sequence[Record | None]:
    """Run one transaction as a whole and verify its reply, which has the form of that of `get_many`. Raises as `call` does."""
    halt.check("run_whole")
    found: Sequence[Record | None] = _verified(collection, layout, "run_whole", OPERATIONS["get_many"], (reads, writes))
    return found


def _verified(collection: object, layout: Layout, name: str, described: OperationKind, args: tuple[Any, ...]) -> Any:
    """The reply of a method that has the form of an operation's."""
    try:
        reply = getattr(collection, name)(*args)
    except (Breach, Refused, Unknown, Unsupported, WrongReply):
        raise
    except (Exception, SystemExit) as leaked:
        if isinstance(leaked, OSError) and leaked.errno in SHORTAGES:
            raise  # the machine's error, neither the store's nor the adapter's
        raise Breach(f"{name} raised {type(leaked).__name__}: {leaked} ({_where(leaked)}); {RAISES}") from leaked
    if wrong := wrong_reply(described, layout, args, reply):
        raise Breach(f"{name}: {wrong}") if is_of_adapter(described, reply) else WrongReply(f"{name}: {wrong}")
    return reply


def _where(leaked: BaseException) -> str:
    """The last line of the adapter in the traceback, where to look first."""
    frames = traceback.extract_tb(leaked.__traceback__)[1:]
    if not frames:
        return "in the call itself"
    folder = Path(frames[0].filename).parent  # of the adapter; deeper frames may be those of its client
    last = [frame for frame in frames if Path(frame.filename).parent == folder][-1]
    return f"{Path(last.filename).name}, line {last.lineno}: {last.line}"
