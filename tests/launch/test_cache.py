"""What is on the disk is kept in the same memory by all stores: the scale says how much, and the live server what it took."""

from __future__ import annotations

import pytest

from storeproof.errors import NotAvailable
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

SPEC = SHIPPED
CACHED = {name: store for name in SPEC.store_files if (store := SPEC.targets([name])[0].store).cache is not None}
TAKEN = {
    "mariadb": ("innodb_buffer_pool_size", "268435456"),
    "mongodb": ("wiredTigerCacheSizeGB", "0.25"),
    "mysql": ("innodb_buffer_pool_size", "268435456"),
    "postgresql": ("shared_buffers", "256MB"),
    "tarantool": ("vinyl_cache", "268435456"),
}


def test_every_store_with_a_cache_is_tried_here() -> None:
    """A store file that gains a cache setting needs a row in `TAKEN`."""
    assert set(CACHED) == set(TAKEN)


@pytest.mark.parametrize("scale", SPEC.scales.values(), ids=SPEC.scales)
def test_all_that_a_workload_loads_fits_in(scale) -> None:  # type: ignore[no-untyped-def]
    """The cache of every scale holds at least twice the loaded data."""
    assert scale.cache_bytes >= 2 * scale.performance.data_bytes


@pytest.mark.servers
@pytest.mark.parametrize("name", TAKEN)
def test_the_live_server_says_what_the_scale_does(name: str) -> None:
    """The real server reports the scale's cache size, not its default."""
    sut = StoreUnderTest(SPEC, SPEC.targets([name])[0], Options(SPEC.scales["smoke"], seed=1, launch="process"), lambda _: None)
    try:
        handle = sut.launch("its cache")
    except NotAvailable as missing:
        pytest.skip(str(missing))
    handle.close()
    setting, value = TAKEN[name]
    assert sut.record.settings[setting] == value


def test_what_a_variant_says_itself_goes_before() -> None:
    """A variant's own value for the cache setting overrides the scale's."""
    target = SPEC.targets(["mariadb"])[0]
    own = target.configuration.model_copy(update={"settings": {"innodb_buffer_pool_size": "1"}})
    store = target.store.model_copy(update={"variants": {target.variant: own}})
    assert type(target)(store, target.variant, target.file).settings(2**30) == {"innodb_buffer_pool_size": "1"}
