"""No reply of a server fills the memory of its clients, however it was launched: the connection is closed, and the server is to blame."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from storeproof.contract import Address, load_adapter
from storeproof.contract.failures import Unknown
from storeproof.errors import StoreDied
from storeproof.launch.client_memory import MemoryWatch, memory_watch
from storeproof.launch.endpoint import EndpointHandle
from storeproof.launch.process import ProcessHandle
from storeproof.launch.request import LaunchRequest
from tests.launch.small import greeted, python_server, request
from tests.launch.test_endpoint_probe import SPEC, misbehaving, probe

FLOODS = """
import socket, sys, threading

def answer(connection):
    try:
        connection.sendall(b"hello")
        while connection.recv(1) == b"?":
            while True:
                connection.sendall(bytes(1 << 16))
    except OSError:
        pass

with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
"""
"""Greets, and has no end of an answer to a question."""
TOO_LONG = "does not answer like a store any more: it answered one request with more than 8 MiB, and did not end; the connection was closed"


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryWatch]:
    """One that lets less pass, as that of this process, and the only one: another could be the first to shut a connection down."""
    if memory_watch.cache_info().currsize:
        memory_watch().end()
        memory_watch.cache_clear()
    made = MemoryWatch(most=8 << 20)
    for place in ("endpoint", "managed_server"):
        monkeypatch.setattr(f"storeproof.launch.{place}.memory_watch", lambda: made)
    yield made
    made.end()


def ask(address: Address) -> None:
    """Keep all that is answered, until the connection is closed."""
    kept = bytearray()
    with socket.create_connection((address.host, address.port)) as client, suppress(ConnectionResetError):
        client.sendall(b"?")
        while part := client.recv(1 << 16):
            kept += part


def test_no_client_goes_on_until_the_memory_is_full(watch: MemoryWatch) -> None:
    """No answer ends, and every part comes in time. It is said once, and of that server only."""
    adapter = load_adapter(*SPEC.store("memcached"))
    with misbehaving("memcached", "a line without end") as port:
        with pytest.raises(Unknown):
            adapter.connect(Address("127.0.0.1", port), {})
        watch.check("another", Address("127.0.0.1", 1))
        with pytest.raises(StoreDied, match=f"memcached at localhost:{port} {TOO_LONG}"):
            watch.check("memcached", Address("localhost", port))
    watch.check("memcached", Address("127.0.0.1", port))


def test_a_client_that_forgets_what_it_reads_may_read_on(watch: MemoryWatch) -> None:
    """The keys of a large store fill no memory."""
    with misbehaving("redis", "zeros") as port:
        with socket.create_connection(("127.0.0.1", port)) as client:
            read = 0
            while read < 64 << 20:
                part = client.recv(1 << 16)
                assert part, "it was shut down"
                read += len(part)
        watch.check("redis", Address("127.0.0.1", port))


def test_many_replies_are_not_a_long_one(watch: MemoryWatch) -> None:
    """What counts is what comes in without a request."""
    part, kept = b"a" * (1 << 20), list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, listener.accept()[0] as server:
            for _ in range(20):
                client.sendall(b"?")
                assert server.recv(1) == b"?"
                server.sendall(part)
                kept.append(client.recv(len(part), socket.MSG_WAITALL))
                assert len(kept[-1]) == len(part)
                time.sleep(0.02)
        watch.check("small", Address("127.0.0.1", port))


@pytest.mark.usefixtures("watch")
def test_a_long_request_to_a_proxy_of_this_process_is_no_endless_reply() -> None:
    """It accepted the connection, and asked for nothing."""
    part, kept = b"a" * (1 << 20), bytearray()
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
        listener.accept()[0] as server,
    ):
        for number in range(24):
            client.sendall(part)
            while len(kept) < (number + 1) * len(part):
                received = server.recv(len(part))
                assert received, f"it was shut down after {len(kept)} bytes"
                kept += received
            time.sleep(0.02)


@pytest.mark.usefixtures("watch")
def test_an_endless_reply_of_an_endpoint_is_a_failure_of_the_store() -> None:
    """And said in the case that asked."""
    with misbehaving("redis", "zeros") as port:
        launch = SPEC.store("redis")[0].launch
        endpoint = probe("redis", f"redis://127.0.0.1:{port}")
        handle = EndpointHandle(LaunchRequest(store="redis", launch=launch, probe=lambda _: None, settings={}, endpoint=endpoint))
        handle.check_alive()
        ask(handle.address)
        with pytest.raises(StoreDied, match=TOO_LONG):
            handle.check_alive()
        handle.check_alive()
        handle.close()


@pytest.mark.usefixtures("watch")
def test_so_is_one_of_a_server_that_was_launched(tmp_path: Path) -> None:
    """It runs, and is not let fill the memory either. Its next start begins without that."""
    with closing(ProcessHandle(request(python_server(FLOODS), tmp_path, probe=greeted))) as handle:
        handle.start()
        ask(handle.address)
        with pytest.raises(StoreDied, match=TOO_LONG):
            handle.check_alive()
        ask(handle.address)
        handle.stop()
        handle.start()
        handle.check_alive()


@pytest.mark.usefixtures("watch")
def test_a_first_answer_without_an_end_is_no_start(tmp_path: Path) -> None:
    """The probe of its start is a client like any other; no one waits for the next."""

    def asked(address: Address) -> None:
        ask(address)
        raise Unknown("nothing that makes sense")

    launch = request(python_server(FLOODS), tmp_path, probe=asked)
    with closing(ProcessHandle(launch)) as handle, pytest.raises(StoreDied, match=TOO_LONG):
        handle.start()
