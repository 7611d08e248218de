"""What of the machine every store is given: `--cores`, `--memory`, and the cores that the load generator has for itself."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from storeproof import units
from storeproof.errors import UsageError
from storeproof.machine.cores import CoreSplit, split_of_this_machine
from storeproof.plugin.needs import NeedsRun

_UNITS: Final = {"MiB": 2**20, "GiB": 2**30}


@dataclass(frozen=True)
class Resources:
    """The same for all stores of a run."""

    split: CoreSplit
    cores: int | None
    memory: int | None


def resources(cores: int | None, memory: str | None, endpoints: Collection[str]) -> Resources:
    """As the command line says.

    Args:
        cores: what `--cores` says.
        memory: what `--memory` says.
        endpoints: the stores whose servers the user runs.

    Raises:
        UsageError: it is not to be had.
    """
    if endpoints and (cores is not None or memory is not None):
        raise UsageError(
            f"--cores and --memory are for servers that storeproof starts, and {', '.join(sorted(endpoints))} is an endpoint; "
            "leave them out, or leave out --endpoint"
        )
    here = split_of_this_machine()
    if endpoints:  # all stores of a run have the same, and this one is where its user put it
        everything = tuple(sorted({*here.server, *here.generator}))
        here = CoreSplit(everything, everything, f"{', '.join(sorted(endpoints))}: the server is not ours")
    return Resources(here if cores is None else _giving(here, cores), cores, None if memory is None else _bytes(memory))


def granted(option: Namespace, needs: NeedsRun | None, endpoints: Collection[str]) -> Resources:
    """As the command line says, or a needs file, which grants all candidates the same machine.

    Args:
        option: has `cores` and `memory`.
        endpoints: see `resources`.

    Raises:
        UsageError: it is not to be had, or both say it.
    """
    if needs is None or needs.resources is None:
        return resources(option.cores, option.memory, endpoints)
    if option.cores is not None or option.memory is not None:
        raise UsageError(f"{needs.file} says what its `machine` has; leave out --cores and --memory, or take `machine` out of the file")
    try:
        return resources(*needs.resources, endpoints)
    except UsageError as reason:
        raise UsageError(f"{needs.file}: machine: {reason}") from None


def _giving(here: CoreSplit, cores: int) -> CoreSplit:
    try:
        return here.giving(cores)
    except ValueError as reason:
        rest = "" if here.shared else f"; the load generator has {len(here.generator)} for itself"
        raise UsageError(f"--cores {cores}: {reason}{rest}") from None


def _bytes(memory: str) -> int:
    found = re.fullmatch(r"([0-9]+)(MiB|GiB)", memory)
    if found is None or not int(found[1]):
        raise UsageError(f"--memory is a number of MiB or GiB, such as 512MiB or 8GiB; found {memory!r}")
    count, there = int(found[1]) * _UNITS[found[2]], os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if count > there:
        raise UsageError(f"--memory {memory} is more than this machine has: {units.size(there)}")
    return count
