"""How the errors of Aerospike's client are sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from aerospike import exception as failures

from storeproof.contract import Refused, Unknown, Unsupported

T = TypeVar("T")

_REFUSALS: Final = (
    failures.AdminError,
    failures.AlwaysForbidden,
    failures.BinIncompatibleType,
    failures.BinNameError,
    failures.DeviceOverload,
    failures.FilteredOut,
    failures.ForbiddenError,
    failures.InvalidField,
    failures.InvalidRequest,
    failures.NamespaceNotFound,
    failures.OpNotApplicable,
    failures.ParamError,
    failures.RecordBusy,
    failures.RecordExistsError,
    failures.RecordGenerationError,
    failures.RecordKeyMismatch,
    failures.RecordNotFound,
    failures.RecordTooBig,
    failures.ServerFull,
)
"""The server's answers that nothing was changed, and requests that never left."""


def failure_of(reason: Exception) -> Exception:
    """A refusal where it is known to be one and the client has no doubt of its own; anything else leaves the question open."""
    text = f"{type(reason).__name__}: {str(reason)[:300]}"
    if isinstance(reason, failures.UnsupportedFeature):
        return Unsupported(text)
    if isinstance(reason, (UnicodeEncodeError, OverflowError, TypeError, ValueError)):
        return Refused(text)
    return Refused(text) if isinstance(reason, _REFUSALS) and not getattr(reason, "in_doubt", False) else Unknown(text)


def run(operation: Callable[..., T], *args: Any, **options: Any) -> T:
    """One call of the client, its errors sorted."""
    try:
        return operation(*args, **options)
    except (failures.AerospikeError, UnicodeEncodeError, OverflowError, TypeError, ValueError) as reason:
        raise failure_of(reason) from reason
