"""A claim of a composite store is held against the histories of its servers, killed one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.conformance.histories.judged_rounds import JudgedRounds
from storeproof.conformance.histories.part_kills import check_part_kill
from storeproof.conformance.reasons import ClaimRefused
from storeproof.evidence import StoreEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replay import replay
from storeproof.history import ABSENT, Observation
from storeproof.outcome import Outcome
from storeproof.spec import Target
from storeproof.spec.store import Role
from tests.conformance.published import published
from tests.experiments.durability.memory import Store
from tests.experiments.durability.test_replay import struck, written_and_read
from tests.shipped import SHIPPED

KNOWN: Any = SimpleNamespace(scale=lambda _: SHIPPED.scales["smoke"], disputed=frozenset())


@cache
def histories() -> Sequence[StoreEvidence]:
    """Of an honest store, as a run writes them and as they are read."""
    return written_and_read(struck(Store, second=False)[1])


def with_a_loss(store: StoreEvidence) -> StoreEvidence:
    """One record that the last audit has read whole is absent there."""
    audit = store.rounds[-1].audit
    assert audit is not None
    acknowledged = {(each.collection, each.key) for each in store.operations if each.outcome == "ok" and each.action == "put"}
    deleted = {(each.collection, each.key) for each in store.operations if each.action == "delete"}
    place = next(p for p, seen in audit.seen.items() if isinstance(seen, Observation) and p in acknowledged - deleted)
    changed = replace(store.rounds[-1], audit=replace(audit, seen={**audit.seen, place: ABSENT}))
    return replace(store, rounds=[*store.rounds[:-1], changed])


def refused(
    parts: Sequence[StoreEvidence] | None,
    says: Outcome = Outcome.PASS,
    *,
    role: Role = "front",
    store: tuple[str, str] = ("redis-over-mongodb", "cache-aside"),
    kept: bool = True,
) -> str:
    """Why a claim is refused with these histories of a case; empty where it is not."""
    result = published()
    record = result.stores[0].outcomes[0].model_copy(update={"id": f"durability.{role}_kill", "outcome": says})
    found = None
    if parts is not None:
        last = parts[-1].rounds[-1].audit
        found = JudgedRounds(f"{role}_kill", read_all=last is not None and last.everything, spoiled=[False for _ in parts])
        for each in parts:
            assert isinstance(found.summary, DurabilitySummary)
            replay(each, found.summary)
    shipped, file = SHIPPED.store(store[0])
    judge: Any = SimpleNamespace(parts=kept)
    claim, target = (
        result.stores[0].model_copy(update={"outcomes": [record]}),
        Target(shipped, store[1], file, SHIPPED.parts_of(shipped, file)),
    )
    try:
        check_part_kill(role, found, result.run, claim, target, KNOWN, judge)
    except ClaimRefused as reason:
        return str(reason)
    return ""


def test_true_histories_are_accepted_and_a_verdict_may_be_worse() -> None:
    """What ended by an error may have been found all the same."""
    assert refused(histories()) == ""
    assert refused(histories(), Outcome.ERROR) == ""


def test_an_audit_that_was_changed_is_refused() -> None:
    """A record that was acknowledged, and is absent."""
    assert refused([with_a_loss(each) for each in histories()]).endswith("front_kill is pass in the result, and fail by the histories")


def test_a_case_without_its_histories_is_refused_of_releases_that_keep_them() -> None:
    """Earlier ones did not, and what they judged stays."""
    assert refused(None).endswith("and there are no histories of it")
    assert refused(None, kept=False) == refused(None, Outcome.FAIL) == ""


def test_fewer_kills_and_a_last_audit_of_some_keys_are_refused() -> None:
    """The scale says how many."""
    (store,) = histories()
    assert "4 kills under the load" in refused([replace(store, rounds=store.rounds[:-1])])


def test_a_store_that_is_no_composite_has_no_such_histories() -> None:
    """Its case is excluded."""
    assert refused(histories(), store=("sqlite", "wal-full")).endswith("and sqlite is no composite store")


@pytest.mark.parametrize("attempts", [2, 3])
def test_a_second_attempt_follows_a_spoiled_one_alone(attempts: int) -> None:
    """Another one would be a choice among results."""
    assert "was tried again after attempt 1, which was not spoiled" in refused(list(histories()) * attempts)
