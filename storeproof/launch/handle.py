"""The interface of a launched store, the same for every launcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Literal, Protocol

from storeproof.contract.address import Address
from storeproof.disk.recording import RecordingDisk
from storeproof.errors import NotAvailable
from storeproof.machine.program_origin import ProgramOrigin
from storeproof.machine.usage import UsageMeter
from storeproof.network.network import Network

LaunchKind = Literal["container", "process", "endpoint", "composite"]
"""`composite`: two servers that are launched differently; of two that are launched alike, it is their kind."""


class FaultMeans(Enum):
    """Something that a handle can do to its store. Each fault needs one capability; not every handle has all of them."""

    STOP = auto()
    KILL = auto()
    PAUSE = auto()
    CUT_POWER = auto()
    """Its data is on a disk whose power can be cut."""
    KILL_NODES = auto()
    """It is a cluster whose nodes can be killed individually."""
    CLUSTER = auto()
    """It is a cluster of a topology: its nodes and the network between them can be struck."""


class DataWritten(Protocol):
    """What reached a data directory since a moment."""

    def bytes(self) -> int:
        """Bytes of its device, or of the files in it that changed. After a power cut: what had reached the device by then."""


class Node(Protocol):
    """A node of a cluster: the servers of one network namespace."""

    name: str

    @property
    def address(self) -> Address:
        """The address of its server for clients; `ports` has the others."""

    @property
    def pids(self) -> Sequence[int]:
        """The ids of its processes."""

    def check_alive(self) -> None:
        """Return if all of its servers run. Raises the errors of `Handle.check_alive`."""

    def start(self) -> None:
        """Start those that do not run, and wait until they answer. Raises the errors of `Handle.start`."""

    def kill(self) -> None:
        """Send SIGKILL to all of its processes, and wait until they are gone."""

    def empty(self) -> None:
        """Remove all of its data; none of its servers may be running."""

    def pause(self) -> None:
        """Freeze all of its processes."""

    def resume(self) -> None:
        """End a `pause`; do nothing if it is not paused."""


class RunningCluster(Protocol):
    """What faults do to a cluster, beside what they do to any store."""

    @property
    def network(self) -> Network:
        """The network between the nodes, and its faults."""

    @property
    def nodes(self) -> Sequence[str]:
        """The names of the nodes."""

    @property
    def settle_seconds(self) -> int:
        """Time within which another node must take writes after a fault, and within which it must be whole again."""

    def node(self, name: str) -> Node:
        """One node. Raises `KeyError` if there is none of that name."""

    def primary(self) -> str:
        """The node that takes writes now: asked at the moment of the call. Raises `Unknown` if none is known."""

    def successor_of(self, node: str) -> str:
        """The node that takes writes now, as all but this one say: it is not asked. Raises `Unknown` if none is known."""

    def missed(self, node: str) -> float | None:
        """For how many seconds another node has taken this one for gone; None: none says so. Raises `Unknown`: none answers."""

    def timeouts(self) -> Mapping[str, str]:
        """The live values of the time-outs of its own failover, by name; empty if it does not tell, or an operator promotes."""

    def fail_over(self) -> str | None:
        """Make another node the primary, if that is the operator's task and not the cluster's own, and return its name; None: it is not.
        Raises `Unknown` if it failed."""

    def bring_back(self, name: str) -> None:
        """Start a node that was killed, and make it a member again where that is the operator's task. It may still be catching up.
        Raises `StoreDied`: it does not start, or the cluster does not take it in time."""

    def heal(self) -> None:
        """End all faults: heal the network, resume what is paused, start what was killed, and replace a node that was emptied.

        Raises:
            StoreDied: a node does not start, or the cluster does not take it.
            MachineFailed: a fault cannot be ended.
        """

    def wait_whole(self) -> None:
        """Wait until all nodes take part and have caught up. Raises `StoreDied` if that takes longer than the topology allows."""

    def set_aside(self) -> Mapping[str, Mapping[Path, int]]:
        """By node the files in which it keeps writes that it undid, each with its number of records; empty if the store keeps none."""


class Handle(Protocol):
    """A launched store. Faults use this interface only, so that they work however the store was started."""

    kind: LaunchKind
    data: Path | None
    """The data directory, if it is on this machine; else None."""
    image_digest: str | None

    @property
    def initialised(self) -> bool | None:
        """Whether the commands that initialise its data directory have succeeded; None if the image runs them and does not show it."""

    @property
    def binary_digest(self) -> str | None:
        """SHA-256 of the server's program, or of those of all servers that the store consists of; None unless it is a local process, or if
        this user may not read a file. The nodes of a cluster have one program."""

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        """Where the programs of its servers come from, each once; empty for an endpoint."""

    @property
    def pids(self) -> Sequence[int]:
        """The ids of its processes; empty if they cannot be inspected."""

    @property
    def power_cut_method(self) -> str | None:
        """How its power is cut, for the report; None if it cannot be."""

    @property
    def address(self) -> Address:
        """The address that clients connect to. Read it again after every start: a container's port changes."""

    def cannot(self, capability: FaultMeans) -> NotAvailable | None:
        """Why the handle does not have this capability, to be raised; None if it has it."""

    def start(self) -> float:
        """Start it on the existing data and wait until it answers; return the seconds taken.

        Raises:
            StoreDied: it ended, or did not answer in time; with the last lines of its log.
            NotAvailable: the machine lacks a resource, and the store has never been ready.
            MachineFailed: the same after the store has been ready; or it was killed from outside, or the machine is too busy.
        """

    def start_nowait(self) -> None:
        """Start it on the existing data, without waiting."""

    def empty(self) -> None:
        """Remove the contents of its data directory, so that the next start is a first start again. It must not be running.
        Raises `NotAvailable`: the directory cannot be reached from this machine."""

    def wait_ready(self) -> None:
        """Wait until it answers. Raises the same errors as `start`."""

    def stop(self) -> None:
        """Stop it cleanly and wait until it has ended. Raises `StoreDied` if it does not end in time."""

    def kill(self) -> None:
        """Send SIGKILL and wait until its processes are gone. This also ends a `start_nowait` that is in progress in another thread."""

    @property
    def nodes(self) -> Sequence[str]:
        """Names of the nodes that can be killed individually, the one that has run longest first; empty for a single server."""

    def kill_nodes(self, names: Sequence[str]) -> None:
        """Send SIGKILL to all these nodes at once and wait until they are gone. The rest of the cluster keeps running, and restarts them.
        Raises `StoreDied`: one of them was not running."""

    def wait_whole(self) -> None:
        """Wait until all nodes are back; return at once for a single server. Raises `StoreDied` if one does not come back in time."""

    @property
    def cluster(self) -> RunningCluster | None:
        """The nodes of a topology and the network between them; None if it is not launched as one."""

    def quiesce(self) -> None:
        """Stop it cleanly, write everything to disk and start it again: no later fault can lose earlier writes. Raises `StoreDied`."""

    def data_written(self) -> DataWritten:
        """What reaches its data directory from now on. Raises `NotAvailable` if that cannot be seen from here."""

    def watched(self) -> tuple[Path, Sequence[int]]:
        """Its data directory and the ids of its processes, as this machine sees them. Raises `NotAvailable`: it does not, or they are those
        of several servers."""

    def files_elsewhere(self) -> Sequence[str]:
        """Regular files that its processes have open for writing outside its data directory and `${run}`: faults do not reach them."""

    def cut_power(self) -> None:
        """Drop everything that was not synced, kill the processes, empty `${run}` as a boot does, and remount the file system.
        Raises `MachineFailed`: a killed process did not end, or the file system cannot be remounted."""

    def recording_disk(self) -> RecordingDisk:
        """The disk of its data, which records what is done to it. Raises `NotAvailable`: it is on another one."""

    def pause(self) -> None:
        """Freeze all its processes, as SIGSTOP does."""

    def resume(self) -> None:
        """End a `pause`; do nothing if it is not paused."""

    def alive(self) -> bool:
        """Whether it is running."""

    def check_alive(self) -> None:
        """Return if it is running; otherwise raise the reason why it is not.

        Raises:
            StoreDied: it ended by itself, or storeproof stopped or killed it.
            MachineFailed: it was killed from outside, or ended because the machine lacks a resource.
        """

    def meter(self) -> UsageMeter:
        """The meter of its CPU time, memory, writes and syncs; the same object until the next start.
        Raises `NotAvailable`: its usage cannot be measured from here; with the reason."""

    def log_tail(self) -> str:
        """The last lines of its log, without passwords."""

    def close(self) -> None:
        """End it and remove everything that was made for it; never raises, and may be called twice."""
