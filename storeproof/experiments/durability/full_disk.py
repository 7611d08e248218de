"""A disk that becomes full while clients write: acknowledged writes must be kept, and the store must work again once there is space.

A ballast file takes all free space on the volume of the data. The store may then refuse, wait or end. But no acknowledged write may be
missing, and after the ballast is removed the store must work again; a restart is allowed, and reported.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storeproof.blame import CaseEnding
from storeproof.check import Anomaly, losses
from storeproof.contract import Key, Layout, Maintenance, Refused, Unknown, Unsupported
from storeproof.errors import StoreDied
from storeproof.experiments.client import Client, open_clients, send_some, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.summary import Summary, count_anomalies
from storeproof.history import by_place
from storeproof.spec.known_failure import CaseFinding

_LOADERS = 2
_BEFORE = 1000
"""Acknowledged records before the disk becomes full."""
_BEFORE_SECONDS = 0.5
"""A slow store has fewer."""
_LOOK_SECONDS = 0.005
_FULL_SECONDS = 15.0
_FULL_RECORDS = 20_000
"""Clients continue for this time or this number of records; a store that has not noticed by then had allocated its space already."""
_STEP_SECONDS = 0.1
_SMALLEST = 4096
_BACK_SECONDS = 10.0
"""Time for a running store to accept writes again once there is space; then it is restarted."""
_WRITES = 20
"""The number of writes that check this."""


class Ballast:
    """A file that takes all free space."""

    def __init__(self, at: Path) -> None:
        self._file = at / "storeproof-ballast"

    def fill(self) -> None:
        """Take all free space, down to the last block; another call takes what has become free since."""
        descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            found = os.fstatvfs(descriptor)
            step = max(found.f_bavail * found.f_frsize, _SMALLEST)
            size = os.fstat(descriptor).st_size
            while step >= _SMALLEST:
                try:
                    os.posix_fallocate(descriptor, size, step)
                except OSError:  # not that much; give back what the failed call took
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
    """The result of reading everything back."""
    noticed: list[str] = field(default_factory=list)
    """The errors that clients got, each once."""
    acknowledged: int = 0
    during: int = 0
    """Those while the disk was full."""
    ended: bool = False
    """It ended by itself while the disk was full."""
    cut_short: bool = False
    """Clients lost their connections: the server or a part of it ended or hung. Some servers restart by themselves, as after a crash."""
    back: str = ""
    """How it started to work again."""
    broken: str = ""

    def claimed(self, promises: Callable[[str], bool]) -> bool:
        """Whether acknowledged writes had to be kept: over a crash if there was one, else over a clean stop."""
        return promises("process_crash" if self.ended or self.cut_short else "clean_restart")

    @property
    def ending(self) -> CaseEnding:
        """How the case ends."""
        if self.broken:
            return CaseEnding.SERVER_ENDED
        if self.durability.anomalies[Anomaly.INVENTED]:
            return CaseEnding.MADE_UP
        if self.durability.harmed:
            return CaseEnding.BROKEN_PROMISE
        return CaseEnding.RIGHT if self.noticed or self.ended else CaseEnding.NOTHING_SHOWN

    @property
    def findings(self) -> Sequence[CaseFinding]:
        """The losses, and why the store is broken, with its log."""
        return [*self.durability.findings, *self._breakdown]

    @property
    def unexcused(self) -> Sequence[CaseFinding]:
        """The findings that are a failure even without a claim."""
        return [*self.durability.unexcused, *self._breakdown]

    @property
    def _breakdown(self) -> list[CaseFinding]:
        said = f"{self.broken}; its log: {self.log}" if self.log else self.broken
        return [CaseFinding(said, frozenset({"unusable"}), said=said)] if said else []

    def parts(self) -> Iterator[str]:
        """The errors that clients got, and how the store started to work again."""
        yield f"{self.acknowledged} operations acknowledged, {self.during} of them after the disk was full"
        if self.noticed:
            yield "errors to clients: " + " | ".join(self.noticed)
        elif not self.ended:
            yield "it accepted all writes: it had allocated its disk space before"
        if self.ended or self.cut_short:
            yield "it ended by itself" if self.ended else "it dropped client connections, as in a crash"
        yield self.back
        if self.broken:
            yield self.broken
        elif self.durability.harmed:
            yield count_anomalies(self.durability.anomalies)
            yield "first: " + " | ".join(self.durability.first)
        else:
            yield f"nothing lost of {len(self.durability.keys)} keys"


class FullDisk(FaultExperiment[None]):
    """One store whose data is on a volume, which is filled once."""

    def __init__(self, subject: Subject, layouts: Mapping[str, Layout], *, clients: int, restarts: bool) -> None:
        """`restarts`: whether the variant claims to keep data over a clean stop, so that it can be read from the disk."""
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
        """Create the collections."""
        self._clients.prepare()

    def rounds(self) -> Iterator[None]:
        """One."""
        yield None

    @contextlib.contextmanager
    def load(self) -> Iterator[None]:
        """Clients that keep writing when the disk is full, until they get errors or have written enough."""
        with self.subject.session() as session:
            clients = open_clients(self._writers, self._writer)
            if self._clients.can_load(session):
                clients += open_clients(_LOADERS, self._loader)
            with under_load(clients) as load:
                wait_until(lambda: self._recorder.acknowledged >= _BEFORE or not load.alive, _BEFORE_SECONDS, _LOOK_SECONDS)
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
        """Free the space, and wait until the store accepts writes again.

        Raises:
            StoreDied, Refused, Unknown: it does not, even after a restart.
        """
        self._ballast.remove()
        if not self.summary.ended:
            began = time.monotonic()
            while time.monotonic() - began < _BACK_SECONDS:
                with contextlib.suppress(Refused, Unknown):
                    self._use()
                    self.summary.back = f"it accepted writes again within {time.monotonic() - began + 0.1:.1f} s, without a restart"
                    return
                if self.how_it_ended() is not None:
                    self.summary.ended = True
                    break
                time.sleep(_STEP_SECONDS)
            else:
                self.handle.stop()
        self.handle.start()
        self._use()
        self.summary.back = "it accepted writes again after a restart"

    def audit(self) -> None:
        """Read everything back, and once more from the disk."""
        self._read_back()
        if self._restarts:
            self.handle.stop()
            self.handle.start()
            self._read_back()

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is broken. Raises `Unknown` if it runs but does not answer."""
        summary = self.summary
        match reason:
            case StoreDied():
                summary.broken, summary.log = reason.reason, reason.log
            case Refused():
                summary.broken, summary.log = f"it does not work after space was freed: {reason}", self.handle.log_tail()
            case _ if ended is None:
                raise reason
            case _:
                summary.broken, summary.log = f"it ended after space was freed: {reason}", self.handle.log_tail()

    def finish(self) -> None:
        """Remove the ballast."""
        self._ballast.remove()
        self.summary.acknowledged = self._recorder.acknowledged

    def _note(self, clients: list[Client], before: int) -> None:
        """Record the errors that clients got; `before`: operations that were acknowledged when the disk became full."""
        lost = [client.ended.unknown for client in clients if client.ended.unknown]
        refused = [client.ended.refusal for client in clients if client.ended.refusal]
        self.summary.during = self._recorder.acknowledged - before
        self.summary.ended = self.how_it_ended() is not None
        self.summary.cut_short = bool(lost)
        self.summary.noticed = list(dict.fromkeys(text.splitlines()[0][:120] for text in sorted(lost)[:1] + sorted(refused)))[:3]

    def _use(self) -> None:
        """Some writes. Raises `Refused` or `Unknown` if they are not accepted."""
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
