"""Groups of MySQL servers by group replication, with one primary: it commits a write that a majority of the group has received.

Members elect a new primary themselves. That a server joins the group when it starts, and again when it was expelled and cannot rejoin, is
the operator's step, and here storeproof is the operator. A server that is in no group takes no writes (`super_read_only` in the store's
file). One with an empty disk gets all that the group ever wrote from the binary log of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from storeproof.adapters.mysql.asking import OWN_NUMBER, ask, literal
from storeproof.adapters.mysql.clusters.replica import KNOWN, count
from storeproof.contract import Address, NodeAddresses, Unknown, answering

_JOIN_SECONDS: Final = 30.0
_TIMEOUTS: Final = ("group_replication_member_expel_timeout", "group_replication_unreachable_majority_timeout")
_REACHED: Final = "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_host = {host} AND member_state = 'ONLINE'"
_STATE: Final = f"""
    SELECT IFNULL(MAX(IF(member_host = @@report_host, member_state, NULL)), 'OFFLINE'),
           IFNULL(MAX(IF(member_host = @@report_host, member_role, NULL)), '') = 'PRIMARY' AND NOT @@super_read_only,
           COUNT(*), IFNULL(SUM(member_state IN ('ONLINE', 'RECOVERING')), 0),
           IFNULL((SELECT MAX(view_id) FROM performance_schema.replication_group_member_stats WHERE member_id = @@server_uuid), ''),
           @@gtid_executed,
           {KNOWN.format(channel="group_replication_applier")}
    FROM performance_schema.replication_group_members
"""


@dataclass(frozen=True)
class _State:
    """What one server says of itself and of its group."""

    member: str
    """`ONLINE`; `RECOVERING` while it gets what it missed; `OFFLINE` in no group; `ERROR` when it has left one."""
    writable: bool
    """Whether it is a primary that takes writes. One that is cut off says so until it misses the others."""
    size: int
    """How many members are in its view."""
    reached: int
    """How many of them it can reach, itself included."""
    view: tuple[int, ...]
    """Two numbers; they grow whenever a group begins, and when a member joins or leaves it."""
    executed: str
    """The writes that are in its tables, as sets of numbers."""
    known: int
    """How many writes it has: executed, or received."""

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        ((member, writable, size, reached, view, executed, known),) = ask(address, _STATE)
        numbers = tuple(int(part) for part in view.split(":") if part)
        return cls(member, bool(writable), int(size), int(reached), numbers, executed, count(known))


class GroupReplication:
    def form(self, nodes: NodeAddresses) -> None:
        """If there is no group, the server that has the most writes begins one; of new servers any will do. The others join later."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        if not any(state.member in ("ONLINE", "RECOVERING") for state in states.values()):
            _join(nodes[max(states, key=lambda name: states[name].known)], begins=True)

    def primary(self, nodes: NodeAddresses) -> str:
        """The one of the newest view, of those that take writes and reach a majority."""
        states = answering(nodes, _State.of)
        found = {name: state.view for name, state in states.items() if state.writable and 2 * state.reached > state.size}
        if not found:
            raise Unknown("no member takes writes")
        return max(found, key=lambda name: found[name])

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:
        """Whether one of them cannot reach it (`UNREACHABLE`), or has expelled it; it does not tell since when."""
        told = answering(others, lambda address: ask(address, _REACHED.format(host=literal(lost.host)))).values()
        return 0.0 if any(reached == 0 for ((reached,),) in told) else None

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """Of the first server, in seconds. That members miss another after 5 seconds is no setting."""
        ((*found,),) = ask(next(iter(nodes.values())), f"SELECT {', '.join(f'@@{name}' for name in _TIMEOUTS)}")
        return dict(zip(_TIMEOUTS, map(str, found), strict=True))

    def whole(self, nodes: NodeAddresses) -> None:
        """All are in one view, and have written the same."""
        if len({state.executed for state in _united(nodes).values()}) > 1:
            raise Unknown("the members have not written the same")
        self.primary(nodes)

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: it joins as every server that was started."""

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """None. Those that are in no group join it; one that was expelled may not know it yet.

        One that was started again waits until the others miss it: a server that joined before was seen to hang for 90 s.
        """
        states = {name: _State.of(address) for name, address in nodes.items()}
        for name, state in states.items():
            if state.member in ("OFFLINE", "ERROR"):
                if any(other.member == "ONLINE" and other.size == len(nodes) for other in states.values()):
                    raise Unknown(f"the others do not miss {name} yet")
                _join(nodes[name])
        _united(nodes)
        return {}


def _united(nodes: NodeAddresses) -> Mapping[str, _State]:
    """What the servers say. Raises `Unknown` if they are not all in one view."""
    states = {name: _State.of(address) for name, address in nodes.items()}
    for name, state in states.items():
        if state.member != "ONLINE":
            raise Unknown(f"{name} is {state.member}")
        if not state.size == state.reached == len(nodes):
            raise Unknown(f"{name} reaches {state.reached} of {state.size} members")
    if len({state.view for state in states.values()}) > 1:
        raise Unknown("the members are in different views")
    return states


def _join(address: Address, *, begins: bool = False) -> None:
    """Let a server join the group of the others, or begin one. Raises `Unknown` if it has not joined in time."""
    begin, join = (f"SET GLOBAL group_replication_bootstrap_group = {value}" for value in ("ON", "OFF"))
    start = f"START GROUP_REPLICATION USER = {literal(address.user or '')}, PASSWORD = {literal(address.password or '')}"
    ask(address, "STOP GROUP_REPLICATION", OWN_NUMBER, begin if begins else join, start, join, seconds=_JOIN_SECONDS)
