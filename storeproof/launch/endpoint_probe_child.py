"""The first connection to an endpoint, in a process with limits: `python -m storeproof.launch.endpoint_probe_child`.

What answers at an endpoint may be anything, and clients trust their servers: a length of 2 GB is taken at its word, and a line
without end is collected until the memory is full. So a child does once what the checks will do, and only what it
survived is spoken to by the run itself.

It is asked by a line of JSON on its standard input, since it has a password in it that others must not see on a command line, and says on
its standard output, in lines of JSON, what it is about to do (`at`), and at last how that ended (`end`).
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
from storeproof.printable import in_one_line
from storeproof.spec.model import Model, Value
from storeproof.spec.reading.source import read
from storeproof.spec.store import Store

MEMORY = 96 << 20
"""Bytes that a client may take beyond what it is made of: the largest answer to what is asked here has a few thousand."""
_RESERVED = 512 << 20
"""Addresses beyond that, which threads reserve and do not use."""
_PAUSE = 0.1
"""Seconds between two attempts."""
_LONGEST_VERSION = 200
"""Characters; the longest that is known has about a hundred."""


class _Strange(Exception):
    """What answers cannot be what it says it is."""


class _Visitor:
    """Says what it is about to do, and what became of it."""

    def __init__(self, answers: int, seconds: float) -> None:
        self._answers = answers
        self._seconds = seconds
        self._once = threading.Lock()
        self.last = "nothing listens on its port"

    def at(self, step: str) -> None:
        """What comes next."""
        os.write(self._answers, json.dumps({"at": step}).encode() + b"\n")

    def end(self, how: str, found: str = "") -> NoReturn:
        """The only end: no thread of a client, and no object that wants to say goodbye, is waited for."""
        with self._once:
            os.write(self._answers, json.dumps({"end": how, "found": in_one_line(found)}).encode() + b"\n")
            os._exit(0)

    def limit(self) -> None:
        """From here on memory, processor time and time are bounded."""
        memory = psutil.Process().memory_info()
        taken = {resource.RLIMIT_AS: memory.vms, resource.RLIMIT_DATA: memory.data}
        for what, more in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_AS, MEMORY + _RESERVED)):
            most = taken[what] + more
            resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        busy = int(sum(os.times()[:2]) + self._seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (busy, busy + 1))
        # Two clocks: the thread says what was the matter, the signal ends also what never gives a thread its turn.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._seconds + 2)
        timer = threading.Timer(self._seconds, lambda: self.end("silent", self.last))
        timer.daemon = True
        timer.start()


def main() -> None:
    """Visit what standard input names."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a client prints is none of our answers
    asked = json.loads(sys.stdin.buffer.read())
    file = Path(asked["file"])
    store = read(file, Store)
    adapter = load_adapter(store, file)
    assert store.launch.endpoint is not None
    address = parse_endpoint(asked["url"], store.launch.endpoint.url)
    visitor = _Visitor(answers, asked["seconds"])
    visitor.limit()
    visitor.at("look for it")
    _find(visitor, address)
    visitor.last = "it takes connections and does not answer"
    for attempt in range(1_000_000):
        layout = Layout(f"{asked['collection']}_{attempt}", Model.model_validate(asked["model"]))
        try:
            _attempt(visitor, adapter, address, store, asked, layout)
        except (Exception, SystemExit) as reason:  # noqa: BLE001 - whatever it is, it is told
            _tell(visitor, reason)
        else:
            visitor.end("ready")
        time.sleep(_PAUSE)


def _tell(visitor: _Visitor, reason: BaseException) -> None:
    """End with what became of an attempt, unless the next one may go better."""
    if _out_of_memory(reason):
        visitor.end("memory")
    if isinstance(reason, Unknown):
        visitor.last = in_one_line(str(reason)) or visitor.last
    elif isinstance(reason, Refused):
        visitor.end("refused", str(reason))
    else:  # the store's client was not made for such an answer
        visitor.end("strange", str(reason) if isinstance(reason, _Strange) else f"{type(reason).__name__}: {reason}")


def _find(visitor: _Visitor, address: Address) -> None:
    """Wait until something takes connections."""
    while True:
        try:
            socket.create_connection((address.host, address.port), timeout=2).close()
        except (socket.gaierror, UnicodeError) as reason:
            visitor.end("unresolved", str(reason.args[-1]))
        except OSError:
            time.sleep(_PAUSE)
        else:
            return


def _attempt(visitor: _Visitor, adapter: Adapter, address: Address, store: Store, asked: dict[str, Any], layout: Layout) -> None:
    visitor.at("connect")
    session = adapter.connect(address, store.variants[asked["variant"]].options)
    try:
        visitor.at("ask for its version")
        version = session.version()
        for text in (version.product, version.number):
            if not isinstance(text, str) or len(text) > _LONGEST_VERSION or not text.isprintable():
                raise _Strange(f"it says that its version is {in_one_line(str(text), 60)}")
        if version.product != store.product:
            return  # which the trial says of it, and leaves it alone
        visitor.at("read its settings")
        session.read_settings(tuple(asked["settings"]))
        _use(visitor, session, layout)
    finally:
        with suppress(Exception):
            session.close()


def _use(visitor: _Visitor, session: Session, layout: Layout) -> None:
    """Put a record and get it, in a collection of ours. Whether it is the right one, the cases tell: they name the store's failure."""
    with suppress(Unsupported, WrongReply):
        collection = session.collection(layout)
        try:
            visitor.at("create a collection")
            collection.prepare()
            if isinstance(collection, KeyValue) and isinstance(layout.model.record, Value):
                visitor.at("put a record")
                collection.put("visit", b"storeproof")
                visitor.at("get a record")
                collection.get("visit")
        finally:
            visitor.at("remove the collection")
            collection.clear()


def _out_of_memory(reason: BaseException | None) -> bool:
    """Also where a client made something else of it."""
    while reason is not None and not isinstance(reason, MemoryError):
        reason = reason.__cause__ or reason.__context__
    return reason is not None


if __name__ == "__main__":
    main()
