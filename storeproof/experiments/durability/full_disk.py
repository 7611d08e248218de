"""A disk that becomes full while clients write: errors are errors, what was acknowledged stays, and with space comes back the store.

A ballast file takes all the space that is free on the volume under the data. What a store then does is its own affair: refuse, wait or
end. But nothing that it acknowledged may be missing, and after the ballast is gone it must work again; a restart is allowed, and noted.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storeproof.blame import Ending, outcome_of
from storeproof.check import Anomaly, losses
from storeproof.contract import Key, Layout, Maintenance, Refused, Session, Unknown, Unsupported
from storeproof.errors import StoreDied
from storeproof.experiments.client_threads import running
from storeproof.experiments.durability.bulk_load import BulkClient, Slots, loadable
from storeproof.experiments.durability.clients import Client
from storeproof.experiments.durability.durability_summary import Tally
from storeproof.experiments.durability.readback import audit, by_key
from storeproof.experiments.durability.writers import Writer, raise_failures, write_some
from storeproof.history import Recorder
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome

_LOADERS = 2
_BEFORE_SECONDS = 0.5
"""How long clients write before the disk becomes full."""
_FULL_SECONDS = 15.0
_FULL_RECORDS = 20_000
"""So long, or for so many records, clients write on; a store that has not noticed then had the space already."""
_STEP_SECONDS = 0.1
_SMALLEST = 4096
_BACK_SECONDS = 10.0
"""How long a store that lives may take until it takes writes again, once there is space; then it is restarted."""
_AFTERWARDS = 20


class Ballast:
    """A file that takes what is free."""

    def __init__(self, at: Path) -> None:
        self._file = at / "storeproof-ballast"

    def fill(self) -> None:
        """Take all that is free, down to the last block; done again, it takes what became free meanwhile."""
        descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            found = os.fstatvfs(descriptor)
            step = max(found.f_bavail * found.f_frsize, _SMALLEST)
            size = os.fstat(descriptor).st_size
            while step >= _SMALLEST:
                try:
                    os.posix_fallocate(descriptor, size, step)
                except OSError:  # not so much; what a failed try took is given back
                    os.ftruncate(descriptor, size)
                    step //= 2
                    continue
                size += step
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """Give the space back."""
        self._file.unlink(missing_ok=True)


@dataclass
class Filled:
    """What the store did."""

    tally: Tally = field(default_factory=Tally)
    noticed: list[str] = field(default_factory=list)
    """What clients were told, each once."""
    acknowledged: int = 0
    during: int = 0
    """Of them, while the disk was full."""
    ended: bool = False
    """It ended by itself while the disk was full."""
    cut_short: bool = False
    """Clients lost their connections: it, or a part of it, ended or hung. Some servers start themselves again, with what a crash leaves."""
    back: str = ""
    """How it came back."""
    broken: str = ""
    log: str = ""

    def outcome(self, promises: Callable[[str], bool]) -> Outcome:
        """Given what the variant promises: to keep what it acknowledged over a crash, if there was one, and else over a stop."""
        promised = self._promised(promises)
        if self.broken:
            return outcome_of(Ending.SERVER_ENDED, claimed=promised)
        if self.tally.anomalies[Anomaly.INVENTED]:
            return outcome_of(Ending.MADE_UP, claimed=promised)
        if self.tally.harmed:
            return outcome_of(Ending.BROKEN_PROMISE, claimed=promised)
        if not self.noticed and not self.ended:
            return Outcome.INCONCLUSIVE if promised else Outcome.UNSUPPORTED
        return outcome_of(Ending.RIGHT, claimed=promised)

    def findings(self, promises: Callable[[str], bool]) -> list[str]:
        """What makes it a failure: what was lost, and why the store is broken, with its log."""
        broken = f"{self.broken}; its log: {self.log}" if self.log else self.broken
        return [*self.tally.findings(claimed=self._promised(promises)), *([broken] if broken else [])]

    def _promised(self, promises: Callable[[str], bool]) -> bool:
        """Whether what was acknowledged had to stay."""
        return promises("process_crash" if self.ended or self.cut_short else "clean_restart")

    def detail(self) -> str:
        """In words."""
        parts = [f"{self.acknowledged} operations acknowledged, {self.during} of them after the disk was full"]
        if self.noticed:
            parts.append("clients were told: " + " | ".join(self.noticed))
        elif not self.ended:
            parts.append("it took all writes: it needed no space that it had not taken before")
        if self.ended or self.cut_short:
            parts.append("it ended by itself" if self.ended else "it cut off clients, as in a crash")
        if self.back:
            parts.append(self.back)
        if self.broken:
            parts.append(self.broken)
        elif self.tally.harmed:
            harm = sorted((verdict, number) for verdict, number in self.tally.anomalies.items() if verdict is not Anomaly.OK)
            parts.append(", ".join(f"{number} {verdict}" for verdict, number in harm))
            parts.append("first: " + " | ".join(self.tally.first))
        else:
            parts.append(f"nothing was lost of {len(self.tally.keys)} keys")
        text = "; ".join(parts)
        return f"{text}\n--- last lines of its log ---\n{self.log}" if self.log else text


class FullDisk:
    """One store whose data lies on a volume."""

    def __init__(
        self,
        handle: Handle,
        layouts: Mapping[str, Layout],
        *,
        connect: Callable[[Handle], Session],
        clients: int,
        restarts: bool,
        rng: random.Random,
    ) -> None:
        """`restarts`: whether the variant promises to keep anything over a clean stop, so that it can be read from the disk."""
        assert handle.data is not None
        self._handle = handle
        self._layouts = layouts
        self._connect = connect
        self._clients = clients
        self._restarts = restarts
        self._rng = rng
        self._ballast = Ballast(handle.data)
        self._recorder = Recorder()
        self._filled = Filled()
        self._period = 0
        self._harmed: set[tuple[str, Key]] = set()

    def run(self) -> Filled:
        """Fill, look, make space, look again.

        Raises:
            Unknown: with space again it runs, and does not answer.
            Breach: the adapter broke the contract.
        """
        try:
            self._fill()
            self._ballast.remove()
            self._come_back()
            self._look()
            if self._restarts:
                self._handle.stop()
                self._handle.start()
                self._look()
        except StoreDied as reason:
            self._filled.broken, self._filled.log = reason.reason, reason.log
        except Unknown as reason:
            if self._handle.alive():
                raise
            self._filled.broken, self._filled.log = f"with space again it ended: {reason}", self._handle.log_tail()
        except Refused as reason:
            self._filled.broken, self._filled.log = f"with space again it does not work: {reason}", self._handle.log_tail()
        finally:
            self._ballast.remove()
        self._filled.acknowledged = self._recorder.acknowledged
        return self._filled

    def _fill(self) -> None:
        session = self._connect(self._handle)
        try:
            for layout in self._layouts.values():
                session.collection(layout).prepare()
            writers: list[Writer] = [self._client() for _ in range(self._clients)]
            if loadable(session, self._layouts):
                writers += [self._loader() for _ in range(_LOADERS)]
            with running([writer.run for writer in writers]) as load:
                time.sleep(_BEFORE_SECONDS)
                self._ballast.fill()
                before = self._recorder.acknowledged
                if isinstance(session, Maintenance):  # so that it needs space soon
                    with contextlib.suppress(Refused, Unknown, Unsupported):
                        session.compact()
                deadline = time.monotonic() + _FULL_SECONDS
                while load.alive and time.monotonic() < deadline:
                    if self._recorder.acknowledged - before > _FULL_RECORDS:
                        break
                    time.sleep(_STEP_SECONDS)
                    self._ballast.fill()
        finally:
            session.close()
        raise_failures(writers)
        self._filled.during = self._recorder.acknowledged - before
        self._filled.ended = not self._handle.alive()
        lost = [writer.ended.unknown for writer in writers if writer.ended.unknown]
        refused = [writer.ended.refusal for writer in writers if writer.ended.refusal]
        self._filled.cut_short = bool(lost)
        self._filled.noticed = list(dict.fromkeys(text.splitlines()[0][:120] for text in sorted(lost)[:1] + sorted(refused)))[:3]

    def _come_back(self) -> None:
        """Until it takes writes again.

        Raises:
            StoreDied, Refused, Unknown: it does not, also not after a restart.
        """
        if not self._filled.ended:
            began = time.monotonic()
            while time.monotonic() - began < _BACK_SECONDS:
                with contextlib.suppress(Refused, Unknown):
                    self._use()
                    self._filled.back = f"it took writes again within {time.monotonic() - began + 0.1:.1f} s, without a restart"
                    return
                if not self._handle.alive():
                    self._filled.ended = True
                    break
                time.sleep(_STEP_SECONDS)
            else:
                self._handle.stop()
        self._handle.start()
        self._use()
        self._filled.back = "it took writes again after a restart"

    def _use(self) -> None:
        """Some writes. Raises `Refused` or `Unknown` where not all are taken."""
        session = self._connect(self._handle)
        try:
            for layout in self._layouts.values():
                session.collection(layout).prepare()
        finally:
            session.close()
        client = self._client()
        write_some(client, _AFTERWARDS)
        if client.acknowledged < _AFTERWARDS // 2:  # not every store subtracts, and so a few may be refused
            raise Refused(client.ended.refusal)

    def _look(self) -> None:
        """Read everything back."""
        session = self._connect(self._handle)
        try:
            history = {name: each for name, each in by_key(self._recorder.operations()).items() if name not in self._harmed}
            findings, gone = audit(session, self._layouts, history)
        finally:
            session.close()
        self._filled.tally.gone.update(gone)
        self._filled.tally.add(findings, losses(findings, time.monotonic_ns()))
        self._harmed |= {(finding.collection, finding.key) for finding in findings if finding.anomaly is not Anomaly.OK}

    def _client(self) -> Client:
        self._period += 1
        return Client(self._connect(self._handle), self._layouts, self._recorder.client(), self._period, self._drawn())

    def _loader(self) -> BulkClient:
        self._period += 1
        return BulkClient(self._connect(self._handle), self._layouts, Slots(self._recorder), self._period, self._drawn())

    def _drawn(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))
