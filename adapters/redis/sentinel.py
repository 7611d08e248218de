"""Redis with Sentinel: replicas follow a primary, and sentinels choose another one when it is lost.

The sentinels start without a primary to watch, and are told of it once its replicas are online: a sentinel looks for replicas only every
ten seconds, so one that is told before finds none at first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from storeproof.adapters.redis.link import FAILURES, failure_of
from storeproof.contract import Address, NodeAddresses, Refused, Unknown, answering

_GROUP: Final = "storeproof"
"""The name under which the sentinels know the primary and its replicas."""
_SERVICE: Final = "sentinel"
_TIMEOUTS: Final = {"down-after-milliseconds": "1000", "failover-timeout": "3000"}
"""Unless the variant says others. A sentinel pings once a second. With 200 and 300 ms a live primary was taken for
dead between two pings, and replaced each 1.2 s."""
_ANSWER_SECONDS: Final = 0.3
"""For a node that may be gone; the others answer within a millisecond."""
_TOLD_SECONDS: Final = 1.5
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True)
class _Chosen:
    """What one sentinel says of the primary."""

    host: str
    port: int
    epoch: int
    """Raised by each failover."""
    others: int
    """Sentinels beside itself."""
    replicas: int
    flags: str
    down_ms: int | None
    """How long it has not answered the sentinel in time; None: it does."""
    timeouts: Mapping[str, str]


class SentinelCluster:
    """Redis with Sentinel. Each node has a Redis and a sentinel."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._timeouts = {name: options.get(name, value) for name, value in _TIMEOUTS.items()}

    def form(self, nodes: NodeAddresses) -> None:
        """Make the first node the primary, or the one that the sentinels remember."""
        chosen = self._chosen(nodes)
        remembered = [name for name, address in nodes.items() if chosen is not None and _is_at(chosen, address)]
        primary = (remembered or list(nodes))[0]
        main = nodes[primary]
        for name, address in nodes.items():
            _ask(address, "REPLICAOF", *(("NO", "ONE") if name == primary else (main.host, main.port)))
        _check_followed(primary, nodes)
        for address in nodes.values():
            self._watch(address, main, len(nodes))

    def primary(self, nodes: NodeAddresses) -> str:
        """The one that was chosen in the newest epoch, if it says itself that it is the primary."""
        chosen = self._chosen(nodes)
        if chosen is None:
            raise Unknown("no sentinel knows a primary")
        for name, address in nodes.items():
            if _is_at(chosen, address):
                role = _ask(address, "ROLE")[0]
                if role not in (b"master", "master"):
                    raise Unknown(f"{name} was chosen, and is not the primary yet")
                return name
        raise Unknown(f"the primary is at {chosen.host}:{chosen.port}, which is none of the nodes")

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:
        """Since a sentinel has had no answer from it for too long (`s_down`), by the sentinel's own clock. Once another one is the primary
        it does not tell it any more."""
        told = answering(others, _watched).values()
        down = [each.down_ms for each in told if each is not None and each.down_ms is not None and _is_at(each, lost)]
        return max(down) / 1000 if down else None

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """Of the first sentinel."""
        chosen = _watched(next(iter(nodes.values())))
        if chosen is None:
            raise Unknown("the sentinel knows no primary")
        return chosen.timeouts

    def whole(self, nodes: NodeAddresses) -> None:
        """All others are replicas of the primary, have all that it has, and all sentinels agree and act.

        A sentinel that was itself paused acts again only after 30 seconds (TILT): a fault in that time would strike sentinels without a
        majority.
        """
        primary = self.primary(nodes)
        _await_caught_up(primary, nodes)
        for name, address in nodes.items():
            chosen = _watched(address)
            if chosen is None or not _is_at(chosen, nodes[primary]):
                raise Unknown(f"the sentinel of {name} does not take {primary} for the primary")
            if (chosen.others, chosen.replicas, chosen.flags) != (len(nodes) - 1, len(nodes) - 1, "master"):
                known = f"{chosen.others} other sentinels and {chosen.replicas} replicas"
                raise Unknown(f"the sentinel of {name} knows {known}, and says of the primary: {chosen.flags}")
            if int(_ask(_sentinel_of(address), "INFO", "sentinel")["sentinel_tilt"]):
                raise Unknown(f"the sentinel of {name} was paused, and does not act yet (TILT)")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Make it a replica of the primary, and have the sentinels start over: its own has forgotten all, and the others still wait for the
        one that was lost, without which they might have no majority next time (SENTINEL RESET, as the documentation says)."""
        primary = self.primary(nodes)
        if primary == node:
            raise Unknown(f"{node} has an empty disk, and the sentinels take it for the primary")
        _ask(nodes[node], "REPLICAOF", nodes[primary].host, nodes[primary].port)
        _check_followed(primary, nodes)  # a sentinel finds those replicas that are online when it is reset
        for name, address in nodes.items():
            if name != node:
                _ask(_sentinel_of(address), "SENTINEL", "RESET", _GROUP)
        self._watch(nodes[node], nodes[primary], len(nodes))

    def _watch(self, address: Address, main: Address, nodes: int) -> None:
        """Tell a sentinel of the primary, if it knows of none."""
        if _watched(address) is None:
            sentinel = _sentinel_of(address)
            _ask(sentinel, "SENTINEL", "MONITOR", _GROUP, main.host, main.port, nodes // 2 + 1)
            _ask(sentinel, "SENTINEL", "SET", _GROUP, *(word for pair in self._timeouts.items() for word in pair))

    def _chosen(self, nodes: NodeAddresses) -> _Chosen | None:
        """What the sentinel with the newest epoch says, of those that answer."""
        said = answering(nodes, _watched).values()
        return max((each for each in said if each is not None), key=lambda each: each.epoch, default=None)


def _check_followed(primary: str, nodes: NodeAddresses, offset: int = 0) -> int:
    """Raise `Unknown` unless all other nodes are replicas of the primary and have its log up to `offset`; return where that log ends."""
    told: Mapping[str, Any] = _ask(nodes[primary], "INFO", "replication")
    replicas = {str(each["ip"]): each for name, each in told.items() if name.startswith("slave") and isinstance(each, dict)}
    for name, address in nodes.items():
        if name == primary:
            continue
        replica = replicas.get(address.host)
        if replica is None or replica["state"] != "online":
            raise Unknown(f"{name} does not follow {primary}")
        if int(replica["offset"]) < offset:
            raise Unknown(f"{name} has not caught up with {primary}")
    return int(told["master_repl_offset"])


def _await_caught_up(primary: str, nodes: NodeAddresses) -> None:
    """Wait until the replicas have told the primary that they have all that it has now, which they do once a second. Its log goes on
    growing, since the sentinels' messages are in it. Raises `Unknown` if one does not."""
    offset, end = _check_followed(primary, nodes), monotonic() + _TOLD_SECONDS
    while True:
        try:
            _check_followed(primary, nodes, offset)
        except Unknown:
            if monotonic() > end:
                raise
            sleep(_LOOK_SECONDS)
        else:
            return


def _watched(address: Address) -> _Chosen | None:
    """What the sentinel of a node says; None if it knows of no primary."""
    try:
        found = _ask(_sentinel_of(address), "SENTINEL", "MASTER", _GROUP)
    except Refused:  # "No such master with that name"
        return None
    words = [each.decode() if isinstance(each, bytes) else str(each) for each in found]
    said = dict(zip(words[::2], words[1::2], strict=True))
    port, epoch, others, replicas = (int(said[name]) for name in ("port", "config-epoch", "num-other-sentinels", "num-slaves"))
    down = int(said["s-down-time"]) if "s-down-time" in said else None
    return _Chosen(said["ip"], port, epoch, others, replicas, said["flags"], down, {name: said[name] for name in _TIMEOUTS})


def _sentinel_of(address: Address) -> Address:
    port = address.ports.get(_SERVICE)
    if port is None:
        raise Refused(f"a cluster of Redis needs the service `{_SERVICE}` on each node; found {', '.join(address.ports)}")
    return Address(address.host, port)


def _is_at(chosen: _Chosen, address: Address) -> bool:
    return (chosen.host, chosen.port) == (address.host, address.port)


def _ask(address: Address, *command: Any) -> Any:
    """Send one command over a connection of its own."""
    client = redis.Redis(
        host=address.host,
        port=address.port,
        password=address.password,
        protocol=2,
        socket_timeout=_ANSWER_SECONDS,
        socket_connect_timeout=_ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    execute: Any = client.execute_command
    try:
        return execute(*command)
    except FAILURES as reason:
        raise failure_of(reason) from reason
    finally:
        client.close()
