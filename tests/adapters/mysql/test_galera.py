"""Galera without a server: what the nodes must say for a cluster to be whole, and which of them begins one."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from storeproof.adapters.mysql.clusters import galera
from storeproof.adapters.mysql.clusters.galera import Galera
from storeproof.contract import Address, NodeAddresses, Unknown
from storeproof.launch.template import Template
from tests.shipped import SHIPPED

NODES: NodeAddresses = {f"n{number}": Address(f"198.18.0.{number}", 3306, "me", "word") for number in (1, 2, 3)}
HOSTS = [address.host for address in NODES.values()]
POSITION = "681a1c33-e97f-11f1-b99c-336b202994d4:7"
REFUSED = "echo 'bash: connect: Connection refused' >&2; exit 1"


class Servers:
    """All is well until a test changes what one of them says."""

    def __init__(self) -> None:
        synced = {"wsrep_cluster_status": "Primary", "wsrep_ready": "ON", "wsrep_local_state": "4", "wsrep_cluster_conf_id": "3"}
        synced |= {"wsrep_cluster_size": "3", "wsrep_cluster_state_uuid": "h", "wsrep_last_committed": "10"}
        synced |= {"wsrep_evs_state": "OPERATIONAL"}
        self.told = {name: dict(synced) for name in NODES}
        self.silent: set[str] = set()

    def status(self, address: Address) -> Mapping[str, str]:
        """As `galera._status`."""
        name = next(each for each, at in NODES.items() if at == address)
        if name in self.silent:
            raise Unknown("no answer in time")
        return self.told[name]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    monkeypatch.setattr(galera, "_status", made.status)
    return made


@pytest.mark.parametrize(
    ("name", "says", "missing"),
    [
        ("wsrep_local_state", "2", "n3 has not joined"),  # it gives another node a copy
        ("wsrep_ready", "OFF", "n3 has not joined"),
        ("wsrep_cluster_status", "non-Primary", "n3 has not joined"),
        ("wsrep_cluster_size", "2", "n3 is in a view of 2"),
        ("wsrep_cluster_conf_id", "4", "different views"),
        ("wsrep_cluster_state_uuid", "another", "different views"),
        ("wsrep_last_committed", "9", "not written the same"),
    ],
)
def test_it_is_whole_if_all_are_in_one_view_and_have_written_the_same(servers: Servers, name: str, says: str, missing: str) -> None:
    """And not if one of them is not."""
    Galera().whole(NODES)
    servers.told["n3"][name] = says
    with pytest.raises(Unknown, match=missing):
        Galera().whole(NODES)


def test_the_primary_is_the_first_node_of_the_newest_view(servers: Servers) -> None:
    """One that is cut off calls itself primary until it misses the others; one that is silent, or not ready, is passed over."""
    assert Galera().primary(NODES) == "n1"
    for name in ("n2", "n3"):
        servers.told[name]["wsrep_cluster_conf_id"] = "4"
    assert Galera().primary(NODES) == "n2"
    servers.told["n2"]["wsrep_ready"] = "OFF"
    assert Galera().primary(NODES) == "n3"
    servers.silent = {"n1"}
    servers.told["n3"] = {"wsrep_cluster_status": "Disconnected"}  # Galera is not loaded
    with pytest.raises(Unknown, match="no node takes writes"):
        Galera().primary(NODES)


def prepared(folder: Path, own: str, state: str | None, connects: str = REFUSED) -> str:
    """What the store's script tells the server to do before it starts.

    Args:
        own: the node's address.
        state: the file in which it keeps where it stopped; None: its disk is empty.
        connects: what becomes of a connection to another node.
    """
    programs = {"timeout": connects, "mariadbd": f"echo 'WSREP: Recovered position: {POSITION}' >&2"}
    for name, does in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / name).chmod(0o755)
    if state is not None:
        (folder / "grastate.dat").write_text(f"# GALERA saved state\nversion: 2.1\n{state}\n")
    store, _ = SHIPPED.store("mariadb")
    template = Template("mariadb", {"port": "3306"}, (), {})
    (folder / "galera.sh").write_text(template.text(store.topologies["galera"].services["mariadbd"].files["galera.sh"]))
    arguments = [str(folder), HOSTS[0], own, ",".join(HOSTS)]
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    subprocess.run(["bash", "galera.sh", *arguments], cwd=folder, env=path, check=True, timeout=20, capture_output=True)
    return (folder / "start.cnf").read_text()


ALL = f"wsrep_cluster_address=gcomm://{','.join(HOSTS)}\n"
ALONE = "wsrep_cluster_address=gcomm://\n"


@pytest.mark.parametrize(("own", "joins"), [(HOSTS[0], ALONE), (HOSTS[1], ALL)])
def test_with_empty_disks_the_first_node_begins_a_cluster(tmp_path: Path, own: str, joins: str) -> None:
    """The others refuse connections; all but the first one join."""
    assert joins in prepared(tmp_path, own, None)


def test_the_first_node_without_its_disk_joins_the_others(tmp_path: Path) -> None:
    """They are asked again while they do not answer: a second cluster beside theirs would be a loss of our own making."""
    silent = f"[ -e {tmp_path}/asked ] && exit 0; touch {tmp_path}/asked; exit 124"
    assert ALL in prepared(tmp_path, HOSTS[0], None, silent)
    assert (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("state", "joins", "position"),
    [
        ("uuid: h\nseqno:   9\nsafe_to_bootstrap: 1", ALONE, None),  # the file itself says where
        ("uuid: h\nseqno:   8\nsafe_to_bootstrap: 0", ALL, None),
        ("uuid: h\nseqno:   -1\nsafe_to_bootstrap: 0", ALL, POSITION),
        ("uuid: h\nseqno:   -1\nsafe_to_bootstrap: 1", ALL, POSITION),  # so it is in the first seconds of every node
    ],
)
def test_the_node_that_was_stopped_last_begins_again_and_one_that_crashed_knows_its_position(
    tmp_path: Path, state: str, joins: str, position: str | None
) -> None:
    """Nodes that crashed together find each other by what they saved; none of them may begin alone."""
    told = prepared(tmp_path, HOSTS[1], state)
    assert joins in told
    assert (f"wsrep_start_position={position}\n" in told) is (position is not None)


@pytest.mark.parametrize(("name", "says"), [("wsrep_evs_state", "GATHER"), ("wsrep_cluster_size", "2")])
def test_a_node_that_makes_a_new_view_misses_another(servers: Servers, name: str, says: str) -> None:
    """And one that is in a view without it."""
    others = {each: address for each, address in NODES.items() if each != "n1"}
    assert Galera().missed(NODES["n1"], others) is None
    servers.told["n3"][name] = says
    assert Galera().missed(NODES["n1"], others) == 0
    servers.silent = {"n3"}
    assert Galera().missed(NODES["n1"], others) is None


def test_the_time_outs_are_among_the_options_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the server tells in one line."""
    options = "evs.inactive_timeout = PT6S; evs.install_timeout = PT5S; evs.version = 1; evs.suspect_timeout = PT2S; gcache.size = 64M; "
    monkeypatch.setattr(galera, "ask", lambda *_: [(options,)])
    assert Galera().timeouts(NODES) == {"evs.suspect_timeout": "PT2S", "evs.inactive_timeout": "PT6S", "evs.install_timeout": "PT5S"}
