"""A primary of PostgreSQL with standbys, which copy its log. PostgreSQL itself never makes a standby the primary: that is the operator's
step, and here storeproof is the operator.

A server is started as a standby of none. So one with an empty disk takes no writes, whatever it was before; the first primary is promoted
like every later one. A primary that was replaced, and a node that lost its disk, get a new copy of the data: `pg_rewind` took up to 16
seconds here, and a copy one or two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Final, Self

from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import Literal

from storeproof.adapters.postgresql.asking import ask, connection_string
from storeproof.contract import Address, NodeAddresses, Refused, Unknown, answering

_ANSWER_SECONDS: Final = 0.5
"""For a node that may be gone; the others answer within some milliseconds."""
_PROMOTION_SECONDS: Final = 10
_STOP_SECONDS: Final = 5.0
"""For a standby to stop receiving."""
_LOOK_SECONDS: Final = 0.02
_STATE: Final = """
    SELECT pg_is_in_recovery(),
           (SELECT system_identifier FROM pg_control_system()),
           current_setting('primary_conninfo'),
           CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END,
           (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn)::text,
           (SELECT count(*) FROM pg_stat_wal_receiver)
"""
_FOLLOWERS: Final = """
    SELECT application_name, state, replay_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication
"""


@dataclass(frozen=True)
class _State:
    """What one server says of itself."""

    standby: bool
    system: str
    """Written by initdb, and the same in all copies."""
    follows: str | None
    """The host of the primary that a standby is told to follow; None: none."""
    timeline: int
    """The timeline of a primary: raised by each promotion. 0 for a standby."""
    received: int
    """Up to which byte of the log a standby has it on its disk."""
    receives: bool

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        try:
            ((standby, system, primary, segment, received, receivers),) = ask(address, _STATE, _ANSWER_SECONDS)
        except Refused as reason:
            raise Unknown(f"{address}: {reason}") from reason
        host = conninfo_to_dict(primary or "").get("host")
        # The name of a segment begins with the timeline, in eight hexadecimal digits.
        timeline = int(segment[:8], 16) if segment else 0
        return cls(standby == "t", system or "", None if host is None else str(host), timeline, int(received or 0), receivers != "0")


class Standbys:
    def form(self, nodes: NodeAddresses) -> None:
        """If none is the primary, promote the one with the longest log; of new servers any will do."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        if all(state.standby for state in states.values()):
            _promote(nodes, max(states, key=lambda name: states[name].received))

    def primary(self, nodes: NodeAddresses) -> str:
        """The one that was promoted last, of those that take writes: one that was replaced does not know it."""
        return _primary(answering(nodes, _State.of))

    def whole(self, nodes: NodeAddresses) -> None:
        """All others are standbys of the primary, and have replayed all that it has."""
        primary = self.primary(nodes)
        followers = {name: (state, caught_up) for name, state, caught_up in _asked(nodes[primary], _FOLLOWERS)}
        for name in nodes:
            if name == primary:
                continue
            state, caught_up = followers.get(name, (None, None))
            if state != "streaming":
                raise Unknown(f"{name} does not follow {primary}")
            if caught_up != "t":
                raise Unknown(f"{name} has not caught up with {primary}")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: see `rebuilt`."""

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """Servers that do not follow the primary: new ones, and primaries that were replaced, which have writes that it has not."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        primary = _primary(states)
        source, system = nodes[primary], states[primary].system
        return {
            name: [copy_from(source, name)]
            for name, state in states.items()
            if name != primary and not (state.standby and state.system == system and state.follows == source.host)
        }

    def promote(self, nodes: NodeAddresses) -> str:
        """Promote the standby with the longest log, and have the others follow it.

        All but the lost primary must answer: a synchronous write is acknowledged by any one of them. They first stop receiving: one that
        still heard the old primary would go on acknowledging writes that the new one has not.
        """
        end = monotonic() + _STOP_SECONDS
        while True:
            standbys = {name: state for name, state in answering(nodes, _State.of).items() if state.standby}
            if len(standbys) == len(nodes) - 1:
                for name, state in standbys.items():
                    if state.follows is not None:
                        _follow(nodes[name], "")
                if not any(state.follows is not None or state.receives for state in standbys.values()):
                    break
            if monotonic() > end:
                found = ", ".join(standbys) or "none"
                raise Unknown(f"standbys that answer and no longer receive: {found}; another may have acknowledged writes")
            sleep(_LOOK_SECONDS)
        received = {name: _State.of(nodes[name]).received for name in standbys}  # what was still being written is there now
        chosen = self.successor(received)
        _promote(nodes, chosen)
        for name in standbys:
            if name != chosen:
                _follow(nodes[name], _follows(nodes[chosen], name))
        return chosen

    def successor(self, received: Mapping[str, int]) -> str:
        """The standby to promote, by the bytes of the log that each has."""
        return max(received, key=lambda name: received[name])


def _primary(states: Mapping[str, _State]) -> str:
    primaries = {name: state.timeline for name, state in states.items() if not state.standby}
    if not primaries:
        raise Unknown("no node takes writes")
    return max(primaries, key=lambda name: primaries[name])


def _promote(nodes: NodeAddresses, name: str) -> None:
    promoted = ask(nodes[name], f"SELECT pg_promote(true, {_PROMOTION_SECONDS})", _PROMOTION_SECONDS + _ANSWER_SECONDS)
    if promoted != [("t",)]:
        raise Unknown(f"{name} was told to become the primary, and was not after {_PROMOTION_SECONDS} s")


def _follow(address: Address, primary: str) -> None:
    """Tell a standby which primary to follow; an empty text: none."""
    _asked(address, f"ALTER SYSTEM SET primary_conninfo = {Literal(primary).as_string(None)}")
    _asked(address, "SELECT pg_reload_conf()")


def _follows(primary: Address, name: str) -> str:
    """What a standby must know of the primary; it names itself, as `synchronous_standby_names` has it."""
    return connection_string(primary, application_name=name)


def copy_from(primary: Address, name: str) -> Sequence[str]:
    """The command that makes a standby of an empty directory. The server syncs all of it when it starts from a copy, before it uses it."""
    source = _follows(primary, name).replace("$", "$$")
    how = ("--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync")
    return ["pg_basebackup", "--pgdata=${data}", *how, f"--dbname={source}"]


def _asked(address: Address, statement: str) -> list[tuple[str | None, ...]]:
    return ask(address, statement, _ANSWER_SECONDS)
