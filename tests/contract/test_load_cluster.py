"""The cluster family of an adapter: found where a store has topologies, and refused where it is incomplete."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.contract import load_cluster
from storeproof.errors import UsageError
from storeproof.spec.store import Topology


class Whole:
    """A cluster that lacks nothing but a promotion."""

    def form(self, nodes: Any) -> None: ...
    def primary(self, nodes: Any) -> str: ...  # type: ignore[empty-body]
    def whole(self, nodes: Any) -> None: ...
    def replace(self, node: str, nodes: Any) -> None: ...


STORE: Any = SimpleNamespace(name="mine", adapter="./mine.py")
SERVICES = {"server": {"binary": "mined", "install": "apt-get install mined", "port": 1, "command": []}}


def topology(failover: str = "own") -> Topology:
    """Of two nodes."""
    return Topology.model_validate({"nodes": {"a": ["server"], "b": ["server"]}, "services": SERVICES, "failover": failover})


def test_the_options_are_the_variants() -> None:
    """The adapter's function gets them, and its result is used."""
    asked: list[Any] = []

    def cluster(options: Any) -> Whole:
        asked.append(options)
        return Whole()

    adapter: Any = SimpleNamespace(cluster=cluster)
    assert isinstance(load_cluster(adapter, STORE, topology(), {"wait": "1"}), Whole)
    assert asked == [{"wait": "1"}]


@pytest.mark.parametrize(
    ("adapter", "failover", "message"),
    [
        (SimpleNamespace(), "own", "mine has topologies, and its adapter ./mine.py has no function `cluster"),
        (SimpleNamespace(cluster=lambda options: object()), "own", "what is no `Cluster`"),
        (SimpleNamespace(cluster=lambda options: Whole()), "operator", "`failover: operator` needs `promote`"),
    ],
    ids=["none", "incomplete", "no-promotion"],
)
def test_an_adapter_without_it_is_refused(adapter: Any, failover: str, message: str) -> None:
    """With what is missing, and where it is described."""
    with pytest.raises(UsageError, match=message) as refused:
        load_cluster(adapter, STORE, topology(failover), {})
    assert "storeproof/contract/clusters.py" in str(refused.value)
