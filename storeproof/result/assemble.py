"""Assembles a target's part of the result from what was collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from storeproof.outcome import count
from storeproof.printable import printable
from storeproof.result.capabilities import by_capability, roll_up
from storeproof.result.measured.origin import origin_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import StoreResult
from storeproof.result.profiles import judge_profile
from storeproof.result.recorder import StoreRecord
from storeproof.result.redact import redact, redact_settings
from storeproof.spec import Profile, Spec


def assemble(record: StoreRecord, profiles: Iterable[Profile], spec: Spec, secrets: Iterable[str | None] = ()) -> StoreResult:
    """The target's part of `result.json`, with a count for every outcome, including zeros.

    Args:
        record: what the run collected.
        profiles: the profiles to judge.
        spec: whose capabilities are rolled up.
        secrets: known passwords; they are masked in details and logs, and so is anything that looks like one.
    """
    known = tuple(secrets)

    def clean(text: str) -> str:
        return printable(redact(text, known))

    store = record.target.store
    durability = record.durability()
    verdicts = [judge_profile(profile, record, spec) for profile in profiles]
    tried = by_capability(record.outcomes)
    return StoreResult(
        store=store.name,
        title=store.title,
        variant=record.target.variant,
        disk=record.target.disk,
        topology=record.target.topology,
        version=record.version,
        launch=record.launch,
        image_digest=record.image_digest,
        binary_digest=record.binary_digest,
        origin=origin_of(record.target, record.version, record.origins) if record.version is not None else None,
        sources=record.sources,
        settings=redact_settings(record.settings, known),
        timeouts=record.timeouts,
        durability=durability.model_copy(
            update={"guarantees": [each.model_copy(update={"detail": clean(each.detail)}) for each in durability.guarantees]}
        ),
        operations=record.operations,
        cites=record.proof.citation if record.proof is not None else None,
        capabilities=[roll_up(name, tried.get(name, ()), spec, claimed=record.target.claims(name)) for name in spec.capabilities],
        outcomes=[each.model_copy(update={"detail": clean(each.detail), "again": clean(each.again)}) for each in record.outcomes],
        counts=count(each.outcome for each in record.outcomes),
        measurements=[_with_clean_words(each, clean) for each in record.measurements],
        scaling=list(record.scaling),
        outages=[each.model_copy(update={"detail": clean(each.detail)}) for each in record.outages],
        joint=list(record.joint),
        cache=record.cache,
        histories=list(record.histories),
        profiles=[
            each.model_copy(update={"missing": [one.model_copy(update={"reason": clean(one.reason)}) for one in each.missing]})
            for each in verdicts
        ],
    )


def _with_clean_words(measured: Measurement, clean: Callable[[str], str]) -> Measurement:
    """With the words of clients and servers in its reasons cleaned."""
    reasons = {name: clean(getattr(measured, name)) for name in ("engine_reason", "ceiling_reason", "cost_reason")}
    return measured.model_copy(update={**reasons, "invalid": [clean(line) for line in measured.invalid]})
