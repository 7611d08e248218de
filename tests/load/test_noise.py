"""The noise floor: the same thing measured twice is the same, as far as the machine lets one see."""

from __future__ import annotations

from contextlib import closing

import pytest

from storeproof import compiled
from storeproof.load.noise import ROUNDS, noise_floor
from storeproof.load.ratio import ratio_of
from storeproof.load.wire.null_server import NullServer


@pytest.mark.skipif(not compiled.present(), reason="the compiled part was not built")
def test_a_against_a(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two times five rounds, none of them much unlike the others, and an interval that holds the ratio."""
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr("storeproof.load.noise.ratio_of", lambda a, b: seen.append((len(a), len(b))) or ratio_of(a, b))
    with closing(NullServer()) as server:
        found = noise_floor(server, 0.1)
    assert seen == [(ROUNDS, ROUNDS)]
    assert 0.2 < found.middle < 5
    assert found.low <= found.middle <= found.high
