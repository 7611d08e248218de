"""The compiled part, from `native/`. It may be missing: ask `storeproof.native_support` before you import it."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

CycleKind = Literal["G0", "G1c", "G-single", "G-nonadjacent", "G2-item", "G2"]
Order = Literal["item", "process", "realtime"]

def linearizable(operations: Sequence[tuple[str, int, int, int | None, int, int | None]], seconds: float) -> bool | None:
    """Whether the history of one register or counter is linearizable; None where the search was given up.

    `operations`: (action, value, expected, answer, invoked, completed), at most 1000. Values are numbers, 0 stands for "absent" and for
    "no"; an answer of None may have been any, and what was never completed may have happened or not. `seconds`: the limit of the search,
    which also ends where it would take more than half a gigabyte.

    Raises:
        ValueError: too many operations, an action that is none, or one that ended before it was invoked.
    """

def smallest_cycles(
    times: Sequence[tuple[int, int | None]], dependencies: Sequence[tuple[int, int, int]]
) -> list[tuple[CycleKind, Order, list[tuple[int, int, int | None]], int]]:
    """The smallest cycle of each kind among the dependencies of transactions, in the weakest order that has one.

    `times`: when each transaction was invoked and completed, in the order of completion, and of invocation where that is None.
    `dependencies`: source and target, by their places in `times`, and 0 for `ww`, 1 for `wr`, 2 for `rw`, 3 for `rw` of a read by a
    condition, 4 for the order of a client.

    Returns kind and order; of equally small cycles the first to complete, as source, target, and place in `dependencies`, None for real
    time; and the transaction with which the first cycle of this kind, small or not, was complete.

    Raises:
        ValueError: times out of order, or a dependency on itself or on a transaction that is none.
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

    def record(self, limit: int) -> None:
        """Write down from now on what is done to it; of what is written at most `limit` bytes."""

    def recorded(self) -> tuple[int, int, bool, list[tuple[int, int]]]:
        """End the recording.

        Returns:
            The number of changes; the bytes that were written; whether these are more than the limit; and each mark with its place among
            the changes. A mark is made by looking for the file `.storeproof-mark-N`.

        Raises:
            ValueError: nothing is recorded.
        """

    def dump(self) -> bytes:
        """As `DiskRecording.dump`. Raises ValueError: nothing was recorded."""

    def load(self, content: bytes) -> None:
        """Go on as if this had been recorded. Raises as `DiskRecording.load` does."""

    def states(self, model: str, limit: int) -> tuple[list[tuple[str, int, int, int]], int]:
        """As `DiskRecording.states`. Raises ValueError also where nothing was recorded."""

    def restore(self, index: int) -> None:
        """Cut its power; the next mount has the state of that index. Raises ValueError: there is none."""

    def fail(self, kind: str, nth: int, lasting: bool) -> None:
        """Have the n-th call from now on fail that can fail so, alone or with all later ones.

        Args:
            kind: `eio_write`, `eio_sync`, `eio_read`; `enospc`, of writes that need space; `short_write`, of half the bytes. After a failed
                sync, what was written can be read and is not tried again: a cut loses it unless it is written again.

        Raises:
            ValueError: there is no such kind.
        """

    def failures(self) -> tuple[int, int]:
        """It works again. How many calls could fail since `fail`, and how many did."""

    def mapped(self) -> tuple[int, int]:
        """Pages that the kernel wrote back from memory mappings since `record` or `restore`: of files that were synced, and of others."""

    @property
    def syncs(self) -> int:
        """How many were asked for so far."""

    @property
    def written(self) -> int:
        """Bytes of all writes so far."""

    @property
    def off(self) -> bool:
        """It was cut, and not mounted again since."""

class Times(Protocol):
    """What requests of one direction take: see `storeproof.spec.device.RequestTimes`."""

    @property
    def elsewhere_us(self) -> float: ...
    @property
    def at_least_us(self) -> float: ...
    @property
    def bytes_per_second(self) -> float: ...
    @property
    def at_once(self) -> int: ...

class Sheet(Protocol):
    """What a device answers by: see `storeproof.spec.device.DeviceSheet`."""

    @property
    def read(self) -> Times: ...
    @property
    def write(self) -> Times: ...
    @property
    def rotation_us(self) -> float: ...
    @property
    def flush_us(self) -> float: ...

class DeviceTimes:
    """When a device answers what it is asked for, in microseconds since any one moment. Requests are served in the order of the calls."""

    def __init__(self, sheet: Sheet) -> None:
        """Nothing is asked for yet."""

    def read(self, arrived_us: float, offset: int, length: int) -> float:
        """When a read is answered that arrives then."""

    def write(self, arrived_us: float, offset: int, length: int) -> float:
        """When a write is answered that arrives then."""

    def flush(self, arrived_us: float) -> float:
        """When a flush is answered that arrives then."""

class DeviceDisk:
    """A file system in memory, through /dev/fuse, with the one file `device`, whose requests are answered when a device would answer them.

    For a process of its own, and one thread of it. It ends with the process, or once it is unmounted and the file is closed.
    """

    def __init__(self, at: str, sheet: Sheet, capacity: int) -> None:
        """It is mounted on the empty directory `at`, and answers at once until `hurry(False)`. Raises OSError.

        Args:
            at: an empty directory.
            sheet: what it answers by.
            capacity: bytes of the file; what was never written takes no memory.
        """

    def hurry(self, hurried: bool) -> None:
        """Whether it answers at once from now on, what waits included."""

    @property
    def unmounted(self) -> bool:
        """It is unmounted, and its file closed."""

class DiskRecording:
    """What was done to a disk, as data: it needs no mount."""

    @staticmethod
    def load(content: bytes) -> DiskRecording:
        """Raises ValueError: it was cut off or changed, or is none that a disk can have had."""

    def dump(self) -> bytes:
        """The disk that it began with, each page once; the changes and marks; and a checksum."""

    def about(self) -> tuple[int, int, bool, list[tuple[int, int]]]:
        """As `MemoryDisk.recorded` returns it."""

    def states(self, model: str, limit: int) -> tuple[list[tuple[str, int, int, int]], int]:
        """The different states that a crash at any moment may have left: at most `limit`, and how many more there are.

        Each has a name; a tier, 0 to 3, by how much had to happen besides what was asked for; the place of the change by which it became
        impossible; and a fingerprint of all that is there. See `native/src/fuse/crash_states.rs`.

        Args:
            model: of the file system: `kernel`, `ext4`, `torn`, `writeback` or `posix`.

        Raises:
            ValueError: there is no such model.
        """

    def describe(self, index: int) -> list[tuple[str, str, int | None, int | None, list[tuple[int, str]]]]:
        """By path what a state has of what was written by the last moment at which it was possible.

        Each path has a word for its name, `there`, `another` file's, `missing` or `removed`; the size of the file as the store saw it, and
        as it is; and those of its pages that were not synced: `present`, `missing`, `zero` or `torn`.

        Raises:
            ValueError: there is no such state.
        """

    def extract(self, index: int, into: str) -> None:
        """Write the files of a state into an empty directory. Raises OSError, and ValueError: there is no such state."""

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

class KindIo:
    """What was counted of one kind of I/O. Histograms are HdrHistograms of nanoseconds, encoded, and empty where there is no time."""

    @property
    def written_bytes(self) -> int:
        """Into the page cache."""
    @property
    def direct_writes(self) -> int: ...
    @property
    def direct_bytes(self) -> int: ...
    @property
    def syncs(self) -> int: ...
    @property
    def waits(self) -> str:
        """For syncs and direct writes."""
    @property
    def wait_ns(self) -> int:
        """The sum."""
    @property
    def busy_ns(self) -> int:
        """For how long at least one of them was under way."""
    @property
    def reads(self) -> int:
        """Of the device."""
    @property
    def read_bytes(self) -> int: ...
    @property
    def read_waits(self) -> str: ...

class DeviceIo:
    """Requests that reached a device, from whatever program."""

    @property
    def writes(self) -> int: ...
    @property
    def written_bytes(self) -> int: ...
    @property
    def flushes(self) -> int: ...
    @property
    def flush_waits(self) -> str: ...

class KindsOfFiles(Protocol):
    """Says of which kind I/O is, by a number; asked once for each file and thread."""

    def kind(self, inode: int, pid: int, tid: int) -> int: ...
    def reader(self, pid: int, tid: int) -> int:
        """Of what a thread reads from the device."""
    def created(self, inode: int, directory: int) -> None:
        """Told of each new file, in the order of the records."""

class IoTrace:
    """The I/O of one file system, from the records of tracepoints."""

    @staticmethod
    def points() -> list[str]:
        """The tracepoints that are read, such as `ext4/ext4_sync_file_enter`."""
    def __init__(self, formats: Mapping[str, str], files: KindsOfFiles) -> None:
        """`formats`: the text of each tracepoint's `format` file in tracefs. Raises ValueError: one is missing, or lacks a field."""
    def feed(self, rings: Sequence[bytes], until: int) -> None:
        """Take in what each core recorded since the last time. Later records than `until`, of the monotonic clock, wait for the next time.
        Raises what `files` raises."""
    def forget(self, inode: int) -> None:
        """The file has another name: `files` is asked again."""
    def end(self, time: int) -> dict[int, KindIo]:
        """What was found, by the numbers of `files`; what is under way counts until `time`."""
    def device(self) -> DeviceIo: ...
    @property
    def lost(self) -> int:
        """Records that the kernel dropped, or that have no other half."""
