"""Runs each fault experiment on its own stores: launches them, seeds random choices, and refuses what is impossible here."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final

from storeproof.contract import Unknown
from storeproof.disk.methods import WITHOUT_DISK
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.evidence import StoreEvidence
from storeproof.experiments.contended_keys import claimed_layouts
from storeproof.experiments.durability.atomic_groups import atomic_writes
from storeproof.experiments.durability.bootstrap import Bootstrap, BootstrapSummary, set_up_by_others
from storeproof.experiments.durability.corruption import CorruptionExperiment
from storeproof.experiments.durability.corruption_summary import CorruptionSummary
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.experiments.durability.full_disk import FullDisk, FullDiskSummary
from storeproof.experiments.durability.keep_evidence import keep_evidence
from storeproof.experiments.durability.layouts import STAMPED, layouts_of
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
from storeproof.experiments.durability.workloads.server_records import ServerRecords
from storeproof.experiments.durability.workloads.session_clients import MODEL
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES, TRANSACTIONS
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.durability.workloads.transfers import Transfers
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, on_own_stores
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.performance.outage import Observed, Outage, OutageKind
from storeproof.experiments.rounds_summary import RoundsSummary
from storeproof.faults import Fault, find
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.part_kill import PartKill
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.machine.cores import running_on
from storeproof.outcome import Lack
from storeproof.spec import LADDER, NODES
from storeproof.spec.cases import metadata_case
from storeproof.spec.guarantee import NETWORKED, GuaranteeName
from storeproof.spec.store import Role
from storeproof.store_under_test import StoreUnderTest

_LOWEST: Final = LADDER[1]
"""Of the guarantees that a fault tests. Its fault costs least time, so that there it is waited for what stores do once a minute."""

_SOON: Final = 1.0
_MORE: Final = 2
"""A first start that takes less than `_SOON` seconds is struck `_MORE` times as often, which costs little."""


def run_guarantee(sut: StoreUnderTest, guarantee: str, summary: DurabilitySummary) -> None:
    """All rounds of the guarantee's fault. Raises `NotAvailable`: the fault is not possible here."""
    wanted = sut.spec.guarantees[guarantee]
    fault = _fault_of(sut, guarantee)
    _require_nodes(sut, guarantee)
    if guarantee in NETWORKED:
        _run_on_cluster(sut, guarantee, summary)
        return
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise look(sut, guarantee)

    number = sut.scale.durability.rounds

    def rounds(subject: Subject) -> _Kept:
        layouts, atomic = layouts_of(sut, subject.handle), atomic_writes(sut.target)
        records = ServerRecords(subject, fault, layouts, sut.scale.durability, summary, load=wanted.load, atomic=atomic)
        strike = partial(ServerStrike, subject, fault, again_within=records.last_recovery if wanted.second_fault else None)
        return StrikeRounds(subject, [strike] * number, records), records.evidence

    _run_kept(sut, guarantee, [fault], summary, rounds, number)


def _run_on_cluster(sut: StoreUnderTest, guarantee: str, summary: DurabilitySummary) -> None:
    """All rounds of all faults of a guarantee about the nodes of a topology."""
    faults = _cluster_faults(sut, guarantee)

    turns = sut.scale.durability.turns(faults)

    def rounds(subject: Subject) -> _Kept:
        records = ClusterRecords(
            subject,
            layouts_of(sut, subject.handle),
            sut.scale.durability,
            summary,
            len(turns),
            stale_possible=sut.target.stale_reads,
            atomic=atomic_writes(sut.target),
        )
        return StrikeRounds(subject, [partial(ClusterStrike, subject, fault, sut.connect) for fault in turns], records), records.evidence

    _run_kept(sut, guarantee, faults, summary, rounds, len(turns))


def run_part_kill(sut: StoreUnderTest, role: Role, summary: DurabilitySummary) -> None:
    """All rounds of killing one server of a composite store. Raises `NotAvailable` if it cannot be killed here."""
    fault = PartKill(role)

    number = sut.scale.durability.rounds

    def rounds(subject: Subject) -> _Kept:
        records = ServerRecords(subject, fault, layouts_of(sut, subject.handle), sut.scale.durability, summary)
        strike = partial(ServerStrike, subject, fault, after_the_last=emptied_front(subject, records.collections, role))
        return StrikeRounds(subject, [strike] * number, records), records.evidence

    _run_kept(sut, part_kill(role), [fault], summary, rounds, number)


_Kept = tuple[FaultExperiment[Any], Callable[[str, str, str], StoreEvidence]]
"""All rounds on a store, and what tells what happened in them, by the case, the seed and the store's name."""


def _run_kept(
    sut: StoreUnderTest, name: str, faults: Sequence[Fault], summary: DurabilitySummary, rounds: Callable[[Subject], _Kept], number: int
) -> None:
    """All rounds of some faults, with the evidence of each attempt.

    Args:
        name: of the case, after `durability.`.
        number: of the rounds.
    """
    case = f"durability.{name}"

    def launch() -> Handle:
        try:
            return _launch(sut, faults[0])
        except (MachineFailed, Unknown):  # an attempt too, of which nothing is known
            seed = _seed(sut, f"{name} {len(summary.spoiled)}")
            keep_evidence(sut, StoreEvidence(case, seed, sut.target.id, faults[0].cuts_off))
            raise

    def attempt(handle: Handle) -> None:
        for fault in faults:
            _require(fault, handle)
        seed = f"{name} {len(summary.spoiled)}"
        experiment, evidence = rounds(_subject(sut, handle, case, seed))
        try:
            experiment.run()
        finally:
            keep_evidence(sut, evidence(case, _seed(sut, seed), sut.target.id))

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

    _require_nodes(sut, guarantee)
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
    _require_nodes(sut, guarantee)

    def run(handle: Handle, strikes: Callable[[Subject], Sequence[Callable[[], Strike]]]) -> None:
        subject = _subject(sut, handle, f"durability.{kind}/{guarantee}", f"{kind} {guarantee} {len(summary.spoiled)}")
        StrikeRounds(subject, strikes(subject), workload(subject)).run()

    if guarantee in NETWORKED:

        def on_cluster(handle: Handle, struck: Sequence[ClusterFault]) -> None:
            turns = sut.scale.durability.turns(struck)
            run(handle, lambda subject: [partial(ClusterStrike, subject, fault, sut.connect) for fault in turns])

        summary.given_up = not _on_own_clusters(sut, guarantee, on_cluster, summary.spoiled)
        return
    fault, rounds = _to_strike(sut, guarantee), rounds or sut.scale.durability.further

    def on_server(handle: Handle) -> None:
        _require(fault, handle)
        run(handle, lambda subject: [lambda: ServerStrike(subject, fault)] * rounds)

    summary.given_up = not on_own_stores(lambda: _launch(sut, fault), on_server, summary.spoiled, rounds)


def run_metadata(sut: StoreUnderTest, guarantee: GuaranteeName, summary: MetadataSummary) -> None:
    """One fault of the guarantee on a store that has metadata of all kinds that the variant claims. `summary`: of that fault.
    Raises `NotAvailable`: the fault is not possible here."""
    fault = _to_strike(sut, guarantee)
    offered = Offered(sut.target.claims, sut.target.store.claims.models, sut.layout)

    def attempt(handle: Handle) -> None:
        _require(fault, handle)
        subject = _subject(sut, handle, metadata_case(guarantee), f"metadata {guarantee} {len(summary.spoiled)}")
        aspects = (
            TimesToLive(offered),
            SweptTimesToLive(offered, patient=guarantee == _LOWEST),
            Indexes(offered),
            RecordTypes(offered),
            Feeds(offered),
            Collections(offered),
        )
        Metadata(subject, fault, aspects, summary).run()

    summary.given_up = not on_own_stores(lambda: _launch(sut, fault), attempt, summary.spoiled, sut.scale.durability.rounds)


def run_bootstrap(sut: StoreUnderTest, name: str) -> BootstrapSummary:
    """Strike first starts with the fault of that name, each on a new store. Raises `NotAvailable` if the fault is not possible here."""
    fault = find(name)

    def make() -> Handle:
        handle = sut.make("the first starts", on_volume=fault.cuts_off)
        if handle.data is None:  # its directory may have to be emptied, so it must be accessible
            handle.close()
            handle = sut.make("the first starts", on_volume=True)
        return handle

    with closing(make()) as first:
        _require(fault, first)
        summary = BootstrapSummary(longest=sut.first_start(first))
        layouts = layouts_of(sut, first)
    rounds = sut.scale.durability.rounds * (_MORE if summary.longest < _SOON else 1)
    rng = random.Random(f"{sut.seed} {sut.target.id} bootstrap {name}")

    def attempt(handle: Handle) -> None:
        sut.progress(f"durability.bootstrap/{name} · round {summary.struck + 1}/{rounds}")
        by_commands = any(set_up_by_others(store.launch, handle.kind) for store in sut.target.stores)
        Bootstrap(Subject(handle, sut.connect, rng), fault, layouts, by_commands=by_commands, summary=summary).run()

    while summary.struck < rounds and not summary.given_up:
        summary.given_up = not on_own_stores(make, attempt, summary.spoiled, rounds)
    return summary


def run_full_disk(sut: StoreUnderTest) -> FullDiskSummary:
    """A full disk. Raises `NotAvailable` if there is no volume to fill."""
    with closing(sut.launch("the full disk", on_volume=True)) as handle:
        if lacking := handle.cannot(FaultMeans.CUT_POWER):
            raise lacking
        experiment = FullDisk(
            _subject(sut, handle, "durability.full_disk", "full_disk"),
            layouts_of(sut, handle),
            clients=sut.scale.durability.clients,
            restarts=sut.target.configuration.promises("clean_restart"),
        )
        experiment.run()
    return experiment.summary


def run_corruption(sut: StoreUnderTest, kind: DamageKind) -> CorruptionSummary:
    """Damaged files. Raises `NotAvailable` if the data directory is not accessible, or the store cannot be killed."""
    handle = sut.launch("damaged files")
    try:
        if handle.data is None and not handle.cannot(FaultMeans.KILL):  # in a volume of the engine's own
            handle.close()
            handle = sut.launch("damaged files", on_volume=True)
        if lacking := handle.cannot(FaultMeans.KILL):
            raise lacking
        if handle.data is None:
            raise NotAvailable("its data directory is not accessible from here", "use --data-dir DIR or --launch=process", Lack.DISK)
        subject = _subject(sut, handle, f"durability.corruption/{kind}", f"corruption {kind}")
        experiment = CorruptionExperiment(subject, layouts_of(sut, handle, STAMPED), kind, sut.scale.durability.rounds)
        experiment.run()
    finally:
        handle.close()
    return experiment.summary


def run_outage(sut: StoreUnderTest, kind: OutageKind, model: str) -> Observed:
    """One outage under puts and gets of a model. Raises `NotAvailable` if its fault is not possible here."""
    with closing(sut.launch(f"the outage by {kind.name}")) as handle:
        _require(kind.fault, handle)
        sut.progress(f"performance.outage/{kind.name}")
        seed = f"{sut.seed} {sut.target.id} outage {kind.name}"
        subject = Subject(handle, sut.connect, random.Random(seed))
        layout = layouts_of(sut, handle, (model,))[model]
        outage = Outage(subject, kind, layout, sut.scale.performance.outage, connect=sut.connect, seed=seed)
        with running_on(sut.options.split.apart):
            outage.run()
    return outage.observed


def _subject(sut: StoreUnderTest, handle: Handle, case: str, seed: str) -> Subject:
    return Subject(handle, sut.connect, random.Random(_seed(sut, seed)), lambda text: sut.progress(f"{case} · {text}"))


def _seed(sut: StoreUnderTest, seed: str) -> str:
    return f"{sut.seed} {sut.target.id} {seed}"


def _fault_of(sut: StoreUnderTest, guarantee: str) -> Fault:
    name = sut.spec.guarantees[guarantee].fault
    assert name is not None, f"{guarantee} names no fault that tests it"
    return find(name)


def _cluster_faults(sut: StoreUnderTest, guarantee: str) -> list[ClusterFault]:
    """All faults of a guarantee about the nodes of a topology."""
    faults = [find(name) for name in sut.spec.guarantees[guarantee].faults]
    struck = [fault for fault in faults if isinstance(fault, ClusterFault)]
    assert len(struck) == len(faults), f"{guarantee} names a fault that strikes no cluster"
    return struck


def _to_strike(sut: StoreUnderTest, guarantee: str) -> Fault:
    """The fault that tests it. Raises `NotAvailable`: power cannot be cut."""
    fault = _fault_of(sut, guarantee)
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise NotAvailable("strace only records syncs, so there is no power cut", "use --power-cut=ext4 or fuse", Lack.DISK)
    return fault


def _on_own_clusters(
    sut: StoreUnderTest, guarantee: str, attempt: Callable[[Handle, Sequence[ClusterFault]], None], spoiled: list[str]
) -> bool:
    """As `on_own_stores`, on clusters that all faults of a guarantee about nodes can strike."""
    struck = _cluster_faults(sut, guarantee)

    def with_all(handle: Handle) -> None:
        for fault in struck:
            _require(fault, handle)
        attempt(handle, struck)

    return on_own_stores(lambda: _launch(sut, struck[0]), with_all, spoiled, len(sut.scale.durability.turns(struck)))


def _require_nodes(sut: StoreUnderTest, guarantee: str) -> None:
    """Raise `NotAvailable` for a guarantee about nodes where there is one server; known before a store is started for it."""
    if guarantee in NODES and sut.target.topology == "single":
        runs = "is a front over a home, and no cluster" if sut.target.parts else "runs as a single server"
        raise NotAvailable(f"{sut.target.store.name} {runs}: it has no nodes that could be killed one by one", lack=Lack.NODES)


def _launch(sut: StoreUnderTest, fault: Fault) -> Handle:
    return sut.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)


def _require(fault: Fault, handle: Handle) -> None:
    if lacking := fault.cannot(handle):
        raise lacking
