"""The host: serves functions on a database to clients, one thread per client.

A host starts after every fault, and its start counts as the recovery of its library, also where it is not forked. So nothing is imported
here, nor in what a host imports, that only types, failures or clients need: without `argparse`, `traceback`, `typing` and their like a
start takes half as long.
Sockets and signals are those of the modules beneath `socket` and `signal`, which make enumerations of all constants: a third of the rest.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

import msgpack

from storeproof.embedded.command_line import read_command_line
from storeproof.embedded.framing import TooLong, pack, receive
from storeproof.embedded.turns import Turns

TYPE_CHECKING = False  # that of `typing`, whose import takes as long as a third of a start
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any, Literal, NoReturn, Protocol, TypeVar

    Kind = Literal["refused", "gave_up", "unsupported", "unknown", "error"]
    """How an operation failed: certainly not done, the same after too long a wait for a lock, not offered, perhaps done; `error`: a mistake
    in the host's own code."""

    class Database(Protocol):
        """What `serve` needs of a database."""

        def close(self) -> None:
            """Leave the files as a clean stop leaves them."""

    D = TypeVar("D", bound=Database)

_DRAIN_SECONDS = 20.0
"""How long a clean stop waits for requests that are being served."""
_HIGHEST = 2**63 - 1


class Counted:
    """A reply with an explicit count, for instance of changed rows beside the rows returned."""

    __slots__ = ("records", "value")

    def __init__(self, value: Any, records: int) -> None:
        self.value = value
        self.records = records


class Failure(Exception):
    """Raised by a function of the host to say how it failed."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Server:
    """Serves functions; each client has a session, which ends with its connection."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        session: Callable[[], AbstractContextManager[Any]],
        failure: Callable[[Exception], tuple[Kind, str]],
    ) -> None:
        """
        Args:
            functions: by the name in the request; each is called with the client's session and the request's arguments.
            session: entered when a client connects, and left when its connection ends.
            failure: the kind and message that a client gets for an exception of a function.
        """
        self._functions = functions
        self._session = session
        self._failure = failure
        self._clients: dict[threading.Thread, _socket.socket] = {}

    def serve(self, port: int) -> None:
        """Accept clients on a port of 127.0.0.1. Ends only by an exception: OSError if the port cannot be bound."""
        server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen(1024)
        while True:
            number, _ = server._accept()  # type: ignore[attr-defined]
            client = _socket.socket(fileno=number)
            client.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._converse, args=(client,), daemon=True)
            self._clients[thread] = client
            thread.start()

    def drain(self) -> None:
        """Take no more requests; return when those received are answered and all sessions have ended."""
        clients = dict(self._clients)
        for client in clients.values():
            with contextlib.suppress(OSError):
                client.shutdown(_socket.SHUT_RD)
        deadline = time.monotonic() + _DRAIN_SECONDS
        for thread in clients:
            thread.join(max(deadline - time.monotonic(), 0))

    def _converse(self, client: _socket.socket) -> None:
        try:
            with open(client.fileno(), "rb", buffering=65536, closefd=False) as requests, self._session() as session:
                while (request := receive(requests)) is not None:
                    client.sendall(self._reply(session, request))
        except (OSError, TooLong):
            pass  # the client disconnected, or uses another protocol
        finally:
            client.close()
            self._clients.pop(threading.current_thread(), None)

    def _reply(self, session: Any, request: bytes) -> bytes:
        try:
            name, *arguments = msgpack.unpackb(request, raw=False)
            value = self._functions[name](session, *arguments)
            return pack([0, value.records, value.value] if type(value) is Counted else [0, count_of(value), value])
        except Exception as reason:  # noqa: BLE001 - the client gets the failure, and the host continues
            kind, message = self._failure(reason)
            if kind == "error":
                import traceback

                traceback.print_exc()  # the log's tail goes into the report
            return pack([1, kind, message.encode("utf-8", "replace").decode()])


def count_of(value: Any) -> int:
    """How many records a value stands for: see the protocol in `storeproof.embedded`."""
    if value is None:
        return 0
    if isinstance(value, int):
        return int(value) if -_HIGHEST <= value <= _HIGHEST else 1
    return len(value) if isinstance(value, (list, tuple, dict)) else 1


def stop_at_sigterm(close: Callable[[], None]) -> None:
    """Have SIGTERM end the process with status 0 after `close`. Call it in the main thread, which then only accepts connections."""

    def stop(_signal: int, _frame: object) -> None:
        close()
        sys.exit(0)

    _signal.signal(_signal.SIGTERM, stop)


def serve(
    open_database: Callable[[Path, Mapping[str, str]], D],
    functions: Mapping[str, Callable[..., Any]],
    *,
    writes: Collection[str] = (),
    errors: Mapping[type[Exception], Kind] | None = None,
    arguments: Sequence[str] | None = None,
) -> NoReturn:
    """Read the command line, `--data DIRECTORY --port N [--set NAME=VALUE ...]`, open the database, and serve it until SIGTERM.

    Args:
        open_database: called once, with the directory and the settings; what it returns has `close()`.
        functions: by name; each is called as `function(database, *arguments)`, in a thread of its client's own. Arguments and results
            are what MessagePack has: None, bool, int, float, str, bytes, lists and dicts of them.
        writes: names of functions that run one at a time, in the order in which they were asked for: for libraries with one writer.
        errors: the kinds of the library's exceptions, by class or nearest base class. Any other is an `error`: a bug in the functions,
            whose traceback is in the log.
    """
    from pathlib import Path

    data, port, settings = read_command_line("data", "set", arguments)
    database = open_database(Path(data), settings)
    turns = Turns()
    served = {name: _in_turn(turns, function) if name in writes else function for name, function in functions.items()}
    server = Server(served, lambda: contextlib.nullcontext(database), _classify_by(errors or {}))

    def close() -> None:
        server.drain()
        database.close()

    stop_at_sigterm(close)
    try:
        server.serve(port)
    except OSError as reason:
        sys.exit(f"cannot listen on port {port}: {reason}")
    raise AssertionError("it serves until a signal")


def _in_turn(turns: Turns, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        with turns:
            return function(*arguments)

    return run


def _classify_by(errors: Mapping[type[Exception], Kind]) -> Callable[[Exception], tuple[Kind, str]]:
    def failure(reason: Exception) -> tuple[Kind, str]:
        if isinstance(reason, Failure):
            return reason.kind, str(reason)
        kind: Kind = next((errors[each] for each in type(reason).__mro__ if each in errors), "error")
        return kind, f"{type(reason).__name__}: {reason}"

    return failure
