"""One state of a disk, put under the store: it starts, serves what was acknowledged, takes writes, is killed, and starts again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from storeproof.contract import Layout
from storeproof.disk.recording import DiskState, RecordingDisk
from storeproof.evidence import StateEvidence
from storeproof.experiments.crash_states.recorded_load import RecordedLoad
from storeproof.experiments.crash_states.state_judge import due, findings_again
from storeproof.experiments.crash_states.tried_state import TriedState
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.readback import check_usable, read
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.trial_summary import acknowledged, findings_of
from storeproof.history import Operation, Place, Seen, as_of

_AFTER = 2
"""The period of the writes after the crash: they have keys of their own."""


class StateTrial:
    """Tries states of one recording on one store."""

    def __init__(self, subject: Subject, disk: RecordingDisk, layouts: Mapping[str, Layout], load: RecordedLoad) -> None:
        self._subject = subject
        self._handle = subject.handle
        self._disk = disk
        self._layouts = layouts
        self._load = load
        self.kept: list[StateEvidence] = []
        """Of each state that was tried."""

    def run(self, state: DiskState) -> TriedState:
        """Raises `MachineFailed`, `Unknown`, `Breach`: it says nothing about the store."""
        mark = self._load.recording.last_mark(state.until)
        history = as_of(self._load.operations, mark)
        tried = TriedState(state, acknowledged=acknowledged(history))
        self._handle.kill()
        self._disk.restore(state)
        self._handle.cut_power()
        with tried.has_to_work(self._handle):
            self._try(tried, history)
        self.kept.append(tried.evidence(mark))
        return tried

    def _try(self, tried: TriedState, history: Sequence[Operation]) -> None:
        self._handle.start()
        tried.seen = self._read(due(history))
        tried.findings = findings_of(history, tried.seen)
        if tried.findings:
            return
        tried.client = self._load.recorder.clients
        later = Clients(self._subject, self._layouts, recorder=self._load.recorder)
        with self._subject.session() as session:
            later.prepare(session)
            check_usable(later, session, _AFTER, "after the crash", self._handle.log_tail)
        tried.depth = 2
        self._handle.kill()
        self._handle.start()
        written = self._load.recorder.operations(tried.client)
        tried.again = self._read([*due(history), *due(written)])
        tried.findings = findings_again(history, written, tried.again)

    def _read(self, places: Collection[Place]) -> dict[Place, Seen]:
        with self._subject.session() as session:
            return read(session, self._layouts, places)[0]
