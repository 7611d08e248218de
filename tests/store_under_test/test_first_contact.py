"""Who is blamed at the first contact: the user's credentials or the client, until the store has served one client of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from storeproof.blame import Party, judge_error
from storeproof.contract import Address, Unsupported
from storeproof.errors import NotAdmitted, NotAvailable, StoreDied
from storeproof.outcome import Outcome
from storeproof.spec import SPEC_ROOT
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

_ADAPTER = """
from storeproof.adapters.sqlite import connect as reach
from storeproof.contract import Refused, Unsupported, WrongReply

refuses = None
settings = None

def connect(address, options):
    if refuses is not None:
        raise refuses
    session = reach(address, options)
    if settings is not None:
        def read_settings(names):
            raise settings
        session.read_settings = read_settings
    return session
"""


@pytest.fixture
def sut(tmp_path: Path) -> Iterator[StoreUnderTest]:
    """SQLite behind an adapter that can be told what its server refuses."""
    (tmp_path / "moody.py").write_text(_ADAPTER)
    file = tmp_path / "moody.yaml"
    file.write_text((SPEC_ROOT / "stores" / "sqlite.yaml").read_text().replace("adapter: sqlite\n", "adapter: ./moody.py\n"))
    (target,) = SHIPPED.targets([str(file)])
    made = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)
    yield made
    made.close_shared()


def adapter_of(sut: StoreUnderTest) -> ModuleType:
    """Its module."""
    assert isinstance(sut.adapter, ModuleType)
    return sut.adapter


@pytest.mark.parametrize(
    ("kind", "what", "says"),
    [
        ("Refused", "WRONGPASS", "sqlite answers and refuses access: WRONGPASS; check `user` and `password` in moody.yaml"),
        ("Unsupported", "unknown command PING", "its client cannot use it: unknown command PING; choose a version of the server"),
        ("WrongReply", "an old greeting", "answers, but its client cannot use it: an old greeting; choose a version of the server"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_no_failure_of_the_store(sut: StoreUnderTest, kind: str, what: str, says: str) -> None:
    """An error of the user's, with what was refused and what to do next; the other cases are not run."""
    adapter = adapter_of(sut)
    adapter.refuses = getattr(adapter, kind)(what)
    with pytest.raises(NotAdmitted) as refused:
        sut.launch("a test")
    judged = judge_error(refused.value, claimed=True)
    assert (judged.outcome, judged.party) == (Outcome.ERROR, Party.USER)
    assert says in judged.detail
    with pytest.raises(NotAvailable, match="the store could not be tested: sqlite answers"):
        sut.launch("the next case")


def test_a_right_that_the_user_lacks_is_no_failure_of_the_store(sut: StoreUnderTest) -> None:
    """The first contact lasts until version and settings are read."""
    adapter = adapter_of(sut)
    adapter.settings = adapter.Refused("NOPERM")
    with pytest.raises(NotAdmitted, match="refuses access: NOPERM"):
        sut.launch("a test")


def test_a_store_that_has_let_us_in_has_no_excuse(sut: StoreUnderTest) -> None:
    """Who forgets its users in a crash fails."""
    adapter = adapter_of(sut)
    handle = sut.launch("a test")
    try:
        adapter.refuses = adapter.Refused("no such user")
        handle.kill()
        with pytest.raises(StoreDied, match="answers and refuses access: no such user") as died:
            handle.start()
        assert judge_error(died.value, claimed=True).outcome is Outcome.FAIL
    finally:
        handle.close()


def test_the_client_is_named_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which packages the server has to get on with."""
    (target,) = SHIPPED.targets(["redis"])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1), lambda _: None)

    def connect(*_: object) -> None:
        raise Unsupported("unknown command 'PING'")

    monkeypatch.setattr(adapter_of(sut), "connect", connect)
    with pytest.raises(NotAdmitted, match=r"choose a version of the server that redis \d+\.\d+.* can use"):
        sut._probe(Address("127.0.0.1", 1))
