"""What a store is called, whatever its server says."""

from __future__ import annotations

import pytest

from storeproof.result.product import product, short_product


@pytest.mark.parametrize(
    ("title", "version", "whole", "short"),
    [
        ("MariaDB", "MariaDB 10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19"),
        ("MySQL NDB Cluster", "MySQL 9.7.4-2", "MySQL NDB Cluster 9.7.4-2", "MySQL NDB Cluster 9.7.4"),
        ("Azure Cache for Redis", "Redis 7.4.1", "Azure Cache for Redis 7.4.1", "Azure Cache for Redis 7.4.1"),
        ("Redis Stack", "Redis Stack 7.4.1, search 2.10.5", "Redis Stack 7.4.1, search 2.10.5", "Redis Stack 7.4.1"),
        (
            "Redis over MariaDB", "Redis over MariaDB 8.2.3 over 10.11.19-MariaDB-0",
            "Redis 8.2.3 over MariaDB 10.11.19-MariaDB-0", "Redis 8.2.3 over MariaDB 10.11.19",
        ),
        ("Redis over MariaDB", "one word", "one word", "one word"),
        ("Valkey", "Redis 7.2", "Redis 7.2", "Redis 7.2"),
        ("H2", "H2 2.5.252", "H2 2.5.252", "H2 2.5.252"),
        ("etcd", None, "etcd, never reached", "etcd, never reached"),
    ],
)  # fmt: skip
def test_a_store_is_called_by_its_whole_name(title: str, version: str | None, whole: str, short: str) -> None:
    """A server of a product inside another, and one of two, do not say it themselves."""
    assert (product(title, version), short_product(title, version)) == (whole, short)
