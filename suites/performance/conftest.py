"""What the cases of the performance stage share: the load engine with its connections."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from storeproof.contract import Address
from storeproof.errors import NotAvailable
from storeproof.load.ceiling import Ceilings
from storeproof.load.choice import Engines
from storeproof.load.noise import noise_floor
from storeproof.outcome import Outcome
from storeproof.plugin import RUN
from storeproof.plugin.verdict import Verdict
from storeproof.trial import Trial

EnginesHere = Callable[[], Engines]


@pytest.fixture(scope="module")
def engines(trial: Trial) -> Iterator[EnginesHere]:
    """The engines for the shared store, which last from case to case, as long as the store does."""
    current: dict[Address, Engines] = {}

    def here() -> Engines:
        address = trial.shared().address
        if address not in current:
            for stale in current.values():
                stale.close()
            current.clear()
            current[address] = Engines(trial.target, address, trial.options.engine)
        return current[address]

    yield here
    for last in current.values():
        last.close()


@pytest.fixture(scope="session")
def ceilings(request: pytest.FixtureRequest) -> Iterator[Ceilings]:
    """What the load generator could do at most; and how noisy the machine is, before anything is measured on it."""
    run = request.config.stash[RUN]
    run.progress("measuring the noise of the machine")
    with contextlib.closing(Ceilings()) as here:
        with contextlib.suppress(NotAvailable, OSError):  # what was not measured, the result does not have
            run.noise = noise_floor(here.server, run.options.scale.performance.round_seconds)
        yield here


def refuse_without_indexes(trial: Trial, verdict: Verdict, indexes: int) -> None:
    """What has indexes of its own from the beginning has no figures without them."""
    if not indexes and trial.target.variant.own_indexes:
        verdict.settle(Outcome.UNSUPPORTED, "the variant indexes every collection by itself: there is nothing to measure without indexes")
