"""Runs the faults that no guarantee is about, and outages, each on its own stores."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.experiments.durability.bootstrap import Bootstrap, BootstrapSummary, set_up_by_others
from storeproof.experiments.durability.corruption import CorruptionExperiment
from storeproof.experiments.durability.corruption_summary import CorruptionSummary
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.experiments.durability.full_disk import FullDisk, FullDiskSummary
from storeproof.experiments.durability.layouts import STAMPED, layouts_of
from storeproof.experiments.fault_experiment import Subject, on_own_stores
from storeproof.experiments.performance.outage import Observed, Outage, OutageKind
from storeproof.experiments.struck_stores import require, subject_on
from storeproof.faults import find
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.machine.cores import running_on
from storeproof.outcome import Lack
from storeproof.store_under_test import StoreUnderTest

_SOON: Final = 1.0
_MORE: Final = 2
"""A first start that takes less than `_SOON` seconds is struck `_MORE` times as often, which costs little."""


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
        require(fault, first)
        summary = BootstrapSummary(longest=sut.first_start(first))
        layouts = layouts_of(sut, first)
    rounds = sut.scale.durability.rounds * (_MORE if summary.longest < _SOON else 1)
    rng = random.Random(f"{sut.seed} {sut.target.named} bootstrap {name}")

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
            subject_on(sut, handle, "durability.full_disk", "full_disk"),
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
        subject = subject_on(sut, handle, f"durability.corruption/{kind}", f"corruption {kind}")
        experiment = CorruptionExperiment(subject, layouts_of(sut, handle, STAMPED), kind, sut.scale.durability.rounds)
        experiment.run()
    finally:
        handle.close()
    return experiment.summary


def run_outage(sut: StoreUnderTest, kind: OutageKind, model: str) -> Observed:
    """One outage under puts and gets of a model. Raises `NotAvailable` if its fault is not possible here."""
    with closing(sut.launch(f"the outage by {kind.name}")) as handle:
        require(kind.fault, handle)
        sut.progress(f"performance.outage/{kind.name}")
        seed = f"{sut.seed} {sut.target.named} outage {kind.name}"
        subject = Subject(handle, sut.connect, random.Random(seed))
        layout = layouts_of(sut, handle, (model,))[model]
        outage = Outage(subject, kind, layout, sut.scale.performance.outage, connect=sut.connect, seed=seed)
        with running_on(sut.options.split.apart):
            outage.run()
    return outage.observed
