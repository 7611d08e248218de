"""The options of the command line that every store under test has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from storeproof.contract.address import Address
from storeproof.corpus.article_store import Corpus
from storeproof.disk.methods import Method
from storeproof.errors import NotAvailable
from storeproof.launch.request import LaunchOption
from storeproof.load.choose_engine import Engines
from storeproof.load.engine import EngineWanted
from storeproof.load.hosts.load_hosts import LoadEngines, LoadHosts
from storeproof.machine.cores import UNSPLIT, CoreSplit
from storeproof.run_command import RunCommand
from storeproof.spec import Scale
from storeproof.spec.device import DeviceSheet
from storeproof.spec.store import Target


@dataclass(frozen=True)
class Options:
    """The options of the command line, for all targets."""

    scale: Scale
    seed: int
    launch: LaunchOption = "auto"
    endpoints: dict[str, str] = field(default_factory=dict)
    """URL by store."""
    images: dict[str, str] = field(default_factory=dict)
    """Image by store, instead of the one in its file."""
    data_dir: Path | None = None
    disks: Mapping[str, Path] = field(default_factory=dict)
    """A directory on each of several disks, by the disk's name; every store is launched on each."""
    models: Mapping[str, DeviceSheet] = field(default_factory=dict)
    """Of these disks those that are models, by the disk's name."""
    keep: bool = False
    power_cut: Method = "auto"
    """How to simulate a power cut."""
    engine: EngineWanted = "auto"
    """The load generator."""
    hosts: LoadHosts | None = None
    """The hosts that put on the load; None: this machine."""
    records: int | None = None
    """Records that workloads load in place of the scale's number."""
    laps: int = 1
    """Over all that is to be measured; the rounds of a number are shared among them."""
    anatomy: bool = False
    """Whether the I/O of the stores is watched while speed is measured."""
    verify_settings: bool = True
    """Off only for mutants, which other checks must catch."""
    corpus: Corpus = field(default_factory=Corpus)
    """The dumps that the command line names."""
    split: CoreSplit = UNSPLIT
    """The cores of the stores and of the load generator while speed is measured."""
    cores: int | None = None
    """How many of these every store is given, in all stages; None: all."""
    memory: int | None = None
    """Bytes of memory that every store is given; None: all that there is."""
    given: RunCommand = field(default_factory=RunCommand)
    """What of the command line a line that repeats a case has too."""

    @property
    def directory(self) -> Path:
        """Whose disk is told of, and measured: of several the first."""
        return self.data_dir or next(iter(self.disks.values()), None) or Path.cwd()

    def disk_given(self, name: str) -> str:
        """What `--disk` is given for one."""
        return f"{name}=model:{self.models[name].device}" if name in self.models else f"{name}={self.disks[name]}"

    def on_disks(self, target: Target) -> list[Target]:
        """The target on each of the disks; as it is where none is named."""
        return [replace(target, disk=name) for name in self.disks] or [target]

    def engines(self, target: Target, address: Address, no_wire: str = "") -> LoadEngines:
        """The load engines for a store.

        Args:
            no_wire: see `Engines`.

        Raises:
            NotAvailable: the wanted one is not to be had, or the hosts cannot reach the store.
        """
        if self.hosts is None:
            return Engines(target, address, self.engine, no_wire)
        if address.ours:
            raise NotAvailable("storeproof started this server, and only this machine reaches it", "give --hosts a server of --endpoint")
        return self.hosts.engines(target, address, self.engine)
