"""A small store whose disk is recorded: a log of lines, one for each key and write, and for what is beside a record.

Its states are read without a start: by their files.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from storeproof import native_support
from storeproof.disk.fuse import FuseDisk
from storeproof.disk.recording import RecordingDisk, read_recording
from storeproof.errors import NotAvailable
from storeproof.evidence import CrashEvidence, StoreEvidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.recorded_load import DiskClock
from storeproof.experiments.crash_states.state_judge import due, findings_again, in_order
from storeproof.experiments.crash_states.tried_state import TriedState
from storeproof.experiments.trial_summary import acknowledged, findings_of
from storeproof.history import ABSENT, Observation, Operation, Place, Recorder, Seen, as_of
from storeproof.outcome import Outcome
from storeproof.records.beside.places import ENTRY, EXPIRY
from storeproof.result.measured.crash_states import CrashStateCounts
from storeproof.spec import Target
from storeproof.spec.guarantee import CrashModel
from tests.conformance.published import published
from tests.shipped import SHIPPED

if TYPE_CHECKING:
    from storeproof.native import DiskRecording

MODEL: CrashModel = "ext4"
CASE: Final = "durability.crash_states/power_loss"
STORE, FILE = SHIPPED.store("sqlite")
TARGET = Target(STORE, "wal-full", FILE, {})
LOG = "log"


@dataclass
class Claim:
    """What a bundle says of one recording."""

    evidence: StoreEvidence
    counts: CrashStateCounts
    outcome: Outcome

    @property
    def crash(self) -> CrashEvidence:
        """Of the evidence."""
        assert self.evidence.crash is not None
        return self.evidence.crash

    def counted(self, tier: int, more: int) -> None:
        """As if more states had been tried, as the result has it."""
        tiers = [*self.counts.tiers]
        tiers[tier] = tiers[tier].model_copy(update={"tried": tiers[tier].tried + more})
        self.counts = self.counts.model_copy(update={"tiers": tiers})


def made(folder: Path, *, synced: bool, late: bool = False, store: int = 0) -> Claim:
    """The claim of a log.

    Args:
        folder: for its disk.
        synced: each line before it is acknowledged; else every other one is.
        late: the line of what is beside a record is written after the sync of the record.
        store: its number.
    """
    if not native_support.present():
        pytest.skip("needs the compiled part")
    seed = f"{published().run.seed} {TARGET.id} crash_states power_loss {store}"
    try:
        disk = FuseDisk(folder)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    try:
        return Claim(*states_tried(disk, folder, seed, synced=synced, late=late), Outcome.PASS if synced and not late else Outcome.FAIL)
    finally:
        disk.close()


def recorded(disk: RecordingDisk, at: Path, requests: int, *, synced: bool, late: bool = False) -> Recorder:
    """Append lines, each of them acknowledged. Of four records one has an expiry, and one an entry. `synced`, `late`: as for `made`."""
    recorder = Recorder(DiskClock(disk))
    client = recorder.client()
    file = os.open(at / LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.fsync(file)
    disk.record()
    for number in range(requests):
        kind = {1: EXPIRY, 3: ENTRY}.get(number % 4)
        key = f"k{number}" if kind is None else kind.record_key(f"k{number}")
        keys = [key] if kind is None else [key, kind.key(key)]
        client.invoke_together([("log", each) for each in keys], write_id=f"0:{number}")
        lines = "".join(f"{each} 0:{number}\n" for each in keys).encode()
        first = len(f"{key} 0:{number}\n") if late else len(lines)
        os.write(file, lines[:first])
        if synced or number % 2:
            os.fsync(file)
        if first < len(lines):
            os.write(file, lines[first:])
        client.end("ok")
    os.close(file)
    return recorder


def states_tried(disk: FuseDisk, at: Path, seed: str, *, synced: bool, late: bool) -> tuple[StoreEvidence, CrashStateCounts]:
    """The evidence of all states, and what a result says of them."""
    summary = CrashSummary(model=MODEL, requests=16)
    recorder = recorded(disk, at, summary.requests, synced=synced, late=late)
    load, clients, recording = recorder.operations(), recorder.clients, disk.recorded()
    summary.changes = recording.changes
    states, _ = disk.states(MODEL)
    summary.states.update(each.tier for each in states)
    crash = summary.evidence(clients, {"log": LOG})
    crash.recording = disk.packed_recording()
    kept, _, _ = read_recording(crash.recording, MODEL)
    for state in in_order(states, seed):
        mark = recording.last_mark(state.until)
        history = as_of(load, mark)
        seen = seen_in(kept, state.index, history)
        tried = TriedState(state, acknowledged=acknowledged(history), findings=findings_of(history, seen), seen=seen)
        if not tried.findings:
            tried.depth, tried.client = 2, recorder.clients
            later = recorder.client()
            later.invoke("put", ("log", f"p2:{tried.client}"), write_id=f"{tried.client}:1")
            later.end("ok")
            written = later.operations()
            tried.again = seen | {each.place: Observation("whole", each.write_id) for each in written}
            tried.findings = findings_again(history, written, tried.again)
        summary.add(tried)
        crash.states.append(tried.evidence(mark))
    summary.look_at_failed(kept)
    evidence = StoreEvidence(CASE, seed, TARGET.id, cuts_off=True, operations=recorder.operations(), crash=crash)
    return evidence, summary.counts()


def seen_in(kept: DiskRecording, index: int, history: list[Operation]) -> dict[Place, Seen]:
    """What the log in a state has of each key."""
    with tempfile.TemporaryDirectory() as into:
        kept.extract(index, into)
        lines = [line.split() for line in (Path(into) / LOG).read_text("latin-1").splitlines()]
    found = {line[0]: Observation("whole", line[1]) for line in lines if len(line) == 2}
    return {place: found.get(str(place[1]), ABSENT) for place in due(history)}
