"""The launch of every store file that comes with the project, on the real server."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from storeproof.contract import Address, load_adapter
from storeproof.errors import NotAvailable
from storeproof.launch.process import ProcessHandle
from storeproof.machine import process_tree
from storeproof.machine.shared_memory import mapped_files
from storeproof.spec import SPEC_ROOT
from tests.launch.small import request
from tests.shipped import SHIPPED

pytestmark = pytest.mark.servers


def segments_of(pids: Collection[int]) -> list[str]:
    """The System V segments that these processes made."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return [line for line in lines if int(line.split()[4]) in pids]


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory that a server which refuses root may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("name", sorted(path.stem for path in (SPEC_ROOT / "stores").glob("*.yaml")))
def test_start_kill_restart_stop_close(name: str, base: Path) -> None:
    """A real server starts, is killed, restarts and stops; neither processes nor files nor shared memory are left."""
    store, file = SHIPPED.store(name)
    if store.launch.process is None:
        pytest.skip(f"{name} has no process launch")
    variant = store.variants[store.default_variant]

    def answers(address: Address) -> None:
        """A connection alone is not enough: MariaDB accepts some before it is ready, and a SIGTERM until then may have no effect."""
        session = adapter.connect(address, variant.options)
        session.version()
        session.close()

    try:
        adapter = load_adapter(store, file)
        handle = ProcessHandle(request(store.launch.process, base, store=name, probe=answers, settings=variant.settings))
    except NotAvailable as missing:
        pytest.skip(str(missing))
    try:
        handle.start()
        pids = list(handle.pids)
        assert segments_of(pids) or name != "postgresql", "it has shared memory that a kill leaves"
        handle.kill()
        assert not handle.alive()
        assert not any(stat and not stat.ended for stat in map(process_tree.read_stat, pids))
        handle.start()
        handle.pause()
        handle.resume()
        answers(handle.address)
        handle.stop()
        assert not handle.alive()
        handle.start()
        pids += handle.pids
        shared = mapped_files(handle.pids)
        handle.pause()
    finally:
        handle.close()
    assert list(base.iterdir()) == []
    assert not [path for path in shared if Path(path).exists()]
    assert segments_of(pids) == []
