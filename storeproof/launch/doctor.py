"""Finds out which stores and power cuts this machine supports, and which commands enable the others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from storeproof.cleanup.reaper import reap_at_exit
from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract.load_adapter import load_adapter
from storeproof.disk.methods import Disk, Method, PowerCutMethod, make_disk
from storeproof.errors import MachineFailed, NotAvailable, UsageError
from storeproof.machine import container_engine
from storeproof.machine.programs import find_programs
from storeproof.network.network import Network
from storeproof.spec.loader import Spec
from storeproof.spec.store import Store

_CUTS: Final[tuple[Method, ...]] = ("ext4", "fuse")
"""The methods of cutting the power, in order of preference."""


@dataclass(frozen=True)
class Availability:
    ok: bool
    detail: str
    remedy: str = ""
    """The shell command that provides it, optionally followed by `  # ` and a remark; empty if nothing is missing or no command helps."""


@dataclass(frozen=True)
class StoreSurvey:
    """Availability of one store's client and launchers; None for a launcher that the store's file does not describe."""

    store: str
    title: str
    client: Availability
    process: Availability | None
    container: Availability | None
    composite: bool = False
    """Whether it consists of other stores: what enables them enables it."""

    @property
    def runs(self) -> bool:
        """Whether `--store NAME` works on this machine now."""
        return self.client.ok and any(way is not None and way.ok for way in (self.process, self.container))


@dataclass(frozen=True)
class Survey:
    """Availability of the engine, the power cuts, networks for clusters and all stores on this machine."""

    engine: Availability
    power_cuts: dict[str, Availability]
    """The keys are values of `--power-cut`."""
    network: Availability
    """Whether clusters can have a network."""
    stores: list[StoreSurvey]


def survey(spec: Spec, images: dict[str, str] | None = None) -> Survey:
    """Examine this machine without starting, pulling or installing anything. Disks and a network are made as a test, and removed again.

    `images`: image by store, from `--image STORE=IMAGE`.
    """
    engine = _examine_engine()
    return Survey(
        engine,
        {name: _power_cut(PowerCutMethod(name)) for name in _CUTS},
        _network(),
        [_store(spec, name, engine, images or {}) for name in sorted(spec.store_files)],
    )


def _store(spec: Spec, name: str, engine: Availability, images: dict[str, str]) -> StoreSurvey:
    try:
        store, file = spec.store(name)
        parts = [_store(spec, str(part.file), engine, images) for part in spec.parts_of(store, file).values()]
    except UsageError as broken:
        return StoreSurvey(name, name, Availability(False, str(broken)), None, None)
    try:
        load_adapter(store, file)
        client = Availability(True, ", ".join(store.requires) or "nothing to install")
    except NotAvailable as missing:
        client = Availability(False, missing.reason, missing.remedy)
    except UsageError as broken:
        client = Availability(False, str(broken))
    if parts:
        process, container = _all_of([part.process for part in parts]), _all_of([part.container for part in parts])
        return StoreSurvey(store.name, store.title, client, process, container, composite=True)
    return StoreSurvey(store.name, store.title, client, _process(store), _container(store, engine, images.get(store.name)))


def _all_of(parts: list[Availability | None]) -> Availability | None:
    """A launcher of a composite store: what its servers' launchers lack, or that none lacks anything; None if one is not described."""
    described = [each for each in parts if each is not None]
    if len(described) < len(parts):
        return None
    lacking = next((each for each in described if not each.ok), None)
    return lacking or Availability(True, " and ".join(each.detail for each in described))


def _examine_engine() -> Availability:
    try:
        version = container_engine.client().version()
    except NotAvailable as missing:
        return Availability(False, missing.reason, missing.remedy)
    return Availability(True, f"{version['Platform']['Name'] or 'Docker'} {version['Version']}".replace("  ", " "))


class _MountTest:
    """A disk mounted briefly as a test. It has marker, reaper and sweep as in a run, since this process may be killed meanwhile."""

    def __init__(self) -> None:
        self._dir: WorkDir | None = None
        self._disk: Disk | None = None

    def mount(self, by: PowerCutMethod) -> str:
        """Mount the disk and return its method, for the report. Raises `NotAvailable`, or `UsageError` for an unwritable directory."""
        registry.add(self)
        self._dir = WorkDir.make(default_base(), keep=False)
        reap_at_exit(self._dir.root.parent)
        self._disk = make_disk(by, self._dir.data, self._dir.image)
        return self._disk.method

    def close(self) -> None:
        """Remove the disk and its directory."""
        with registry.deferring_signals():
            if self._disk is not None:
                with suppress(MachineFailed):  # the marker stays, and the next command tries again
                    self._disk.close()
            if self._dir is not None:
                self._dir.remove()
            registry.discard(self)


def _power_cut(by: PowerCutMethod) -> Availability:
    """Whether this method of cutting the power works here. Only mounting a disk shows that."""
    trial = _MountTest()
    try:
        return Availability(True, trial.mount(by))
    except NotAvailable as missing:
        return Availability(False, missing.reason, missing.remedy)
    except UsageError as unwritable:
        return Availability(False, str(unwritable))
    finally:
        trial.close()


def _network() -> Availability:
    """Whether the network of a cluster can be made here. Only making one shows that."""
    try:
        network = Network(("one", "other"))
    except NotAvailable as missing:
        return Availability(False, missing.reason, missing.remedy)
    registry.add(network)
    try:
        reap_at_exit(default_base(), networks=True)
        network.make()
    except NotAvailable as missing:
        return Availability(False, missing.reason, missing.remedy)
    finally:
        with registry.deferring_signals():
            network.close()
            registry.discard(network)
    return Availability(True, "a network namespace for each node")


def _process(store: Store) -> Availability | None:
    launch = store.launch.process
    if launch is None:
        return None
    try:
        programs = find_programs(launch, store.name)
    except NotAvailable as missing:
        return Availability(False, missing.reason, missing.remedy)
    return Availability(True, programs[launch.binary])


def _container(store: Store, engine: Availability, image: str | None) -> Availability | None:
    launch = store.launch.container
    if launch is None:
        return None
    install = launch.install if image is None else None
    image = image or launch.image
    if not engine.ok:
        return Availability(False, "no engine", engine.remedy)
    if container_engine.has_image(image):
        return Availability(True, image)
    stand_in = _built_here(store.name)
    remedy = (install or f"docker pull {image}") + (f"  # or --image {store.name}={stand_in}, which is available" if stand_in else "")
    return Availability(False, f"{image} is not available locally", remedy)


def _built_here(store: str) -> str | None:
    """The image that `.ci/setup` builds if no registry is reachable; None if there is none."""
    image = f"storeproof/{store}"
    return image if container_engine.has_image(image) else None
