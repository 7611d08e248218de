"""The faults do to a handle what their names say, and guarantees find theirs."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.errors import NotAvailable
from storeproof.faults import Fault, faults, find
from storeproof.launch.handle import Capability
from storeproof.spec import load_spec


class Noting:
    """A handle that notes what is done to it."""

    def __init__(self, reason: str | None = None) -> None:
        self.done: list[str] = []
        self._reason = reason

    def cannot(self, capability: Capability) -> str | None:
        self.done.append(f"cannot {capability.name}")
        return self._reason

    def __getattr__(self, name: str) -> Any:
        return lambda: self.done.append(name)


@pytest.mark.parametrize(("name", "deed"), [("process_kill", "kill"), ("clean_restart", "stop"), ("pause", "pause")])
def test_a_fault_strikes_through_the_handle(name: str, deed: str) -> None:
    """No fault knows how the store was started."""
    handle = Noting()
    find(name).strike(handle)  # type: ignore[arg-type]
    assert handle.done == [deed]


NEEDS = {
    "all_nodes_kill": "KILL_NODES",
    "clean_restart": "STOP",
    "one_node_kill": "KILL_NODES",
    "pause": "PAUSE",
    "power_cut": "CUT_POWER",
    "process_kill": "KILL",
}


@pytest.mark.parametrize("name", sorted(faults()))
def test_a_fault_asks_the_handle_for_what_it_needs(name: str) -> None:
    """A store that somebody else runs says why not; that is a reason, not a pass."""
    handle = Noting("it is somebody else's server")
    assert find(name).cannot(handle) == "it is somebody else's server"  # type: ignore[arg-type]
    assert handle.done == [f"cannot {NEEDS[name]}"]


class Cluster(Noting):
    """A handle with three nodes."""

    nodes = ("b", "c", "a")

    def kill_nodes(self, names: tuple[str, ...]) -> None:
        self.done.append(f"kill {' '.join(names)}")


@pytest.mark.parametrize(("name", "deed"), [("one_node_kill", "kill b"), ("all_nodes_kill", "kill b c a")])
def test_nodes_are_killed_by_the_names_of_the_stores_file(name: str, deed: str) -> None:
    """One: the one that has run longest, so that each has its turn. All: at once."""
    handle = Cluster()
    find(name).strike(handle)  # type: ignore[arg-type]
    assert handle.done == [deed]


def test_a_pause_ends() -> None:
    """What was stopped goes on."""
    from storeproof.faults.pause import FAULT

    handle = Noting()
    FAULT.strike(handle)  # type: ignore[arg-type]
    FAULT.end(handle)  # type: ignore[arg-type]
    assert handle.done == ["pause", "resume"]


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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("node_wipe", "this version of storeproof does not wipe a node yet"),
        ("flood", "this version of storeproof does not have the fault `flood` yet"),
    ],
)
def test_a_fault_that_is_not_there_is_not_available(name: str, reason: str) -> None:
    """So that the guarantee it would test is `not_run`, with this reason, and never a pass."""
    with pytest.raises(NotAvailable, match=reason):
        find(name)


def test_every_guarantee_names_a_fault_that_is_there_or_promised() -> None:
    """A misspelt fault in the specification must not look like one that comes later."""
    for guarantee in load_spec().guarantees.values():
        if guarantee.fault is not None and guarantee.fault not in faults():
            with pytest.raises(NotAvailable, match=r"does not wipe a node yet"):
                find(guarantee.fault)
