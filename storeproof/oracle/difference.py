"""Where an answer differs from the correct one, in words, if both are too long to see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from storeproof.contract.notation import brief
from storeproof.oracle.equality import same_lenient

_SHORT: Final = 300
"""Characters in which anyone sees the difference."""
_SHOWN: Final = 3


def difference(found: Any, wanted: Any) -> list[str]:
    """A line about what differs, or none: of texts, bytes and lists the first position, of sets and objects some members or fields."""
    if type(found) is not type(wanted) or len(repr(wanted)) <= _SHORT:
        return []
    if isinstance(found, (dict, set)):
        return [f"they differ in {', '.join(_apart(found, wanted))}"]
    if isinstance(found, (list, str, bytes)):
        place = next((at for at, (one, other) in enumerate(zip(found, wanted, strict=False)) if not same_lenient(one, other)), None)
        place = min(len(found), len(wanted)) if place is None else place
        there, right = (brief(each[place : place + 1]) for each in (found, wanted))
        return [f"they differ from position {place} on: {there}, expected {right}; lengths {len(found)} and {len(wanted)}"]
    return []


def _apart(found: dict[Any, Any] | set[Any], wanted: dict[Any, Any] | set[Any]) -> Iterator[str]:
    """The first few of what is missing, what is too many, and what has another value."""
    missing, extra = (sorted(set(one) - set(other), key=repr) for one, other in ((wanted, found), (found, wanted)))
    both = (found, wanted) if isinstance(found, dict) and isinstance(wanted, dict) else ({}, {})
    changed = [key for key in both[0].keys() & both[1].keys() if not same_lenient(both[0][key], both[1][key])]
    for what, which in (("without", missing), ("with", extra), ("another value of", sorted(changed, key=repr))):
        if which:
            more = f" and {len(which) - _SHOWN} more" if len(which) > _SHOWN else ""
            yield f"{what} {', '.join(map(repr, which[:_SHOWN]))}{more}"
