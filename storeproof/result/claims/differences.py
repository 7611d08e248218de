"""In what a run differs from the conditions under which a text measured."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof import units
from storeproof.result.claims.pairs import ClaimPair
from storeproof.result.compare import Side
from storeproof.result.measurement import Measurement
from storeproof.spec.questions.claim import ClaimedSide, ClaimsFile, Conditions, PublishedClaim

_LOCAL = ("process", "container")
"""Launched on the machine of the clients."""


def differences(file: ClaimsFile, claim: PublishedClaim, found: ClaimPair) -> Iterator[str]:
    """Each in one phrase, with what the text says in brackets."""
    assert claim.a is not None
    assert claim.b is not None
    sides = ((claim.a, found.a, found.pair.a), (claim.b, found.b, found.pair.b))
    conditions = file.conditions_of(claim)
    for claimed, side, _ in sides:
        yield from _store(claimed, side)
    yield from of_the_run(file, conditions, found.a)
    yield from _sizes(conditions, found.pair.a, found.pair.b)
    if "topology" in claim.about:
        yield "; ".join(f"{side.name}: topology {side.store.topology}, all on one machine" for _, side, _ in sides)
    for claimed, side, measured in sides:
        if claimed.disk is not None:
            yield from _disk(file, claimed, side, measured)
    for claimed, side, _ in sides:
        yield of_durability(side, claimed.settings)
    for _, side, measured in sides:
        if measured.trend.drifting:
            yield f"the rate of {side.name} changed by {measured.trend.change:+.1%} from round to round"


def of_the_run(file: ClaimsFile, conditions: Conditions, side: Side) -> Iterator[str]:
    run, machine = side.result.run, side.result.environment
    if file.year and run.started[:4] != str(file.year):
        yield f"{run.started[:4]} (text: {file.year})"
    if conditions.machine or conditions.cores:
        told = ", ".join(filter(None, (conditions.machine, units.plural(conditions.cores, "core") if conditions.cores else "")))
        yield f"{machine.cpu}, {units.plural(machine.cores, 'core')}, {units.size(machine.memory_bytes)} (text: {told})"
    if machine.confined_to:
        yield f"each store was given {machine.confined_to}"
    local = side.store.launch in _LOCAL
    if conditions.network == "remote" and local:
        yield "client and server on one machine (text: on two)"
    if conditions.network == "loopback" and not local:
        yield "a server at an endpoint (text: on the client's machine)"
    if run.scale == "smoke":
        yield "smoke scale, which is too small for decisions"


def of_durability(side: Side, settings: str) -> str:
    """What was proven or only claimed, with the text's own words."""
    durability = side.store.durability
    known = f"{durability.proven} proven" if durability.proven else f"{durability.claimed} claimed, not proven in this run"
    return f"{side.name}: {known} (text: {settings or 'says nothing of durability'})"


def of_version(side: Side, version: str) -> Iterator[str]:
    """Nothing where the text's version is the live one."""
    live = side.store.product
    if version not in live.split():
        yield f"{live} (text: {version or 'no version'})"


def _store(claimed: ClaimedSide, side: Side) -> Iterator[str]:
    if side.name == claimed.targets[0]:
        yield from of_version(side, claimed.version)
    else:
        yield f"{side.name}, {side.store.product} (text: {f'{claimed.stores[0]} {claimed.version}'.strip()})"


def _disk(file: ClaimsFile, claimed: ClaimedSide, side: Side, measured: Measurement) -> Iterator[str]:
    """Which disk the name stands for, and whether it was steady."""
    sheet, device = side.result.environment.disks.get(claimed.disk or ""), file.devices.get(claimed.device or "")
    told = f"the median of all on {claimed.medium}" if device is None else f"{device.device}, {device.arrangement}"
    took = f", 600 bytes appended and synced in {units.micros(sheet.append.p50)}" if sheet is not None and sheet.append else ""
    yield f"{claimed.disk}: {sheet.disk if sheet is not None else 'not known'}{took} (text: {told})"
    if measured.anatomy is not None and measured.anatomy.steady_from is None:
        yield f"{side.name} did not become steady"


def _sizes(conditions: Conditions, a: Measurement, b: Measurement) -> Iterator[str]:
    clients = sorted({a.clients, b.clients})
    if conditions.clients and clients != [conditions.clients]:
        yield f"{' and '.join(map(str, clients))} clients (text: {conditions.clients})"
    for what, wanted, found in (
        ("records in the store", conditions.records, {a.loaded, b.loaded}),
        ("bytes of a record", conditions.payload_bytes, {a.payload_bytes, b.payload_bytes}),
        ("records per request", conditions.batch, {a.batch, b.batch}),
        ("records written", conditions.written, {_written(a), _written(b)}),
    ):
        known = sorted(each for each in found if each is not None)
        if wanted and known and known != [wanted]:
            yield f"{' and '.join(f'{each:,}' for each in known)} {what} (text: {wanted:,})"


def _written(measured: Measurement) -> int:
    return sum(each.operations for each in measured.rounds)
