"""Files that were damaged while the store was down: who claims to notice refuses them or says so, and never serves what nobody wrote.

One load; then again and again the same directory, damaged at another place, started and read. The directory is one of two: as a clean
stop left it, damaged where records are, or as a kill left it, damaged in what was written last, which is the log mostly. What a start
on the same files without the damage serves, and says in its log, is what the damaged start is compared with.

What counts, and why:

* *It served what nobody wrote*: a changed record, a torn one, an unknown key. The backups become wrong too. Never noticed.
* *It refused*: it does not start, or answers a read with an error, or ends at one. Noticed.
* *It said so*: a line of its log names the damage (checksum, corrupt, truncated ...), which the undamaged start does not say. Then it
  may leave out what it cannot trust, as Redis does with `aof-load-truncated`: somebody was told. Noticed.
* *It went back*: all up to some moment is there, and nothing after it, and nothing was said. A log whose end cannot be read looks like
  one whose end was never written; SQLite's WAL and others stop at the first bad frame by design, and what they serve is whole, though
  old. That is recovery: neither noticed nor missed, and alone no evidence.
* *It left out* records though later ones are there, and nothing was said. No recovery does that: acknowledged data is gone, the rest is
  served as if it were all, and nobody is told. Not noticed: this refutes the claim.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from storeproof.check import Anomaly, Finding, Shape, judge, losses
from storeproof.contract import Breach, Key, Layout, Maintenance, Refused, Session, Unknown, Unsupported, WrongReply, call, supports
from storeproof.errors import StoreDied
from storeproof.experiments.durability.bulk_load import BulkClient, Slots, loadable
from storeproof.experiments.durability.clients import Client
from storeproof.experiments.durability.file_damage import Copy, Kind, damage
from storeproof.experiments.durability.readback import by_key
from storeproof.experiments.durability.writers import write_some
from storeproof.history import ABSENT, Observation, Operation, Recorder
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome
from storeproof.records.self_verifying import identify

State = Literal["after a clean stop", "after a kill"]

_WRITES = 300
_BATCHES = 10
_READ = 1500
"""Keys that are read back each time."""
_REFUSALS = 20
"""In a row; a table that refuses all is not asked on."""
_WALK = 500
_MOST = 3
"""Times as many rounds, at most, until enough of them met something: what nobody reads shows nothing."""
_SHOWN = 3

_MADE_UP = (Anomaly.INVENTED, Anomaly.TORN)
_NAMES_DAMAGE: Final = re.compile(
    "checksum|crc|corrupt|damag|truncat|torn|mismatch|malformed|invalid|broken|bad |short read|unexpected end|incomplete|cannot read",
    re.IGNORECASE,
)
"""What a line of a log has that says of a file that it is not as it was written."""

History = Mapping[tuple[str, Key], Sequence[Operation]]


@dataclass
class Corruption:
    """What became of the rounds; each is counted once, under the first of these that is true of it."""

    kind: Kind
    rounds: int = 0
    served: list[str] = field(default_factory=list)
    """Rounds in which it served what nobody wrote: what, and after which damage."""
    would_not_start: int = 0
    refused: int = 0
    """Rounds in which it started, and refused reads or ended at one."""
    told: int = 0
    """Rounds in which records were missing, and its log said of the damage."""
    silent: list[str] = field(default_factory=list)
    """Rounds in which records were missing though later ones were there, and nothing was said."""
    back: int = 0
    """Rounds in which it went back to an earlier moment, and nothing was said."""
    whole: int = 0
    """Rounds in which all was there: the damage met nothing that it needs."""
    files: set[str] = field(default_factory=set)
    nothing: str = ""
    """Why there was nothing to damage."""
    left_out: list[str] = field(default_factory=list)
    """States of the directory that could not be tried, and why."""

    @property
    def noticed(self) -> int:
        """Rounds in which it refused, or said so."""
        return self.would_not_start + self.refused + self.told

    @property
    def findings(self) -> list[str]:
        """What refutes the claim, round by round."""
        return [*self.served, *self.silent]

    def outcome(self, *, claimed: bool) -> Outcome:
        """Given whether the variant claims to notice damage. Rounds that met nothing, or went back in silence, show nothing."""
        if self.findings:
            return Outcome.FAIL if claimed else Outcome.UNSUPPORTED
        if not self.noticed:
            return Outcome.INCONCLUSIVE if claimed else Outcome.UNSUPPORTED
        return Outcome.PASS if claimed else Outcome.UNDECLARED

    def detail(self) -> str:
        """In words."""
        if not self.rounds:
            return "; ".join(filter(None, [self.nothing, *self.left_out]))
        done = "bytes were changed" if self.kind == "flip" else "a file was cut short"
        parts = [f"{self.rounds} times {done} in {', '.join(sorted(self.files))}"]
        counts = (
            (len(self.served), "it served what nobody wrote"),
            (self.would_not_start, "it refused to start"),
            (self.refused, "it refused to read"),
            (self.told, "records were missing, as its log said"),
            (len(self.silent), "records were missing, and nothing said so"),
            (self.back, "it went back to an earlier moment"),
            (self.whole, "all was there"),
        )
        parts.append(", ".join(f"{number} times {what}" for number, what in counts if number))
        parts += self.served[:_SHOWN] + self.silent[:_SHOWN] + self.left_out
        return "; ".join(parts)


@dataclass
class Seen:
    """What one start served."""

    made_up: list[str] = field(default_factory=list)
    refused: bool = False
    findings: dict[tuple[str, Key], Finding] = field(default_factory=dict)
    log: dict[str, str] = field(default_factory=dict)
    """The lines that it wrote to its log, by their form: without the numbers, which are of times, processes and places."""


class Corrupted:
    """One store, loaded, stopped, loaded again and killed."""

    def __init__(
        self,
        handle: Handle,
        layouts: Mapping[str, Layout],
        *,
        connect: Callable[[Handle], Session],
        rng: random.Random,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`layouts`: of models whose records tell who wrote them."""
        assert handle.data is not None
        self._handle = handle
        self._data = handle.data
        self._layouts = layouts
        self._connect = connect
        self._rng = rng
        self._progress = progress
        self._recorder = Recorder()
        self._since = time.time() - 0.01  # files' times are those of the kernel's tick

    def run(self, kind: Kind, rounds: int) -> Corruption:
        """Damage and start so many times on what a stop left, and as often on what a kill left; more often while damage meets nothing.

        Raises:
            StoreDied: it does not start on what a clean stop left, without any damage.
            Refused, Unknown: it does not take the load.
        """
        found = Corruption(kind)
        copies: dict[State, Copy] = {}
        try:
            self._load(1, compact=True)
            self._handle.stop()
            copies["after a clean stop"] = Copy(self._data, self._data.parent / "stopped")
            written = {"after a clean stop": self._history()}
            self._handle.start()
            self._load(2)
            self._handle.kill()
            copies["after a kill"] = Copy(self._data, self._data.parent / "killed")
            written["after a kill"] = self._history()
            for state, copy in copies.items():
                self._rounds(found, state, copy, written[state], rounds)
        finally:
            for copy in copies.values():
                copy.remove()
        return found

    def _rounds(self, found: Corruption, state: State, copy: Copy, history: History, rounds: int) -> None:
        asked = self._asked(history)
        copy.put_back()
        try:
            sound = self._start(history, asked)
        except (StoreDied, Refused, Unknown) as reason:
            if state == "after a clean stop":
                raise
            found.left_out.append(f"{state} it does not start without damage either: {_first(reason)}")
            return
        if sound.refused or sound.made_up:
            found.left_out.append(f"{state} it does not answer all reads without damage either")
            return
        met = 0
        for number in range(1, _MOST * rounds + 1):
            if met == rounds or (number > rounds and met and state == "after a kill"):
                break
            self._progress(f"{state}, round {number}/{max(number, rounds)}")
            copy.put_back()
            done = damage(self._data, self._since, found.kind, self._rng, records=state == "after a clean stop")
            if done is None:
                found.nothing = "it wrote nothing to its files that could be damaged"
                break
            found.rounds += 1
            found.files.add(done.file)
            before = found.whole
            self._round(found, history, asked, sound, f"{state}, {done}")
            met += found.whole == before

    def _history(self) -> History:
        """What was written so far."""
        return {name: each for name, each in by_key(self._recorder.operations()).items() if name[0] in self._layouts}

    def _asked(self, history: History) -> dict[str, list[Key]]:
        """The keys that are read back at every start, by model."""
        most = _READ // len(self._layouts)
        of = {model: [key for name, key in history if name == model] for model in self._layouts}
        return {model: self._rng.sample(keys, min(len(keys), most)) for model, keys in of.items()}

    def _load(self, period: int, *, compact: bool = False) -> None:
        """Records of all kinds; half of them before the files are written anew, where the store has that."""
        session = self._connect(self._handle)
        try:
            for layout in self._layouts.values():
                session.collection(layout).prepare()
            self._write(session, period)
            if compact and isinstance(session, Maintenance):
                with suppress(Unsupported):
                    session.compact()
        finally:
            session.close()

    def _write(self, session: Session, period: int) -> None:
        writers: list[tuple[Client | BulkClient, int]] = [(self._client(period), _WRITES)]
        if loadable(session, self._layouts):
            loader = BulkClient(self._connect(self._handle), self._layouts, Slots(self._recorder), period, self._drawn())
            writers.append((loader, _BATCHES))
        for writer, steps in writers:
            write_some(writer, steps)

    def _start(self, history: History, asked: Mapping[str, Sequence[Key]]) -> Seen:
        """Start on what is there, read everything, and kill it. Raises `StoreDied`, `Refused`, `Unknown`: it was of no use."""
        before = self._handle.log_tail()
        try:
            self._handle.start()
            seen = self._read(history, asked)
            seen.log = _new_lines(before, self._handle.log_tail())
            return seen
        finally:
            self._handle.kill()

    def _round(self, found: Corruption, history: History, asked: Mapping[str, Sequence[Key]], sound: Seen, done: str) -> None:
        try:
            seen = self._start(history, asked)
        except (StoreDied, Refused, Unknown):
            found.would_not_start += 1
            return
        gone = [finding for name, finding in seen.findings.items() if finding.anomaly is not Anomaly.OK and _was_there(sound, name)]
        if seen.made_up:
            found.served.append(f"{done}, and then {_listed(seen.made_up)}")
        elif seen.refused:
            found.refused += 1
        elif not gone:
            found.whole += 1
        elif any(_NAMES_DAMAGE.search(line) for form, line in seen.log.items() if form not in sound.log):
            found.told += 1
        elif self._went_back(seen, sound):
            found.back += 1
        else:
            found.silent.append(f"{done}, and then {_listed([str(finding) for finding in gone])}")

    @staticmethod
    def _went_back(seen: Seen, sound: Seen) -> bool:
        """Whether one moment parts what is there from what is not."""
        comparable = [finding for name, finding in seen.findings.items() if _was_there(sound, name)]
        return losses(comparable, time.monotonic_ns()).shape is Shape.SUFFIX

    def _read(self, history: History, asked: Mapping[str, Sequence[Key]]) -> Seen:
        """What it serves, and whether it refused anything."""
        seen = Seen()
        session = self._connect(self._handle)
        try:
            for model, layout in self._layouts.items():
                in_a_row = 0
                collection = session.collection(layout)
                for key in asked[model]:
                    try:
                        record = call(collection, layout, "get", key)
                    except Refused:
                        seen.refused, in_a_row = True, in_a_row + 1
                        if in_a_row == _REFUSALS:
                            break
                        continue
                    except (Breach, WrongReply) as reason:  # it was a record when it was written
                        seen.made_up.append(f"{model}[{key!r}] was no record any more: {_short(str(reason))}")
                        continue
                    in_a_row = 0
                    identified = identify(layout.model, key, record) if record is not None else None
                    observed = Observation(identified.kind, identified.write_id or "") if identified else ABSENT
                    finding = seen.findings[model, key] = judge(history[model, key], observed)
                    if finding.anomaly in _MADE_UP:
                        seen.made_up.append(f"{model}[{key!r}] was {finding.anomaly}: {_short(record)}")
                if supports(collection, "walk"):
                    seen.made_up += self._strangers(session, layout, {key for name, key in history if name == model})
        except Unknown:
            seen.refused = True  # it ended rather than answer, or lost the connection
        except Refused:
            seen.refused = True
        finally:
            session.close()
        return seen

    def _strangers(self, session: Session, layout: Layout, known: set[Key]) -> list[str]:
        """Keys that nobody wrote, or what is no key at all."""
        collection = session.collection(layout)
        found: list[str] = []
        cursor = None
        while True:
            try:
                cursor, keys = call(collection, layout, "walk", cursor, _WALK)
            except (Breach, WrongReply) as reason:
                return [*found, f"a walk over {layout.model.model} met what is no key: {_short(str(reason))}"]
            found += [f"{layout.model.model}[{key!r}] was there, which nobody wrote" for key in keys if key not in known]
            if cursor is None or len(found) > _SHOWN:
                return found

    def _client(self, period: int) -> Client:
        return Client(self._connect(self._handle), self._layouts, self._recorder.client(), period, self._drawn())

    def _drawn(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))


def _was_there(sound: Seen, name: tuple[str, Key]) -> bool:
    """Whether the start without damage served it as it was acknowledged: a snapshot has not all, nor has a late sync."""
    return name in sound.findings and sound.findings[name].anomaly is Anomaly.OK


def _new_lines(before: str, after: str) -> dict[str, str]:
    """The lines that came to the tail of a log, by their form."""
    old, new = before.splitlines(), after.splitlines()
    known = next((size for size in range(min(len(old), len(new)), 0, -1) if old[-size:] == new[:size]), 0)
    return {re.sub(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*", "#", line): line for line in new[known:]}


def _first(reason: Exception) -> str:
    return str(reason).partition("\n")[0]


def _listed(what: Sequence[str]) -> str:
    more = f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else ""
    return f"{' | '.join(what[:_SHOWN])}{more}"


def _short(record: object) -> str:
    text = record if isinstance(record, str) else repr(record)
    return text if len(text) <= 90 else f"{text[:87]}..."
