"""Why a server ended or does not answer: a shortage of the machine, a kill from outside, or the server itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.machine.memory_group import MemoryGroup
from storeproof.machine.shortage import Shortage, ShortageWatch
from storeproof.units import size

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
        self.memory: MemoryGroup | None = None
        """What limits its memory, if that is limited."""
        self._kills = 0

    def begin(self, places: Sequence[Path], *, data: bool, inherits: bool) -> None:
        """A process is about to be started; the arguments are those of `ShortageWatch`."""
        self._watch = ShortageWatch(places, data=data, inherits=inherits)
        self._kills = self.memory.kills() if self.memory is not None else 0

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
        lacking = self.over_limit() or self._watch.find(said, pids)
        if lacking is not None:
            return self.shortage_error(reason, lacking)
        number = (status or 0) - _SHELL
        if number in _OUTSIDE and not ours:
            name = signal.Signals(number).name
            return MachineFailed(
                f"{self._name} was killed from outside: {name}, not sent by storeproof", "see who did it: dmesg, journalctl"
            )
        return self.store_error(reason)

    def over_limit(self) -> Shortage | None:
        """Whether the kernel has ended a process of it since its start because of the limit of its memory."""
        if self.memory is None or self.memory.kills() <= self._kills:
            return None
        return beyond_limit(self.memory.limit)

    def shortage_error(self, reason: str, lacking: Shortage) -> StoreproofError:
        """The error for a known shortage."""
        return self.machine_error(f"{reason}: {lacking.what}", lacking.remedy)

    def machine_error(self, reason: str, remedy: str = "") -> StoreproofError:
        """The error for another failure of the machine."""
        return (MachineFailed if self.has_run else NotAvailable)(reason, remedy)


def beyond_limit(limit: int) -> Shortage:
    """What a server lacked that the kernel has ended for memory under a limit of that many bytes."""
    return Shortage(f"it needed more than the {size(limit)} that --memory allows, for which the kernel ended it", "give it more --memory")


def describe_exit(code: int) -> str:
    """How a process ended, in words, by its return code as `subprocess` has it."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def shell_status(code: int) -> int:
    """The return code of `subprocess` as a shell has it."""
    return _SHELL - code if code < 0 else code
