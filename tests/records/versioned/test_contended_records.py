"""Records that were written often enough make room for new ones."""

from __future__ import annotations

import random

from storeproof.records.versioned.contended_records import ContendedRecords
from tests.shipped import SHIPPED

MIX = SHIPPED.mixes["read-modify-write"].model_copy(update={"keys": 3, "writes": 2, "reads": (1, 3)})


def test_a_record_is_replaced_after_its_last_write() -> None:
    """It is drawn no more, and known still."""
    records, rng = ContendedRecords(MIX), random.Random(1)
    assert [*records.keys] == ["k0", "k1", "k2"]
    records.count(["k1"])
    assert sorted(records.draw(rng, 3)) == ["k0", "k1", "k2"]
    records.count(["k1", "k2"])
    assert sorted(records.draw(rng, 3)) == ["k0", "k2", "k3"]
    records.count(["k1"])  # by a transaction that was drawn before
    assert [*records.keys] == ["k0", "k1", "k2", "k3"]


def test_a_transaction_has_different_records() -> None:
    """As many as were asked for."""
    records, rng = ContendedRecords(MIX), random.Random(1)
    assert all(len({*records.draw(rng, number)}) == number for number in (1, 2, 3) for _ in range(20))
