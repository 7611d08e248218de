"""Small real servers and probes for the launchers' tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from storeproof.contract import Address, Layout, Unknown
from storeproof.launch.endpoint_probe import EndpointProbe
from storeproof.launch.request import LaunchRequest
from storeproof.machine import process_tree
from storeproof.spec import ContainerLaunch, EndpointLaunch, Model, ProcessLaunch, Store
from storeproof.spec.store import Launch

GREETS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    print("ready to greet", flush=True)
    while True:
        connection, _ = server.accept()
        try:
            connection.sendall(b"hello")
        except OSError:
            pass  # on a busy machine a probe may have given up before
        connection.close()
"""
"""Answers each connection with `hello`."""

MUTE = """
import socket, sys, time
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(600)
"""
"""Takes connections and never says a word."""

FAMILY = """
import os, socket, sys, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
""" + GREETS.removeprefix("\nimport socket, sys")
"""Like PostgreSQL: each child is the leader of a session of its own."""


def python_server(code: str, **fields: object) -> ProcessLaunch:
    """A server that is a few lines of Python; its arguments are the port, the data directory, and the settings."""
    return ProcessLaunch.model_validate(
        {
            "binary": "${python}",
            "install": "python3 runs the tests",
            "command": ["-c", code.replace("$", "$$"), "${port}", "${data}", "${settings}"],
            "start_seconds": 20,
            **fields,
        }
    )


ADAPTER = """
import socket
from storeproof.contract import Unknown, Unsupported, Version


class Session:
    def version(self):
        return Version("Small", "1")

    def read_settings(self, names):
        return {}

    def collection(self, layout):
        raise Unsupported("it only greets")

    def close(self):
        pass


def connect(address, options):
    try:
        with socket.create_connection((address.host, address.port), timeout=1) as connection:
            if connection.recv(5) == b"hello":
                return Session()
    except OSError as reason:
        raise Unknown(str(reason)) from None
    raise Unknown("no greeting")
"""
"""Speaks to `GREETS`."""

ROW = Model.model_validate({"format": "1.0", "model": "row", "title": "Row", "key": "integer", "record": {"kind": "row"}})


def endpoint_probe(url: str, store: Store, folder: Path) -> EndpointProbe:
    """An endpoint of this store, whose files are written into a folder: its adapter is `ADAPTER`."""
    file = folder / "small.yaml"
    described = store.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    file.write_text(yaml.safe_dump(described | {"adapter": "small_adapter.py"}, sort_keys=False))
    (folder / "small_adapter.py").write_text(ADAPTER)
    return EndpointProbe(url, file, store.default_variant, (), Layout("sp_small", ROW))


def greeted(address: Address) -> None:
    """A probe: the server says hello."""
    try:
        with socket.create_connection((address.host, address.port), timeout=2) as connection:
            connection.settimeout(2)
            if connection.recv(5) == b"hello":
                return
    except OSError as reason:
        raise Unknown(str(reason)) from None
    raise Unknown("no greeting")


def request(
    launch: ProcessLaunch | ContainerLaunch | EndpointLaunch,
    data_dir: Path | None = None,
    *,
    store: str = "small",
    probe: Callable[[Address], None] = greeted,
    settings: Mapping[str, str] | None = None,
    **fields: Any,
) -> LaunchRequest:
    """A request for a store whose file describes this launch and no other."""
    kind = {ProcessLaunch: "process", ContainerLaunch: "container", EndpointLaunch: "endpoint"}[type(launch)]
    described = Launch(**{kind: launch})
    return LaunchRequest(store=store, launch=described, probe=probe, settings=settings or {}, data_dir=data_dir, **fields)


def connected(address: Address) -> None:
    """A probe: the server takes connections."""
    try:
        socket.create_connection((address.host, address.port), timeout=2).close()
    except OSError as reason:
        raise Unknown(str(reason)) from None


def gone(pid: int) -> bool:
    """Whether the process has ended; one that no one has reaped yet has."""
    stat = process_tree.read_stat(pid)
    return stat is None or stat.ended


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether the condition becomes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


WITHOUT_REAPER = "import storeproof.launch.managed_server as m; m.reap_at_exit = lambda *_, **__: None"
"""For `Run(before=...)`: what it leaves is left to the next run."""

WORK = "while True: time.sleep(0.05)"
"""What a run does after its start. Not one long sleep: a signal that comes just before the system call does not end it."""


class Run:
    """Another run of storeproof, in a process of its own, that has started a server with three children."""

    def __init__(self, base: Path, *, before: str = "", after: str = "", fields: str = "") -> None:
        """`fields`: further ones of its request, as a source of Python has them."""
        code = f"""
            import signal, sys, time
            from pathlib import Path
            from storeproof.disk.methods import PowerCutMethod
            from storeproof.launch.process import ProcessHandle
            from tests.launch.small import FAMILY, python_server, request
            # A shell that runs the tests in the background has them ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            {before}
            handle = ProcessHandle(request(python_server(FAMILY), Path({str(base)!r}), {fields}))
            handle.start()
            print(handle.data.parent, *handle.pids, flush=True)
            {after or WORK}
        """
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self.process.stdout is not None
        words = self.process.stdout.readline().split()
        self.root = Path(words[0])
        self.servers = [int(word) for word in words[1:]]
        assert len(self.servers) == 4

    def end(self, number: signal.Signals) -> int:
        """Signal it and wait for its end."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def left(self) -> list[str]:
        """What it left behind."""
        processes = [str(pid) for pid in self.servers if not gone(pid)]
        return processes + ([str(self.root)] if self.root.exists() else [])


def as_root() -> bool:
    """Whether the tests run as root."""
    return os.geteuid() == 0
