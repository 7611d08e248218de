"""What an operation costs the server: the difference of its counters over each measured round, and what it takes after the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from storeproof.errors import NotAvailable
from storeproof.launch.handle import Handle
from storeproof.machine.usage import Footprint, Usage, UsageMeter
from storeproof.result.server_cost import ServerCost

_SHARED = "the server held other collections of this run too"
_CHANGED = "a process of the server ended between two looks at it"


class CostMeter:
    """Measures the cost of one store in one configuration."""

    def __init__(self, handle: Handle | None = None, reason: str = "the server was not looked at") -> None:
        """`handle`: the store, which runs; None: nothing is known of its server, for this reason."""
        self.reason = reason
        """Why nothing is known; empty where something is."""
        self.alone = True
        """Whether the server holds no other collection of the run, so that what it takes is for these records."""
        self._meter: UsageMeter | None = None
        self._spent: list[Usage] = []
        self._footprint: Footprint | None = None
        if handle is None:
            return
        try:
            self._meter = handle.meter()
            self.reason = ""
        except NotAvailable as reason:
            self.reason = reason.reason

    @contextmanager
    def measured_round(self) -> Iterator[None]:
        """Note what the server spends within the block, unless that fails."""
        if self._meter is None:
            yield
            return
        self._meter.begin()
        try:
            yield
        except BaseException:
            self._meter.end()
            raise
        self._spent.append(self._meter.end())

    def forget_round(self) -> None:
        """The last measured one does not count."""
        if self._spent:
            self._spent.pop()

    def end(self) -> None:
        """The rounds are over: note what the server takes now, before anything else is asked of it."""
        if self._meter is not None:
            self._footprint = self._meter.footprint()

    def cost(self, operations: int, records: int) -> ServerCost | None:
        """What the result keeps; None: see `reason`.

        Args:
            operations: successful ones, of all measured rounds; at least one.
            records: what the collection holds after the last round.
        """
        meter, now = self._meter, self._footprint
        if meter is None or now is None:
            return None
        if any(each.cpu_seconds < 0 for each in self._spent):
            self.reason = _CHANGED
            return None
        written = None if any(each.written_bytes is None for each in self._spent) else sum(each.written_bytes or 0 for each in self._spent)
        syncs = None if any(each.syncs is None for each in self._spent) else sum(each.syncs or 0 for each in self._spent)
        per_record = records if self.alone and records else None
        unknown = dict(meter.unknown)
        if per_record is None:
            unknown |= dict.fromkeys(("records", "resident_per_record", "disk_per_record"), _SHARED if records else "it held no records")
        return ServerCost(
            cpu_us=sum(each.cpu_seconds for each in self._spent) / operations * 1e6,
            written_bytes=None if written is None else written / operations,
            syncs=None if syncs is None else syncs / operations,
            resident_bytes=now.resident_bytes,
            disk_bytes=now.disk_bytes,
            records=per_record,
            resident_per_record=_share(now.resident_bytes, per_record),
            disk_per_record=_share(now.disk_bytes, per_record),
            unknown=unknown,
        )


def _share(amount: int | None, records: int | None) -> float | None:
    return None if amount is None or records is None else amount / records
