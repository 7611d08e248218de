"""Why a server ended or does not answer: a shortage of the machine, a kill from outside, or the server itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.machine.shortage import Shortage, ShortageWatch

_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that users and the kernel send, and servers do not send to themselves."""
_SHELL: Final = 128
"""A shell, and the first process of a container, exits with this plus the number of the signal that ended its command."""


class EndCause:
    """Of one store, over all its starts."""

    def __init__(self, name: str, log: Callable[[], str]) -> None:
        """`name`: the store, for messages; `log`: the last lines that it wrote, without passwords."""
        self._name = name
        self._log = log
        self._watch = ShortageWatch([])
        self.has_run = False
        """Whether it has ever been ready: before, a shortage means `NotAvailable`; later, it spoils what was tried."""

    def begin(self, places: Sequence[Path], *, data: bool, inherits: bool) -> None:
        """A process is about to be started; the arguments are those of `ShortageWatch`."""
        self._watch = ShortageWatch(places, data=data, inherits=inherits)

    def sample(self) -> None:
        """See `ShortageWatch.sample`."""
        self._watch.sample()

    def store_error(self, reason: str) -> StoreDied:
        """The error where the store is known to be the cause."""
        return StoreDied(reason, self._log())

    def error_for(
        self, reason: str, said: str, pids: Iterable[int] = (), *, status: int | None = None, ours: bool = False
    ) -> StoreproofError:
        """The error for an end or a timeout.

        Args:
            reason: what was seen, in words.
            said: what the server wrote since its start.
            pids: its processes that run.
            status: its exit status, as a shell reports it.
            ours: we have ended it.
        """
        lacking = self._watch.find(said, pids)
        if lacking is not None:
            return self.shortage_error(reason, lacking)
        number = (status or 0) - _SHELL
        if number in _OUTSIDE and not ours:
            name = signal.Signals(number).name
            return MachineFailed(
                f"{self._name} was killed from outside: {name}, not sent by storeproof", "see who did it: dmesg, journalctl"
            )
        return self.store_error(reason)

    def shortage_error(self, reason: str, lacking: Shortage) -> StoreproofError:
        """The error for a known shortage."""
        return self.machine_error(f"{reason}: {lacking.what}", lacking.remedy)

    def machine_error(self, reason: str, remedy: str = "") -> StoreproofError:
        """The error for another failure of the machine."""
        return (MachineFailed if self.has_run else NotAvailable)(reason, remedy)


def describe_exit(code: int) -> str:
    """How a process ended, in words, by its return code as `subprocess` has it."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def shell_status(code: int) -> int:
    """The return code of `subprocess` as a shell has it."""
    return _SHELL - code if code < 0 else code
