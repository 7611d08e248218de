"""Files with clusters: nodes and services, the variants that run as them, and what such a file may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED
from tests.spec.files import with_changes

TEXT = """format: "2.2"
store: mine
title: Mine
product: Mine
adapter: ./mine.py
launch:
  process:
    binary: mined
    install: apt-get install mined
    command: [--port, "${port}"]
topologies:
  trio:
    nodes: {a: [server, watcher], b: [server, watcher], c: [server]}
    services:
      server:
        binary: mined
        install: apt-get install mined
        port: 4000
        command: ["${here}/mined.conf", --bind, "${address}", "${arguments}", "${settings}"]
      watcher: {binary: mine-watch, install: apt-get install mined, port: 4001, command: [--peer, "${address.b}"]}
    settle_seconds: 20
variants:
  plain: {guarantee: process_crash, default: true}
  cluster:
    topology: trio
    arguments: [--fast]
    settings: {sync: "no"}
    guarantee: volatile
    survives: [node_loss, partition, one_node_crash]
claims:
  models: [single_key]
  capabilities: {}
"""


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """The file, with changes."""
    path = folder / "mine.yaml"
    path.write_text(with_changes(TEXT, changes))
    return path


def test_a_variant_runs_as_the_cluster_that_it_names(tmp_path: Path) -> None:
    """Its arguments are in the commands that have a place for them, `${here}` is the folder of the file, and other variants have none."""
    plain, cluster = SHIPPED.targets([f"{written(tmp_path)}:all"])
    assert (plain.topology, plain.cluster) == ("single", None)
    assert cluster.topology == "trio"
    topology = cluster.cluster
    assert topology is not None
    assert topology.nodes == {"a": ("server", "watcher"), "b": ("server", "watcher"), "c": ("server",)}
    assert topology.services["server"].command == (f"{tmp_path}/mined.conf", "--bind", "${address}", "--fast", "${settings}")
    assert topology.services["watcher"].command == ("--peer", "${address.b}")
    assert (topology.failover, topology.settle_seconds) == ("own", 20)
    asked = ("volatile", "process_crash", "node_loss", "partition", "all_nodes_crash")
    assert [name for name in asked if cluster.configuration.promises(name)] == ["volatile", "node_loss", "partition"]


def test_a_file_that_extends_another_changes_a_service_or_drops_the_topology(tmp_path: Path) -> None:
    """As with any other mapping; a variant of a topology that was dropped must go too."""
    written(tmp_path)
    head = 'format: "2.2"\nextends: ./mine.yaml\nstore: other\ntitle: Other\nproduct: Other\n'
    other = tmp_path / "other.yaml"
    other.write_text(head + "topologies: {trio: {services: {server: {binary: otherd}}}}\n")
    (target,) = SHIPPED.targets([f"{other}:cluster"])
    assert target.cluster is not None
    assert (target.cluster.services["server"].binary, target.cluster.services["server"].port) == ("otherd", 4000)
    other.write_text(head + "topologies: null\nvariants: {cluster: null}\n")
    assert [target.cluster for target in SHIPPED.targets([f"{other}:all"])] == [None]
    other.write_text(head + "topologies: null\n")
    with pytest.raises(SpecError, match=r"variants.cluster.topology: found 'trio'; allowed: none, as there are no `topologies`"):
        SHIPPED.targets([str(other)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("c: [server]", "c: [serve]"), "mine.yaml:13: topologies.trio.nodes.c.0: found 'serve'; allowed: server, watcher"),
        (("c: [server]", "c: []"), "topologies.trio.nodes.c: found an empty list; allowed: at least 1"),
        ((", b: [server, watcher], c: [server]", ""), "mine.yaml:13: topologies.trio.nodes: found 1; allowed: 2 to 12 nodes"),
        (
            ("port: 4001", "port: 4000"),
            "mine.yaml:13: topologies.trio.nodes.a.1: server and watcher have the port 4000; allowed: services with different ports",
        ),
        (("port: 4001", "port: 70000"), "topologies.trio.services.watcher.port: found 70000; allowed: 65535 or less"),
        (("port: 4001, ", ""), "topologies.trio.services.watcher.port: is missing, and must be given"),
        (("port: 4001", "port: 4001, ports: [more]"), "topologies.trio.services.watcher.ports: a service has one port, `port`"),
        (("settle_seconds: 20", "failover: mine"), "topologies.trio.failover: found 'mine'; allowed: own, operator"),
        (("topology: trio", "topology: tria"), "mine.yaml:25: variants.cluster.topology: found 'tria'; allowed: trio"),
        (("    topology: trio\n", ""), "variants.cluster.survives.0: found 'node_loss' without `topology`; allowed: in a variant"),
        (("default: true}", "default: true, timeouts: {wait: '1'}}"), "variants.plain.timeouts: allowed: in a variant that runs as one of"),
        (("survives: [node_loss", "survives: [node_lost"), "variants.cluster.survives.0: found 'node_lost' (did you mean `node_loss`?)"),
        (("  trio:", "  single:"), "topologies.single: allowed: another name; `single` is a value of `topology`"),
        (("  trio:", "  cluster:"), "topologies.cluster: allowed: another name; `cluster` is a value of `topology`"),
        (("guarantee: volatile", "guarantee: node_loss"), "power_loss; what a cluster survives is under `survives`"),
    ],
    ids=lambda value: value[1].strip()[:24] if isinstance(value, tuple) else "",
)
def test_an_invalid_topology_is_refused_with_its_line(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    """Each message says where, what was found, and what is allowed."""
    with pytest.raises(SpecError) as breach:
        SHIPPED.targets([str(written(tmp_path, change))])
    assert message in str(breach.value)


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    """The page of a store's file has a whole one of a cluster."""
    text = (CHECKOUT / "docs" / "STORE_FILE.md").read_text().partition("## A cluster\n\n```yaml\n")[2].partition("```\n")[0]
    (tmp_path / "example.yaml").write_text(text)
    (target,) = SHIPPED.targets([f"{tmp_path / 'example.yaml'}:trio"])
    assert target.cluster is not None
    assert target.configuration.promises("partition")


def test_a_cluster_is_no_part_of_a_composite_store(tmp_path: Path) -> None:
    """Its parts are single servers."""
    head = 'format: "2.2"\nstore: both\ntitle: Both\nproduct: Both\nadapter: composite\n'
    launch = "launch:\n  composite: {front: 'redis:volatile', home: 'redis:sentinel'}\n"
    variants = "variants: {plain: {options: {policy: cache-aside}, guarantee: volatile, default: true}}\n"
    path = tmp_path / "both.yaml"
    path.write_text(head + launch + variants + "claims: {models: [single_key], capabilities: {}}\n")
    with pytest.raises(SpecError, match="home: found 'redis:sentinel'; allowed: one variant of a store that is one server"):
        SHIPPED.targets([str(path)])


@pytest.mark.parametrize("store", ["redis", "valkey"])
def test_the_shipped_clusters_claim_what_their_documents_promise(store: str) -> None:
    """Which is nothing: WAIT "does not make Redis a strongly consistent store", and the best replica is promoted by best effort."""
    clusters = {target.variant: target for target in SHIPPED.targets([f"{store}:all"]) if target.cluster is not None}
    assert set(clusters) == {"sentinel", "sentinel-wait-1", "sentinel-min-replicas-1", "sentinel-default-timeouts"}
    for target in clusters.values():
        assert target.cluster is not None
        assert (target.configuration.guarantee, target.configuration.survives) == ("volatile", ())
        assert {each.binary for each in target.cluster.services.values()} == {f"{store}-server"}
        assert not target.durable_reads
