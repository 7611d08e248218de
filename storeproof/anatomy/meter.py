"""Watches the measured rounds of one store with one workload, and sums them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, get_args

from storeproof import units
from storeproof.anatomy.kinds import ELSEWHERE, OTHER, UNNAMED
from storeproof.anatomy.watch import IoWatch, WatchedIo, check_available
from storeproof.errors import NotAvailable
from storeproof.launch.handle import Handle
from storeproof.load.engine import RunResult
from storeproof.result.anatomy import Anatomy, DeviceRecord, Kind, KindOfIo, MeanWaits, Waits
from storeproof.result.part import Gate
from storeproof.spec import Mix
from storeproof.spec.store.files import FileRule
from storeproof.stats.intervals import percentile
from storeproof.stats.latency import decode, encode, mean, merged
from storeproof.stats.steady_rounds import steady_from

if TYPE_CHECKING:
    from storeproof.native import KindIo

_MOST_UNCLASSIFIED: Final = 0.01
_MOST_ELSEWHERE: Final = 0.01
"""Share of the bytes written to files of the same file system by other programs."""
_WHOLE: Final = frozenset({"put", "put_many", "put_if_absent", "insert_many", "put_expiring"})
"""Operations that write whole records."""
_READS: Final = frozenset(
    {"get", "get_many", "get_field", "get_fields", "get_path", "get_paths", "exists", "count", "scan", "find", "count_where", "aggregate"}
) | {"browse"}
"""Operations that write nothing."""


class AnatomyMeter:
    """Watches one store in one configuration."""

    def __init__(self, handle: Handle | None = None, rules: Sequence[FileRule] = (), mix: Sequence[Mix] = ()) -> None:
        """
        Args:
            handle: the store, which runs; None: it is not to be watched.
            rules: what its files are for.
            mix: what clients do.
        """
        self.reason = ""
        """Why nothing is known; empty where something is, or nothing was asked for."""
        self._handle = handle
        self._rules = rules
        self._operations = {each.operation for each in mix}
        self._seen: list[WatchedIo] = []
        self._by_round: list[MeanWaits] = []
        if handle is None:
            return
        try:
            if not self._operations - _READS:
                raise NotAvailable("the workload only reads")
            self._watch().close()
        except NotAvailable as reason:
            self._handle, self.reason = None, str(reason)

    @contextmanager
    def measured_round(self) -> Iterator[None]:
        """Watch the block; a round that fails is forgotten."""
        if self._handle is None:
            yield
            return
        watch = self._watch()
        watch.begin()
        try:
            yield
        except BaseException:
            watch.close()
            raise
        self._keep(watch.end())

    def _watch(self) -> IoWatch:
        """Raises `NotAvailable`."""
        assert self._handle is not None
        folder, pids = self._handle.watched()
        check_available(folder, self._rules)
        return IoWatch(folder, pids, self._rules)

    def _keep(self, seen: WatchedIo) -> None:
        self._seen.append(seen)
        self._by_round.append(_mean_waits(_kinds([seen], seen.nanoseconds / 1e9)))

    def forget_round(self) -> None:
        """The last one does not count."""
        if self._seen:
            self._seen.pop()
            self._by_round.pop()

    def steady_from(self, rounds: Sequence[RunResult]) -> int | None:
        """The first of these rounds, which were watched, from which on they are steady (see `Anatomy`); 1 where none is watched."""
        return _steady_from(rounds, self._by_round) if self._handle is not None else 1

    def anatomy(self, rounds: Sequence[RunResult], payload_bytes: int, *, closed: bool) -> Anatomy | None:
        """What the result keeps; None: see `reason`.

        Args:
            rounds: those that were watched.
            payload_bytes: of one record.
            closed: whether the load is a closed loop.
        """
        if self._handle is None or not self._seen:
            return None
        seconds = sum(each.elapsed_seconds for each in rounds)
        kinds = _kinds(self._seen, seconds)
        client_bytes = self._client_bytes(rounds, payload_bytes)
        file_bytes = sum(each.written_bytes for each in kinds.values())
        device, device_reason = self._device(kinds, file_bytes)
        lost = sum(each.lost for each in self._seen)
        unclassified = _unclassified(kinds)
        gates = {
            "classified": Gate(ok=unclassified <= _MOST_UNCLASSIFIED, value=unclassified, limit=_MOST_UNCLASSIFIED),
            "complete": Gate(ok=not lost, value=lost, limit=0),
        }
        matched = frozenset[int]().union(*(each.matched for each in self._seen))
        journal = kinds.get("journal")
        return Anatomy(
            rounds=len(self._seen),
            seconds=seconds,
            kinds=kinds,
            mean_waits=_mean_waits(kinds),
            by_round=list(self._by_round),
            client_share=(journal.under_way if journal is not None else 0.0) if closed else None,
            client_bytes=client_bytes,
            file_bytes=file_bytes,
            files_per_client=file_bytes / client_bytes if client_bytes else None,
            device=device,
            device_per_client=device.written_bytes / client_bytes if device is not None and client_bytes else None,
            device_reason=device_reason,
            lost_records=lost,
            unmatched=[_described(rule) for place, rule in enumerate(self._rules) if place not in matched],
            gates=gates,
            invalid=[name for name, gate in gates.items() if not gate.ok],
            steady_from=_steady_from(rounds, self._by_round),
        )

    def _client_bytes(self, rounds: Sequence[RunResult], payload_bytes: int) -> int | None:
        if not self._operations <= _WHOLE | _READS:
            return None
        return payload_bytes * sum(part.ok for each in rounds for part in each.operations.values() if part.operation in _WHOLE)

    def _device(self, kinds: dict[Kind, KindOfIo], file_bytes: int) -> tuple[DeviceRecord | None, str]:
        elsewhere = [each.kinds[ELSEWHERE] for each in self._seen if ELSEWHERE in each.kinds]
        others = sum(each.written_bytes + each.direct_bytes for each in elsewhere)
        if others > _MOST_ELSEWHERE * (file_bytes + others):
            return None, f"other programs wrote {units.share(others / (file_bytes + others))} of all bytes on the same file system"
        devices = [each.device for each in self._seen]
        flushes = sum(each.flushes for each in devices)
        syncs = sum(each.syncs for each in kinds.values())
        return (
            DeviceRecord(
                written_bytes=sum(each.written_bytes for each in devices),
                flushes=flushes,
                flush_waits=_waits([each.flush_waits for each in devices]),
                flushes_per_sync=flushes / syncs if syncs else None,
            ),
            "",
        )


def _kinds(seen: Sequence[WatchedIo], seconds: float) -> dict[Kind, KindOfIo]:
    """Those of which there was something. `seconds`: of all the rounds."""
    found: dict[Kind, list[KindIo]] = {name: [each.kinds[name] for each in seen if name in each.kinds] for name in get_args(Kind)}
    return {name: _kind(each, seconds) for name, each in found.items() if each}


def _kind(found: Sequence[KindIo], seconds: float) -> KindOfIo:
    return KindOfIo(
        written_bytes=sum(each.written_bytes + each.direct_bytes for each in found),
        syncs=sum(each.syncs for each in found),
        direct_writes=sum(each.direct_writes for each in found),
        waits=_waits([each.waits for each in found]),
        under_way=min(sum(each.busy_ns for each in found) / 1e9 / seconds, 1.0) if seconds else 0.0,
        read_bytes=sum(each.read_bytes for each in found),
        reads=_waits([each.read_waits for each in found]),
    )


def _steady_from(rounds: Sequence[RunResult], waits: Sequence[MeanWaits]) -> int | None:
    """By the rate, and by the mean wait for the journal unless there was none in some round."""
    journal = [each.journal for each in waits if each.journal is not None]
    return steady_from([each.throughput for each in rounds], *([journal] if len(journal) == len(waits) else []))


def _waits(encoded: Sequence[str]) -> Waits | None:
    histogram = merged(decode(each) for each in encoded if each)
    if not histogram.get_total_count():
        return None
    return Waits(
        samples=histogram.get_total_count(),
        mean=mean(histogram) / 1000,
        p50=percentile(histogram, 50),
        p99=percentile(histogram, 99),
        max=histogram.get_max_value() / 1000,
        histogram=encode(histogram),
    )


def _mean_waits(kinds: Mapping[Kind, KindOfIo]) -> MeanWaits:
    def of(kind: Kind, *, reads: bool = False) -> float | None:
        found = kinds.get(kind)
        waits = None if found is None else found.reads if reads else found.waits
        return waits.mean if waits is not None else None

    found = {"journal": of("journal"), "save": of("save"), "merge_write": of("merge"), "merge_read": of("merge", reads=True)}
    visible = [each for each in found.values() if each is not None]
    return MeanWaits(**found, overall=sum(visible) / len(visible) if visible else None)


def _unclassified(kinds: dict[Kind, KindOfIo]) -> float:
    """The greatest share that files without a kind have, of bytes, syncs and waiting."""
    unknown = [each for name, each in kinds.items() if name in (OTHER, UNNAMED)]
    amounts = (
        lambda each: each.written_bytes,
        lambda each: each.syncs + each.direct_writes,
        lambda each: each.waits.samples * each.waits.mean if each.waits is not None else 0.0,
    )
    shares = [sum(map(amount, unknown)) / total for amount in amounts if (total := sum(map(amount, kinds.values())))]
    return max(shares, default=0.0)


def _described(rule: FileRule) -> str:
    thread = f" by {rule.thread}" if rule.thread is not None else ""
    return f"{rule.kind}: {', '.join(rule.paths)}{thread}"
