"""Reads the sheet of a device, for who launches stores on a model of it."""

from __future__ import annotations

from pathlib import Path

from storeproof.errors import SpecError, UsageError
from storeproof.spec.device import DeviceSheet
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.questions.read_claims import files_called
from storeproof.spec.reading.explain import unknown


def place_of(name: str, root: Path = SPEC_ROOT) -> str:
    """What `--disk` is given for a disk of that name: the model where there is one, else a place to mount it."""
    return f"model:{name}" if (root / "devices" / f"{name}.yaml").is_file() else f"/mnt/{name}"


def read_device(name: str, root: Path = SPEC_ROOT) -> DeviceSheet:
    """The sheet of that name.

    Raises:
        UsageError: there is none.
        SpecError: with all errors of all files.
    """
    problems: list[str] = []
    sheets = {sheet.device: sheet for _, sheet in files_called(root / "devices", DeviceSheet, "device", problems)}
    if problems:
        raise SpecError(problems)
    if name not in sheets:
        raise UsageError(unknown("model of a device", name, sheets))
    return sheets[name]
