"""The launch of every store file that comes with the project, on the real server; connections only, no client."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable
from storeproof.launch.process import ProcessHandle
from storeproof.machine import process_tree
from storeproof.spec import SPEC_ROOT, load_spec
from tests.launch.small import connected, request

pytestmark = pytest.mark.servers


def shared_memory() -> set[str]:
    """What processes share beside files: names and System V ids."""
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {str(path) for path in Path("/dev/shm").glob("PostgreSQL.*")} | {line.split()[1] for line in segments}


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory that a server which refuses root may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("name", sorted(path.stem for path in (SPEC_ROOT / "stores").glob("*.yaml")))
def test_start_kill_restart_stop_close(name: str, base: Path) -> None:
    store, _ = load_spec().store(name)
    if store.launch.process is None:
        pytest.skip(f"{name} has no process launch")
    before = shared_memory()
    settings = store.variants[store.default_variant].settings
    try:
        handle = ProcessHandle(request(store.launch.process, base, store=name, probe=connected, settings=settings))
    except NotAvailable as missing:
        pytest.skip(str(missing))
    try:
        handle.start()
        pids = list(handle.pids)
        handle.kill()
        assert not handle.alive()
        assert not any(stat and not stat.ended for stat in map(process_tree.read_stat, pids))
        handle.start()
        handle.pause()
        handle.resume()
        connected(handle.address)
        handle.stop()
        assert not handle.alive()
        handle.start()
        handle.pause()
    finally:
        handle.close()
    assert list(base.iterdir()) == []
    assert shared_memory() <= before
