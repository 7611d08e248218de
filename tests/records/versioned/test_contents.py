"""What is written and seen of the records of each mix, on the embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from storeproof.contract import Layout, Session
from storeproof.history import Access
from storeproof.records.versioned.contents import Contents, contents_of, keys_of_group
from storeproof.records.versioned.lists import SeenLists
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED


@pytest.fixture(scope="module")
def sut() -> Iterator[StoreUnderTest]:
    made = StoreUnderTest(
        SHIPPED, SHIPPED.targets(["sqlite"])[0], Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None
    )
    yield made
    made.close_shared()


@pytest.fixture
def session(sut: StoreUnderTest) -> Iterator[Session]:
    with closing(sut.connect(sut.shared())) as opened:
        yield opened


def opened(sut: StoreUnderTest, session: Session, mix: str) -> tuple[Contents, Layout, list[str]]:
    layout, not_written = sut.layout(SHIPPED.mixes[mix].model), list[str]()
    session.collection(layout).prepare()
    contents = contents_of(SHIPPED.mixes[mix], layout, not_written, SeenLists())
    contents.use(session)
    return contents, layout, not_written


@pytest.mark.parametrize("mix", SHIPPED.mixes)
def test_the_last_write_is_seen(mix: str, sut: StoreUnderTest, session: Session) -> None:
    """As its write id; and what is absent as absent."""
    contents, _, not_written = opened(sut, session, mix)
    contents.write("k1", "1:1")
    contents.write("k1", "2:7")
    assert [*contents.read("k1"), *contents.read("k2")] == [Access("read", "k1", "2:7"), Access("read", "k2", None)]
    assert not_written == []


def test_a_search_tells_of_its_whole_group(sut: StoreUnderTest, session: Session) -> None:
    """Of those that are absent too, and of no other group."""
    contents, _, not_written = opened(sut, session, "predicates")
    assert keys_of_group("k5") == ["k4", "k5", "k6", "k7"]
    for key, write in (("k5", "1:1"), ("k6", "1:2"), ("k8", "1:3")):
        contents.write(key, write)
    assert list(contents.search("k4")) == [
        Access("read", "k4", None, predicate=True),
        Access("read", "k5", "1:1", predicate=True),
        Access("read", "k6", "1:2", predicate=True),
        Access("read", "k7", None, predicate=True),
    ]
    assert not_written == []


@pytest.mark.parametrize(
    ("mix", "record", "said"),
    [
        ("read-modify-write", b"nothing of ours", "k1 is invented"),
        ("list-append", b"1:2", "k1 is no list"),
        ("predicates", {"name": "g7"}, "k1 is"),
    ],
)
def test_what_no_client_wrote_is_noted(mix: str, record: Any, said: str, sut: StoreUnderTest, session: Session) -> None:
    """And no read of anything."""
    contents, layout, not_written = opened(sut, session, mix)
    collection: Any = session.collection(layout)
    collection.put("k1", record)
    assert list(contents.read("k1")) == []
    (found,) = not_written
    assert found.startswith(said)
