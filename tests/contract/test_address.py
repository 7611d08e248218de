"""An endpoint is read from its URL, and its password shows nowhere."""

from __future__ import annotations

import traceback

import pytest

from storeproof.contract.address import Address, parse_endpoint
from storeproof.errors import UsageError

EXAMPLE = "redis://:password@localhost:6379/0"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://localhost:6379", Address("localhost", 6379)),
        ("redis://localhost:6379/", Address("localhost", 6379)),
        ("rediss://me:s%40crt@example.org:6380/3", Address("example.org", 6380, "me", "s@crt", "3", tls=True)),
        ("redis://:key%2Fwith%2Fslashes=@10.0.0.1:1/0", Address("10.0.0.1", 1, None, "key/with/slashes=", "0")),
        ("mongodb://[::1]:27017/db", Address("::1", 27017, database="db")),
        ("postgresql://me@host:5432/a/b", Address("host", 5432, "me", None, "a/b")),
    ],
)
def test_an_endpoint_is_read(url: str, address: Address) -> None:
    """URLs are parsed with percent-encoding, IPv6 hosts, TLS schemes and databases."""
    scheme = url.partition(":")[0].replace("rediss", "redis")
    assert parse_endpoint(url, EXAMPLE.replace("redis", scheme)) == address


@pytest.mark.parametrize(
    ("example", "allowed"),
    [
        (EXAMPLE, "redis, rediss"),
        (EXAMPLE.replace("redis", "rediss"), "rediss"),
        ("mine://h:1", "mine"),
        ("mongodb://h:1", "mongodb, mongodb+srv"),
    ],
)
def test_another_scheme_is_refused(example: str, allowed: str) -> None:
    """A web server is no Redis, and what the user meant is not to be guessed."""
    with pytest.raises(UsageError) as problem:
        parse_endpoint("http://:hunter2@localhost:6379/0", example)
    assert str(problem.value) == f"the endpoint's URL has the scheme http://; allowed: {allowed}; an endpoint looks like {example}"


@pytest.mark.parametrize(
    ("url", "ports"),
    [
        ("http://me:hunter2@host:8000", {}),
        ("http://me:hunter2@host:8000?manage=18002", {"manage": 18002}),
        ("http://me:hunter2@host:8000/db?timeout=30&manage=1", {"manage": 1}),
    ],
)
def test_further_ports_are_those_that_the_example_names(url: str, ports: dict[str, int]) -> None:
    """Query parameters are ports only if the example names them."""
    assert parse_endpoint(url, "http://localhost:8000?manage=8002").ports == ports
    assert parse_endpoint(url, "http://localhost:8000").ports == {}


@pytest.mark.parametrize("port", ["", "0", "-1", "65536", "8k", "\u0663", "hunter2"])
def test_a_further_port_that_is_none_is_a_clear_error(port: str) -> None:
    """An invalid further port is a usage error without the password."""
    with pytest.raises(UsageError, match=r"^the endpoint's URL has no valid port after `manage=`; an endpoint looks like ") as problem:
        parse_endpoint(f"http://me:hunter2@host:8000?manage={port}", "http://localhost:8000?manage=8002")
    assert "hunter2" not in str(problem.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "localhost:6379",
        "redis://localhost",
        "redis://:6379",
        "//localhost:6379",
        "redis://:hunter2@localhost",
        "redis://:hunter2@",
        "redis://:hunter2@localhost:port/0",
        "redis://me:hunter2/with/slash@localhost:6379/0",
        "redis://me:hunter2@localhost:99999/0",
        "redis://me:hunter2@[::1:6379/0",
        "me:hunter2@localhost:6379",
    ],
)
def test_an_endpoint_that_cannot_be_read_is_a_clear_error_without_its_password(url: str) -> None:
    """A malformed URL is a usage error with an example, and never shows the password."""
    with pytest.raises(UsageError) as problem:
        parse_endpoint(url, EXAMPLE)
    assert str(problem.value).startswith("the endpoint's URL ")
    assert str(problem.value).endswith(f"; an endpoint looks like {EXAMPLE}")
    assert "hunter2" not in "".join(traceback.format_exception(problem.value))


def test_no_form_of_an_address_shows_the_password() -> None:
    """str, repr and format of an address have no password."""
    address = parse_endpoint("redis://me:hunter2@localhost:6379/0", EXAMPLE)
    assert address.password == "hunter2"
    for shown in (str(address), repr(address), f"{address}", f"{[address]}"):
        assert "hunter2" not in shown
    assert str(address) == "localhost:6379"
