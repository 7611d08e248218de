"""Has each call of a load fail in turn."""

from __future__ import annotations

from time import monotonic

from storeproof.evidence import MOST_CALLS, StoreEvidence
from storeproof.experiments.durability.atomic_groups import atomic_writes
from storeproof.experiments.durability.keep_evidence import attempted, keep_evidence
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.fault_experiment import on_own_stores
from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.experiments.io_errors.error_trial import ErrorTrial
from storeproof.experiments.io_errors.tried_error import in_order
from storeproof.experiments.struck_stores import require, seed_of, subject_on
from storeproof.faults import find
from storeproof.launch.handle import Handle
from storeproof.records.beside.expiries import writes_expiring
from storeproof.spec.cases import io_errors_case
from storeproof.store_under_test import StoreUnderTest


def run_io_errors(sut: StoreUnderTest, summary: ErrorSummary) -> None:
    """All calls that the time of the scale and the evidence allow, spread over the load; each alone, and with all later ones.

    Raises:
        NotAvailable: no disk can fail here.
    """
    scale = sut.scale.durability.io_errors
    case, done, until = io_errors_case(summary.error), set[int](), 0.0
    summary.requests = scale.requests

    def seed() -> str:
        return f"io_errors {summary.error} {len(summary.spoiled)}"

    def evidence() -> StoreEvidence:
        return StoreEvidence(case, seed_of(sut, seed()), sut.target.named, cuts_off=True)

    def attempt(handle: Handle) -> None:
        nonlocal until
        require(find("power_cut"), handle)
        kept, subject = evidence(), subject_on(sut, handle, case, seed())
        with attempted(sut, kept):
            disk = handle.recording_disk()
            atomic, expiring = atomic_writes(sut.target), writes_expiring(sut.target)
            trial = ErrorTrial(subject, disk, layouts_of(sut, handle, indexed=True), atomic, summary.error, scale.requests, expiring)
        kept.errors = trial.evidence
        try:
            without = trial.run(0, lasting=False)
            summary.add(without)
            until = until or monotonic() + scale.seconds
            for call in in_order(summary.calls if without.holds else 0, kept.seed):
                if call in done:
                    continue
                if len(done) == MOST_CALLS or (done and monotonic() > until):
                    break
                done.add(call)  # also if that is spoiled: on the next store others are tried
                subject.progress(f"call {len(done)}/{summary.calls}")
                for lasting in (False, True):
                    summary.add(trial.run(call, lasting=lasting))
        finally:
            kept.operations = trial.recorder.operations()
            keep_evidence(sut, kept)

    def launch() -> Handle:
        with attempted(sut, evidence()):
            return sut.launch("its disk's errors", on_volume=True, recorded=True)

    summary.given_up = not on_own_stores(launch, attempt, summary.spoiled, 1)
