"""Waits until a store answers, or reports why it does not."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable

from storeproof.contract.address import Address
from storeproof.contract.failures import Refused, Unknown, WrongReply
from storeproof.errors import MachineFailed, StoreDied, StoreproofError
from storeproof.machine.deadline import Deadline, Progress

Probe = Callable[[Address], None]
"""Returns once the store answers at the address; raises `Unknown` while it does not, `Refused` where it never will."""

_PAUSE = 0.002
"""Seconds between two attempts: a Redis that is up after 30 ms is noticed after 32."""


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
    """Return once `probe` does: the moment, on the monotonic clock.

    Args:
        check: called between attempts; raises when waiting has no point.
        error_for: makes the error of a failed wait.
        progress: of the server: one that makes progress on a busy machine may take longer.

    Raises:
        StoreproofError: what `error_for` made: a timeout, or the store answers and refuses access.
        MachineFailed: a timeout on a busy machine.
    """
    deadline = Deadline(seconds, progress)
    last = "nothing listens on its port"

    def pause() -> None:
        check()
        if deadline.has_passed():
            raise timeout_error(deadline, f"{name} did not answer within", last, error_for)
        time.sleep(_PAUSE)

    # A bare connection takes microseconds where a client takes milliseconds, and the server does not see refused ones.
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
        if not isinstance(failure, Unknown):
            raise failure
        last = str(failure) or last
        pause()


def timeout_error(deadline: Deadline, what: str, last: str, error_for: Callable[[str], StoreproofError]) -> StoreproofError:
    """The error of a timeout: what `error_for` makes, or the machine's where that blames the store and the machine is busy."""
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
    """The exception of the probe. It runs in its own thread: a client that waits for a reply without limit must not hide that the server
    has ended or the time is up."""
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
