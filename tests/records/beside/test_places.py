"""What is beside a record has a key of its own, and is never without it."""

from __future__ import annotations

from typing import Final

import pytest

from storeproof.history import Place
from storeproof.records.beside.places import ENTRY, EXPIRY, PlaceBeside, check_both, record_of

KINDS: Final = pytest.mark.parametrize("kind", [EXPIRY, ENTRY])


def test_the_keys_as_evidence_has_them() -> None:
    """Bundles of earlier releases have these."""
    assert EXPIRY.key(EXPIRY.record_key("p1:c0:1")) == "p1:c0:1:expiring#expiry"
    assert ENTRY.key(ENTRY.record_key("p1:c0:1")) == "p1:c0:1:indexed#entry"


@KINDS
def test_a_key_is_that_of_a_record_or_of_what_is_beside_it(kind: PlaceBeside) -> None:
    """Any other key is that of a record."""
    record = kind.record_key("p1:c0:1")
    beside = kind.key(record)
    assert [record_of(key) for key in (beside, record, f"a{kind.own}", 7)] == [record, None, None, None]
    assert [kind.is_of(key) for key in (beside, record, "a", 7)] == [False, True, False, False]
    assert [kind.is_its_own(key) for key in (beside, record, f"a{kind.own}", 7)] == [True, False, False, False]


@KINDS
def test_a_record_is_not_without_what_is_beside_it(kind: PlaceBeside) -> None:
    """In what was read: one of the two was left out of the evidence."""
    record = kind.record_key("p1:c0:1")
    whole: list[Place] = [("kv", record), ("kv", kind.key(record)), ("kv", "p1:c0:1"), ("row", 7)]
    check_both(whole)
    for left_out in whole[:2]:
        with pytest.raises(ValueError, match="is there without"):
            check_both(each for each in whole if each != left_out)
