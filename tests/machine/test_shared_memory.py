"""Shared memory that a server makes: it belongs to no process, and is gone with its server all the same."""

from __future__ import annotations

from pathlib import Path

from storeproof.launch.process import ProcessHandle
from storeproof.machine.shared_memory import mapped_files
from tests.launch.small import greeted, python_server, request

SHARES = """
import mmap, os, socket, sys
from pathlib import Path
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    for number in range(1000):
        connection, _ = server.accept()
        path = Path(f"/dev/shm/storeproof-test-{os.getpid()}-{number}")
        path.write_bytes(bytes(4096))
        with path.open("r+b") as file:
            kept = mmap.mmap(file.fileno(), 4096), globals().get("kept")
        connection.sendall(b"hello")
        connection.close()
"""
"""Like PostgreSQL: it makes more shared memory while it runs, here for each client."""


def test_shared_memory_made_after_the_start_does_not_outlive_a_kill(tmp_path: Path) -> None:
    """What a client made the server map is gone as what it had at its start."""
    handle = ProcessHandle(request(python_server(SHARES), tmp_path))
    try:
        handle.start()
        greeted(handle.address)
        made = [path for path in mapped_files(handle.pids) if Path(path).exists()]
        assert len(made) > 1
        handle.kill()
    finally:
        handle.close()
    assert not [path for path in made if Path(path).exists()]
