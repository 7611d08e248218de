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
            everybody: other users than the one that mounts it may use it.
        """

    def mount(self) -> None:
        """Mount it; after a cut with what is durable alone. Raises OSError."""

    @property
    def unmounted(self) -> bool:
        """The kernel released it, by any unmount."""

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
    def written(self) -> int:
        """Bytes of all writes so far."""

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

class OperationCounts:
    """What became of one operation of a job."""

    @property
    def ok(self) -> int:
        """Records of successful requests."""

    @property
    def misses(self) -> int:
        """Records that were not there."""

    @property
    def errors(self) -> int:
        """Requests that were refused, or whose reply was lost."""

    @property
    def malformed(self) -> int:
        """Replies that were no answer to what was asked."""

    @property
    def requests(self) -> int:
        """Requests answered successfully: those whose times are kept."""

    @property
    def busy_ns(self) -> int:
        """Their times in all."""

    @property
    def service(self) -> str:
        """Histogram of nanoseconds from the sending to the reply, as `storeproof.stats.latency.decode` reads it."""

    @property
    def response(self) -> str:
        """The same from the scheduled send time; empty in a closed loop."""

class Measured:
    """What one job found."""

    @property
    def ops(self) -> list[OperationCounts]:
        """In the order of `Job.ops`."""

    @property
    def throughput(self) -> float:
        """Records per second: the sum over the clients of their own records in their own time, in a closed loop from the reply to its first
        request on: all ask for the first time at once, and so these wait for fewer others than later ones do."""

    @property
    def request_rate(self) -> float:
        """Requests per second, whatever became of them."""

    @property
    def busy_seconds(self) -> float:
        """In which requests were under way, summed over all requests."""

    @property
    def pause_seconds(self) -> float:
        """Between a reply and the next request of its connection, summed over all requests."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the engine's threads."""

    @property
    def waiting_seconds(self) -> float:
        """For how long they were ready to run and had no processor; 0 where the kernel does not tell."""

    @property
    def elapsed_seconds(self) -> float:
        """From the start to the last reply."""

    @property
    def threads(self) -> int:
        """That the engine used."""

    @property
    def positions(self) -> list[int]:
        """New keys taken by each client, this job included."""

    @property
    def removed(self) -> list[int]:
        """New keys removed by each client, this job included."""

    @property
    def indeterminate(self) -> list[int]:
        """Numbers of keys whose write was not acknowledged."""

    @property
    def samples(self) -> list[str]:
        """The first three errors, in words."""

    @property
    def broken(self) -> list[int]:
        """Clients whose connection is not to be used again."""

    @property
    def silent(self) -> list[int]:
        """Clients that got no reply within the patience."""

    @property
    def seconds(self) -> list[tuple[int, int, int]]:
        """For each second since the start: records, errors, and the longest request in microseconds."""

    @property
    def schedule_lag(self) -> str:
        """Open loop: histogram of nanoseconds from the scheduled time, or when a client was free, to the sending; else empty."""

    @property
    def missed_sends(self) -> int:
        """Open loop: requests that were due before the deadline and never sent."""

    @property
    def bytes_sent(self) -> int:
        """In all requests."""

    @property
    def bytes_received(self) -> int:
        """In all replies."""

    @property
    def log(self) -> bytes:
        """Acknowledged writes, 28 bytes each, little-endian: u32 client, u64 key, u64 sent and u64 acknowledged, in nanoseconds."""

class Run:
    """A job that is under way."""

    @property
    def done(self) -> bool:
        """Whether all clients have ended."""

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
    """What a connection makes of these bytes where they come `chunk` at a time.

    For each reply what it counts, the first bytes of one that is an error, and its length; and why the rest cannot be read, None where it
    can, or may once more of it is there.

    Raises:
        ValueError: no such protocol.
    """

def draw(keys: str, known: int, count: int, seed: int, theta: float) -> list[int]:
    """That many draws of key numbers by one of the distributions of `storeproof.records.distributions`, from the records 0 to known - 1.

    Raises:
        ValueError: no such distribution, no records, or a constant that it cannot have.
    """
