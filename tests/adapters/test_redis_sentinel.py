"""What sentinels and servers must say for a cluster of Redis to be whole. No server is needed."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.adapters.redis import sentinel
from storeproof.adapters.redis.sentinel import SentinelCluster
from storeproof.contract import Address, Refused, Unknown

NODES = {f"n{number}": Address(f"198.18.0.{number}", 6379, ports={"redis": 6379, "sentinel": 26379}) for number in (1, 2, 3)}


class Servers:
    """Three of them, with a sentinel each; n1 is the primary, and all is well until a test changes what one of them says."""

    def __init__(self) -> None:
        self.masters: dict[str, dict[str, str] | None] = {
            name: {
                "ip": "198.18.0.1",
                "port": "6379",
                "config-epoch": "3",
                "num-other-sentinels": "2",
                "num-slaves": "2",
                "flags": "master",
                "down-after-milliseconds": "1000",
                "failover-timeout": "3000",
            }
            for name in NODES
        }
        self.tilt = dict.fromkeys(NODES, 0)
        self.silent: set[str] = set()
        self.roles = {"n1": b"master", "n2": b"slave", "n3": b"slave"}
        self.replication = {
            "master_repl_offset": 70,
            "slave0": {"ip": "198.18.0.2", "state": "online", "offset": 70},
            "slave1": {"ip": "198.18.0.3", "state": "online", "offset": 70},
        }

    def ask(self, address: Address, *command: Any) -> Any:
        """As `sentinel._ask`."""
        name = next(each for each, at in NODES.items() if at.host == address.host)
        if name in self.silent:
            raise Unknown("timeout")
        if command[:2] == ("SENTINEL", "MASTER"):
            found = self.masters[name]
            if found is None:
                raise Refused("No such master with that name")
            return [word.encode() for pair in found.items() for word in pair]
        return {"ROLE": [self.roles[name]], "INFO sentinel": {"sentinel_tilt": self.tilt[name]}, "INFO replication": self.replication}[
            " ".join(command)
        ]

    def says(self, name: str, **words: str) -> None:
        """What the sentinel of a node says of the primary."""
        found = self.masters[name]
        assert found is not None
        found |= {word.replace("_", "-"): text for word, text in words.items()}


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    monkeypatch.setattr(sentinel, "_ask", made.ask)
    monkeypatch.setattr(sentinel, "_TOLD_SECONDS", 0.0)
    return made


def test_it_is_whole_if_all_follow_and_all_sentinels_agree_and_act(servers: Servers) -> None:
    """And not if one of them says less."""
    SentinelCluster({}).whole(NODES)
    servers.tilt["n2"] = 1
    with pytest.raises(Unknown, match=r"the sentinel of n2 was paused, and does not act yet \(TILT\)"):
        SentinelCluster({}).whole(NODES)
    servers.says("n3", flags="master,s_down")
    with pytest.raises(Unknown, match="TILT"):
        SentinelCluster({}).whole(NODES)
    servers.tilt["n2"] = 0
    with pytest.raises(Unknown, match="the sentinel of n3 knows 2 other sentinels and 2 replicas, and says of the primary: master,s_down"):
        SentinelCluster({}).whole(NODES)
    servers.masters["n3"] = None
    with pytest.raises(Unknown, match="the sentinel of n3 does not take n1 for the primary"):
        SentinelCluster({}).whole(NODES)


@pytest.mark.parametrize(
    ("replica", "message"),
    [
        ({"ip": "198.18.0.9"}, "n3 does not follow n1"),
        ({"state": "wait_bgsave"}, "n3 does not follow n1"),
        ({"offset": 69}, "n3 has not caught up with n1"),
    ],
)
def test_it_is_not_whole_while_a_replica_lags(replica: dict[str, Any], message: str, servers: Servers) -> None:
    """The offset is what the replica has told the primary."""
    servers.replication["slave1"] |= replica  # type: ignore[operator]
    with pytest.raises(Unknown, match=message):
        SentinelCluster({}).whole(NODES)


def test_the_primary_is_the_one_of_the_newest_epoch(servers: Servers) -> None:
    """Of the sentinels that answer; and only once it says so itself."""
    assert SentinelCluster({}).primary(NODES) == "n1"
    servers.says("n3", ip="198.18.0.2", config_epoch="4")
    with pytest.raises(Unknown, match="n2 was chosen, and is not the primary yet"):
        SentinelCluster({}).primary(NODES)
    servers.roles["n2"] = b"master"
    servers.silent = {"n1"}
    assert SentinelCluster({}).primary(NODES) == "n2"
    servers.silent = set(NODES)
    with pytest.raises(Unknown, match="no sentinel knows a primary"):
        SentinelCluster({}).primary(NODES)


def test_a_sentinel_says_for_how_long_it_has_missed_the_primary(servers: Servers) -> None:
    """The first of them counts; not what the primary's own says, nor what is said of another one."""
    cluster, lost = SentinelCluster({}), NODES["n1"]
    others = {name: address for name, address in NODES.items() if name != "n1"}
    servers.says("n1", flags="s_down,master", s_down_time="9000")
    assert cluster.missed(lost, others) is None
    servers.says("n2", flags="s_down,master", s_down_time="40")
    servers.says("n3", flags="s_down,o_down,master", s_down_time="1250")
    assert cluster.missed(lost, others) == 1.25
    for name in others:
        servers.says(name, ip="198.18.0.2")
    assert cluster.missed(lost, others) is None


def test_the_time_outs_are_those_that_a_sentinel_has(servers: Servers) -> None:
    """Whatever the variant says."""
    assert SentinelCluster({"failover-timeout": "9"}).timeouts(NODES) == {"down-after-milliseconds": "1000", "failover-timeout": "3000"}
    servers.masters["n1"] = None
    with pytest.raises(Unknown, match="knows no primary"):
        SentinelCluster({}).timeouts(NODES)
