"""Products that speak another's protocol are called by their own names and versions, and never by those of what they resemble."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.adapters import memcached, mongodb, postgresql, redis
from storeproof.contract import Version, WrongReply
from tests.adapters.test_failures import answering, memcached_that, mongo_that


@pytest.mark.parametrize(
    ("build", "product"),
    [
        ({}, Version("MongoDB", "7.0.1")),
        ({"psmdbVersion": "7.0.1-2"}, Version("Percona Server for MongoDB", "7.0.1-2")),
        ({"ferretdbVersion": "v1.24.2"}, Version("FerretDB", "1.24.2")),
        ({"ferretdb": {"version": "v2.7.0", "package": "docker"}}, Version("FerretDB", "2.7.0")),
    ],
)
def test_a_relative_of_mongodb_has_its_own_version(build: dict[str, Any], product: Version) -> None:
    """The `version` of buildInfo is that of the MongoDB which a relative is compatible with."""
    with answering(mongo_that({}, there=False, **build)) as address:
        session = mongodb.connect(address, {})
        assert session.version() == product
        session.close()


def bulk(*lines: str) -> bytes:
    text = "".join(f"{line}\r\n" for line in lines)
    return f"${len(text)}\r\n{text}\r\n".encode()


def array(*words: str) -> bytes:
    return f"*{len(words)}\r\n".encode() + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)


NO_SECTION = b"-section (server) is not supported\r\n"
"""What miniredis answers."""


@pytest.mark.parametrize(
    ("info", "hello", "product"),
    [
        (bulk("# Server", "redis_version:8.2.3"), b"", Version("Redis", "8.2.3")),
        (bulk("# Server", "redis_version:7.2.4", "valkey_version:9.1.2"), b"", Version("Valkey", "9.1.2")),
        (bulk("# Server", "redis_version:7.4.0", "dragonfly_version:df-v1.40.1"), b"", Version("Dragonfly", "df-v1.40.1")),
        (NO_SECTION, array("server", "miniredis", "version", "8.4.0"), Version("miniredis", "(like Redis 8.4.0)")),
        (bulk("# Clients"), array("server", "miniredis"), Version("miniredis", "(like Redis (not told))")),
    ],
)
def test_a_relative_of_redis_is_asked_what_it_is(info: bytes, hello: bytes, product: Version) -> None:
    """By INFO, and by HELLO where INFO does not tell."""
    with answering(lambda request: info if b"INFO" in request else hello if b"HELLO" in request else b"+OK\r\n") as address:
        session = redis.connect(address, {})
        assert session.version() == product
        session.close()


def test_a_redis_that_does_not_tell_what_it_is_answers_wrong() -> None:
    """It is the server's fault, and no crash of the adapter."""
    with answering(lambda request: bulk("# Clients") if b"INFO" in request else array("mode", "standalone")) as address:
        session = redis.connect(address, {})
        with pytest.raises(WrongReply, match="neither INFO nor HELLO names the server"):
            session.version()
        session.close()


def test_a_version_that_is_only_a_name_is_the_product() -> None:
    """Hazelcast's reply has no number."""
    with answering(memcached_that(version=b"VERSION Hazelcast\r\n", stats=b"STAT uptime 1\r\nEND\r\n")) as address:
        session = memcached.connect(address, {})
        assert session.version() == Version("Hazelcast", "(no version)")
        session.close()


def test_h2_is_named_with_its_own_version() -> None:
    """The version of PostgreSQL in its answer is that of the protocol."""
    assert postgresql.product_of("PostgreSQL 8.2.23 server protocol using H2 2.5.252 (2026-09-01)") == Version("H2", "2.5.252")


def test_pglite_is_not_taken_for_the_postgresql_that_it_is_built_from() -> None:
    """All its connections are one session, which PostgreSQL's are not."""
    told = "PostgreSQL 18.6 (PGlite 0.5.14) on wasm32-unknown-emscripten, compiled by emcc (Emscripten) 6.0.5 (1db5137), 32-bit"
    assert postgresql.product_of(told) == Version("PGlite", "0.5.14")
