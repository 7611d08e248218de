"""Snapshot isolation of InnoDB is what a setting of the running server makes of it, and never what the level is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from storeproof.contract import Layout, Refused, Unsupported
from storeproof.contract.sessions import Transactions
from storeproof.errors import NotAvailable
from storeproof.launch.handle import Handle
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

pytestmark = [pytest.mark.servers, pytest.mark.slow]

SETTING = "SET GLOBAL innodb_snapshot_isolation"
SUT = StoreUnderTest(SHIPPED, SHIPPED.targets(["mariadb"])[0], Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)


@pytest.fixture(scope="module")
def handle() -> Iterator[Handle]:
    """A MariaDB with its defaults."""
    try:
        launched = SUT.launch("its levels")
    except NotAvailable as missing:
        pytest.skip(str(missing))
    with closing(launched):
        yield launched


def session(handle: Handle) -> Any:
    return closing(SUT.connect(handle))


def updated_by_two(one: Any, other: Any, layout: Layout, level: str) -> str:
    """What is left of two updates of one record, of which neither transaction has seen the other's."""
    first, second = one.collection(layout), other.collection(layout)
    first.put("x", b"10")
    for each, records in ((one, first), (other, second)):
        each.begin(level)
        assert records.get("x") == b"10"
    first.put("x", b"11")
    one.commit()
    try:
        second.put("x", b"12")
        other.commit()
    except Refused as reason:
        other.rollback()
        return f"refused: {str(reason)[:4]}"
    return str(first.get("x"), "ascii")


def test_without_the_setting_the_level_is_unsupported(handle: Handle) -> None:
    """It would lose an update, as REPEATABLE READ does."""
    layout = SUT.layout("single_key")
    with session(handle) as one, session(handle) as other:
        one.collection(layout).prepare()
        assert isinstance(one, Transactions)
        with pytest.raises(Unsupported, match="REPEATABLE READ of this server is no snapshot isolation"):
            one.begin("snapshot")
        assert updated_by_two(one, other, layout, "repeatable_read") == "12"


def test_with_the_setting_an_update_of_what_has_changed_is_refused(handle: Handle) -> None:
    """The live value counts, as each connection has it."""
    layout = SUT.layout("single_key")
    with session(handle) as ruler:
        ruler.run(f"{SETTING} = ON")
        try:
            with session(handle) as one, session(handle) as other:
                one.collection(layout).prepare()
                assert updated_by_two(one, other, layout, "snapshot") == "refused: 1020"
        finally:
            ruler.run(f"{SETTING} = OFF")
