"""Records stores, and tries the states that a crash may have left."""

from __future__ import annotations

from time import monotonic

from storeproof.disk.recording import mapped_writes, read_recording
from storeproof.errors import NotAvailable
from storeproof.evidence import MOST_TRIED, StoreEvidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.recorded_load import of_all_sizes, record_load
from storeproof.experiments.crash_states.state_judge import in_order
from storeproof.experiments.crash_states.state_trial import StateTrial
from storeproof.experiments.durability.atomic_groups import atomic_writes, reading
from storeproof.experiments.durability.keep_evidence import keep_evidence
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.fault_experiment import on_own_stores
from storeproof.experiments.struck_stores import require, seed_of, subject_on
from storeproof.faults import find
from storeproof.launch.handle import Handle
from storeproof.records.beside.expiries import writes_expiring
from storeproof.spec.cases import crash_states_case
from storeproof.spec.guarantee import GuaranteeName
from storeproof.store_under_test import StoreUnderTest


def run_crash_states(sut: StoreUnderTest, guarantee: GuaranteeName, summary: CrashSummary) -> None:
    """All states of each recording, or as many of all tiers as the time of the scale and the evidence allow, in an order that the seed has.

    A few are tried in any case, whatever else the machine does.

    Raises:
        NotAvailable: nothing can be recorded here, or nothing follows from a recording.
    """
    scale = sut.scale.durability.crash_states
    summary.requests = scale.requests

    def attempt(handle: Handle) -> None:
        require(find("power_cut"), handle)
        disk = handle.recording_disk()
        case, seed = crash_states_case(guarantee), f"crash_states {guarantee} {summary.recordings + len(summary.spoiled)}"
        subject = subject_on(sut, handle, case, seed)
        layouts = {model: of_all_sizes(layout) for model, layout in layouts_of(sut, handle, indexed=True).items()}
        handle.quiesce()
        atomic, expiring = reading(atomic_writes(sut.target)), writes_expiring(sut.target)
        load = record_load(subject, disk, layouts, atomic, scale.requests, expiring=expiring)
        states, unlisted = disk.states(summary.model)
        part = CrashSummary(model=summary.model, requests=scale.requests, changes=load.recording.changes, unlisted=unlisted)
        part.mapped = load.recording.mapped
        part.states.update(each.tier for each in states)
        trial, until = StateTrial(subject, disk, layouts, load), monotonic() + scale.seconds / scale.recordings
        for number, state in enumerate(in_order(states, seed_of(sut, seed))):
            if number == MOST_TRIED or (number >= scale.at_least and monotonic() > until):
                break
            subject.progress(f"state {number + 1}/{len(states)}")
            part.add(trial.run(state))
        if part.mapped and part.failed and summary.model == "kernel":  # the end of a process takes nothing from a mapping
            raise mapped_writes(part.mapped)
        crash = part.evidence(load.clients, {model: layout.name for model, layout in layouts.items()})
        crash.recording, crash.states = disk.packed_recording(), trial.kept
        if crash.recording and part.failed:
            part.look_at_failed(read_recording(crash.recording, summary.model)[0])
        operations = load.recorder.operations()
        keep_evidence(sut, StoreEvidence(case, seed_of(sut, seed), sut.target.named, cuts_off=True, operations=operations, crash=crash))
        summary.join(part)

    def launch() -> Handle:
        return sut.launch("its crash states", on_volume=True, recorded=True)

    while summary.recordings < scale.recordings and not summary.given_up:
        try:
            summary.given_up = not on_own_stores(launch, attempt, summary.spoiled, 1)
        except NotAvailable:
            if not summary.failed:
                raise
            return  # what was found before counts
