"""Files that were damaged while the store was down: it must refuse them or recover what it can, and never serve what nobody wrote.

One load and one kill; then again and again the same directory, damaged at another place. To lose data is allowed here: it is the
operator's who has backups. To invent it is not, since then the backups become wrong too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from storeproof.check import Verdict, judge
from storeproof.contract import Breach, Key, Layout, Maintenance, Refused, Session, Unknown, Unsupported, call, supports
from storeproof.errors import StoreDied
from storeproof.history import ABSENT, Observation, Operation, Recorder
from storeproof.launch.handle import Handle
from storeproof.load.records import identify
from storeproof.outcome import Outcome
from storeproof.suites.durability.audit import by_key
from storeproof.suites.durability.bulk import BulkClient, Slots, loadable
from storeproof.suites.durability.clients import Client
from storeproof.suites.durability.damage import Copy, Kind, damage
from storeproof.suites.durability.writers import write_some

_WRITES = 300
_BATCHES = 10
_READ = 1500
"""Keys that are read back each time."""
_REFUSALS = 20
"""In a row; a table that refuses all is not asked on."""
_WALK = 500
_MOST = 3
"""Times as many rounds, at most, until any damage shows: what nobody reads shows nothing."""
_SHOWN = 3

_MADE_UP = (Verdict.INVENTED, Verdict.TORN)


@dataclass
class Corruption:
    """What became of the rounds; each is counted once, under the gravest."""

    kind: Kind
    rounds: int = 0
    served: list[str] = field(default_factory=list)
    """Rounds in which it served what nobody wrote: what, and after which damage."""
    would_not_start: int = 0
    refused: int = 0
    """Rounds in which it started, and refused reads or ended at one."""
    lost: int = 0
    """Rounds in which it started without some of the data."""
    whole: int = 0
    """Rounds in which all was there: the damage met nothing that it needs."""
    files: set[str] = field(default_factory=set)
    nothing: str = ""
    """Why there was nothing to damage."""

    def outcome(self, *, claimed: bool) -> Outcome:
        """Given whether the variant claims to notice damage. Rounds that met nothing show nothing."""
        if self.served:
            return Outcome.FAIL if claimed else Outcome.UNSUPPORTED
        if self.rounds == self.whole:
            return Outcome.INCONCLUSIVE if claimed else Outcome.UNSUPPORTED
        return Outcome.PASS if claimed else Outcome.UNDECLARED

    def detail(self) -> str:
        """In words."""
        if self.nothing:
            return self.nothing
        done = "bytes were changed" if self.kind == "flip" else "a file was cut short"
        parts = [f"{self.rounds} times {done} in {', '.join(sorted(self.files))}"]
        counts = (
            (len(self.served), "it served what nobody wrote"),
            (self.would_not_start, "it refused to start"),
            (self.refused, "it refused to read"),
            (self.lost, "it started without a part of the data"),
            (self.whole, "all was there"),
        )
        parts.append(", ".join(f"{number} times {what}" for number, what in counts if number))
        parts += self.served[:_SHOWN]
        return "; ".join(parts)


class Corrupted:
    """One store, loaded and killed once."""

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
        self._since = 0.0

    def run(self, kind: Kind, rounds: int) -> Corruption:
        """Load, kill, then damage and start so many times; more often while no damage has met anything that the store reads.

        Raises:
            StoreDied: it does not start on its whole data.
            Refused, Unknown: it does not take the load.
        """
        self._load()
        self._handle.kill()
        history = {name: each for name, each in by_key(self._recorder.operations()).items() if name[0] in self._layouts}
        found = Corruption(kind)
        copy = Copy(self._data, self._data.parent / "copy")
        try:
            for number in range(1, _MOST * rounds + 1):
                if number > rounds and found.whole < found.rounds:
                    break  # enough, and some of it was noticed
                self._progress(f"round {number}/{max(number, rounds)}")
                if number > 1:
                    copy.put_back()
                done = damage(self._data, self._since, kind, self._rng)
                if done is None:
                    found.nothing = "it wrote nothing to its files that could be damaged"
                    break
                found.rounds += 1
                found.files.add(done.file)
                self._round(found, history, str(done))
        finally:
            copy.remove()
        return found

    def _load(self) -> None:
        """Records of all kinds; half of them before the files are written anew, where the store has that."""
        session = self._connect(self._handle)
        try:
            for layout in self._layouts.values():
                session.collection(layout).prepare()
            self._since = time.time() - 0.01  # files' times are those of the kernel's tick
            self._write(session, 1)
            if isinstance(session, Maintenance):
                with suppress(Unsupported):
                    session.compact()
            self._write(session, 2)
        finally:
            session.close()

    def _write(self, session: Session, period: int) -> None:
        writers: list[tuple[Client | BulkClient, int]] = [(self._client(period), _WRITES)]
        if loadable(session, self._layouts):
            loader = BulkClient(self._connect(self._handle), self._layouts, Slots(self._recorder), period, self._drawn())
            writers.append((loader, _BATCHES))
        for writer, steps in writers:
            write_some(writer, steps)

    def _round(self, found: Corruption, history: Mapping[tuple[str, Key], Sequence[Operation]], done: str) -> None:
        try:
            self._handle.start()
            served, refused, lost = self._read(history)
        except (StoreDied, Refused, Unknown):
            found.would_not_start += 1
            return
        finally:
            self._handle.kill()
        if served:
            more = f" and {len(served) - _SHOWN} more" if len(served) > _SHOWN else ""
            found.served.append(f"{done}, and then {' | '.join(served[:_SHOWN])}{more}")
        elif refused:
            found.refused += 1
        elif lost:
            found.lost += 1
        else:
            found.whole += 1

    def _read(self, history: Mapping[tuple[str, Key], Sequence[Operation]]) -> tuple[list[str], bool, bool]:
        """What it serves that nobody wrote, whether it refused anything, and whether anything is missing."""
        served: list[str] = []
        refused = lost = False
        session = self._connect(self._handle)
        try:
            for model, layout in self._layouts.items():
                keys = [key for name, key in history if name == model]
                in_a_row = 0
                collection = session.collection(layout)
                for key in self._rng.sample(keys, min(len(keys), _READ // len(self._layouts))):
                    try:
                        record = call(collection, layout, "get", key)
                    except Refused:
                        refused, in_a_row = True, in_a_row + 1
                        if in_a_row == _REFUSALS:
                            break
                        continue
                    except Breach as reason:  # it was a record when it was written
                        served.append(f"{model}[{key!r}] was no record any more: {_short(str(reason))}")
                        continue
                    in_a_row = 0
                    seen = identify(layout.model, key, record) if record is not None else None
                    finding = judge(history[model, key], Observation(seen.kind, seen.stamp or "") if seen else ABSENT)
                    if finding.verdict in _MADE_UP:
                        served.append(f"{model}[{key!r}] was {finding.verdict}: {_short(record)}")
                    lost = lost or finding.verdict is not Verdict.OK
                if supports(collection, "walk"):
                    served += self._strangers(session, layout, set(keys))
        except Unknown:
            return served, True, lost  # it ended rather than answer, or lost the connection
        except Refused:
            refused = True
        finally:
            session.close()
        return served, refused, lost

    def _strangers(self, session: Session, layout: Layout, known: set[Key]) -> list[str]:
        """Keys that nobody wrote."""
        collection = session.collection(layout)
        found: list[str] = []
        cursor = None
        while True:
            cursor, keys = call(collection, layout, "walk", cursor, _WALK)
            found += [f"{layout.model.model}[{key!r}] was there, which nobody wrote" for key in keys if key not in known]
            if cursor is None or len(found) > _SHOWN:
                return found

    def _client(self, period: int) -> Client:
        return Client(self._connect(self._handle), self._layouts, self._recorder.client(), period, self._drawn())

    def _drawn(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))


def _short(record: object) -> str:
    text = record if isinstance(record, str) else repr(record)
    return text if len(text) <= 90 else f"{text[:87]}..."
