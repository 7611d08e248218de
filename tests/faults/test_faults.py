"""The faults do to a handle what their names say, and guarantees find theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import call, create_autospec

import pytest

from storeproof.errors import NotAvailable
from storeproof.faults import Fault, faults, find
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.pause import FAULT
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.spec.guarantee import NETWORKED
from tests.shipped import SHIPPED


def handle(lacking: NotAvailable | None = None, nodes: Sequence[str] = ()) -> Any:
    """A handle that notes its calls, and has the methods of a handle and no others."""
    made = create_autospec(Handle, instance=True)
    made.cannot.return_value = lacking
    made.nodes = nodes
    return made


@pytest.mark.parametrize(
    ("name", "deed"), [("process_kill", "kill"), ("clean_restart", "stop"), ("pause", "pause"), ("power_cut", "cut_power")]
)
def test_a_fault_strikes_through_the_handle(name: str, deed: str) -> None:
    """A fault is one call of a method that every handle has."""
    struck = handle()
    find(name).strike(struck)
    assert struck.mock_calls == [getattr(call, deed)()]


NEEDS = {
    "all_nodes_kill": FaultMeans.KILL_NODES,
    "clean_restart": FaultMeans.STOP,
    "deaf_primary": FaultMeans.CLUSTER,
    "isolate_primary": FaultMeans.CLUSTER,
    "kill_primary": FaultMeans.CLUSTER,
    "lagging_node_wipe": FaultMeans.CLUSTER,
    "lossy_links": FaultMeans.CLUSTER,
    "one_node_kill": FaultMeans.KILL_NODES,
    "pause": FaultMeans.PAUSE,
    "pause_primary": FaultMeans.CLUSTER,
    "power_cut": FaultMeans.CUT_POWER,
    "process_kill": FaultMeans.KILL,
    "second_primary": FaultMeans.CLUSTER,
    "slow_links": FaultMeans.CLUSTER,
    "split_all": FaultMeans.CLUSTER,
}


@pytest.mark.parametrize("name", sorted(faults()))
def test_a_fault_asks_the_handle_for_what_it_needs(name: str) -> None:
    """What the handle gives as the reason is the reason, and no fault finds one where the handle has none."""
    lacking = NotAvailable("it is the user's server")
    asked = handle(lacking)
    assert find(name).cannot(asked) is lacking
    assert asked.mock_calls == [call.cannot(NEEDS[name])]
    assert find(name).cannot(handle()) is None


@pytest.mark.parametrize(("name", "killed"), [("one_node_kill", ("b",)), ("all_nodes_kill", ("b", "c", "a"))])
def test_nodes_are_killed_by_the_names_of_the_stores_file(name: str, killed: tuple[str, ...]) -> None:
    """One: the one that has run longest, so that each has its turn. All: at once."""
    cluster = handle(nodes=("b", "c", "a"))
    find(name).strike(cluster)
    assert cluster.mock_calls == [call.kill_nodes(killed)]


def test_a_pause_ends() -> None:
    """What was stopped goes on."""
    paused = handle()
    FAULT.strike(paused)
    FAULT.end(paused)
    assert paused.mock_calls == [call.pause(), call.resume()]


def test_only_a_store_that_is_asked_is_told() -> None:
    """The last acknowledgement is tried on sudden faults alone."""
    assert {name for name, fault in faults().items() if not fault.sudden} == {"clean_restart"}
    assert {"all_nodes_kill", "one_node_kill", "pause", "power_cut", "process_kill"} <= set(faults())


def test_the_names_are_the_files_names() -> None:
    """A new fault is one file; nothing else names it."""
    for name, fault in faults().items():
        assert type(fault).__module__ == f"storeproof.faults.{name}"
        assert isinstance(fault, Fault)
        assert fault.name == name


def test_a_fault_that_is_not_there_is_not_available() -> None:
    """So that the guarantee it would test is `not_run`, with this reason, and never a pass."""
    with pytest.raises(NotAvailable, match="this version of storeproof does not have the fault `flood` yet"):
        find("flood")


def test_every_guarantee_names_faults_that_are_there() -> None:
    """A misspelt fault in the specification must not look like one that comes later; those of networks strike clusters."""
    for guarantee in SHIPPED.guarantees.values():
        named = [name for name in (guarantee.fault, *guarantee.further_faults) if name is not None]
        assert set(named) <= set(faults())
        assert {isinstance(find(name), ClusterFault) for name in named} == ({guarantee.guarantee in NETWORKED} if named else set())
