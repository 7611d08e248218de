"""A store to work on, beside the store under test and the outcome that the plugin gives every case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storeproof.contract import Session, Unknown
from storeproof.experiments.case_collections import OpenCollection, Workspace
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


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
def fresh(sut: StoreUnderTest, session: Session, case_result: CaseResult) -> Iterator[OpenCollection]:
    """Makes empty collections, which are removed after the case: see `Workspace.fresh`."""
    workspace = Workspace(sut, session, claimed=case_result.claimed)
    yield workspace.fresh
    workspace.clear()
