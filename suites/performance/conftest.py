"""What the cases of the performance stage share: what measures the workloads, in interleaved rounds of all stores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from storeproof.errors import NotAvailable
from storeproof.experiments.performance.benchmark_config import configs
from storeproof.experiments.performance.interleaved_rounds import InterleavedRounds
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.quality.machine_speed import MachineSpeed
from storeproof.load.quality.reference_load import noise_floor
from storeproof.machine.cores import hold, running_on
from storeproof.plugin.suite import suite_run


@pytest.fixture(scope="session")
def ceilings(request: pytest.FixtureRequest) -> Iterator[Ceilings]:
    """What the load generator could do at most; and how noisy the machine is, before anything is measured on it."""
    run = suite_run(request.config)
    run.progress("measuring the noise of the machine")
    with contextlib.closing(Ceilings()) as here:
        with contextlib.suppress(NotAvailable, OSError):  # what was not measured, the result does not have
            split = run.options.split
            if split.apart:  # what is measured against it is to be as it is with a store
                hold([here.server.pid], split.server, "the null server")
            with running_on(split.apart):
                run.noise = noise_floor(here.server, run.options.scale.performance.round_seconds)
        yield here


@pytest.fixture(scope="session")
def machine_speed(request: pytest.FixtureRequest, ceilings: Ceilings) -> Iterator[MachineSpeed | None]:
    """The readings of the machine's speed between rounds; None where rounds are not run again, or the load comes from other machines."""
    options = suite_run(request.config).options
    with contextlib.ExitStack() as stack:
        found = None
        if options.scale.performance.rounds.adaptive and not options.hosts:
            with contextlib.suppress(NotAvailable, OSError):
                found = stack.enter_context(contextlib.closing(MachineSpeed(ceilings.server, options.split.apart)))
        yield found


@pytest.fixture(scope="session")
def interleaved(request: pytest.FixtureRequest, ceilings: Ceilings, machine_speed: MachineSpeed | None) -> Iterator[InterleavedRounds]:
    """The rounds of the run."""
    run = suite_run(request.config)
    plan = [each for workload in run.spec.workloads.values() for each in configs(workload, run.options.scale.performance)]
    made = InterleavedRounds(ceilings, run.waiting, run.progress.measured, plan, run.options.laps, machine_speed)
    with contextlib.closing(made) as rounds:
        yield rounds
