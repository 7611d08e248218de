"""A server that somebody else has ended: by a signal that people and the kernel send, and servers do not send to themselves."""

from __future__ import annotations

import signal
from typing import Final

from storeproof.errors import MachineFailed

SIGNALS: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
_SHELL: Final = 128
"""A shell, and the first process of a container, ends with so much more than the number of the signal that ended its command."""


def of_status(status: int) -> signal.Signals | None:
    """The signal that an exit status tells of, if it is one of these."""
    number = status - _SHELL
    return signal.Signals(number) if number in SIGNALS else None


def killed(name: str, by: signal.Signals) -> MachineFailed:
    """What is said of it."""
    return MachineFailed(f"{name} was killed from outside: {by.name}, not sent by storeproof", "see who did it: dmesg, journalctl")
