"""Determines why a server ended or does not answer: a shortage of the machine, a signal from outside, or the server itself; and reads its
log, without the passwords."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.machine.shortage import Shortage, ShortageWatch
from storeproof.masking import mask
from storeproof.units import size

_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that users and the kernel send, but servers do not send to themselves."""
_SHELL: Final = 128
"""If a signal ended its command, a shell or the first process of a container exits with this number plus the signal's."""


class MemoryLimit(Protocol):
    """A limit of the memory of one server."""

    limit: int
    """Bytes."""

    def kills(self) -> int:
        """Number of its processes that the kernel has killed for exceeding the limit."""


class EndCause:
    """Decides who is to blame for the end or the timeout of one store, across all its starts."""

    def __init__(self, name: str, log: Callable[[], str]) -> None:
        """`name`: the store, for messages. `log`: returns the last lines of its log, without passwords."""
        self._name = name
        self._log = log
        self._watch = ShortageWatch([])
        self.has_run = False
        """Whether it has ever been ready. Until then a shortage raises `NotAvailable` (the outcome is `not_run`), afterwards
        `MachineFailed` (the attempt is spoiled)."""
        self.memory: MemoryLimit | None = None
        """The limit of its memory; None without one."""
        self._kills = 0

    def begin(self, places: Sequence[Path], *, data: bool, inherits: bool) -> None:
        """Call just before a process is started. The arguments are those of `ShortageWatch`."""
        self._watch = ShortageWatch(places, data=data, inherits=inherits)
        self._kills = self.memory.kills() if self.memory is not None else 0

    def sample(self) -> None:
        self._watch.sample()

    def store_error(self, reason: str) -> StoreDied:
        """The error if the store is known to be the cause."""
        return StoreDied(reason, self._log())

    def error_for(
        self, reason: str, said: str, pids: Iterable[int] = (), *, status: int | None = None, ours: bool = False
    ) -> StoreproofError:
        """The error for an end or a timeout. It blames the machine for a shortage or a signal from outside, else the store.

        Args:
            reason: what happened, for the message.
            said: the server's output since its start.
            pids: its running processes.
            status: its exit status, as a shell reports it.
            ours: whether storeproof has ended it.
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
        """A shortage if the kernel has killed one of its processes since its start for exceeding the limit of memory; else None."""
        if self.memory is None or self.memory.kills() <= self._kills:
            return None
        return beyond_limit(self.memory.limit)

    def shortage_error(self, reason: str, lacking: Shortage) -> StoreproofError:
        """The error for a known shortage; the type is that of `machine_error`."""
        return self.machine_error(f"{reason}: {lacking.what}", lacking.remedy)

    def machine_error(self, reason: str, remedy: str = "") -> StoreproofError:
        """The error for a failure of the machine: `NotAvailable` if the store has never been ready, else `MachineFailed`."""
        return (MachineFailed if self.has_run else NotAvailable)(reason, remedy)


def beyond_limit(limit: int) -> Shortage:
    """The shortage of a server that the kernel has killed for exceeding a limit of memory, in bytes."""
    return Shortage(f"it needed more than the {size(limit)} that --memory allows, for which the kernel ended it", "give it more --memory")


def describe_exit(code: int) -> str:
    """How a process ended, for messages. `code`: its return code in `subprocess`, negative for a signal."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def shell_status(code: int) -> int:
    """Convert a return code of `subprocess` to the exit status that a shell reports."""
    return _SHELL - code if code < 0 else code


_BYTES = 8192
_LINES = 25
_MOST_BYTES = 2**20
_SHORTEST_SECRET = 4
"""Characters. A shorter password is not hidden: replacing it would make the log unreadable, and it is no secret."""


def tail(log: Path, password: str | None) -> str:
    """The last lines of a log file, without the password; empty if the file cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _BYTES))
            return last_lines(file.read(), password)
    except OSError:
        return ""


def read_since(log: Path, since: int) -> str:
    """What follows the first `since` bytes of a log file, at most 1 MiB; a password in it is not hidden."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def last_lines(text: bytes, password: str | None) -> str:
    """The last lines of a text, with the password replaced by `***`."""
    shown = "\n".join(text.decode("utf-8", errors="replace").splitlines()[-_LINES:])
    return mask(shown, [password]) if password and len(password) >= _SHORTEST_SECRET else shown
