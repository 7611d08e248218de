"""What every launched store can be asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Literal, Protocol

from storeproof.contract.address import Address
from storeproof.machine.usage import UsageMeter

LaunchKind = Literal["container", "process", "endpoint"]


class Capability(Enum):
    """What can be done to a store through its handle: each fault needs one of them, and not every handle has them all."""

    STOP = auto()
    KILL = auto()
    PAUSE = auto()
    CUT_POWER = auto()
    """Its data lies on a disk that can be cut off."""
    KILL_NODES = auto()
    """It is a cluster whose nodes can be killed one by one."""


class Handle(Protocol):
    """A running store. Faults go through it, so that no fault knows how the store was started."""

    kind: LaunchKind
    data: Path | None
    """The data directory on this machine, where we have one."""
    image_digest: str | None
    initialised: bool | None
    """Whether the commands that create its data directory have succeeded; None where the image runs them, which does not tell."""

    @property
    def binary_digest(self) -> str | None:
        """SHA-256 of the server's program, of a local process."""

    @property
    def pids(self) -> Sequence[int]:
        """Its processes, where we may inspect them; else empty."""

    @property
    def power_cut_method(self) -> str | None:
        """How its power is cut, for the report; None where it cannot be."""

    @property
    def address(self) -> Address:
        """Where it answers now. Ask again after every start: a container's port changes."""

    def cannot(self, capability: Capability) -> str | None:
        """Why this cannot be done to it, or None if it can."""

    def start(self) -> float:
        """Start on the data that is there and wait until it answers; the seconds that took.

        Raises:
            StoreDied: it ended, or did not answer in time; with the tail of its log.
            NotAvailable: a first start failed because the machine is short of something.
            MachineFailed: the same of a later start; or it was killed from outside, or the machine is too busy.
        """

    def start_nowait(self) -> None:
        """Start on the data that is there and do not wait."""

    def empty(self) -> None:
        """Remove the contents of its data directory, while it does not run: the next start is a first start again.

        Raises:
            NotAvailable: the directory cannot be reached from this machine.
        """

    def wait_ready(self) -> None:
        """Wait until it answers. Raises `StoreDied`."""

    def stop(self) -> None:
        """Ask for a clean stop and wait for the end. Raises `StoreDied` when it does not end in time."""

    def kill(self) -> None:
        """SIGKILL, and wait until the processes are gone. A `start_nowait` of another thread ends with it."""

    @property
    def nodes(self) -> Sequence[str]:
        """The names of the nodes that can be killed one by one, the one that has run longest first; empty for a single server."""

    def kill_nodes(self, names: Sequence[str]) -> None:
        """SIGKILL to these nodes at once, and wait until they are gone; the rest of the cluster runs on, and restarts them.

        Raises:
            StoreDied: one of them did not run.
        """

    def wait_whole(self) -> None:
        """Wait until all nodes are back; returns at once for a single server. Raises `StoreDied` when one does not come back in time."""

    def quiesce(self) -> None:
        """Stop it cleanly, make all that it wrote durable, and start it again: no later fault can lose any of it. Raises `StoreDied`."""

    def cut_power(self) -> None:
        """Lose everything that was not synced, kill the processes, and restore the power.

        Raises:
            StoreDied: a killed process did not end.
            MachineFailed: what is durable cannot be mounted again.
        """

    def pause(self) -> None:
        """SIGSTOP: the store hangs."""

    def resume(self) -> None:
        """SIGCONT."""

    def alive(self) -> bool:
        """Whether the process runs."""

    def check_alive(self) -> None:
        """Return if it runs; otherwise raise why it does not.

        Raises:
            StoreDied: it has ended by itself, or we have stopped or killed it.
            MachineFailed: it was killed from outside, or ended for a shortage of the machine.
        """

    def meter(self) -> UsageMeter:
        """Reads what it uses of the machine; the same one until it is started again.

        Raises:
            NotAvailable: that cannot be seen from here; with the reason.
        """

    def log_tail(self) -> str:
        """The last lines it wrote; passwords are removed."""

    def close(self) -> None:
        """End it and remove everything made for it; never raises, and may be called twice."""
