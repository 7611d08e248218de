"""Runs what tests guarantees, each fault under each workload on its own stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from storeproof.disk.methods import WITHOUT_DISK
from storeproof.errors import NotAvailable
from storeproof.evidence import StoreEvidence
from storeproof.experiments.contended_keys import claimed_layouts
from storeproof.experiments.durability.atomic_groups import atomic_writes
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.keep_evidence import attempted, keep_evidence
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.durability.metadata.aspect import Offered
from storeproof.experiments.durability.metadata.created_collections import Collections
from storeproof.experiments.durability.metadata.feeds import Feeds
from storeproof.experiments.durability.metadata.indexes import Indexes
from storeproof.experiments.durability.metadata.metadata import Metadata
from storeproof.experiments.durability.metadata.metadata_summary import MetadataSummary
from storeproof.experiments.durability.metadata.record_types import RecordTypes
from storeproof.experiments.durability.metadata.times_to_live import SweptTimesToLive, TimesToLive
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.strikes.part import emptied_front, part_kill
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.sync_evidence import look
from storeproof.experiments.durability.workloads.cluster_records import ClusterRecords
from storeproof.experiments.durability.workloads.contended_cluster import ContendedCluster
from storeproof.experiments.durability.workloads.contended_server import ContendedServer
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.durability.workloads.isolation_rounds import MIX, IsolationRounds
from storeproof.experiments.durability.workloads.server_records import ServerRecords
from storeproof.experiments.durability.workloads.session_clients import MODEL
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.experiments.durability.workloads.struck_transactions import StruckTransactions
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES, TRANSACTIONS
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.experiments.fault_experiment import Subject, on_own_stores
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.rounds_summary import RoundsSummary
from storeproof.experiments.struck_stores import (
    cluster_faults,
    fault_of,
    fault_to_strike,
    launch_for,
    require,
    require_nodes,
    seed_of,
    subject_on,
)
from storeproof.faults import Fault
from storeproof.faults.part_kill import PartKill
from storeproof.launch.handle import Handle
from storeproof.outcome import Lack
from storeproof.spec import LADDER
from storeproof.spec.cases import metadata_case
from storeproof.spec.guarantee import NETWORKED, GuaranteeName
from storeproof.spec.store import Role
from storeproof.store_under_test import StoreUnderTest

_LOWEST: Final = LADDER[1]
"""Of the guarantees that a fault tests. Its fault costs least time, so that there it is waited for what stores do once a minute."""


def run_guarantee(sut: StoreUnderTest, guarantee: str, summary: DurabilitySummary) -> None:
    """All rounds of the guarantee's fault. Raises `NotAvailable`: the fault is not possible here."""
    wanted = sut.spec.guarantees[guarantee]
    fault = fault_of(sut, guarantee)
    require_nodes(sut, guarantee)
    if guarantee in NETWORKED:
        _run_on_cluster(sut, guarantee, summary)
        return
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise look(sut, guarantee)

    number = sut.scale.durability.rounds

    def rounds(subject: Subject) -> StrikeRounds[Any]:
        layouts, atomic = layouts_of(sut, subject.handle), atomic_writes(sut.target)
        records = ServerRecords(subject, fault, layouts, sut.scale.durability, summary, load=wanted.load, atomic=atomic)
        strike = partial(ServerStrike, subject, fault, again_within=records.last_recovery if wanted.second_fault else None)
        return StrikeRounds(subject, [strike] * number, records)

    _run(sut, guarantee, [fault], summary, rounds, number)


def _run_on_cluster(sut: StoreUnderTest, guarantee: str, summary: DurabilitySummary) -> None:
    """All rounds of all faults of a guarantee about the nodes of a topology."""
    faults = cluster_faults(sut, guarantee)

    turns = sut.scale.durability.turns(faults)

    def rounds(subject: Subject) -> StrikeRounds[Any]:
        records = ClusterRecords(
            subject,
            layouts_of(sut, subject.handle),
            sut.scale.durability,
            summary,
            len(turns),
            stale_possible=sut.target.stale_reads,
            atomic=atomic_writes(sut.target),
        )
        return StrikeRounds(subject, [partial(ClusterStrike, subject, fault, sut.connect) for fault in turns], records)

    _run(sut, guarantee, faults, summary, rounds, len(turns))


def run_part_kill(sut: StoreUnderTest, role: Role, summary: DurabilitySummary) -> None:
    """All rounds of killing one server of a composite store. Raises `NotAvailable` if it cannot be killed here."""
    fault = PartKill(role)

    number = sut.scale.durability.rounds

    def rounds(subject: Subject) -> StrikeRounds[Any]:
        records = ServerRecords(subject, fault, layouts_of(sut, subject.handle), sut.scale.durability, summary)
        strike = partial(ServerStrike, subject, fault, after_the_last=emptied_front(subject, records.collections, role))
        return StrikeRounds(subject, [strike] * number, records)

    _run(sut, part_kill(role), [fault], summary, rounds, number)


def _run(
    sut: StoreUnderTest,
    name: str,
    faults: Sequence[Fault],
    summary: RoundsSummary,
    rounds: Callable[[Subject], StrikeRounds[Any]],
    number: int,
) -> None:
    """All rounds of some faults, with the evidence of each attempt.

    Args:
        name: of the case, after `durability.`.
        rounds: all of them, on one store.
        number: of the rounds.
    """
    case = f"durability.{name}"

    def seed() -> str:
        return f"{name.replace('/', ' ')} {len(summary.spoiled)}"

    def nothing() -> StoreEvidence:
        return StoreEvidence(case, seed_of(sut, seed()), sut.target.named, faults[0].cuts_off)

    def launch() -> Handle:
        with attempted(sut, nothing()):
            return launch_for(sut, faults[0])

    def attempt(handle: Handle) -> None:
        for fault in faults:
            require(fault, handle)
        with attempted(sut, nothing()):
            experiment = rounds(subject_on(sut, handle, case, seed()))
        try:
            experiment.run()
        finally:
            evidence = experiment.workload.evidence(case, seed_of(sut, seed()), sut.target.named, cuts_off=faults[0].cuts_off)
            keep_evidence(sut, evidence)

    summary.given_up = not on_own_stores(launch, attempt, summary.spoiled, number)


def run_linearizability(sut: StoreUnderTest, guarantee: str, summary: LinearizabilitySummary) -> None:
    """All rounds of the guarantee's faults, on contended keys.
    Raises `NotAvailable`: the fault is not possible here, or the store claims nothing that could be checked."""

    def workload(subject: Subject) -> FaultWorkload[Strike]:
        keys = ContendedCluster if guarantee in NETWORKED else ContendedServer
        with subject.session() as session:
            layouts = claimed_layouts(session, sut.target, sut.layout)
        return keys(subject, layouts, sut.scale.durability, summary)

    _run_strikes(sut, "linearizable", guarantee, summary, workload, sut.scale.durability.rounds)


def run_transfers(sut: StoreUnderTest, guarantee: str, summary: TransferSummary) -> None:
    """All rounds of the guarantee's faults, on accounts.
    Raises `NotAvailable`: the faults are not possible here, or the variant does not claim what a transfer needs."""

    def workload(subject: Subject) -> FaultWorkload[Strike]:
        layouts = layouts_of(sut, subject.handle, (ENTRIES, ACCOUNTS))
        if lacking := {ENTRIES, ACCOUNTS} - layouts.keys():
            raise NotAvailable(f"{sut.target.id} claims no accounts and entries: {', '.join(sorted(lacking))}", lack=Lack.ACCOUNTS)
        return Transfers(subject, layouts, sut.scale.durability, summary)

    require_nodes(sut, guarantee)
    if lacking := [name for name in TRANSACTIONS if not sut.target.claims(name)]:
        reason = f"{sut.target.id} claims no transactions that could be tested: {', '.join(lacking)}"
        raise NotAvailable(reason, lack=Lack.TRANSACTIONS)
    _run_strikes(sut, "transfers", guarantee, summary, workload)


def run_sessions(sut: StoreUnderTest, guarantee: str, summary: SessionSummary) -> None:
    """All rounds of the guarantee's faults, by clients that read their own writes.
    Raises `NotAvailable`: the faults are not possible here."""

    def workload(subject: Subject) -> FaultWorkload[Strike]:
        return Sessions(subject, layouts_of(sut, subject.handle, (MODEL,))[MODEL], sut.scale.durability, summary)

    _run_strikes(sut, "sessions", guarantee, summary, workload)


def run_struck_transactions(sut: StoreUnderTest, guarantee: str, summary: IsolationRounds) -> None:
    """All rounds of the guarantee's faults, by clients whose transactions are judged by what they see.
    Raises `NotAvailable`: the faults are not possible here."""

    def workload(subject: Subject) -> FaultWorkload[Strike]:
        layout, mix = layouts_of(sut, subject.handle, (MODEL,))[MODEL], sut.spec.mixes[MIX]
        return StruckTransactions(subject, layout, mix, sut.scale.durability.clients, summary)

    _run_strikes(sut, "isolation", guarantee, summary, workload)


def _run_strikes(
    sut: StoreUnderTest,
    kind: str,
    guarantee: str,
    summary: RoundsSummary,
    workload: Callable[[Subject], FaultWorkload[Strike]],
    rounds: int | None = None,
) -> None:
    """All rounds of the guarantee's faults, of one server or about the nodes of a topology, under a workload of that kind.

    `rounds`: of one server; by default as many as the scale has of further faults.

    Raises:
        NotAvailable: the faults are not possible here.
    """
    require_nodes(sut, guarantee)
    if guarantee in NETWORKED:
        faults: Sequence[Fault] = cluster_faults(sut, guarantee)
        turns = sut.scale.durability.turns(faults)
        strike: Callable[..., Strike] = partial(ClusterStrike, connect_to=sut.connect)
    else:
        faults = [fault_to_strike(sut, guarantee)]
        turns, strike = [*faults] * (rounds or sut.scale.durability.further), ServerStrike

    def all_rounds(subject: Subject) -> StrikeRounds[Any]:
        return StrikeRounds(subject, [partial(strike, subject, fault) for fault in turns], workload(subject))

    _run(sut, f"{kind}/{guarantee}", faults, summary, all_rounds, len(turns))


def run_metadata(sut: StoreUnderTest, guarantee: GuaranteeName, summary: MetadataSummary) -> None:
    """One fault of the guarantee on a store that has metadata of all kinds that the variant claims. `summary`: of that fault.
    Raises `NotAvailable`: the fault is not possible here."""
    fault = fault_to_strike(sut, guarantee)
    offered = Offered(sut.target.claims, sut.target.store.claims.models, sut.layout)

    def attempt(handle: Handle) -> None:
        require(fault, handle)
        subject = subject_on(sut, handle, metadata_case(guarantee), f"metadata {guarantee} {len(summary.spoiled)}")
        aspects = (
            TimesToLive(offered),
            SweptTimesToLive(offered, patient=guarantee == _LOWEST),
            Indexes(offered),
            RecordTypes(offered),
            Feeds(offered),
            Collections(offered),
        )
        Metadata(subject, fault, aspects, summary).run()

    summary.given_up = not on_own_stores(lambda: launch_for(sut, fault), attempt, summary.spoiled, sut.scale.durability.rounds)
