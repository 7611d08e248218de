"""What is said of a store whose syncs were looked at: never more than was seen."""

from __future__ import annotations

import pytest

from storeproof.disk.strace import SyncTrace
from storeproof.experiments.durability.sync_evidence import evidence


@pytest.mark.parametrize(
    ("acknowledged", "synced", "hidden", "worth"),
    [
        (90, 90, False, "evidence for the guarantee, but no proof"),
        (90, 89, False, "evidence against the guarantee, but no refutation"),
        (90, 0, False, "evidence against the guarantee, but no refutation"),
        (0, 0, False, "no evidence"),
        (90, 90, True, "no evidence"),
        (90, 0, True, "no evidence"),
    ],
)
def test_the_words_say_what_it_is_worth(acknowledged: int, synced: int, hidden: bool, worth: str) -> None:
    """Syncs that strace saw are called evidence, never proof."""
    text = evidence(acknowledged, synced, SyncTrace([], hidden))
    assert text.endswith(f": {worth}")
    assert f"of {synced} of {acknowledged} acknowledged writes" in text
    assert text.startswith("no power cut")
