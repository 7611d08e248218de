"""Collects the results of a run while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from storeproof.outcome import REFUTED, SHOWN, Outcome, Stage
from storeproof.result.measurement import Measurement
from storeproof.result.model import Durability, GuaranteeRecord, Harm, HistoryRecord, OutcomeRecord, ScalingRecord
from storeproof.result.outage import OutageRecord
from storeproof.spec.guarantee import LADDER
from storeproof.spec.store import Target


@dataclass
class StoreRecord:
    """What was collected about a target so far."""

    target: Target
    version: str | None = None
    launch: str | None = None
    image_digest: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    outcomes: list[OutcomeRecord] = field(default_factory=list)
    guarantees: list[GuaranteeRecord] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    scaling: list[ScalingRecord] = field(default_factory=list)
    outages: list[OutageRecord] = field(default_factory=list)
    histories: list[HistoryRecord] = field(default_factory=list)
    proofs: dict[tuple[str, str], list[Outcome]] = field(default_factory=dict)
    """Outcomes of correctness by (model, operation)."""

    def add(self, record: OutcomeRecord, model: str = "", operations: Iterable[str] = ()) -> None:
        """Add an outcome, and the operations on a model that it proves."""
        self.outcomes.append(record)
        # A clear refusal (of an index that the store does not support, say) is no evidence either way.
        if record.stage is Stage.CORRECTNESS and record.outcome is not Outcome.UNSUPPORTED:
            for operation in operations:
                self.proofs.setdefault((model, operation), []).append(record.outcome)

    def unproven(self, model: str, operation: str) -> str | None:
        """Why an operation must not be measured; None if all its answers in this run were correct."""
        outcomes = self.proofs.get((model, operation), [])
        if not outcomes:
            return f"{operation} on {model} was not verified in this run"
        bad = [outcome for outcome in outcomes if outcome not in SHOWN]
        return f"{operation} on {model} was not correct in this run ({', '.join(sorted(set(bad)))})" if bad else None

    def durability(self) -> Durability:
        """Claimed and proven guarantees: proven is the highest without a loss, if all below it held too."""
        held: str | None = None
        for name in LADDER[1:]:  # the lowest has no fault
            record = next((each for each in self.guarantees if each.guarantee == name), None)
            if record is not None and record.outcome in SHOWN:
                held = name
                continue
            if record is not None and record.outcome in REFUTED and record.rounds and held is None:
                held = LADDER[0]  # it lost data at a clean restart
            break  # a rung without evidence neither proves nor refutes the ones above
        return Durability(
            **{name: sum(getattr(record, name) for record in self.guarantees) for name in Harm.model_fields},
            claimed=self.target.configuration.guarantee,
            proven=held,
            guarantees=self.guarantees,
        )
