"""The members of an etcd cluster, as an operator asks about them.

They form it and elect a leader by themselves; `join` is for one that has lost its disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

from storeproof.adapters.etcd.link import Link, flags_of, number
from storeproof.contract import Address, NodeAddresses, Refused, Unknown, answering

_ANSWER_SECONDS: Final = 0.5
"""For a member that may be gone."""
_TIMEOUTS: Final = ("heartbeat-interval", "election-timeout")


class Members:
    """The members of a cluster of etcd, which join by the command line of each."""

    def form(self, nodes: NodeAddresses) -> None:
        """Return when there is a leader: who belongs to the cluster is on the command line of each."""
        self.primary(nodes)

    def primary(self, nodes: NodeAddresses) -> str:
        """The leader of the highest term, of those that take themselves for it: an old one may not know yet."""
        leading = [(number(status, "raftTerm"), name) for name, status in answering(nodes, _status).items() if _leads(status)]
        if not leading:
            raise Unknown("no member is the leader")
        return max(leading)[1]

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:  # noqa: ARG002 - they follow it while they hear it
        """Whether one of them knows no leader, or leads; it does not tell since when."""
        told = answering(others, _status).values()
        return 0.0 if any(number(each, "leader") == 0 or _leads(each) for each in told) else None

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """Of the first member, in milliseconds."""
        with closing(Link(next(iter(nodes.values())), _ANSWER_SECONDS)) as link:
            flags = flags_of(link)
        return {name: flags[name] for name in _TIMEOUTS if name in flags}

    def whole(self, nodes: NodeAddresses) -> None:
        """All members follow the leader, and have applied what it had committed when it was asked."""
        primary = self.primary(nodes)
        leader = _status(nodes[primary])
        me, committed = _id(leader), number(leader, "raftIndex")
        known = {each["ID"] for each in _members(nodes[primary])}
        for name, address in nodes.items():
            status = _status(address)
            if number(status, "leader") != me:
                raise Unknown(f"{name} does not follow {primary}")
            if str(_id(status)) not in known:
                raise Unknown(f"{name} is no member to {primary}")
            if number(status, "raftAppliedIndex") < committed:
                raise Unknown(f"{name} has not caught up with {primary}")
        if len(known) != len(nodes):
            raise Unknown(f"{primary} has {len(known)} members")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Return if it is a member again: with its first start it has joined under a new id."""
        primary = self.primary(nodes)
        if str(_id(_status(nodes[node]))) not in {each["ID"] for each in _members(nodes[primary])}:
            raise Refused(f"{node} started with an empty disk and is no member to {primary}")


def _leads(status: Mapping[str, Any]) -> bool:
    return number(status, "leader") == _id(status) != 0


def _id(status: Mapping[str, Any]) -> int:
    return number(status.get("header", {}), "member_id")


def _status(address: Address) -> Mapping[str, Any]:
    """What a member says of itself; it asks no other."""
    return _ask(address, "maintenance/status")


def _members(address: Address) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _ask(address, "cluster/member/list").get("members", [])
    return found


def _ask(address: Address, service: str) -> Mapping[str, Any]:
    with closing(Link(address, _ANSWER_SECONDS)) as link:
        return link.ask(service)
