"""What every case of the suites is given: its trial, its verdict, and a store to work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from storeproof.contract import Collection, Layout, Refused, Session, Unknown, Unsupported
from storeproof.outcome import Outcome
from storeproof.plugin import RUN, VERDICT
from storeproof.plugin.verdict import Verdict
from storeproof.spec.variation import AS_IT_IS, Variation
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
        raise trial.mistrust(reason) from None
    yield opened
    opened.close()


@pytest.fixture
def fresh(trial: Trial, session: Session, verdict: Verdict) -> Iterator[Open]:
    """Makes empty collections, which are removed after the case: `fresh(model, indexes=0, record=AS_IT_IS)`.

    A model that the store does not keep settles the case: `unsupported` where it is not claimed, `fail` where it is.
    """
    opened: list[Collection] = []

    def make(model: str, indexes: int = 0, record: Variation = AS_IT_IS) -> tuple[Collection, Layout]:
        layout = trial.layout(model, indexes, record)
        try:
            collection = session.collection(layout)
        except Unsupported as reason:
            claimed = model in trial.target.store.claims.models and not indexes
            verdict.settle(Outcome.FAIL if claimed else Outcome.UNSUPPORTED, f"{'claimed, but ' if claimed else ''}{reason}")
        opened.append(collection)
        collection.prepare()
        return collection, layout

    yield make
    for collection in opened:
        if not trial.answers():
            break  # the store is gone, and what it held with it
        try:
            collection.clear()
        except Unknown as reason:
            raise trial.mistrust(reason) from None
        except Refused:
            trial.close_shared()  # what is left must not reach the next case
            raise
