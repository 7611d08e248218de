"""What tests on real clusters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storeproof.launch.several.cluster import ClusterHandle


@pytest.fixture
def whole(cluster: ClusterHandle) -> Iterator[ClusterHandle]:
    """The cluster of a module: before a test it is whole; what the test did to it ends."""
    cluster.wait_whole()
    yield cluster
    cluster.heal()
