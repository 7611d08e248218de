"""The noise floor: the same thing measured twice is the same, as far as the machine lets one see."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest

from storeproof import native_support
from storeproof.errors import NotAvailable
from storeproof.load.quality.reference_load import ROUNDS, noise_floor
from storeproof.load.wire.null_server import NullServer
from storeproof.stats.ratio import ratio_of


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
def test_a_against_a(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two times five rounds, none of them much unlike the others, and an interval that holds the ratio."""
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr("storeproof.load.quality.reference_load.ratio_of", lambda a, b: seen.append((len(a), len(b))) or ratio_of(a, b))
    with closing(NullServer()) as server:
        found = noise_floor(server, 0.6)
    assert seen == [(ROUNDS, ROUNDS)]
    assert 0.2 < found.middle < 5
    assert found.low <= found.middle <= found.high


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
def test_a_machine_that_is_too_busy_has_no_noise_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round without an answer is no rate, and no error of the run."""
    silent = SimpleNamespace(join=lambda: SimpleNamespace(request_rate=-0.0))
    monkeypatch.setattr("storeproof.native.start", lambda _job: silent)
    with closing(NullServer()) as server, pytest.raises(NotAvailable, match="the machine is busy"):
        noise_floor(server, 0.1)
