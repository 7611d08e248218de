"""What the instances must say for a replica set of Tarantool to be whole, and which one is promoted. No server is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from storeproof.adapters.tarantool import replica_set
from storeproof.adapters.tarantool.replica_set import ReplicaSet
from storeproof.contract import Address, NodeAddresses, Unknown

NODES: NodeAddresses = {f"n{number}": Address(f"198.18.0.{number}", 3301, "me", "word") for number in (1, 2, 3)}


@dataclass
class Instance:
    """What one says of itself."""

    vclock: dict[int, int] = field(default_factory=lambda: {1: 100})
    sources: dict[str, str] = field(default_factory=dict)
    """From which nodes it copies, with the status."""
    promoted: float | None = None
    """None: it takes no writes."""
    told: list[str] = field(default_factory=list)


class Instances:
    """n1 is the primary, and all is well until a test changes what one of them says."""

    def __init__(self) -> None:
        self.by_name = {
            "n1": Instance(promoted=1.0),
            "n2": Instance(sources={"n1": "follow"}),
            "n3": Instance(sources={"n1": "follow"}),
        }
        self.silent: set[str] = set()

    def tell(self, address: Address, function: str, *args: Any, seconds: float = 0.5) -> Any:
        """As `_tell`."""
        name = _at(address.host)
        if name in self.silent:
            raise Unknown("no answer in time")
        each = self.by_name[name]
        if function == "state":
            sources = [[f"me@{NODES[other]}", status, "why" if status == "stopped" else ""] for other, status in each.sources.items()]
            return [each.promoted is not None, each.promoted or 0, each.vclock, sources]
        if function == "follow":
            (uris,) = args
            others = [_at(uri.rpartition("@")[2].partition(":")[0]) for uri in uris]
            each.sources = dict.fromkeys(others, "follow")
            for other in others:
                for number, count in self.by_name[other].vclock.items():
                    each.vclock[number] = max(count, each.vclock.get(number, 0))
            function = f"follow {' '.join(others) or 'none'}"
        elif function == "promote":
            each.promoted = args[0]
        elif function == "demote":
            each.promoted = None
        each.told.append(function)
        return []


def _at(host: str) -> str:
    return next(name for name, address in NODES.items() if address.host == host)


@pytest.fixture
def instances(monkeypatch: pytest.MonkeyPatch) -> Instances:
    made = Instances()
    monkeypatch.setattr(replica_set, "_tell", made.tell)
    monkeypatch.setattr(replica_set, "_FOLLOW_SECONDS", 0.2)
    return made


def test_it_is_whole_if_all_follow_and_have_caught_up(instances: Instances) -> None:
    """And not if one of them does not; the reason is the server's own."""
    ReplicaSet().whole(NODES)
    instances.by_name["n3"].vclock = {1: 99}
    with pytest.raises(Unknown, match="n3 has not caught up with n1"):
        ReplicaSet().whole(NODES)
    instances.by_name["n3"].sources = {"n1": "stopped"}
    with pytest.raises(Unknown, match="n3 does not follow n1: why"):
        ReplicaSet().whole(NODES)


def test_the_primary_is_the_one_that_was_promoted_last(instances: Instances) -> None:
    """One that was replaced goes on taking writes."""
    assert ReplicaSet().primary(NODES) == "n1"
    instances.by_name["n2"].promoted = 2.0
    assert ReplicaSet().primary(NODES) == "n2"
    instances.silent = {"n1", "n2"}
    with pytest.raises(Unknown, match="no instance takes writes"):
        ReplicaSet().primary(NODES)


def test_the_instance_with_the_most_changes_is_promoted(instances: Instances) -> None:
    """Not before all have stopped copying. Those that follow it confirm what waits for a quorum, before it takes writes."""
    instances.by_name["n3"].vclock = {1: 101}
    instances.silent = {"n1"}
    assert ReplicaSet().promote(NODES) == "n3"
    assert instances.by_name["n3"].told == ["follow none", "clear_queue", "promote"]
    assert instances.by_name["n2"].told == ["follow none", "follow n3"]
    assert ReplicaSet().primary(NODES) == "n3"


def test_none_is_promoted_if_another_may_have_more(instances: Instances) -> None:
    """A synchronous write is acknowledged with any one of the replicas: the one that does not answer may be the only one that has it."""
    instances.silent = {"n1", "n3"}
    with pytest.raises(Unknown, match="replicas that answer: n2; another may have acknowledged writes"):
        ReplicaSet().promote(NODES)
    assert instances.by_name["n2"].told == []


def test_what_cannot_follow_is_copied(instances: Instances) -> None:
    """A primary that was replaced is first told to take no writes and to follow; with changes of its own it needs a copy."""
    assert ReplicaSet().rebuilt(NODES) == {}
    old, new = instances.by_name["n1"], instances.by_name["n2"]
    old.vclock = {1: 105}
    new.promoted, new.sources, new.vclock = 2.0, {}, {1: 100, 2: 3}
    for reason in ("n1 took writes too", "n1 did not follow n2 alone", "n3 did not follow n2 alone"):
        with pytest.raises(Unknown, match=reason):
            ReplicaSet().rebuilt(NODES)
    assert old.told == ["demote", "follow n2"]
    assert ReplicaSet().rebuilt(NODES) == {"n1": []}
    old.vclock = {1: 100, 2: 3}
    assert ReplicaSet().rebuilt(NODES) == {}
    instances.by_name["n3"].sources = {"n2": "stopped"}
    assert ReplicaSet().rebuilt(NODES) == {"n3": []}
