"""All nuisances, in the order in which a run takes turns with them."""

from __future__ import annotations

from typing import Final

from tests.nuisance import (
    busy_disk,
    busy_processors,
    few_descriptors,
    full_tmpdir,
    jumping_clock,
    killed_server,
    mount_copies,
    network_rules,
    short_memory,
    signals,
    taken_ports,
)

NUISANCES: Final = (
    mount_copies.NUISANCE,
    busy_processors.NUISANCE,
    busy_disk.NUISANCE,
    short_memory.NUISANCE,
    full_tmpdir.NUISANCE,
    few_descriptors.NUISANCE,
    taken_ports.NUISANCE,
    jumping_clock.NUISANCE,
    signals.NUISANCE,
    killed_server.NUISANCE,
    network_rules.NUISANCE,
)
