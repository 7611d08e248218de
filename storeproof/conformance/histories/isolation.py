"""Judges the transactions of each level again, and compares what follows with the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from storeproof.conformance.histories.judged_trials import JudgedTrials
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import EvidenceDamaged, StoreEvidence
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.history import Transaction
from storeproof.outcome import SHOWN
from storeproof.printable import in_one_line
from storeproof.records.self_verifying import write_id
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.result.model import OutcomeRecord
from storeproof.spec.cases import ISOLATION, isolation_case
from storeproof.spec.isolation import TransactionMix


@dataclass
class JudgedIsolation(JudgedTrials):
    """The transactions in one bundle."""

    _attempts: Counter[str] = field(default_factory=Counter)
    _judged: dict[str, IsolationSummary] = field(default_factory=dict)

    def take(self, part: StoreEvidence) -> bool:
        """Judge a part of the evidence; False: it has no transactions.

        Only the attempt that the result counts is judged: what ended in the middle may show reads of transactions that are not in it.

        Raises:
            EvidenceDamaged: it is none of a run.
            ClaimRefused: it is of another store or seed.
        """
        kept = part.transactions
        if kept is None:
            return False
        if kept.mix not in self.known.spec.mixes or part.case != isolation_case(kept.level, kept.mix):
            raise EvidenceDamaged(f"the transactions of {part.case[:60]!r} are none of its level and mix")
        if part.rounds or part.operations or part.crash is not None or part.errors is not None:
            raise EvidenceDamaged(f"the transactions of {part.case} are not all that there is of a store")
        number, record = self._attempts[part.case], self.record_of(part.case)
        self.check_seed(part, "transactions", f"isolation {kept.level} {kept.mix} {number}")
        self._attempts[part.case] += 1
        mix, cluster = self.known.spec.mixes[kept.mix], self.target.cluster
        promise = self.target.promise(kept.level, mix)
        if promise is None:
            raise EvidenceDamaged(f"there are transactions of {part.case}, a level that {self.target.id} does not have")
        if not _are_of(mix, {*kept.nodes}, {*cluster.nodes} if cluster is not None else set()):
            raise EvidenceDamaged(f"the transactions of {part.case} were sent to the nodes {in_one_line(', '.join(kept.nodes), 60)}")
        if record is None or record.isolation is None or number != record.spoiled:
            return True
        summary = IsolationSummary(level=kept.level, mix=kept.mix, guarantees=promise.guarantees)
        try:
            check_writes(kept.sent)
            summary.judge(kept)
        except ValueError as reason:
            raise EvidenceDamaged(f"the transactions of {part.case} cannot be judged: {in_one_line(str(reason), 160)}") from None
        self._judged[part.case] = summary
        return True

    def check(self) -> None:
        """Compare them with the result. Raises `ClaimRefused`: they show something else, or there are none of a case that has some."""
        records = {each.id: each for each in self.store.outcomes}
        for case in self._attempts.keys() - records.keys():
            raise ClaimRefused(Reason.EVIDENCE, f"there are transactions of {case}, which is no case of the result")
        for case, record in records.items():
            if record.isolation is not None:
                with self.disputable(case):
                    self._compare(record, record.isolation)
            elif record.outcome in SHOWN and case.startswith(ISOLATION):
                raise ClaimRefused(Reason.EVIDENCE, f"{case} is {record.outcome} in the result, which counts no transactions")

    def _compare(self, record: OutcomeRecord, counts: IsolationCounts) -> None:
        judged, attempts = self._judged.get(record.id), self._attempts[record.id]
        if judged is None or attempts != record.spoiled + 1:
            text = f"{record.id} has {attempts} attempts in the evidence, and {record.spoiled} that were spoiled in the result"
            raise ClaimRefused(Reason.ATTEMPTS, text)
        says, shows = counts.model_dump(), judged.counts().model_dump()
        for what in says:
            if says[what] != shows[what]:
                differs = f"{in_one_line(str(says[what]), 120)} in the result, and {in_one_line(str(shows[what]), 120)} by its transactions"
                raise ClaimRefused(Reason.ISOLATION, f"{record.id}: {what} is {differs}")
        self.check_outcome(record, judged, Reason.ISOLATION, claimed=True)
        self.said.append(f"{record.id}: {judged.outcomes.total():,} transactions judged again")


def _are_of(mix: TransactionMix, nodes: set[str], cluster: set[str]) -> bool:
    """Whether a mix is sent to these nodes of a cluster: all, one, or none that is named."""
    return nodes == cluster if mix.across_nodes else nodes <= cluster and len(nodes) == mix.of_a_cluster


def check_writes(sent: Sequence[Transaction]) -> None:
    """Raises `ValueError`: a write of a client is left out, or is another's; each client numbers its own from 1."""
    written = Counter[int]()
    for each in sent:
        for access in each.accesses:
            if access.action == "write":
                written[each.client] += 1
                if access.version != write_id(each.client, written[each.client]):
                    wanted = f"write {written[each.client]} of client {each.client}"
                    raise ValueError(f"{in_one_line(str(access.version), 40)} is where {wanted} should be")
