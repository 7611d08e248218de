"""What every case of the suites is given: its trial, its verdict, and a store to work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from storeproof.contract import Collection, Layout, Session, Unknown
from storeproof.experiments.workspace import Workspace
from storeproof.plugin.stash import CASE_RESULT, RUN
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

Open = Callable[..., tuple[Collection, Layout]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case runs once per target."""
    run = metafunc.config.stash[RUN]
    metafunc.parametrize("sut", run.suts, ids=[sut.target.id for sut in run.suts], scope="session")


@pytest.fixture(autouse=True)
def case_result(request: pytest.FixtureRequest, sut: StoreUnderTest) -> CaseResult:
    """The outcome of the running case, on record whatever happens."""
    running: CaseResult = request.node.stash[CASE_RESULT]
    return running


@pytest.fixture
def session(sut: StoreUnderTest) -> Iterator[Session]:
    """A session with the store that the cases of a stage share."""
    handle = sut.shared()
    try:
        opened = sut.connect(handle)
    except Unknown as reason:
        raise sut.explain(reason) from None
    yield opened
    opened.close()


@pytest.fixture
def fresh(sut: StoreUnderTest, session: Session, case_result: CaseResult) -> Iterator[Open]:
    """Makes empty collections, which are removed after the case: see `Workspace.fresh`."""
    workspace = Workspace(sut, session, claimed=case_result.claimed)
    yield workspace.fresh
    workspace.clear()
