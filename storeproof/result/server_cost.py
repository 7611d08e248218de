"""What an operation cost the server, in a result."""

from __future__ import annotations

from storeproof.result.part import ResultPart


class ServerCost(ResultPart):
    """What an operation cost the server, over the measured rounds alone; a batch counts as its records. None: see `unknown`."""

    cpu_us: float
    """Microseconds of processor time of its processes, per operation."""
    written_bytes: float | None
    """Handed to the block device, per operation: by the server's processes, not by the file system for itself."""
    syncs: float | None
    """fsync, fdatasync, and writes that wait for the device, per operation."""
    resident_bytes: int | None
    """Memory of the whole server after the last round."""
    disk_bytes: int | None
    """Blocks allocated to its data directory after the last round."""
    records: int | None
    """Records that it held then; None where it held other collections of the run too."""
    resident_per_record: float | None
    """`resident_bytes` divided by `records`."""
    disk_per_record: float | None
    """`disk_bytes` divided by `records`."""
    unknown: dict[str, str]
    """By the name of a figure that is None, the reason."""
