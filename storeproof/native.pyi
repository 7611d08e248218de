"""The compiled part, from `native/`. It may be missing: ask `storeproof.compiled` before you import it."""

from collections.abc import Sequence

def linearizable(operations: Sequence[tuple[str, int, int, int | None, int, int | None]], seconds: float) -> bool | None:
    """Whether the history of one register or counter is linearizable; None where the search was given up.

    `operations`: (action, value, expected, answer, invoked, completed), at most 1000. Values are numbers, 0 stands for "absent" and for
    "no"; an answer of None may have been any, and what was never completed may have happened or not. `seconds`: the limit of the search,
    which also ends where it would take more than half a gigabyte.

    Raises:
        ValueError: too many operations, an action that is none, or one that ended before it was invoked.
    """

class MemoryDisk:
    """A file system in memory, through /dev/fuse, whose power can be cut. For a process of its own, and one thread of it."""

    def __init__(self, at: str, *, strict: bool, torn: float, seed: int, capacity: int, everybody: bool) -> None:
        """Nothing is mounted yet.

        Args:
            at: an empty directory.
            strict: a sync makes nothing durable but what it was asked for; else it commits names and sizes as a journal does.
            torn: the share of the unsynced sectors of 512 bytes that survive a cut all the same, from 0 to 1.
            seed: which of them.
            capacity: bytes that the pages of both images may take; writes beyond fail with ENOSPC.
            everybody: other users than the one who mounts it may use it.
        """

    def mount(self) -> None:
        """Mount it; after a cut with what is durable alone. Raises OSError."""

    @property
    def unmounted(self) -> bool:
        """The kernel let go of it, whoever unmounted it."""

    def join(self) -> None:
        """Wait until it is unmounted. Raises OSError where the kernel ended it for another reason."""

    def settle(self) -> None:
        """All that was done so far is durable."""

    def cut(self) -> None:
        """From now on every operation fails with EIO."""

    def cut_at_sync(self, nth: int) -> None:
        """Cut in place of the n-th sync from now on: an fsync, an fdatasync, a write to an O_SYNC or O_DSYNC file; 0 takes it back."""

    @property
    def syncs(self) -> int:
        """How many were asked for so far."""

    @property
    def off(self) -> bool:
        """It was cut, and not mounted again since."""
