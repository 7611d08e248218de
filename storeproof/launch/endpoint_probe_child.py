"""The first connection to an endpoint, in a process with limits: `python -m storeproof.launch.endpoint_probe_child`.

Any server may answer at an endpoint, and clients trust their servers: they allocate 2 GB for a length field of 2 GB, and buffer an endless
line until memory is exhausted. So a child process first does, once, what the checks will do; the run itself connects only if the child
survived.

The request is a JSON object on standard input, not on the command line, since it contains a password. The child writes lines of JSON to
standard output: each step before it is taken (`at`), and finally the result (`end`).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import psutil

from storeproof.contract.address import Address, parse_endpoint
from storeproof.contract.failures import Refused, Unknown, Unsupported, WrongReply
from storeproof.contract.families import KeyValue, Session
from storeproof.contract.load_adapter import Adapter, load_adapter
from storeproof.contract.values import Layout
from storeproof.masking import mask
from storeproof.printable import in_one_line
from storeproof.spec.model import Model, Value
from storeproof.spec.reading.source import read
from storeproof.spec.store import Store

MEMORY = 96 << 20
"""Bytes that a client may allocate after its start: the largest reply to the requests of the probe has a few thousand."""
_RESERVED = 512 << 20
"""Additional bytes of address space, which threads reserve and do not use."""
_PAUSE = 0.1
"""Seconds between two attempts."""
_LONGEST_VERSION = 200
"""Characters; the longest known version has about a hundred."""


class _Strange(Exception):
    """The reply cannot come from such a store."""


class _Reporter:
    """Writes the steps and the result to standard output."""

    def __init__(self, answers: int, seconds: float, password: str | None) -> None:
        self._answers = answers
        self._password = password
        self._seconds = seconds
        self._once = threading.Lock()
        self.last = "nothing listens on its port"

    def at(self, step: str) -> None:
        """Report the step that is taken next."""
        os.write(self._answers, json.dumps({"at": step}).encode() + b"\n")

    def end(self, how: str, found: str = "") -> NoReturn:
        """Report the result and exit at once, without waiting for threads or finalizers of a client."""
        with self._once:
            os.write(self._answers, json.dumps({"end": how, "found": self._shown(found)}).encode() + b"\n")
            os._exit(0)

    def failed(self, reason: BaseException) -> None:
        """An attempt failed, and another one may succeed."""
        self.last = self._shown(str(reason)) or self.last

    def _shown(self, found: str) -> str:
        """Masked before it is shortened, which may leave a part of the password."""
        return in_one_line(mask(found, [self._password]))

    def limit(self) -> None:
        """Limit memory, CPU time and wall-clock time from now on."""
        memory = psutil.Process().memory_info()
        taken = {resource.RLIMIT_AS: memory.vms, resource.RLIMIT_DATA: memory.data}
        for what, more in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_AS, MEMORY + _RESERVED)):
            most = taken[what] + more
            resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        busy = int(sum(os.times()[:2]) + self._seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (busy, busy + 1))
        # Two timers: the thread can report the reason; the signal also ends code that never releases the interpreter lock.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._seconds + 2)
        timer = threading.Timer(self._seconds, lambda: self.end("silent", self.last))
        timer.daemon = True
        timer.start()


def main() -> None:
    """Probe the endpoint that is described on standard input."""
    answers = os.dup(1)
    os.dup2(2, 1)  # the output of a client must not mix with the report
    asked = json.loads(sys.stdin.buffer.read())
    file = Path(asked["file"])
    store = read(file, Store)
    adapter = load_adapter(store, file)
    assert store.launch.endpoint is not None
    address = parse_endpoint(asked["url"], store.launch.endpoint.url)
    reporter = _Reporter(answers, asked["seconds"], address.password)
    reporter.limit()
    reporter.at("look for it")
    _find(reporter, address)
    reporter.last = "it accepts connections but does not answer"
    for attempt in range(1_000_000):
        layout = Layout(f"{asked['collection']}_{attempt}", Model.model_validate(asked["model"]))
        try:
            _attempt(reporter, adapter, address, store, asked, layout)
        except (Exception, SystemExit) as reason:  # noqa: BLE001 - any failure is reported
            _report(reporter, reason)
        else:
            reporter.end("ready")
        time.sleep(_PAUSE)


def _report(reporter: _Reporter, reason: BaseException) -> None:
    """Report the failure of an attempt and exit, unless another attempt may succeed."""
    if _out_of_memory(reason):
        reporter.end("memory")
    if isinstance(reason, Unknown):
        reporter.failed(reason)
    elif isinstance(reason, Refused):
        reporter.end("refused", str(reason))
    elif isinstance(reason, Unsupported):
        reporter.end("unusable", str(reason))
    else:  # the store's client cannot handle the reply
        reporter.end("strange", str(reason) if isinstance(reason, _Strange) else f"{type(reason).__name__}: {reason}")


def _find(reporter: _Reporter, address: Address) -> None:
    """Wait until something accepts connections."""
    while True:
        try:
            socket.create_connection((address.host, address.port), timeout=2).close()
        except (socket.gaierror, UnicodeError) as reason:
            reporter.end("unresolved", str(reason.args[-1]))
        except OSError:
            time.sleep(_PAUSE)
        else:
            return


def _attempt(reporter: _Reporter, adapter: Adapter, address: Address, store: Store, asked: dict[str, Any], layout: Layout) -> None:
    reporter.at("connect")
    session = adapter.connect(address, store.variants[asked["variant"]].options)
    try:
        reporter.at("ask for its version")
        version = session.version()
        for text in (version.product, version.number):
            if not isinstance(text, str) or len(text) > _LONGEST_VERSION or not text.isprintable():
                raise _Strange(f"it says that its version is {in_one_line(str(text), 60)}")
        if version.product != store.product:
            return  # the run reports the wrong product, and writes nothing there
        reporter.at("read its settings")
        session.read_settings(tuple(asked["settings"]))
        _use(reporter, session, layout)
    finally:
        with suppress(Exception):
            session.close()


def _use(reporter: _Reporter, session: Session, layout: Layout) -> None:
    """Put a record and get it, in a collection of its own. Whether the right one is returned is left to the cases."""
    with suppress(Unsupported, WrongReply):
        collection = session.collection(layout)
        try:
            reporter.at("create a collection")
            collection.prepare()
            if isinstance(collection, KeyValue) and isinstance(layout.model.record, Value):
                reporter.at("put a record")
                collection.put("probe", b"storeproof")
                reporter.at("get a record")
                collection.get("probe")
        finally:
            reporter.at("remove the collection")
            collection.clear()


def _out_of_memory(reason: BaseException | None) -> bool:
    """Whether memory ran out, also if a client raised another exception because of it."""
    while reason is not None and not isinstance(reason, MemoryError):
        reason = reason.__cause__ or reason.__context__
    return reason is not None


if __name__ == "__main__":
    main()
