"""The stores that faults strike: launched for them, with a seed for their choices, and refused where a fault is impossible."""

from __future__ import annotations

import random

from storeproof.disk.methods import WITHOUT_DISK
from storeproof.errors import NotAvailable
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults import Fault, find
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import Handle
from storeproof.outcome import Lack
from storeproof.spec import NODES
from storeproof.store_under_test import StoreUnderTest


def subject_on(sut: StoreUnderTest, handle: Handle, case: str, seed: str) -> Subject:
    return Subject(handle, sut.connect, random.Random(seed_of(sut, seed)), lambda text: sut.progress(f"{case} · {text}"))


def seed_of(sut: StoreUnderTest, seed: str) -> str:
    return f"{sut.seed} {sut.target.named} {seed}"


def fault_of(sut: StoreUnderTest, guarantee: str) -> Fault:
    name = sut.spec.guarantees[guarantee].fault
    assert name is not None, f"{guarantee} names no fault that tests it"
    return find(name)


def cluster_faults(sut: StoreUnderTest, guarantee: str) -> list[ClusterFault]:
    """All faults of a guarantee about the nodes of a topology."""
    faults = [find(name) for name in sut.spec.guarantees[guarantee].faults]
    struck = [fault for fault in faults if isinstance(fault, ClusterFault)]
    assert len(struck) == len(faults), f"{guarantee} names a fault that strikes no cluster"
    return struck


def fault_to_strike(sut: StoreUnderTest, guarantee: str) -> Fault:
    """The fault that tests it. Raises `NotAvailable`: power cannot be cut."""
    fault = fault_of(sut, guarantee)
    if fault.cuts_off and sut.options.power_cut == WITHOUT_DISK:
        raise NotAvailable("strace only records syncs, so there is no power cut", "use --power-cut=ext4 or fuse", Lack.DISK)
    return fault


def require_nodes(sut: StoreUnderTest, guarantee: str) -> None:
    """Raise `NotAvailable` for a guarantee about nodes where there is one server; known before a store is started for it."""
    if guarantee in NODES and sut.target.topology == "single":
        runs = "is a front over a home, and no cluster" if sut.target.parts else "runs as a single server"
        raise NotAvailable(f"{sut.target.store.name} {runs}: it has no nodes that could be killed one by one", lack=Lack.NODES)


def launch_for(sut: StoreUnderTest, fault: Fault) -> Handle:
    return sut.launch(f"the fault {fault.name}", on_volume=fault.cuts_off)


def require(fault: Fault, handle: Handle) -> None:
    if lacking := fault.cannot(handle):
        raise lacking
