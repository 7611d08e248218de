"""Starts a store in the way that was asked for, or in the first way that works here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from storeproof.disk.methods import AS_CAN_BE_HAD, PowerCut
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.container import ContainerHandle
from storeproof.launch.endpoint import EndpointHandle
from storeproof.launch.handle import Handle, Probe
from storeproof.launch.process import ProcessHandle
from storeproof.launch.visit import Visit
from storeproof.spec.store import Store

Wanted = Literal["auto", "container", "process", "endpoint"]
"""What `--launch` says."""


def launch(
    store: Store,
    settings: Mapping[str, str],
    *,
    kind: Wanted,
    endpoint: str | None,
    image: str | None,
    data_dir: Path | None,
    keep: bool,
    probe: Probe,
    visit: Visit,
    notice: Callable[[str], None] | None = None,
    on_volume: bool = False,
    power_cut: PowerCut = AS_CAN_BE_HAD,
    started: bool = True,
) -> Handle:
    """A fresh store with an empty data directory, answering, if it is `started`. The caller closes it; what it does not close is closed
    at the end.

    `settings` are what the server is started with, which an endpoint takes no notice of; `probe` looks whether a server of ours answers
    yet, and `visit` whether one of somebody else's can be spoken to.

    `auto` takes an endpoint if one is given, then a container if an engine answers and has or gets the image, then a local binary;
    `notice` is told why a way was passed over. `on_volume`: its data on a file system of its own, so that its
    power can be cut, as `power_cut` says.

    Raises:
        NotAvailable: this machine cannot run it in the wanted way, or in any; with every reason and remedy.
        StoreDied: it was started, and ended or never answered.
        UsageError: the endpoint, image, or data directory is wrong.
    """
    make = _Maker(store, settings, endpoint, image, data_dir, keep, probe, visit, on_volume, power_cut)
    handle = make.first_that_works(notice) if kind == "auto" and endpoint is None else make.by("endpoint" if kind == "auto" else kind)
    try:
        if started:
            handle.start()
    except BaseException:
        handle.close()
        raise
    return handle


class _Maker:
    """The ways in which one store can be made."""

    def __init__(
        self,
        store: Store,
        settings: Mapping[str, str],
        endpoint: str | None,
        image: str | None,
        data_dir: Path | None,
        keep: bool,
        probe: Probe,
        visit: Visit,
        on_volume: bool,
        power_cut: PowerCut,
    ) -> None:
        self._store = store
        self._settings = settings
        self._endpoint = endpoint
        self._image = image
        self._data_dir = data_dir
        self._keep = keep
        self._probe = probe
        self._visit = visit
        self._on_volume = on_volume
        self._power_cut = power_cut

    def first_that_works(self, notice: Callable[[str], None] | None) -> Handle:
        ways = [way for way in ("container", "process") if getattr(self._store.launch, way) is not None]
        failures: list[NotAvailable] = []
        for way in ways:
            try:
                handle = self.by(way)
            except NotAvailable as failure:
                failures.append(failure)
                continue
            if notice is not None:
                for passed_over in failures:
                    notice(str(passed_over))
            return handle
        if not failures:
            raise self._no_way("container or process")
        remedies = [failure.remedy for failure in failures if failure.remedy]
        raise NotAvailable("; ".join(failure.reason for failure in failures), ", or ".join(remedies))

    def by(self, way: str) -> Handle:
        launch = self._store.launch
        name, settings = self._store.name, self._settings
        if way == "container" and launch.container is not None:
            return ContainerHandle(
                name,
                launch.container,
                settings,
                self._probe,
                self._data_dir,
                image=self._image,
                keep=self._keep,
                on_volume=self._on_volume,
                power_cut=self._power_cut,
            )
        if way == "process" and launch.process is not None:
            return ProcessHandle(
                name,
                launch.process,
                settings,
                self._probe,
                self._data_dir,
                keep=self._keep,
                on_volume=self._on_volume,
                power_cut=self._power_cut,
            )
        if way == "endpoint" and launch.endpoint is not None:
            if self._endpoint is None:
                raise UsageError(f"--launch=endpoint needs to know where {name} is: --endpoint {name}={launch.endpoint.url}")
            return EndpointHandle(name, launch.endpoint, self._endpoint, self._visit)
        raise self._no_way(way)

    def _no_way(self, way: str) -> NotAvailable:
        launch = self._store.launch
        known = [each for each in ("container", "process", "endpoint") if getattr(launch, each) is not None]
        described = ", ".join(known) or "no launch"
        remedy = f"--launch={known[0]}" if known else ""
        if launch.endpoint is not None and known == ["endpoint"]:
            remedy = f"--endpoint {self._store.name}={launch.endpoint.url}"
        return NotAvailable(f"{self._store.name} cannot be launched by {way}: its file describes {described}", remedy)
