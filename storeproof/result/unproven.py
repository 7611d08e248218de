"""What a store claims, and was not shown to have."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof.outcome import SHOWN, Outcome
from storeproof.result.model import StoreResult
from storeproof.spec.guarantee import LADDER, rank

_OPEN = (Outcome.FAIL, Outcome.KNOWN_FAIL, Outcome.INCONCLUSIVE)
"""Of a guarantee of clusters, which is `not_run` where it is not claimed, and says nothing then."""


def unproven_claims(store: StoreResult) -> list[str]:
    """In words; empty if all was shown: its durability, and each capability."""
    return list(_unproven(store))


def unproven_capabilities(store: StoreResult) -> list[str]:
    """Their names."""
    return [each.capability for each in store.capabilities if each.claimed and each.outcome not in SHOWN]


def durability_claim(store: StoreResult) -> str:
    """What it claims to survive, and what of it was shown, in words."""
    durability = store.durability
    return f"claims {durability.claimed}, {durability.shown}{' is proven' if durability.proven else ''}"


def _unproven(store: StoreResult) -> Iterator[str]:
    durability = store.durability
    if rank(durability.proven) < rank(durability.claimed):
        yield durability_claim(store)
    yield from (
        f"{each.guarantee}: {each.outcome}" for each in durability.guarantees if each.guarantee not in LADDER and each.outcome in _OPEN
    )
    yield from (f"capability {each}" for each in unproven_capabilities(store))
