"""The seed of a run for which none was given."""

from __future__ import annotations

from storeproof.plugin.run_options import seed_of
from storeproof.spec.edition import SEEDS, Edition
from storeproof.spec.editions.frozen import load_edition
from tests.shipped import SHIPPED


def test_a_frozen_edition_has_its_own_and_a_draft_draws() -> None:
    """So that a claim need not rest on a seed that its maker chose; another edition has another one."""
    frozen = load_edition("2026.12")
    assert {seed_of(frozen) for _ in range(5)} == {frozen.edition.seed}
    assert len({seed_of(SHIPPED) for _ in range(20)}) > 1
    assert Edition("2026.12", "0" * 16).seed == 1
    assert Edition("2027.06", "f" * 16).seed != frozen.edition.seed
    assert all(1 <= each <= SEEDS for each in (frozen.edition.seed, seed_of(SHIPPED), Edition("2027.06", "f" * 16).seed))
