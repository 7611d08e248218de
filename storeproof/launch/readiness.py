"""Waits until a store answers, and says why when it does not."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable

from storeproof.contract.address import Address
from storeproof.contract.failures import Refused, Unknown, WrongReply
from storeproof.errors import MachineFailed, StoreDied, StoreproofError
from storeproof.machine.patience import Patience, Work

Probe = Callable[[Address], None]
"""Returns once the store answers at the address; raises `Unknown` while it does not, `Refused` where it never will."""

_PAUSE = 0.002
"""Seconds between two looks: a Redis that is up after 30 ms is seen after 32."""


def wait_until_ready(
    address: Address,
    probe: Probe,
    *,
    name: str,
    seconds: float,
    check: Callable[[], None],
    died: Callable[[str], StoreproofError],
    work: Work = lambda: None,
) -> float:
    """Return once `probe` does: the moment, on the monotonic clock.

    Args:
        check: called between attempts; raises when waiting is in vain.
        died: makes the error, of what was seen.
        work: how far the server has got: on a busy machine one that gets on may take longer.

    Raises:
        StoreproofError: what `died` made: the time is over, or the store answers but will never have us.
        MachineFailed: the time is over on a busy machine.
    """
    patience = Patience(seconds, work)
    last = "nothing listens on its port"

    def pause() -> None:
        check()
        if patience.is_over():
            raise timeout_error(patience, f"{name} did not answer within", last, died)
        time.sleep(_PAUSE)

    # A bare connection costs microseconds where a client costs milliseconds, and no server sees those that are refused.
    while not _accepts(address):
        pause()
    last = "it takes connections and does not answer"
    while True:
        failure = _attempt(address, probe, pause)
        if failure is None:
            return time.monotonic()
        if isinstance(failure, Refused):
            raise died(f"{name} answers and refuses us: {failure}")
        if isinstance(failure, WrongReply):
            raise died(f"{name} answers, and not as its protocol has it: {failure}")
        if not isinstance(failure, Unknown):
            raise failure
        last = str(failure) or last
        pause()


def timeout_error(patience: Patience, what: str, last: str, died: Callable[[str], StoreproofError]) -> StoreproofError:
    """The error of a wait that is over: the store's, or the machine's where it is busy. `died` makes the first."""
    reason = died(f"{what} {patience.waited:g} s ({last})")
    if patience.busy and isinstance(reason, StoreDied):
        return MachineFailed(f"{what} {patience.waited:g} s on a busy machine ({patience.busy}; {last})", "run it on a quieter machine")
    return reason


def _accepts(address: Address) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=0.2).close()
    except OSError:
        return False
    return True


def _attempt(address: Address, probe: Probe, pause: Callable[[], None]) -> Exception | None:
    """What the probe raised. It runs in a thread of its own: a client that waits for a reply without limit must not stop us from
    seeing that the server has ended, or that the time is over."""
    done: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def ask() -> None:
        try:
            probe(address)
        except Exception as failure:  # noqa: BLE001 - handed to the caller, who sorts it
            done.put(failure)
        else:
            done.put(None)

    try:
        threading.Thread(target=ask, name="storeproof-probe", daemon=True).start()
    except RuntimeError as reason:
        raise MachineFailed(f"the kernel gives storeproof no other thread: {reason}", "ulimit -u unlimited") from None
    while True:
        try:
            return done.get(timeout=_PAUSE)
        except queue.Empty:
            pause()
