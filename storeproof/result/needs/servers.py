"""Which results of a store and variant are joined: those of one server. Decisions and the site join by this rule.

A server is its version, its settings and, where both results know it, its program. Results that are large enough for decisions come before
quick checks, those of a server with all that it has by default before those of one that was given less, and newer ones before older ones.
The first of them that tried at least half of the capabilities says which server it is, so that a run of a few cases does not hide one of
all; without one, the first of all. Results of other servers are left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar

from storeproof.outcome import IDLE
from storeproof.result.model import Result, StoreResult
from storeproof.spec import Store

SMOKE: Final = "smoke"
"""The scale that is too small for decisions."""


class InResult(Protocol):
    """A store of a result."""

    @property
    def store(self) -> StoreResult:
        """What the result says of it."""


T = TypeVar("T", bound=InResult)


def preference(result: Result) -> tuple[bool, bool, datetime]:
    """Greater for evidence that is preferred."""
    return result.run.scale != SMOKE, not result.environment.confined_to, _moment(result.run.started)


def tried(store: StoreResult) -> int:
    return sum(each.outcome not in IDLE for each in store.capabilities)


def has_tried_half(store: StoreResult) -> bool:
    """Whether a run tried at least half of the capabilities."""
    return 2 * tried(store) >= len(store.capabilities) > 0


def of_one_server(found: Sequence[T], file: Store | None) -> tuple[list[T], list[tuple[T, str]]]:
    """Those of one server, and those of others, each with the reason; none where the server was never reached.

    Args:
        found: of one store and variant, the preferred ones first.
        file: the store's file, where the specification has it.
    """
    reached = [each for each in found if each.store.version is not None]
    if not reached:
        return [], []
    # The size of the cache is the scale's, so one store has several.
    ignored = frozenset({file.cache.setting}) if file is not None and file.cache is not None else frozenset[str]()
    server = next((each for each in reached if has_tried_half(each.store)), reached[0])
    kept, left_out = list[T](), list[tuple[T, str]]()
    for each in reached:
        if unlike := list(_unlike(each.store, server.store, ignored)):
            left_out.append((each, "; ".join(unlike)))
        else:
            kept.append(each)
    return kept, left_out


def _unlike(there: StoreResult, server: StoreResult, ignored: frozenset[str]) -> Iterator[str]:
    if there.version != server.version:
        yield f"its version is {there.version}, not {server.version}"
    for name in sorted({*there.settings, *server.settings} - ignored):
        one, other = there.settings.get(name), server.settings.get(name)
        if one != other and None not in (one, other):  # results of earlier formats list fewer settings
            yield f"its setting {name} is {one}, not {other}"
    for what, one, other in (
        ("image", there.image_digest, server.image_digest),
        ("binary", there.binary_digest, server.binary_digest),
    ):
        if one != other and None not in (one, other):
            yield f"it is another {what}"


def _moment(started: str) -> datetime:
    """When a run began; the earliest of all times where that cannot be read."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
