"""What process and container launchers have in common: a server that storeproof starts and removes."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from storeproof.cleanup.reaper import reap_at_exit
from storeproof.cleanup.registry import registry
from storeproof.cleanup.sweep import sweep_all
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract.address import Address
from storeproof.disk import ext4
from storeproof.disk.fuse import FuseDisk
from storeproof.disk.methods import Disk, make_disk
from storeproof.disk.recording import RecordingDisk
from storeproof.errors import NotAvailable, StoreproofError
from storeproof.launch.client_memory import memory_watch
from storeproof.launch.data_written import ChangedFiles, DiskWritten
from storeproof.launch.end_cause import EndCause
from storeproof.launch.handle import DataWritten, FaultMeans
from storeproof.launch.readiness import wait_until_ready
from storeproof.launch.request import LaunchRequest
from storeproof.machine import shortage
from storeproof.machine.open_files import Place, written_outside
from storeproof.machine.usage import UsageMeter
from storeproof.outcome import Lack
from storeproof.spec.store import ContainerLaunch, ProcessLaunch

NO_DISK: Final = "its data is not on a disk whose power can be cut"
NO_RECORDING: Final = "its data is not on a disk that records what is done to it"
NO_NODES: Final = "it runs as one server: it has no nodes that could be killed one by one"
NO_CLUSTER: Final = "it does not run as the cluster of a topology: there is no network between its nodes that could be cut"


class ManagedServer(ABC):
    """Base class of the two handles: working directory, disk, readiness, and the cause of an end."""

    cluster: None = None
    _launch: ProcessLaunch | ContainerLaunch

    def __init__(self, request: LaunchRequest) -> None:
        """Subclasses make directory and disk afterwards, within `_making`."""
        self._request = request
        self._name = request.store
        self._dir: WorkDir | None = None
        self._disk: Disk | None = None
        self._end_cause = EndCause(request.store, self.log_tail)
        self._began = self._ready = 0.0
        """When it was last started, and when it was found ready: seconds of the monotonic clock."""
        self._paused = False
        self._meter: UsageMeter | None = None

    @property
    @abstractmethod
    def address(self) -> Address: ...

    @property
    def nodes(self) -> Sequence[str]:
        return ()

    @property
    def power_cut_method(self) -> str | None:
        return self._disk.method if self._disk is not None else None

    def cannot(self, capability: FaultMeans) -> NotAvailable | None:
        if capability is FaultMeans.KILL_NODES and not self.nodes:
            return NotAvailable(NO_NODES, lack=Lack.CLUSTER)
        if capability is FaultMeans.CLUSTER:
            return NotAvailable(NO_CLUSTER, lack=Lack.CLUSTER)
        if capability is FaultMeans.CUT_POWER and self._disk is None:
            return NotAvailable(NO_DISK, lack=Lack.DISK)
        return None

    def start(self) -> float:
        self.start_nowait()
        self.wait_ready()
        return self._ready - self._began

    @abstractmethod
    def start_nowait(self) -> None: ...

    def wait_ready(self) -> None:
        self._meter = None
        memory_watch().forget(self.address)
        self._ready = wait_until_ready(
            self.address,
            self._request.probe,
            name=self._name,
            seconds=self._launch.start_seconds,
            check=self._check_start,
            error_for=self._error_for,
            progress=self._progress,
        )
        self._confirm_ready()
        self._end_cause.has_run = True

    @abstractmethod
    def stop(self) -> None: ...

    @abstractmethod
    def kill(self) -> None: ...

    def quiesce(self) -> None:
        disk = self._cuttable_disk()
        self.stop()
        disk.sync()
        self.start()

    def cut_power(self) -> None:
        disk = self._cuttable_disk()
        disk.cut()
        self.kill()
        disk.remount()

    def recording_disk(self) -> RecordingDisk:
        if not isinstance(self._disk, FuseDisk):
            raise NotAvailable(NO_RECORDING, lack=Lack.DISK)
        return self._disk

    def data_written(self) -> DataWritten:
        return DiskWritten(self._disk) if self._disk is not None else ChangedFiles(self._data_folder())

    def watched(self) -> tuple[Path, Sequence[int]]:
        return self._data_folder(), self._seen_pids()

    def files_elsewhere(self) -> Sequence[str]:
        return written_outside(self._seen_pids(), self._places_to_write())

    def check_alive(self) -> None:
        """Subclasses first see whether it runs."""
        memory_watch().check(self._name, self.address)

    def meter(self) -> UsageMeter:
        if self._meter is None:
            self._meter = self._make_meter()
        return self._meter

    @abstractmethod
    def log_tail(self) -> str: ...

    def close(self) -> None:
        with registry.deferring_signals():
            if self._dir is not None:
                directory, self._dir = self._dir, None
                self._remove(directory)
            registry.discard(self)

    @contextlib.contextmanager
    def _making(self) -> Iterator[None]:
        """Remove what was made within the block if the block fails. An `OSError` that means a shortage is raised as such."""
        registry.add(self)
        try:
            yield
        except OSError as reason:
            self.close()
            raise self._as_shortage(reason) from None
        except BaseException:
            self.close()
            raise

    def _base(self) -> Path:
        """The parent of its directory: the user's `data_dir`; else a file system in memory, if the request asks for that or for power cuts
        and there is room; else the directory for temporary files."""
        in_memory = ext4.memory_base() if self._request.in_memory or self._request.power_cut is not None else None
        return (self._request.data_dir or in_memory or default_base()).resolve()

    def _make_directory(self, *, containers: bool = False) -> WorkDir:
        """Make its directory, and a disk for the data if the request asks for power cuts. What dead runs left is removed first.

        `containers`: it also has a container or volume in the engine.
        """
        base = self._base()
        sweep_all(base, containers=containers)
        self._dir = directory = WorkDir.make(base, keep=self._request.keep)
        reap_at_exit(base, containers=containers)
        if self._request.power_cut is not None:
            self._disk = make_disk(self._request.power_cut, directory.data, directory.image)
        return directory

    def _directory(self) -> WorkDir:
        if self._dir is None:
            raise RuntimeError(f"{self._name} was closed")
        return self._dir

    def _cuttable_disk(self) -> Disk:
        if self._disk is None:
            raise NotAvailable(NO_DISK, lack=Lack.DISK)
        return self._disk

    def _error_for(self, reason: str, status: int | None = None) -> StoreproofError:
        """The error for an end or a timeout: see `EndCause.error_for`."""
        return self._end_cause.error_for(reason, self._output(), self._pids(), status=status, ours=self._ended_by_us())

    def _as_shortage(self, reason: OSError) -> OSError | StoreproofError:
        """The error for a failed system call of storeproof: the shortage that it means, or `reason` itself if it means none."""
        lacking = shortage.shortage_of(reason)
        where = f" in {self._dir.root}" if self._dir else ""
        return reason if lacking is None else self._end_cause.shortage_error(f"{self._name} cannot be started{where}", lacking)

    @abstractmethod
    def _data_folder(self) -> Path:
        """Its data directory, on this machine. Raises `NotAvailable` if it is not accessible."""

    @abstractmethod
    def _seen_pids(self) -> Sequence[int]:
        """The ids of all its processes on this machine. Raises `NotAvailable` if they cannot be seen."""

    @abstractmethod
    def _places_to_write(self) -> Sequence[Place]:
        """Where its processes may write."""

    @abstractmethod
    def _make_meter(self) -> UsageMeter: ...

    def _check_start(self) -> None:
        """Raise if it will not become ready."""
        self._check_runs()
        memory_watch().check(self._name, self.address)

    @abstractmethod
    def _check_runs(self) -> None:
        """Return if it is running; raise the error for its end before it answered."""

    @abstractmethod
    def _confirm_ready(self) -> None:
        """Called once it answers: check, or wait for, everything else that makes it ready."""

    def _progress(self) -> int | None:
        return None

    def _pids(self) -> Sequence[int]:
        """The ids of its processes; empty if they cannot be seen."""
        return ()

    @abstractmethod
    def _output(self) -> str:
        """Its output since its last start."""

    @abstractmethod
    def _ended_by_us(self) -> bool:
        """Whether storeproof has stopped or killed it since its last start."""

    @abstractmethod
    def _remove(self, directory: WorkDir) -> None:
        """End it and remove what was made for it, unless the request says `keep`; never raises."""
