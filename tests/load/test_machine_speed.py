"""The readings of the machine's speed."""

from __future__ import annotations

from contextlib import closing

import pytest

from storeproof import native_support
from storeproof.load.quality import machine_speed
from storeproof.load.quality.machine_speed import MachineSpeed
from storeproof.load.wire.null_server import NullServer


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
def test_a_reading_is_the_best_of_three_tries_and_the_best_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real requests to a real server; then scripted rates, of which one try each was struck by something."""
    with closing(NullServer()) as server, closing(MachineSpeed(server)) as speed:
        assert speed.best == 0
        assert 0 < speed.read() == speed.best
        rates = iter([7e9, 9e9, 8e9, 6e9, 5e9, 1e9])
        monkeypatch.setattr(machine_speed, "reference_rate", lambda *_: next(rates))
        assert (speed.read(), speed.read(), speed.best) == (9e9, 6e9, 9e9)
