"""Servers that are someone else's."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.running import wait_for


@pytest.fixture
def guarded_redis(tmp_path: Path) -> Iterator[int]:
    """A Redis of someone else's, with a password and with a record in it; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    home = tmp_path / "theirs"
    home.mkdir()
    server = subprocess.Popen(
        [
            *("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--save", ""),
            *("--appendonly", "yes", "--appendfsync", "always", "--requirepass", "s3cret-word"),
        ],
        stdout=subprocess.DEVNULL,
    )

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_for(answers)
    yield port
    server.kill()
    server.wait()
