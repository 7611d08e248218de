"""The readings of the machine's speed."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing

import psutil
import pytest

from storeproof import native_support
from storeproof.load.quality import machine_speed
from storeproof.load.quality.machine_speed import MachineSpeed
from storeproof.load.quality.reference_load import reference_rate
from storeproof.load.wire.null_server import NullServer


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
def test_a_reading_is_the_best_of_three_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real requests to a real server; then scripted rates. The baseline is above nine in ten of them, and not the highest."""
    with closing(NullServer()) as server, closing(MachineSpeed(server)) as speed:
        assert speed.baseline == 0
        assert reference_rate(speed._sockets, 1.0, 1) > 0
        monkeypatch.setattr(speed, "_of_others", lambda: 0.0)
        rates = iter([1.0, 3.0, 2.0, *(float(each) for each in range(4, 31))])
        monkeypatch.setattr(machine_speed, "reference_rate", lambda *_: next(rates))
        assert [speed.read() for _ in range(10)] == [3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0, 27.0, 30.0]
        assert speed.baseline == 27.0


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
def test_a_reading_beside_other_work_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that computes all the while, as a store may after its round; its work is seen, and the reading is none."""
    burn = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        assert burn.stdout is not None
        burn.stdout.readline()
        with closing(NullServer()) as server, closing(MachineSpeed(server)) as speed:
            before, seen = speed._of_others(), psutil.Process(burn.pid).cpu_times().user
            while psutil.Process(burn.pid).cpu_times().user < seen + 0.2:
                time.sleep(0.01)
            assert speed._of_others() - before > 0.1
            used = iter([0.0, 1e9])
            monkeypatch.setattr(speed, "_of_others", lambda: next(used))
            assert (speed.read(), speed.baseline) == (None, 0.0)
    finally:
        burn.kill()
        burn.communicate()
