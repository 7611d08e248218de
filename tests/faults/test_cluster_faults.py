"""What faults of clusters do to the primary of this moment and to the network, in which order, and how they end."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock, call

import pytest

from storeproof.contract import Unknown
from storeproof.faults import faults, find, lagging_node_wipe
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.network.network import Network

NAMES = sorted(name for name, fault in faults().items() if isinstance(fault, ClusterFault))


@pytest.fixture
def handle() -> Any:
    """A handle of a cluster that notes its calls; its primary is n2."""
    made: Any = MagicMock()
    made.cluster = made
    made.network.mock_add_spec(Network)
    made.primary.return_value = "n2"
    made.nodes = ("n1", "n2", "n3")
    return made


def test_these_are_the_faults_of_clusters() -> None:
    """And whether the node is gone meanwhile."""
    found = {name: find(name) for name in NAMES}
    assert {name: fault.loses_node for name, fault in found.items() if isinstance(fault, ClusterFault)} == {
        "deaf_primary": False,
        "isolate_primary": False,
        "kill_primary": True,
        "lagging_node_wipe": True,
        "lossy_links": False,
        "pause_primary": False,
        "second_primary": True,
        "slow_links": False,
        "split_all": False,
    }


def test_those_that_strike_all_nodes_end_by_themselves() -> None:
    """No other node need take over: two of three may hear no one."""
    lasting = {name: fault.lasts for name in NAMES if isinstance(fault := find(name), ClusterFault) and fault.lasts is not None}
    assert lasting == {"lossy_links": 5.0, "slow_links": 5.0, "split_all": 5.0}


@pytest.mark.parametrize(
    ("name", "deeds"),
    [
        ("deaf_primary", [call.primary(), call.network.deafen("n2")]),
        ("isolate_primary", [call.primary(), call.network.isolate("n2")]),
        ("kill_primary", [call.primary(), call.node("n2"), call.node().kill()]),
        ("lossy_links", [call.primary(), call.network.lose(0.75)]),
        ("pause_primary", [call.primary(), call.node("n2"), call.node().pause()]),
        ("second_primary", [call.primary(), call.node("n2"), call.node().kill()]),
        ("slow_links", [call.primary(), call.network.delay(0.1)]),
        ("split_all", [call.primary(), call.network.split()]),
    ],
)
def test_a_fault_strikes_the_primary_of_this_moment(name: str, deeds: list[Any], handle: Any) -> None:
    """Not the one that a round began with."""
    find(name).strike(handle)
    assert handle.mock_calls == deeds


def test_a_lost_node_first_lags_then_is_silent_then_dies_and_then_its_disk_is_empty(handle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that goes down after the processes would let them send last packets; the second of lag is waited for."""
    monkeypatch.setattr(lagging_node_wipe.time, "sleep", lambda seconds: handle.waited(seconds))
    find("lagging_node_wipe").strike(handle)
    assert handle.mock_calls == [
        call.primary(),
        call.network.slow("n2", {"n1": 96, "n3": 16}),
        call.waited(1.0),
        call.network.unplug("n2"),
        call.node("n2"),
        call.node().kill(),
        call.node("n2"),
        call.node().empty(),
    ]


def test_the_node_after_the_lost_one_lags_most(handle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it matters which of the others takes over; around the end, the first."""
    monkeypatch.setattr(lagging_node_wipe.time, "sleep", handle.waited)
    handle.primary.return_value = "n3"
    find("lagging_node_wipe").strike(handle)
    assert handle.mock_calls[1] == call.network.slow("n3", {"n1": 16, "n2": 96})


def test_a_second_strike_follows_when_the_first_node_is_back(handle: Any) -> None:
    """It strikes the one that took over. No other fault strikes twice."""
    found = [fault for name in NAMES if isinstance(fault := find(name), ClusterFault) and fault.second_lasts is not None]
    assert [(fault.name, fault.second_lasts) for fault in found] == [("second_primary", 10.0)]
    found[0].strike_again(handle, "n2", "n3")
    assert handle.mock_calls == [call.bring_back("n2"), call.node("n3"), call.node().kill()]


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_ends_by_healing(name: str, handle: Any) -> None:
    """Whatever it did."""
    fault = find(name)
    assert isinstance(fault, ClusterFault)
    fault.end(handle)
    assert handle.mock_calls == [call.heal()]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_primary_none_is_struck(name: str, handle: Any) -> None:
    """The round says nothing."""
    handle.primary.side_effect = Unknown("an election")
    with pytest.raises(Unknown):
        find(name).strike(handle)
    assert handle.mock_calls == [call.primary()]
