"""Turns what was collected about a target into its part of the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from storeproof.outcome import count
from storeproof.result.capabilities import roll_up
from storeproof.result.model import StoreResult
from storeproof.result.profiles import judge
from storeproof.result.recorder import StoreRecord
from storeproof.spec.capability import Capability
from storeproof.spec.profile import Profile


def assemble(record: StoreRecord, profiles: Iterable[Profile], capabilities: Mapping[str, Capability]) -> StoreResult:
    """The target's part of `result.json`, with counts over every outcome there is, zeros included.

    `profiles` are those that the run was asked for; `capabilities` are the spec's, by full name.
    """
    store = record.target.store
    return StoreResult(
        store=store.store,
        title=store.title,
        variant=record.target.name,
        topology=store.topology,
        version=record.version,
        launch=record.launch,
        image_digest=record.image_digest,
        settings=record.settings,
        durability=record.durability(),
        capabilities=[
            roll_up(name, capability, record.outcomes, claimed=record.target.claims(name)) for name, capability in capabilities.items()
        ],
        outcomes=list(record.outcomes),
        counts=count(each.outcome for each in record.outcomes),
        measurements=list(record.measurements),
        profiles=[judge(profile, record, capabilities) for profile in profiles],
    )
