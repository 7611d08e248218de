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
    assert parse_endpoint(url, EXAMPLE) == address


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
    with pytest.raises(UsageError) as problem:
        parse_endpoint(url, EXAMPLE)
    assert str(problem.value).startswith("the endpoint's URL ")
    assert str(problem.value).endswith(f"; an endpoint looks like {EXAMPLE}")
    assert "hunter2" not in "".join(traceback.format_exception(problem.value))


def test_no_form_of_an_address_shows_the_password() -> None:
    address = parse_endpoint("redis://me:hunter2@localhost:6379/0", EXAMPLE)
    assert address.password == "hunter2"
    for shown in (str(address), repr(address), f"{address}", f"{[address]}"):
        assert "hunter2" not in shown
    assert str(address) == "localhost:6379"
