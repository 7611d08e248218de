"""The machine of a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Final

import psutil
from packaging.requirements import InvalidRequirement, Requirement

from storeproof.machine.data_sheet import data_sheet
from storeproof.machine.mounts import UNKNOWN, Mount, mount_of
from storeproof.result.machine import DiskSheet, Environment, NoiseFloor, Placement, WriteTimes
from storeproof.spec.device import DeviceSheet
from storeproof.stats.ratio import Ratio

_FEWEST_FOR_P99: Final = 100


def collect_environment(
    data_directory: Path,
    fsync_us: float | None,
    loopback_us: float | None,
    requires: Iterable[str] = (),
    noise: Ratio | None = None,
    placement: Placement | None = None,
    disks: Mapping[str, Path] = MappingProxyType({}),
    models: Mapping[str, DeviceSheet] = MappingProxyType({}),
) -> Environment:
    """Describe this machine.

    Args:
        data_directory: where the stores keep their data; it, or a parent of it, exists.
        fsync_us: median microseconds of an append of 4 KiB and fsync there; None where it could not be measured.
        loopback_us: median microseconds of a round trip over loopback TCP; None where it could not be measured.
        requires: requirements of the stores' clients beyond those of storeproof itself, as pip writes them.
        noise: the noise floor; None if it was not measured.
        placement: the cores and the memory of the stores and of the load generator.
        disks: by name a directory on each of several disks, which is measured.
        models: by the same names, what those answer by that are models of devices.
    """
    mount = mount_of(data_directory)
    sheets = {name: _sheet(directory, models.get(name)) for name, directory in disks.items()}
    return Environment(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
        disk=next((each.disk for each in sheets.values()), _disk(mount)),
        filesystem=_filesystem(mount),
        fsync_us=fsync_us,
        loopback_us=loopback_us,
        noise=NoiseFloor(ratio=noise.middle, low=noise.low, high=noise.high) if noise else None,
        placement=placement,
        disks=sheets,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        packages=dict(_packages(tuple(requires))),
    )


def _sheet(directory: Path, model: DeviceSheet | None) -> DiskSheet:
    mount, found = mount_of(directory), data_sheet(directory)
    device = directory.stat().st_dev
    return DiskSheet(
        disk=_disk(mount) if model is None else model.title,
        filesystem=_filesystem(mount),
        device=f"{os.major(device)}:{os.minor(device)}",
        append=_times(found.append),
        overwrite=_times(found.overwrite),
        direct=_times(found.direct),
        write_bytes_per_second=found.write_rate,
        read_bytes_per_second=found.read_rate,
        model=model,
    )


def _times(microseconds: Sequence[float]) -> WriteTimes | None:
    if not microseconds:
        return None
    ordered, samples = sorted(microseconds), len(microseconds)
    return WriteTimes(samples=samples, p50=median(ordered), p99=ordered[int(samples * 0.99)] if samples >= _FEWEST_FOR_P99 else None)


def _filesystem(mount: Mount) -> str:
    return f"{mount.filesystem} ({mount.options})"


def _cpu() -> str:
    """The model name; the architecture on Arm, where the kernel has no name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine() or UNKNOWN


def _disk(mount: Mount) -> str:
    """The block device with its model and kind, if the kernel knows them; memory file systems have none."""
    block = Path("/sys/dev/block") / mount.device
    if not mount.device or not block.exists():
        return f"{mount.source} (no block device)"
    here = block.resolve()
    whole = here.parent if (here / "partition").exists() else here
    model = _line(whole / "device/model")
    rotational = _line(whole / "queue/rotational")
    kind = {"0": "not rotational", "1": "rotational"}.get(rotational, "")
    details = ", ".join(part for part in (model, kind) if part)
    return f"{mount.source} ({details})" if details else mount.source


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@cache
def _packages(requires: tuple[str, ...]) -> Mapping[str, str]:
    """Installed versions of storeproof's requirements and of the stores' clients, which do not change meanwhile."""
    try:
        own = importlib.metadata.requires("storeproof") or []
    except importlib.metadata.PackageNotFoundError:
        own = []
    names = set()
    for text in (*own, *requires):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": "stores"}):
            names.add(requirement.name)
    found = {}
    for name in sorted(names, key=str.lower):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
