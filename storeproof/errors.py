"""The errors that are shown to users.

Each says what was found, what is allowed and what to do next, and is understood without a traceback.
"""

from __future__ import annotations

import errno
from typing import Final

from storeproof.outcome import Lack

SHORTAGES: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EROFS, errno.EIO, errno.EAGAIN, errno.ENOBUFS}
)
"""Errors of the operating system that mean that the machine lacks a resource, or that its disk failed."""


DISK_FULL: Final = r"no space left on device|(?:disk|device|volume) (?:is )?full|disk quota exceeded"
TOO_MANY_FILES: Final = r"too many open files"
NO_MEMORY: Final = r"cannot allocate memory"
"""Regular expressions, case-insensitive, for how servers report that the machine lacks a resource: the operating system's messages
(strerror), and SQLite's."""


class StoreproofError(Exception):
    """Base of all errors that are shown to the user as one message."""


class UsageError(StoreproofError):
    """The command line or a file asks for something that does not exist or is not allowed."""


class SpecError(UsageError):
    """A specification file breaks a rule.

    `problems` holds one line per breach, each with file, line and field, so that all can be fixed at once.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class NotAvailable(StoreproofError):
    """This machine lacks something that a case needs: the outcome is `not_run`, never a pass and never a failure of the store.

    `remedy` is the command (or a sentence) that provides what is missing; `lack` is what is missing, where a
    claim may leave cases out for it.
    """

    def __init__(self, reason: str, remedy: str = "", lack: Lack | None = None) -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason
        self.remedy = remedy
        self.lack = lack


class MachineFailed(StoreproofError):
    """The machine failed: a mount, a disk, memory, descriptors, a port, or its container engine.

    The case or round says nothing about the store: it is spoiled, and repeated up to a limit.
    `remedy` is what the user can do about it.
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason
        self.remedy = remedy


class FaultMissed(StoreproofError):
    """A fault did not strike the files that hold what clients wrote, so that nothing follows from what was there afterwards."""


class Halted(StoreproofError):
    """A case has had the time that a case may take, or the user interrupts the run: nothing more is sent to its store."""


class StoreDied(StoreproofError):
    """A store that storeproof started has ended, or never became ready. `log`: the last lines of its log."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(f"{reason}\n--- last lines of its log ---\n{log}" if log else reason)
        self.reason = reason
        self.log = log


class Unusable(StoreDied):
    """A store does not work on the disk that a power cut has left: that breaks a promise where its variant claims to survive that."""


class NotAdmitted(StoreproofError):
    """A server that answers does not serve the first client of the run: it wants other credentials, or they have no protocol in common."""


class CutOff(StoreproofError):
    """Something that the user added to the run ended the case: the time limit of another plugin, or a conftest."""


class SettingsMismatch(StoreproofError):
    """The live settings of the store are not the variant's. No case runs, since its result would be filed under the wrong variant."""
