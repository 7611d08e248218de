"""What every case of the suites is given: its trial, its verdict, and a store to work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from storeproof.contract import Collection, Layout, Session, Unknown
from storeproof.plugin import RUN, VERDICT
from storeproof.plugin.verdict import Verdict
from storeproof.suites.workspace import Workspace
from storeproof.trial import Trial

Open = Callable[..., tuple[Collection, Layout]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case runs once per target."""
    run = metafunc.config.stash[RUN]
    metafunc.parametrize("trial", run.trials, ids=[trial.target.id for trial in run.trials], scope="session")


@pytest.fixture(autouse=True)
def verdict(request: pytest.FixtureRequest, trial: Trial) -> Verdict:
    """The outcome of the running case, on record whatever happens."""
    running: Verdict = request.node.stash[VERDICT]
    return running


@pytest.fixture
def session(trial: Trial) -> Iterator[Session]:
    """A session with the store that the cases of a stage share."""
    handle = trial.shared()
    try:
        opened = trial.connect(handle)
    except Unknown as reason:
        raise trial.explain(reason) from None
    yield opened
    opened.close()


@pytest.fixture
def fresh(trial: Trial, session: Session, verdict: Verdict) -> Iterator[Open]:
    """Makes empty collections, which are removed after the case: see `Workspace.fresh`."""
    workspace = Workspace(trial, session, claimed=verdict.claimed)
    yield workspace.fresh
    workspace.clear()
