"""What tests on real clusters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storeproof.contract import Layout
from storeproof.experiments.durability.strikes import cluster as cluster_strike
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.store_under_test import StoreUnderTest
from tests.adapters.real_clusters import launched


@pytest.fixture(scope="module")
def cluster(networks: None, sut: StoreUnderTest) -> Iterator[ClusterHandle]:
    """Of the module's store, for all its tests; its settings were read back from each node."""
    with launched(sut) as handle:
        yield handle


@pytest.fixture(scope="module")
def layout(sut: StoreUnderTest) -> Layout:
    """Of one table for all tests of the module."""
    return sut.layout("single_key")


@pytest.fixture
def whole(cluster: ClusterHandle) -> Iterator[ClusterHandle]:
    """The cluster of a module: before a test it is whole; what the test did to it ends."""
    cluster.wait_whole()
    yield cluster
    cluster.heal()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """An old primary answers until it misses the others, which is long enough for a partition."""
    monkeypatch.setattr(cluster_strike, "_SIDES_SECONDS", 0.2)
    monkeypatch.setattr(cluster_strike, "_DEPOSED_SECONDS", 0.2)
