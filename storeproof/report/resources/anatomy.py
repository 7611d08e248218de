"""Where a store's I/O goes while a workload is measured: the kinds, their waits, and the way of the clients' bytes to the device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import Pair, setting
from storeproof.report.tables import Cell, Table
from storeproof.result.anatomy import Anatomy
from storeproof.stats.steady_rounds import WINDOW

ANATOMY_NOTE = (
    "Mean time of a sync, direct write or read of the device, by what the file is for, as the kernel saw it; overall is their unweighted "
    "mean. What one sync covers differs from store to store: compare one store on several disks by it, and never stores. "
    "Client share: share of the clients' time with a sync or direct write of the journal under way. Steady from: the first round of five "
    "in which the rate and the wait for the journal are steady. –: none visible, which is not zero."
)
_HEADER = (
    *("store:variant", "clients", "indexes", "with", "overall", "save (S)", "journal (J)", "merge read (MR)", "merge write (MW)"),
    *("client share", "journal syncs", "files / client", "device / client", "flushes / sync", "steady from", "lost"),
)


def anatomies(measured: Sequence[Pair]) -> Table | None:
    """One workload on each store; None where no store was watched."""
    if all(each.anatomy is None and not each.anatomy_reason for _, each in measured):
        return None
    rows = [
        [
            Cell(formatting.name_of(store), "strong"),
            Cell(str(each.clients)),
            Cell(str(each.indexes)),
            Cell(setting(each) or "–"),
            *(_cells(each.anatomy) if each.anatomy is not None else [Cell("–", "dim", hint=each.anatomy_reason)] * (len(_HEADER) - 4)),
        ]
        for store, each in measured
    ]
    return Table(_HEADER, rows, "Not watched.", frozenset({1, 2, *range(4, len(_HEADER))}))


def _cells(found: Anatomy) -> Iterator[Cell]:
    waits, device, journal = found.mean_waits, found.device, found.kinds.get("journal")
    tone, hint = ("bad", _why_invalid(found)) if found.invalid else ("", "")
    for wait in (waits.overall, waits.save, waits.journal, waits.merge_read, waits.merge_write):
        yield Cell("–", "dim", hint="none visible") if wait is None else Cell(("✘ " if hint else "") + units.micros(wait), tone, hint=hint)
    yield Cell("–" if found.client_share is None else units.share(found.client_share))
    yield Cell(str(journal.syncs + journal.direct_writes if journal is not None else 0))
    yield Cell(_times(found.files_per_client))
    yield Cell(_times(found.device_per_client), hint=found.device_reason)
    yield Cell(_times(None if device is None else device.flushes_per_sync), hint=found.device_reason)
    yield _steady(found)
    yield Cell(str(found.lost_records))


def _steady(found: Anatomy) -> Cell:
    if found.steady_from is not None:
        return Cell(f"round {found.steady_from}")
    if found.rounds < WINDOW:
        return Cell("–", "dim", hint=f"only {units.plural(found.rounds, 'round')}: it takes {WINDOW} to say")
    return Cell("drifting", hint="the rate or the wait for the journal")


def sentences(measured: Sequence[Pair]) -> list[str]:
    """What the table says of each store, and why it says nothing."""
    found = []
    for store, each in measured:
        name, seen = formatting.name_of(store), each.anatomy
        if seen is not None:
            said = f"not valid: {_why_invalid(seen)}" if seen.invalid else "; ".join(_said(seen))
            found.append(f"{name}, {each.workload}, {units.plural(each.clients, 'client')}: {said}")
        elif each.anatomy_reason:
            found.append(f"{name}, {each.workload}: not watched: {each.anatomy_reason}")
    return found


def unmatched(measured: Sequence[Pair]) -> list[str]:
    """Rules of the stores' files that named nothing: a newer version may call its files otherwise."""
    named = {formatting.name_of(store): each.anatomy.unmatched for store, each in measured if each.anatomy is not None}
    return [f"{name}: no I/O was seen of {'; '.join(rules)}" for name, rules in named.items() if rules]


def _said(found: Anatomy) -> Iterator[str]:
    journal, device = found.kinds.get("journal"), found.device
    if journal is None or journal.waits is None:
        yield "no sync of a journal was seen: no client waits for one"
    elif found.client_share is not None:
        yield f"{units.share(found.client_share)} of the clients' time passed while a sync of the journal was under way"
    if device is not None and device.flushes_per_sync is not None:
        yield f"each sync costs {units.amount(device.flushes_per_sync)} flushes of the device"
    if found.files_per_client is not None:
        rest = f", and {_times(found.device_per_client)} on the device" if found.device_per_client is not None else ""
        yield f"a byte of the clients becomes {_times(found.files_per_client)} in files{rest}"
    if found.device_reason:
        yield f"not known of the device: {found.device_reason}"


def _why_invalid(found: Anatomy) -> str:
    reasons = {
        "classified": f"{units.share(found.gates['classified'].value)} of the I/O is of files whose kind is not known",
        "complete": f"the kernel dropped {units.plural(found.lost_records, 'record')}",
    }
    return ", ".join(reasons[name] for name in found.invalid)


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else units.amount(ratio)
