"""The faults by name: every module of this package that has a `FAULT`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from storeproof.errors import NotAvailable
from storeproof.faults.fault import Fault


@cache
def faults() -> Mapping[str, Fault]:
    files = pkgutil.iter_modules([str(Path(__file__).parent)])
    modules = (importlib.import_module(f"{__package__}.{found.name}") for found in files if found.name != __name__.rpartition(".")[2])
    return MappingProxyType({module.FAULT.name: module.FAULT for module in modules if hasattr(module, "FAULT")})


def find(name: str) -> Fault:
    """The fault of that name. Raises `NotAvailable`: this version does not have it, so the outcome is `not_run`, never a pass."""
    fault = faults().get(name)
    if fault is None:
        raise NotAvailable(f"this version of storeproof does not have the fault `{name}` yet")
    return fault
