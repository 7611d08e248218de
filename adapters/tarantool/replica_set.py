"""A replica set of Tarantool: one instance takes writes, and the others copy its log. Which one that is the operator says, and here
storeproof is the operator.

Every instance is read-only until it is told otherwise, and again when it has lost its disk. Another is made the primary as Tarantool's
manual says (https://www.tarantool.io/en/doc/latest/admin/replication/repl_recover/): the others follow it, and the old one no longer.
Else that one would get a quorum from them for synchronous transactions after it was replaced.

What the old primary has written alone cannot be undone: it gets a new copy of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from time import monotonic, sleep
from typing import Any, Final, Self

from storeproof.adapters.tarantool.link import Link, open_connection
from storeproof.contract import Address, NodeAddresses, Refused, Unknown, answering

_ANSWER_SECONDS: Final = 0.5
"""For an instance that may be gone."""
_QUEUE_SECONDS: Final = 30.0
"""Clearing the queue takes up to twice `replication_synchro_timeout`."""
_FOLLOW_SECONDS: Final = 5.0
"""For the others to follow the one that is to be the primary."""
_LOOK_SECONDS: Final = 0.02
_FOLLOWS: Final = "follow"
_STOPPED: Final = "stopped"
"""Statuses of a source: changes of it are applied; one of them could not be, and no later one will."""
_OPERATOR: Final = files(__package__).joinpath("replica_set.lua").read_text(encoding="utf-8")


@dataclass(frozen=True)
class _State:
    """What one instance says of itself."""

    writable: bool
    promoted: float
    """When it was told to take writes, by this machine's clock; it has kept that with its data."""
    vclock: Mapping[int, int]
    """How many changes it has of each instance, by its number."""
    sources: Mapping[str, tuple[str, str]]
    """From where it gets changes, `host:port`; with the status, and the error if there was one."""

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        writable, promoted, vclock, sources = _tell(address, "state")
        found = {str(peer).rpartition("@")[2]: (str(status), str(message)) for peer, status, message in sources}
        return cls(bool(writable), float(promoted), dict(vclock), found)

    @property
    def changes(self) -> int:
        """How many it has. All come from one primary at a time, so that of two instances the one with more has those of the other."""
        return sum(self.vclock.values())

    def lacks(self, other: _State) -> bool:
        """Whether the other has changes that it has not."""
        return any(self.vclock.get(number, 0) < count for number, count in other.vclock.items())


class ReplicaSet:
    """Instances of Tarantool, one of which takes writes."""

    def form(self, nodes: NodeAddresses) -> None:
        """If none takes writes, promote the one with the most changes; of new ones any will do."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        if not any(state.writable for state in states.values()):
            _promote(nodes, list(states))

    def primary(self, nodes: NodeAddresses) -> str:
        """The one that was promoted last, of those that take writes: one that was replaced does not know it."""
        return _primary(answering(nodes, _State.of))

    def whole(self, nodes: NodeAddresses) -> None:
        """All others follow the primary, and have all changes that it has."""
        primary = self.primary(nodes)
        leading = _State.of(nodes[primary])
        for name, address in nodes.items():
            if name == primary:
                continue
            state = _State.of(address)
            status, message = state.sources.get(str(nodes[primary]), ("", ""))
            if status != _FOLLOWS:
                raise Unknown(f"{name} does not follow {primary}: {message or status}")
            if state.lacks(leading):
                raise Unknown(f"{name} has not caught up with {primary}")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: with its first start it has copied all data from another instance."""

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """Instances with changes that the primary has not, and instances to which its changes cannot be applied. No commands: with an empty
        directory an instance copies all data from another one when it starts."""
        primary = self.primary(nodes)
        source, copied = str(nodes[primary]), dict[str, Sequence[Sequence[str]]]()
        for name, address in nodes.items():
            if name == primary:
                continue
            state = _State.of(address)
            if state.writable:
                _tell(address, "demote")
                raise Unknown(f"{name} took writes too")
            if set(state.sources) != {source}:
                _follow(address, nodes[primary])
                raise Unknown(f"{name} did not follow {primary} alone")
            status, message = state.sources[source]
            if status == _STOPPED or _State.of(nodes[primary]).lacks(state):
                copied[name] = []
            elif status != _FOLLOWS:
                raise Unknown(f"{name} does not follow {primary}: {message or status}")
        return copied

    def promote(self, nodes: NodeAddresses) -> str:
        """Promote the one with the most changes of the old primary, and have the others follow it.

        All but the lost primary must answer: a synchronous transaction is acknowledged with the receipt of any one of them.
        """
        end = monotonic() + _FOLLOW_SECONDS
        while len(replicas := [name for name, state in answering(nodes, _State.of).items() if not state.writable]) != len(nodes) - 1:
            if monotonic() > end:
                raise Unknown(f"replicas that answer: {', '.join(replicas) or 'none'}; another may have acknowledged writes")
            sleep(_LOOK_SECONDS)
        return _promote(nodes, replicas)


def _primary(states: Mapping[str, _State]) -> str:
    primaries = {name: state.promoted for name, state in states.items() if state.writable}
    if not primaries:
        raise Unknown("no instance takes writes")
    return max(primaries, key=lambda name: primaries[name])


def _promote(nodes: NodeAddresses, candidates: Sequence[str]) -> str:
    """Make one of them the primary that has the most changes, and have the others follow it. They first stop following another."""
    for name in candidates:
        _follow(nodes[name], None)
    _await(lambda: not any(_State.of(nodes[name]).sources for name in candidates), "they still follow another")
    states = {name: _State.of(nodes[name]) for name in candidates}  # what was still being applied is there now
    chosen = max(states, key=lambda name: states[name].changes)
    for name in candidates:
        if name != chosen:
            _follow(nodes[name], nodes[chosen])
    # Transactions that wait for a quorum are confirmed by those that follow and have them; the others are rolled back.
    _await(lambda: all(_has_caught_up(nodes[name], nodes[chosen]) for name in candidates if name != chosen), f"they do not follow {chosen}")
    _tell(nodes[chosen], "clear_queue", seconds=_QUEUE_SECONDS)
    _tell(nodes[chosen], "promote", monotonic())
    return chosen


def _has_caught_up(address: Address, primary: Address) -> bool:
    state = _State.of(address)
    return state.sources.get(str(primary), ("", ""))[0] == _FOLLOWS and not state.lacks(_State.of(primary))


def _follow(address: Address, primary: Address | None) -> None:
    """Tell an instance to copy from this primary alone; None: from no other."""
    _tell(address, "follow", [] if primary is None else [f"{primary.user}:{primary.password}@{primary}"])


def _await(done: Callable[[], bool], missing: str) -> None:
    """Ask until it is done. Raises `Unknown` if it takes too long."""
    end = monotonic() + _FOLLOW_SECONDS
    while not done():
        if monotonic() > end:
            raise Unknown(missing)
        sleep(_LOOK_SECONDS)


def _tell(address: Address, function: str, *args: Any, seconds: float = _ANSWER_SECONDS) -> Any:
    """Call one of the functions in `replica_set.lua`; all that it returns, as a list. Raises `Unknown` if it is not done in time."""
    try:
        with closing(Link(open_connection(address, seconds), {})) as link:
            return link.run(link.connection.eval, _OPERATOR, function, *args)
    except Refused as reason:
        raise Unknown(f"{address}: {reason}") from reason
