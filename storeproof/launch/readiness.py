"""Waits until a store answers, or reports why it does not."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable

from storeproof.contract.address import Address
from storeproof.contract.failures import Refused, Unknown, WrongReply
from storeproof.errors import MachineFailed, NotAdmitted, StoreDied, StoreproofError
from storeproof.machine.deadline import Deadline, Progress

Probe = Callable[[Address], None]
"""Returns once the store answers at the address; raises `Unknown` if it does not yet, `Refused` or `WrongReply` if it never will, and
`NotAdmitted` in their place if no client was ever let in."""

_PAUSE = 0.002
"""Seconds between two attempts: a Redis that is ready after 30 ms is noticed after 32 ms at most."""


def wait_until_ready(
    address: Address,
    probe: Probe,
    *,
    name: str,
    seconds: float,
    check: Callable[[], None],
    error_for: Callable[[str], StoreproofError],
    progress: Progress = lambda: None,
) -> float:
    """Wait until `probe` returns; return that moment, in seconds of the monotonic clock.

    Args:
        seconds: the time limit.
        check: called between attempts; raises if waiting is pointless, such as after the server has ended.
        error_for: makes the error for a failed wait from its reason.
        progress: the server's progress; on a busy machine the limit is extended while there is some.

    Raises:
        StoreproofError: made by `error_for`: a timeout, or the store refuses access or answers in another protocol.
        NotAdmitted: by `probe`, unless `error_for` knows a shortage.
        MachineFailed: a timeout on a busy machine.
    """
    deadline = Deadline(seconds, progress)
    last = "nothing listens on its port"

    def pause() -> None:
        check()
        if deadline.has_passed():
            raise timeout_error(deadline, f"{name} did not answer within", last, error_for)
        time.sleep(_PAUSE)

    # First without a client: a connection attempt takes microseconds, a client milliseconds, and a server does not see refused attempts.
    while not _accepts(address):
        pause()
    last = "it accepts connections but does not answer"
    while True:
        failure = _attempt(address, probe, pause)
        if failure is None:
            return time.monotonic()
        if isinstance(failure, Refused):
            raise error_for(f"{name} answers and refuses access: {failure}")
        if isinstance(failure, WrongReply):
            raise error_for(f"{name} answers, but not in its protocol: {failure}")
        if isinstance(failure, NotAdmitted):
            found = error_for(str(failure))
            raise failure if isinstance(found, StoreDied) else found
        if not isinstance(failure, Unknown):
            raise failure
        last = str(failure) or last
        pause()


def timeout_error(deadline: Deadline, what: str, last: str, error_for: Callable[[str], StoreproofError]) -> StoreproofError:
    """The error for a timeout: the one that `error_for` makes, but `MachineFailed` instead of `StoreDied` on a busy machine."""
    reason = error_for(f"{what} {deadline.waited:g} s ({last})")
    if deadline.busy and isinstance(reason, StoreDied):
        return MachineFailed(f"{what} {deadline.waited:g} s on a busy machine ({deadline.busy}; {last})", "run it on a quieter machine")
    return reason


def _accepts(address: Address) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=0.2).close()
    except OSError:
        return False
    return True


def _attempt(address: Address, probe: Probe, pause: Callable[[], None]) -> Exception | None:
    """Run the probe; return its exception, or None. It runs in its own thread: while a client waits for a reply without a timeout, the
    end of the server and the time limit must still be noticed."""
    done: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def ask() -> None:
        try:
            probe(address)
        except Exception as failure:  # noqa: BLE001 - handed to the caller
            done.put(failure)
        else:
            done.put(None)

    try:
        threading.Thread(target=ask, name="storeproof-probe", daemon=True).start()
    except RuntimeError as reason:
        raise MachineFailed(f"the kernel refuses another thread: {reason}", "ulimit -u unlimited") from None
    while True:
        try:
            return done.get(timeout=_PAUSE)
        except queue.Empty:
            pause()
