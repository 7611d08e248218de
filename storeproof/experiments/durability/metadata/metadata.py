"""One fault on a store with metadata of all kinds: one half was in the files that the store has rewritten, the other in its log.

    write one half | rewrite the files | write the other half | fault | start | look at both

Nothing is written while the fault strikes: that acknowledged writes are kept under load is what the guarantees are tried for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from storeproof.contract import Address, Maintenance, Refused, Session, Unknown, Unsupported
from storeproof.errors import MachineFailed, StoreDied, Unusable
from storeproof.experiments.correctness.clock_jump import Clock
from storeproof.experiments.durability.metadata.aspect import Aspect, Part
from storeproof.experiments.durability.metadata.metadata_summary import MetadataSummary
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.faults import Fault
from storeproof.spec.known_failure import CaseFinding


class Metadata(FaultExperiment[None]):
    """One store, one fault."""

    def __init__(self, subject: Subject, fault: Fault, aspects: Sequence[Aspect], summary: MetadataSummary) -> None:
        super().__init__(subject)
        self.summary = summary
        self._fault = fault
        self._aspects = [each for each in aspects if each.offers]
        self._clock = Clock()
        self._before: Address | None = None

    def setup(self) -> None:
        """Quiesce the store before its power is cut."""
        if self._fault.cuts_off:
            self.handle.quiesce()  # a power cut at the first start is another experiment

    def rounds(self) -> Iterator[None]:
        """One."""
        yield None

    @contextmanager
    def load(self) -> Iterator[None]:
        """Both halves, acknowledged, and the moment at which the fault may strike."""
        self.handle.wait_whole()
        self._before = self.handle.address
        with self.subject.session() as session:
            self._write(session, "rewritten")
            self._rewrite(session)
            self._write(session, "logged")
            self._wait(max((each.not_before for each in self._aspects), default=0.0))
            self.handle.check_alive()
            yield

    def fault(self) -> None:
        """Strike."""
        self._fault.strike(self.handle)

    def recover(self) -> None:
        """Start the store."""
        self.handle.start()
        self.handle.wait_whole()

    def audit(self) -> None:
        """Look at all."""
        self._wait(max((each.due for each in self._aspects), default=0.0))
        kept, wrong = list[str](), list[CaseFinding]()
        with self.subject.session() as session:
            for each in self._aspects:
                found = [_found(each, line) for line in self._looked(each, session)]
                wrong += found
                if not found and each.shown:
                    kept.append(each.name)
        if wrong and (set_by := self._clock.set_by()):
            raise MachineFailed(f"{set_by}, and times to live depend on it: {wrong[0]}")
        self.summary.kept, self.summary.wrong = kept, wrong
        self.summary.told = [line for each in self._aspects for line in each.told]

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Raise it; of a store on the disk that a power cut has left, `Unusable`."""
        died = ended or reason
        raise Unusable(died.reason, died.log) if self._fault.cuts_off and isinstance(died, StoreDied) else died

    def _write(self, session: Session, part: Part) -> None:
        for each in list(self._aspects):
            try:
                each.write(session, part)
            except Unsupported:
                self._aspects.remove(each)  # claimed and refused: correctness fails on it

    def _rewrite(self, session: Session) -> None:
        if isinstance(session, Maintenance):
            with suppress(Refused, Unsupported):  # busy, or it has no such command
                self.summary.rewrite = session.compact()

    def _looked(self, aspect: Aspect, session: Session) -> Iterator[str | CaseFinding]:
        try:
            yield from aspect.look(session, moved=self.handle.address != self._before)
        except Refused as reason:
            yield f"refused: {str(reason)[:200]}"

    def _wait(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            time.sleep(left)


def _found(aspect: Aspect, line: str | CaseFinding) -> CaseFinding:
    found = line if isinstance(line, CaseFinding) else CaseFinding(line, frozenset({"not_kept"}))
    return replace(found, words=f"{aspect.name}: {found}", load=aspect.name.replace(" ", "_"))
