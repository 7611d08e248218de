"""Collects the results of a run while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from storeproof.machine.program_origin import ProgramOrigin
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, Stage, worst
from storeproof.result.consistency import highest_held
from storeproof.result.measured.cache import CacheRecord
from storeproof.result.measured.case_records import HistoryRecord, ScalingRecord
from storeproof.result.measured.cluster_round import CaseRounds
from storeproof.result.measured.outage import OutageRecord
from storeproof.result.measurement import JointLoad, Measurement
from storeproof.result.model import Durability, GuaranteeRecord, Harm, OutcomeRecord
from storeproof.result.proof import Proof
from storeproof.spec.guarantee import LADDER, rank
from storeproof.spec.store import Target


@dataclass
class StoreRecord:
    target: Target
    version: str | None = None
    launch: str | None = None
    image_digest: str | None = None
    binary_digest: str | None = None
    origins: Sequence[ProgramOrigin] = ()
    proof: Proof | None = None
    """What another result shows of the target, cited by this run."""
    settings: dict[str, str] = field(default_factory=dict)
    timeouts: dict[str, str] = field(default_factory=dict)
    outcomes: list[OutcomeRecord] = field(default_factory=list)
    guarantees: list[GuaranteeRecord] = field(default_factory=list)
    failovers: list[CaseRounds] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    scaling: list[ScalingRecord] = field(default_factory=list)
    outages: list[OutageRecord] = field(default_factory=list)
    joint: list[JointLoad] = field(default_factory=list)
    cache: CacheRecord = field(default_factory=CacheRecord)
    histories: list[HistoryRecord] = field(default_factory=list)
    evidence: list[bytes] = field(default_factory=list)
    """Of the durability rounds, one packed part for each store that was struck."""
    sources: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the files that judge it, by name."""
    proofs: dict[tuple[str, str], list[Outcome]] = field(default_factory=dict)
    """Outcomes of correctness by (model, operation)."""

    def add(self, record: OutcomeRecord, model: str = "", operations: Iterable[str] = ()) -> None:
        """Add an outcome, and the operations on a model that it proves."""
        self.outcomes.append(record)
        # A clear refusal (of an index that the store does not support, say) is no evidence either way.
        if record.stage is Stage.CORRECTNESS and record.outcome is not Outcome.UNSUPPORTED and record.decides:
            for operation in operations:
                self.proofs.setdefault((model, operation), []).append(record.outcome)

    def unproven(self, model: str, operation: str) -> str | None:
        """Why an operation must not be measured; None if all its answers were correct: in this run, or where it was not verified in this
        run, in the one that is cited."""
        outcomes = self.proofs.get((model, operation), [])
        if not outcomes and self.proof is not None:
            cited, run = self.proof.outcome(model, operation), self.proof.citation.run
            if cited in SHOWN:
                return None
            why = "nor in" if cited is None else f"and not correct ({cited}) in"
            return f"{operation} on {model} was not verified in this run, {why} the run {run} that is cited"
        if not outcomes:
            return f"{operation} on {model} was not verified in this run"
        bad = [outcome for outcome in outcomes if outcome not in SHOWN]
        return f"{operation} on {model} was not correct in this run ({', '.join(sorted(set(bad)))})" if bad else None

    @property
    def operations(self) -> dict[str, dict[str, Outcome]]:
        """The worst outcome of this run by model and operation."""
        found: dict[str, dict[str, Outcome]] = {}
        for (model, operation), outcomes in sorted(self.proofs.items()):
            found.setdefault(model, {})[operation] = worst(outcomes)
        return found

    def verified(self) -> list[OutcomeRecord]:
        """The outcomes of this run, and of the one that is cited those of the cases that this run did not try."""
        cited = list(self.proof.outcomes()) if self.proof is not None else []
        tried = {each.id for each in self.outcomes if each.outcome not in IDLE}
        kept = [each for each in cited if each.id not in tried]
        replaced = {each.id for each in kept}
        return [*(each for each in self.outcomes if each.id not in replaced), *kept]

    def durability(self) -> Durability:
        """Claimed and proven guarantees: proven is the highest without a loss, if all below it held too.

        What is cited counts where it is higher, and nothing in this run refutes it. Who claims `volatile` promises nothing, so that it is
        proven by itself; but nothing is proven of a store that was never reached.
        """
        claimed = self.target.configuration.guarantee
        held, cited = self.proven_here(), None
        if self.version is None:
            held = None
        elif held is None and claimed == LADDER[0]:
            held = LADDER[0]
        if self.proof is not None and self._stands(self.proof.proven) and rank(self.proof.proven) > rank(held):
            held, cited = self.proof.proven, self.proof.citation
        return Durability(
            **{name: sum(getattr(record, name) for record in self.guarantees) for name in Harm.model_fields},
            claimed=claimed,
            proven=held,
            cited=cited,
            guarantees=self.guarantees,
            failovers=self.failovers,
        )

    def proven_here(self) -> str | None:
        """The highest guarantee that held in this run, with all below it; None without evidence."""
        return highest_held(self.guarantees)

    def _stands(self, cited: str | None) -> bool:
        """Whether no fault of this run refutes a guarantee that is cited, or one below it."""
        return not any(0 <= rank(each.guarantee) <= rank(cited) and each.outcome in REFUTED for each in self.guarantees if each.rounds)
