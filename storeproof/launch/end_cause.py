"""Why a server ended or is silent: what the machine is short of, whoever killed it, or itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.machine.shortage import Shortage, Watch

_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that people and the kernel send, and servers do not send to themselves."""
_SHELL: Final = 128
"""A shell, and the first process of a container, ends with so much more than the number of the signal that ended its command."""


class EndCause:
    """One store, start after start."""

    def __init__(self, name: str, log: Callable[[], str]) -> None:
        """`name`: the store, for messages; `log`: the last lines that it wrote, without passwords."""
        self._name = name
        self._log = log
        self._watch = Watch([])
        self.has_run = False
        """Whether it has ever been ready: what the machine lacks before is an outcome of its own, and later spoils a trial."""

    def begin(self, places: Sequence[Path], *, data: bool, inherits: bool) -> None:
        """A process is about to be started; the arguments are those of `Watch`."""
        self._watch = Watch(places, data=data, inherits=inherits)

    def look(self) -> None:
        """See `Watch.look`."""
        self._watch.look()

    def died(self, reason: str) -> StoreDied:
        """The error for an end that needs no inquiry: we know that it does not run."""
        return StoreDied(reason, self._log())

    def of(self, reason: str, said: str, pids: Iterable[int] = (), *, status: int | None = None, ours: bool = False) -> StoreproofError:
        """The error for what was seen.

        Args:
            reason: that, in words.
            said: what the server wrote since its start.
            pids: its processes that run.
            status: how it ended, as a shell would say.
            ours: we have ended it.
        """
        lacking = self._watch.found(said, pids)
        if lacking is not None:
            return self.short(reason, lacking)
        number = (status or 0) - _SHELL
        if number in _OUTSIDE and not ours:
            name = signal.Signals(number).name
            return MachineFailed(
                f"{self._name} was killed from outside: {name}, not sent by storeproof", "see who did it: dmesg, journalctl"
            )
        return self.died(reason)

    def short(self, reason: str, lacking: Shortage) -> StoreproofError:
        """The error for what is known to be lacking."""
        return self.machine(f"{reason}: {lacking.what}", lacking.remedy)

    def machine(self, reason: str, remedy: str = "") -> StoreproofError:
        """The error for whatever else is the machine's."""
        return (MachineFailed if self.has_run else NotAvailable)(reason, remedy)


def describe_exit(code: int) -> str:
    """How a process ended, in words, by its return code as `subprocess` has it."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def shell_status(code: int) -> int:
    """The return code of `subprocess` as a shell has it."""
    return _SHELL - code if code < 0 else code
