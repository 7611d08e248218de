"""Records that clients write and delete, and that are read back after a fault: what rounds of a server and of a cluster have in common.

What happened is kept as evidence, which `RoundJudge` judges in the run, and again in `replay`.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic_ns

from storeproof.contract import Layout, Session
from storeproof.evidence import AuditEvidence
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.readback import check_usable, read
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload, K_contra
from storeproof.experiments.fault_experiment import Subject
from storeproof.history import Operation
from storeproof.spec.scale import DurabilityScale


class Records(FaultWorkload[K_contra]):
    """The records of many rounds; each round has keys of its own, and the last audit reads those of all."""

    summary: DurabilitySummary

    def __init__(
        self,
        subject: Subject,
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        judge: RoundJudge,
        atomic: frozenset[AtomicWrite],
    ) -> None:
        """`judge`: has the summary of earlier rounds, on another store that the machine spoiled; the rounds continue from there."""
        super().__init__(subject, layouts.values(), judge.summary)
        self.summary.clients = scale.clients
        self._layouts = layouts
        self._scale = scale
        self._judge = judge
        self._clients = Clients(subject, layouts, atomic)
        self._recorder = self._clients.recorder
        self._period = 0
        """The number of the load period; each period has its own keys."""

    def operations(self) -> list[Operation]:
        """All on this store."""
        return self._recorder.operations()

    def begin(self, strike: K_contra) -> None:
        """A round, which the judge hears of too."""
        super().begin(strike)
        self._judge.begin(self.round)

    def spoiled(self, strike: K_contra) -> None:
        """Keep it in the evidence, and do not count it."""
        super().spoiled(strike)
        self._judge.end(self.round)

    def finish(self) -> None:
        """Count the acknowledged and unknown operations."""
        self._judge.finish(self.operations())

    def _read_back(self, session: Session, *, everything: bool, first: int = 0) -> AuditEvidence:
        """Read the keys that were written since the last audit, or all keys. `first`: the number of the first client that wrote since."""
        moment = monotonic_ns()
        history = self._judge.history(self._recorder.operations(0 if everything else first), moment)
        seen, gone = read(session, self._layouts, self._judge.due(history, everything=everything))
        audit = AuditEvidence(moment, everything, seen, tuple(gone), monotonic_ns())
        self._judge.audited(history, audit, self.round)
        return audit

    def _check_usable(self, session: Session, since: str) -> None:
        """The next strike puts these writes at risk. `since`: what the store went through."""
        self._period += 1
        check_usable(self._clients, session, self._period, since, self._log_tail)

    def _log_tail(self) -> str:
        return self._subject.handle.log_tail()
