"""Judges the rounds of a fault again, from their evidence."""

from __future__ import annotations

from storeproof.evidence import EvidenceDamaged, StoreEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.round_judge import RoundJudge


def replay(store: StoreEvidence, summary: DurabilitySummary) -> None:
    """Add the rounds on one store to the sums.

    Raises:
        EvidenceDamaged: a key that had to be read back was not, the order of events is none of a run, or the checks cannot judge it.
    """
    judge = RoundJudge(summary, cuts_off=store.cuts_off)
    last = 0
    for number, each in enumerate(store.rounds, 1):
        where = f"round {number} of {store.case}"
        if summary.broken or (number > 1 and store.rounds[number - 2].spoiled):
            raise EvidenceDamaged(f"{where} follows one after which there is none")
        times = [each.began, each.struck, each.load_ended]
        times += [each.audit.moment, each.audit.ended] if each.audit is not None else []
        reached = [time for time in times if time]  # a round that ended early has no later ones
        if reached != sorted(reached) or each.began < last:
            raise EvidenceDamaged(f"{where} has times that are not in order")
        last = reached[-1]
        judge.begin(each)
        if each.load_ended:
            judge.struck(each)
        if each.second_fault:
            judge.struck_again()
        if each.recovered is not None:
            judge.recovered(each)
        if each.unstartable is not None:
            judge.not_started(store.operations, each)
        if each.audit is not None:
            history = judge.history(store.operations, each.audit.moment)
            missing = judge.due(history, everything=each.audit.everything).keys() ^ each.audit.seen.keys()
            if missing:
                raise EvidenceDamaged(f"{where}: {len(missing)} keys were to be read back and were not, or the reverse")
            try:
                judge.audited(history, each)
            except ValueError as reason:
                raise EvidenceDamaged(f"{where} cannot be judged: {reason}") from None
        if each.broken is not None:
            judge.broke(each)
        elif each.spoiled:
            judge.spoiled(each)
        elif each.audit is not None and each.recovered is not None:
            judge.survived()
        else:
            raise EvidenceDamaged(f"{where} ended without an audit, and nothing says why")
    judge.finish(store.operations)
