"""Two nodes of Redis in containers of the project's own image, of which the first has a watcher too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from storeproof.launch.request import ClusterRequest, LaunchRequest
from storeproof.spec.store import Launch, Topology
from tests.launch.container.redis import REDIS, pinged

SERVER = {
    "binary": "redis-server",
    "install": ".ci/setup images",
    "files": {"own.conf": "protected-mode no\n${settings}\n"},
    "command": ["${run}/own.conf", "--bind", "${address}", "--port", "${port}", "--dir", "${data}"],
    "setting": ["${name}", "${value}"],
    "unprivileged": True,
}


def redis_request(base: Path, adapter: Any, **fields: Any) -> LaunchRequest:
    """The adapter says what the cluster is."""
    topology = Topology.model_validate(
        {
            "nodes": {"n1": ["server", "watcher"], "n2": ["server"]},
            "services": {"server": {**SERVER, "port": 6379}, "watcher": {**SERVER, "port": 6380}},
        }
    )
    return LaunchRequest(
        store="duo", launch=Launch(container=REDIS), kind="container", probe=pinged, settings={"save": '""'}, data_dir=base,
        cluster=ClusterRequest(topology=topology, adapter=adapter), **fields,
    )  # fmt: skip
