"""Files that are damaged while the store is down. A store that claims to detect corruption refuses such files or reports the damage, and
never serves data that no client wrote.

The load runs once. Then each round restores the same directory, damages it at another place, starts the store and reads. There are two such
directories: one from a clean stop, damaged where records are; and one from a kill, damaged in the most recent writes, mostly the log. The
start with damage is compared with a start on the same files without damage: the records that it serves, and the lines that it logs.

What counts, and why:

* *It served data that no client wrote*: a changed record, a torn one, an unknown key. Backups would be wrong too. Not detected.
* *It refused*: it does not start, answers a read with an error, or ends during one. Detected.
* *It reported the damage*: its log has a line about it (checksum, corrupt, truncated ...) that the start without damage does not log. Then
  it may leave out data, as Redis does with `aof-load-truncated`: the administrator is informed. Detected.
* *It went back*: everything up to some moment is present, nothing after it, and nothing was reported. A log whose end cannot be read looks
  like a log whose end was never written. SQLite's WAL and others stop at the first bad frame by design; the data they serve is old but
  consistent. That is recovery: neither detected nor missed, and by itself no evidence.
* *It left out* records although later ones are present, and reported nothing. No recovery does that: acknowledged data is missing, and the
  rest is served as if it were complete. Not detected: this refutes the claim.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from storeproof.check import Anomaly, Finding, Shape, judge_key, losses
from storeproof.contract import (
    Breach,
    Collection,
    Key,
    Layout,
    Maintenance,
    Record,
    Refused,
    Session,
    Unknown,
    Unsupported,
    WrongReply,
    call,
    supports,
)
from storeproof.errors import StoreDied
from storeproof.experiments.client import send_some
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.corruption_summary import CorruptionSummary
from storeproof.experiments.durability.file_damage import Copy, Damage, DamageKind, damage
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.history import Operation, Place, by_place
from storeproof.records.hash_halves import observed, record_key

_Answer = Record | Refused | Breach | WrongReply | None

State = Literal["after a clean stop", "after a kill"]

_WRITES: Final = 300
_BATCHES: Final = 10
_READ: Final = 1500
"""Keys that are read back each time."""
_BATCH: Final = 50
"""Keys per request, where the store has such requests."""
_REFUSALS: Final = 20
"""Consecutive refusals, after which a collection is not read any further."""
_WALK: Final = 500
_MOST_CALLS: Final = 100_000
"""Of a walk that ends: each call returns some keys, or goes on through the part of a server that others use."""
_MOST: Final = 3
"""At most this many times the rounds, until enough of them had an effect: damage to data that is never read shows nothing."""
_SHOWN: Final = 3

_MADE_UP: Final = (Anomaly.INVENTED, Anomaly.TORN)
_NAMES_DAMAGE: Final = re.compile(
    "checksum|crc|corrupt|damag|truncat|torn|mismatch|malformed|invalid|broken|bad |short read|unexpected end|incomplete|cannot read",
    re.IGNORECASE,
)
"""Words in a log line that reports a damaged file."""

History = Mapping[Place, Sequence[Operation]]


@dataclass
class Served:
    """What one start served."""

    made_up: list[str] = field(default_factory=list)
    refused: bool = False
    findings: dict[Place, Finding] = field(default_factory=dict)
    log: dict[str, str] = field(default_factory=dict)
    """The lines that the start added to its log, by their form."""

    def went_back(self, sound: Served) -> bool:
        """Whether one moment parts what is there from what is not; `sound`: what the start without damage served."""
        comparable = [finding for place, finding in self.findings.items() if sound.served(place)]
        return losses(comparable, time.monotonic_ns()).shape is Shape.SUFFIX

    def served(self, place: Place) -> bool:
        """Whether a record is as it was acknowledged: a snapshot does not have all, nor does a store that syncs late."""
        return place in self.findings and self.findings[place].anomaly is Anomaly.OK


@dataclass
class Snapshot:
    """A directory as the load left it, and what a start on it without damage serves."""

    state: State
    copy: Copy
    history: History
    """What was written until then."""
    asked: dict[str, list[Key]] = field(default_factory=dict)
    """The keys that are read back at every start, by model."""
    sound: Served = field(default_factory=Served)


class CorruptionExperiment(FaultExperiment[Snapshot]):
    """One store, whose directory is put back and damaged again and again; a round is the snapshot that it damages."""

    def __init__(self, subject: Subject, layouts: Mapping[str, Layout], kind: DamageKind, rounds: int) -> None:
        """`rounds`: for each state of the directory; more while damage meets nothing."""
        super().__init__(subject)
        assert self.handle.data is not None
        self.summary = CorruptionSummary(kind=kind)
        self._data = self.handle.data
        self._clients = Clients(subject, layouts)
        self._wanted = rounds
        self._since = time.time() - 0.01  # files' times are those of the kernel's tick
        self._snapshots: list[Snapshot] = []
        self._damage: Damage | None = None
        self._log_before = ""

    def setup(self) -> None:
        """Two directories: one that a clean stop left, one that a kill left.

        Raises:
            Refused, Unknown: it does not take the load.
        """
        self._write(1, compact=True)
        self.handle.stop()
        self._keep("after a clean stop", "stopped")
        self.handle.start()
        self._write(2)
        self.handle.kill()
        self._keep("after a kill", "killed")

    def rounds(self) -> Iterator[Snapshot]:
        """Those of one state, then those of the other.

        Raises:
            StoreDied: it does not start on what a clean stop left, without any damage.
        """
        summary = self.summary
        for snapshot in self._snapshots:
            if not self._start_without_damage(snapshot):
                continue
            met = 0
            for number in range(1, _MOST * self._wanted + 1):
                if met == self._wanted or (number > self._wanted and met and snapshot.state == "after a kill"):
                    break
                self.subject.progress(f"{snapshot.state}, round {number}/{max(number, self._wanted)}")
                snapshot.copy.put_back()
                whole = summary.whole
                yield snapshot
                if self._damage is None:
                    summary.nothing = "its files hold nothing that could be damaged"
                    break
                met += summary.whole == whole

    def run_round(self) -> None:
        """The store is down between the rounds."""
        try:
            super().run_round()
        finally:
            self.handle.kill()

    def load(self) -> AbstractContextManager[None]:
        """None: the store is down."""
        return nullcontext()

    def fault(self) -> None:
        """Damage one file."""
        self._damage = damage(
            self._data, self._since, self.summary.kind, self.subject.rng, records=self.round.state == "after a clean stop"
        )
        if self._damage is not None:
            self.summary.rounds += 1
            self.summary.files.add(self._damage.file)

    def recover(self) -> None:
        """Start it on what is there."""
        self._log_before = self.handle.log_tail()
        self.handle.start()

    def audit(self) -> None:
        """Compare what it serves with what it served without damage."""
        if self._damage is None:
            return
        summary, sound, served = self.summary, self.round.sound, self._read(self.round)
        gone = [finding for place, finding in served.findings.items() if finding.anomaly is not Anomaly.OK and sound.served(place)]
        done = f"{self.round.state}, {self._damage}"
        if served.made_up:
            summary.served.append(f"{done}: {_list_some(served.made_up)}")
        elif served.refused:
            summary.refused += 1
        elif not gone:
            summary.whole += 1
        elif any(_NAMES_DAMAGE.search(line) for form, line in served.log.items() if form not in sound.log):
            summary.told += 1
        elif served.went_back(sound):
            summary.back += 1
        else:
            summary.silent.append(f"{done}: {_list_some([str(finding) for finding in gone])}")

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:  # noqa: ARG002 - however it refuses
        """It noticed."""
        self.summary.would_not_start += self._damage is not None

    def finish(self) -> None:
        """Remove the copies."""
        for snapshot in self._snapshots:
            snapshot.copy.remove()

    def _keep(self, state: State, name: str) -> None:
        copy = Copy(self._data, self._data.parent / name)
        self._snapshots.append(Snapshot(state, copy, by_place(self._clients.recorder.operations())))

    def _start_without_damage(self, snapshot: Snapshot) -> bool:
        """Whether damage to that state would show."""
        most = _READ // len(self._clients.layouts)
        for model in self._clients.layouts:
            keys = [key for name, key in snapshot.history if name == model]
            snapshot.asked[model] = self.subject.rng.sample(keys, min(len(keys), most))
        snapshot.copy.put_back()
        try:
            self.recover()
            snapshot.sound = self._read(snapshot)
        except (StoreDied, Refused, Unknown) as reason:
            if snapshot.state == "after a clean stop":
                raise
            self.summary.left_out.append(f"{snapshot.state} it does not start even without damage: {str(reason).partition(chr(10))[0]}")
            return False
        finally:
            self.handle.kill()
        if snapshot.sound.refused or snapshot.sound.made_up:
            self.summary.left_out.append(f"{snapshot.state} it does not answer all reads even without damage")
            return False
        return True

    def _write(self, period: int, *, compact: bool = False) -> None:
        """Records of all kinds; half of them before the files are rewritten, where the store has that."""
        with self.subject.session() as session:
            self._clients.prepare(session)
            send_some(self._clients.writer(period), _WRITES)
            if self._clients.can_load(session):
                send_some(self._clients.loader(period), _BATCHES)
            if compact and isinstance(session, Maintenance):
                with suppress(Unsupported):
                    session.compact()

    def _read(self, snapshot: Snapshot) -> Served:
        """What it serves, whether it refused anything, and what its log says."""
        seen = Served()
        session = self.subject.open()
        try:
            for model, layout in self._clients.layouts.items():
                in_a_row = 0
                collection = session.collection(layout)
                for key, record in _records(collection, layout, snapshot.asked[model]):
                    if isinstance(record, Refused):
                        seen.refused, in_a_row = True, in_a_row + 1
                        if in_a_row == _REFUSALS:
                            break
                        continue
                    if isinstance(record, (Breach, WrongReply)):  # it was a record when it was written
                        seen.made_up.append(f"{model}[{key!r}] was no longer a record: {_short(str(record))}")
                        continue
                    in_a_row = 0
                    finding = seen.findings[model, key] = judge_key(snapshot.history[model, key], observed(layout, key, record))
                    if finding.anomaly in _MADE_UP:
                        seen.made_up.append(f"{model}[{key!r}] was {finding.anomaly}: {_short(record)}")
                if supports(collection, "walk"):
                    seen.made_up += self._strangers(session, layout, {record_key(key) for name, key in snapshot.history if name == model})
        except Unknown:
            seen.refused = True  # it ended rather than answer, or lost the connection
        except Refused:
            seen.refused = True
        finally:
            session.close()
        seen.log = _new_lines(self._log_before, self.handle.log_tail())
        return seen

    def _strangers(self, session: Session, layout: Layout, known: set[Key]) -> list[str]:
        """Keys that no client wrote, or what is no key at all."""
        collection = session.collection(layout)
        found: list[str] = []
        cursor = None
        for _ in range(_MOST_CALLS):
            try:
                cursor, keys = call(collection, layout, "walk", cursor, _WALK)
            except (Breach, WrongReply) as reason:
                return [*found, f"a walk over {layout.model.model} returned something that is not a key: {_short(str(reason))}"]
            found += [f"{layout.model.model}[{key!r}] was present, and no client wrote it" for key in keys if key not in known]
            if cursor is None or len(found) > _SHOWN:
                return found
        return [*found, f"a walk over {layout.model.model} had not ended after {_MOST_CALLS} calls"]


def _records(collection: Collection, layout: Layout, keys: Sequence[Key]) -> Iterator[tuple[Key, _Answer]]:
    """Each key's record, None, or why there is no answer: in batches where the store has them, and one by one where a batch fails."""
    for first in range(0, len(keys), _BATCH):
        some = keys[first : first + _BATCH]
        records: Sequence[_Answer] = ()
        if supports(collection, "get_many"):
            with suppress(Refused, Breach, WrongReply):
                records = call(collection, layout, "get_many", list(map(record_key, some)))
        yield from zip(some, records or (_record(collection, layout, key) for key in some), strict=True)


def _record(collection: Collection, layout: Layout, key: Key) -> _Answer:
    try:
        record: _Answer = call(collection, layout, "get", record_key(key))
    except (Refused, Breach, WrongReply) as reason:
        return reason
    return record


def _new_lines(before: str, after: str) -> dict[str, str]:
    """The lines that came to the tail of a log, by their form."""
    old, new = before.splitlines(), after.splitlines()
    known = next((size for size in range(min(len(old), len(new)), 0, -1) if old[-size:] == new[:size]), 0)
    return {re.sub(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*", "#", line): line for line in new[known:]}


def _list_some(what: Sequence[str]) -> str:
    more = f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else ""
    return f"{' | '.join(what[:_SHOWN])}{more}"


def _short(record: object) -> str:
    text = record if isinstance(record, str) else repr(record)
    return text if len(text) <= 90 else f"{text[:87]}..."
