"""A disk that becomes full while clients write: errors are errors, what was acknowledged stays, and with space the store comes back.

A ballast file takes all the space that is free on the volume under the data. What a store then does is its own affair: refuse, wait or
end. But nothing that it acknowledged may be missing, and after the ballast is gone it must work again; a restart is allowed, and noted.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storeproof.blame import Ending
from storeproof.check import Anomaly, losses
from storeproof.contract import Key, Layout, Maintenance, Refused, Unknown, Unsupported
from storeproof.errors import StoreDied
from storeproof.experiments.client import Client, open_clients, send_some, under_load
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.summary import Summary, count_anomalies
from storeproof.history import by_place

_LOADERS = 2
_BEFORE_SECONDS = 0.5
"""How long clients write before the disk becomes full."""
_FULL_SECONDS = 15.0
_FULL_RECORDS = 20_000
"""Clients go on for this time, or for this number of records; a store that has not noticed by then had the space already."""
_STEP_SECONDS = 0.1
_SMALLEST = 4096
_BACK_SECONDS = 10.0
"""How long a store that lives may take until it takes writes again, once there is space; then it is restarted."""
_WRITES = 20
"""By which it shows that it does."""


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


@dataclass(kw_only=True)
class FullDiskSummary(Summary):
    """What the store did."""

    durability: DurabilitySummary = field(default_factory=DurabilitySummary)
    """What was read back."""
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

    def claimed(self, promises: Callable[[str], bool]) -> bool:
        """Whether what was acknowledged had to stay: over a crash, if there was one, and else over a stop."""
        return promises("process_crash" if self.ended or self.cut_short else "clean_restart")

    @property
    def ending(self) -> Ending:
        """How the case ends."""
        if self.broken:
            return Ending.SERVER_ENDED
        if self.durability.anomalies[Anomaly.INVENTED]:
            return Ending.MADE_UP
        if self.durability.harmed:
            return Ending.BROKEN_PROMISE
        return Ending.RIGHT if self.noticed or self.ended else Ending.NOTHING_SHOWN

    @property
    def findings(self) -> list[str]:
        """What was lost, and why the store is broken, with its log."""
        return [*self.durability.findings, *self._breakdown]

    @property
    def unexcused(self) -> list[str]:
        """What no missing promise excuses."""
        return [*self.durability.unexcused, *self._breakdown]

    @property
    def _breakdown(self) -> list[str]:
        return [f"{self.broken}; its log: {self.log}" if self.log else self.broken] if self.broken else []

    def parts(self) -> Iterator[str]:
        """What clients were told, and how the store came back."""
        yield f"{self.acknowledged} operations acknowledged, {self.during} of them after the disk was full"
        if self.noticed:
            yield "clients were told: " + " | ".join(self.noticed)
        elif not self.ended:
            yield "it took all writes: it needed no space that it had not taken before"
        if self.ended or self.cut_short:
            yield "it ended by itself" if self.ended else "it cut off clients, as in a crash"
        yield self.back
        if self.broken:
            yield self.broken
        elif self.durability.harmed:
            yield count_anomalies(self.durability.anomalies)
            yield "first: " + " | ".join(self.durability.first)
        else:
            yield f"nothing was lost of {len(self.durability.keys)} keys"


class FullDisk(FaultExperiment[None]):
    """One store whose data lies on a volume, filled once."""

    def __init__(self, subject: Subject, layouts: Mapping[str, Layout], *, clients: int, restarts: bool) -> None:
        """`restarts`: whether the variant promises to keep anything over a clean stop, so that it can be read from the disk."""
        super().__init__(subject)
        assert self.handle.data is not None
        self.summary = FullDiskSummary()
        self._clients = Clients(subject, layouts)
        self._recorder = self._clients.recorder
        self._writers = clients
        self._restarts = restarts
        self._ballast = Ballast(self.handle.data)
        self._period = 0
        self._harmed: set[tuple[str, Key]] = set()

    def setup(self) -> None:
        """Make the collections."""
        self._clients.prepare()

    def rounds(self) -> Iterator[None]:
        """One."""
        yield None

    @contextlib.contextmanager
    def load(self) -> Iterator[None]:
        """Clients that go on writing when the disk is full, until they have noticed or have done enough."""
        with self.subject.session() as session:
            clients = open_clients(self._writers, self._writer)
            if self._clients.can_load(session):
                clients += open_clients(_LOADERS, self._loader)
            with under_load(clients) as load:
                time.sleep(_BEFORE_SECONDS)
                yield
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
        self._note(clients, before)

    def fault(self) -> None:
        """Take all the space."""
        self._ballast.fill()

    def recover(self) -> None:
        """Give the space back, and wait until the store takes writes again.

        Raises:
            StoreDied, Refused, Unknown: it does not, also not after a restart.
        """
        self._ballast.remove()
        if not self.summary.ended:
            began = time.monotonic()
            while time.monotonic() - began < _BACK_SECONDS:
                with contextlib.suppress(Refused, Unknown):
                    self._use()
                    self.summary.back = f"it took writes again within {time.monotonic() - began + 0.1:.1f} s, without a restart"
                    return
                if not self.handle.alive():
                    self.summary.ended = True
                    break
                time.sleep(_STEP_SECONDS)
            else:
                self.handle.stop()
        self.handle.start()
        self._use()
        self.summary.back = "it took writes again after a restart"

    def audit(self) -> None:
        """Read everything back, and once more from the disk."""
        self._read_back()
        if self._restarts:
            self.handle.stop()
            self.handle.start()
            self._read_back()

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """It is broken. Raises `Unknown` where it runs and does not answer."""
        summary = self.summary
        match reason:
            case StoreDied():
                summary.broken, summary.log = reason.reason, reason.log
            case Refused():
                summary.broken, summary.log = f"with space again it does not work: {reason}", self.handle.log_tail()
            case _ if ended is None:
                raise reason
            case _:
                summary.broken, summary.log = f"with space again it ended: {reason}", self.handle.log_tail()

    def finish(self) -> None:
        """Nothing is left on the volume."""
        self._ballast.remove()
        self.summary.acknowledged = self._recorder.acknowledged

    def _note(self, clients: list[Client], before: int) -> None:
        """What the clients were told; `before`: operations that were acknowledged when the disk became full."""
        lost = [client.ended.unknown for client in clients if client.ended.unknown]
        refused = [client.ended.refusal for client in clients if client.ended.refusal]
        self.summary.during = self._recorder.acknowledged - before
        self.summary.ended = not self.handle.alive()
        self.summary.cut_short = bool(lost)
        self.summary.noticed = list(dict.fromkeys(text.splitlines()[0][:120] for text in sorted(lost)[:1] + sorted(refused)))[:3]

    def _use(self) -> None:
        """Some writes. Raises `Refused` or `Unknown` where not all are taken."""
        self._clients.prepare()
        client = self._writer()
        send_some(client, _WRITES)
        if client.acknowledged < _WRITES // 2:  # not every store subtracts, and so a few may be refused
            raise Refused(client.ended.refusal)

    def _read_back(self) -> None:
        history = {place: each for place, each in by_place(self._recorder.operations()).items() if place not in self._harmed}
        with self.subject.session() as session:
            findings, gone = audit(session, self._clients.layouts, history)
        self.summary.durability.gone.update(gone)
        self.summary.durability.add(findings, losses(findings, time.monotonic_ns()))
        self._harmed |= {(finding.collection, finding.key) for finding in findings if finding.anomaly is not Anomaly.OK}

    def _writer(self) -> Client:
        self._period += 1
        return self._clients.writer(self._period)

    def _loader(self) -> Client:
        self._period += 1
        return self._clients.loader(self._period)
