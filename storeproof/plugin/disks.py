"""`--disk`: several disks, or models of some, on each of which every store is launched."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from storeproof.errors import UsageError
from storeproof.machine.mounts import mount_of
from storeproof.plugin.options import existing_directory
from storeproof.result.redact import redact
from storeproof.spec.base import NAME_PATTERN, PATTERN_WORDS
from storeproof.spec.device import DeviceSheet
from storeproof.spec.questions.read_devices import read_device

_MODEL: Final = "model:"
_IN_MEMORY: Final = ("tmpfs", "ramfs", "devtmpfs")


def named_disks(option: Namespace, endpoints: Collection[str]) -> dict[str, Path | DeviceSheet]:
    """The directory on each disk, or the sheet of the model, by the disk's name, as the command line says; empty where it names none.

    Args:
        option: has `disk`, `data_dir` and `needs`.
        endpoints: the stores whose servers the user runs.

    Raises:
        UsageError: a disk has no name, or that of another; it cannot be written to, or is none; there is no such model; or the choice is
            not ours.
    """
    found: dict[str, Path | DeviceSheet] = {}
    for text in option.disk or ():
        name, disk = _named(text)
        if name in found:
            raise UsageError(f"--disk names two disks `{name}`: {_given(found[name])} and {_given(disk)}; give each a name of its own")
        found[name] = disk
    if not found:
        return {}
    if option.data_dir is not None:
        raise UsageError("--disk and --data-dir exclude each other: on each disk the data is below the directory that --disk names")
    if option.needs:
        raise UsageError("--disk and --needs exclude each other: a needs file grants all candidates one machine")
    if endpoints:
        names = ", ".join(sorted(endpoints))
        raise UsageError(f"--disk is for servers that storeproof starts, and {names} is an endpoint: its disk is not ours to choose")
    return found


def same_device(disks: Mapping[str, Path]) -> Iterable[str]:
    """A line for disks that are one: their difference is the noise of all others."""
    by_device = sorted((path.stat().st_dev, name) for name, path in disks.items())
    for _, alike in groupby(by_device, lambda each: each[0]):
        names = [name for _, name in alike]
        if len(names) > 1:
            yield f"the disks {' and '.join(names)} are directories of one file system: between them is no difference but noise"


def models_among(disks: Mapping[str, Path | DeviceSheet]) -> dict[str, DeviceSheet]:
    """Those that are models."""
    return {name: disk for name, disk in disks.items() if isinstance(disk, DeviceSheet)}


def _given(disk: Path | DeviceSheet) -> str:
    return f"{_MODEL}{disk.device}" if isinstance(disk, DeviceSheet) else str(disk)


def _named(text: str) -> tuple[str, Path | DeviceSheet]:
    name, equals, given = text.partition("=")
    if not (name and equals and given):
        raise UsageError(f"--disk takes NAME=PATH, such as nvme=/mnt/nvme, or NAME=model:MODEL; found {redact(text)!r}")
    if not re.fullmatch(NAME_PATTERN, name):
        raise UsageError(f"--disk: `{name}` is no name of a disk; allowed: {PATTERN_WORDS[NAME_PATTERN]}")
    if given.startswith(_MODEL):
        try:
            return name, read_device(given.removeprefix(_MODEL))
        except UsageError as reason:
            raise UsageError(f"--disk {name}: {reason}") from None
    path = existing_directory(f"--disk {name}:", given)
    assert path is not None
    if not os.access(path, os.W_OK | os.X_OK):
        raise UsageError(f"--disk {name}: {given} cannot be written to by this user; give it to this user, or name another directory")
    if (filesystem := mount_of(path).filesystem) in _IN_MEMORY:
        raise UsageError(f"--disk {name}: {given} is in memory ({filesystem}), which is no disk; name a directory on one")
    return name, path
