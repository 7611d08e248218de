"""The compiled part, from `native/`. It may be missing: ask `storeproof.native_support` before you import it."""

from collections.abc import Sequence
from typing import Literal

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

class NullServer:
    """Answers every request with the same reply, as `storeproof.load.wire.null_server` says. For a process of its own."""

    def __init__(self) -> None:
        """It listens on a port of this machine. Raises OSError."""

    @property
    def port(self) -> int: ...
    def serve(self) -> None:
        """Until standard input ends. Raises OSError."""

class Tally:
    """What became of one operation: `storeproof.load.wire.request.Tally`."""

    @property
    def ok(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def malformed(self) -> int: ...
    @property
    def requests(self) -> int: ...
    @property
    def busy_ns(self) -> int: ...
    @property
    def service(self) -> str: ...
    @property
    def response(self) -> str: ...

class Measured:
    """What one job found: `storeproof.load.wire.request.Measured`."""

    @property
    def ops(self) -> list[Tally]: ...
    @property
    def throughput(self) -> float: ...
    @property
    def request_rate(self) -> float: ...
    @property
    def busy_seconds(self) -> float: ...
    @property
    def pause_seconds(self) -> float: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def elapsed_seconds(self) -> float: ...
    @property
    def threads(self) -> int: ...
    @property
    def positions(self) -> list[int]: ...
    @property
    def removed(self) -> list[int]: ...
    @property
    def doubtful(self) -> list[int]: ...
    @property
    def samples(self) -> list[str]: ...
    @property
    def broken(self) -> list[int]: ...
    @property
    def silent(self) -> list[int]: ...
    @property
    def seconds(self) -> list[tuple[int, int, int]]: ...
    @property
    def lag(self) -> str: ...
    @property
    def unissued(self) -> int: ...
    @property
    def bytes_sent(self) -> int: ...
    @property
    def bytes_received(self) -> int: ...
    @property
    def log(self) -> bytes: ...

class Run:
    """A job of the wire engine that is under way: `storeproof.load.wire.request.Run`."""

    @property
    def done(self) -> bool:
        """Whether all clients have ended."""

    @property
    def errors(self) -> int:
        """Errors so far."""

    def stop(self) -> None:
        """End before the deadline; what is in flight is still waited for."""

    def join(self) -> Measured:
        """Wait for the end, at most the job's patience beyond the deadline. A signal that raises ends the job at once."""

def start(job: object) -> Run:
    """Begin a `storeproof.load.wire.request.Job`, in threads of its own.

    Its descriptors must stay open until the job is done, or the run was dropped.

    Raises:
        ValueError: the job cannot be.
    """

def replies(
    protocol: Literal["resp", "memcached", "mongo", "iproto", "mysql", "postgres", "http", "embedded"], data: bytes, chunk: int
) -> tuple[list[tuple[int, str | None, int]], str | None]:
    """What a connection makes of these bytes where they come `chunk` at a time: counts, errors, lengths; and what was malformed.

    As `storeproof.load.wire.framing.replies`: each is held against the other.
    """

def draw(keys: str, known: int, count: int, seed: int, theta: float) -> list[int]:
    """So many draws of key numbers by one of the distributions of `storeproof.records.distributions`, from the records 0 to known - 1.

    Raises:
        ValueError: no such distribution, no records, or a constant that it cannot have.
    """
