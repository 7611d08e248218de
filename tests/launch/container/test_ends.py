"""Who has ended a container: the store, this run, or something else."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from typing import Any

import pytest
import requests

from storeproof.errors import MachineFailed, NotAvailable, StoreDied
from storeproof.launch import container
from tests.launch.container.conftest import Make
from tests.launch.container.redis import REDIS

pytestmark = pytest.mark.docker


def test_container_that_ends_at_once(make: Make) -> None:
    """A container that exits is a `StoreDied` with its exit status and log."""
    handle = make(REDIS.model_copy(update={"command": ("bash", "-c", "echo no licence; exit 3")}))
    with pytest.raises(StoreDied, match=r"redis ended with exit status 3 before it answered\n(.|\n)*no licence"):
        handle.start()


def test_a_container_that_somebody_kills_is_no_fault_of_the_store(make: Make) -> None:
    """A kill from outside is a failure of the machine; our own kill is not."""
    handle = make()
    handle.start()
    handle.check_alive()
    subprocess.run(["docker", "kill", handle._container.id], check=True, capture_output=True)
    with pytest.raises(MachineFailed, match="redis was killed from outside: SIGKILL, not sent by storeproof"):
        handle.check_alive()
    handle.start()
    handle.check_alive()
    handle.kill()
    with pytest.raises(StoreDied, match="redis ended with exit status 137"):
        handle.check_alive()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may signal another user's process")
def test_a_container_whose_connections_are_closed_has_ended(make: Make) -> None:
    """The engine learns of an end after the clients do."""
    handle = make()
    for _ in range(5):
        handle.start()
        with socket.create_connection((handle.address.host, handle.address.port), timeout=5) as connection:
            os.kill(handle._container.attrs["State"]["Pid"], signal.SIGKILL)
            assert connection.recv(1) == b""
        with pytest.raises(MachineFailed, match="redis was killed from outside"):
            handle.check_alive()


def test_an_engine_that_does_not_notice_an_end_is_no_fault_of_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container whose main process is gone, and which the engine calls running all the same, is a failure of the machine."""
    handle = make()
    handle.start()
    monkeypatch.setattr("storeproof.launch.container.process_tree.ending", lambda pid: True)
    monkeypatch.setattr("storeproof.launch.container._GONE_SECONDS", 0.1)
    with pytest.raises(MachineFailed, match="which the engine does not know"):
        handle.check_alive()


def test_a_container_that_somebody_removes_is_no_fault_of_the_store(make: Make) -> None:
    """A container that was removed from outside is a failure of the machine."""
    handle = make()
    handle.start()
    subprocess.run(["docker", "rm", "-f", handle._container.id], check=True, capture_output=True)
    with pytest.raises(MachineFailed, match="redis: its container was removed from outside"):
        handle.check_alive()


def test_an_engine_that_falls_silent_is_no_fault_of_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out of the engine is a failure of the machine."""
    handle = make()
    handle.start()

    def silent(*_: object, **__: object) -> None:
        raise requests.exceptions.ReadTimeout

    with monkeypatch.context() as patched:
        patched.setattr(handle._container.client.api, "send", silent)
        with pytest.raises(MachineFailed, match="redis cannot be looked at: the engine does not answer"):
            handle.check_alive()


def test_a_container_that_is_short_of_memory_is_no_fault_of_the_store(make: Make) -> None:
    """Killed by the kernel, and the engine says so."""
    eats = "python3 -c 'x = bytearray(10**9)' || dd if=/dev/zero of=/dev/null bs=900M count=1; exit 137"
    handle = make(REDIS.model_copy(update={"command": ("bash", "-c", eats)}))
    with pytest.MonkeyPatch.context() as patched:
        described = container.describe

        def limited(*arguments: Any) -> object:
            made = described(*arguments)
            made._kwargs["mem_limit"] = "64m"
            made._kwargs["memswap_limit"] = "64m"
            return made

        patched.setattr(container, "describe", limited)
        with pytest.raises(
            NotAvailable, match="the kernel's out-of-memory killer has ended it; give the machine or the container more memory"
        ):
            handle.start()


def test_container_that_never_answers(make: Make) -> None:
    """A container that runs without answering is a time-out of the store."""
    handle = make(REDIS.model_copy(update={"command": ("sleep", "600"), "start_seconds": 1}))
    with pytest.raises(StoreDied, match="redis did not answer within 1 s"):
        handle.start()
