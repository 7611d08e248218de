"""What a profile misses is told once for all that miss it for the same reason."""

from __future__ import annotations

from storeproof.report.tables import shortfalls
from storeproof.result.model import ProfileVerdict
from tests.report.sample import sample_result


def test_a_reason_that_several_have_is_told_once() -> None:
    """Capabilities that fail a profile for the same reason share one line."""
    result = sample_result()
    missing = [
        "model nested: not claimed",
        "capability text.word/001: unsupported: no texts: none at all",
        "capability text.word/002: unsupported: no texts: none at all",
        "capability text.phrase/001: unsupported: no texts: none at all",
        "guarantee power_loss: not_run",
    ]
    result.stores[0].profiles[:] = [ProfileVerdict(profile="p", verdict="does_not_conform", missing=missing)]
    assert shortfalls(result).rows[0][-1].text == (
        "model nested: not claimed; capability text.word, text.phrase: unsupported: no texts: none at all; guarantee power_loss: not_run"
    )
