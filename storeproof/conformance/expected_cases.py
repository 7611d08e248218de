"""The cases that a run must have: all of the edition, at the scale of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from storeproof.experiments.performance.benchmark_config import BenchmarkConfig, configs
from storeproof.outcome import Stage
from storeproof.spec import Scale, Spec
from storeproof.spec.cases import ACROSS_FAULTS, OF_COMPOSITES
from storeproof.spec.standing import Standing

_OUTAGE = "performance.outage/"
_PERFORMANCE = ("performance.", "growth.", "cache.")
_HIT_RATE = "cache.hit_rate/"
_FIRST = f"{_HIT_RATE}half"
"""The size of the front that is measured at every scale."""


@dataclass(frozen=True)
class ExpectedCase:
    """One case."""

    id: str
    revision: int = 1
    beyond_scale: bool = False
    """Whether the scale leaves it out unless the command line names it."""
    config: BenchmarkConfig | None = None
    """Of a case that measures a workload."""
    standing: Standing | None = None
    """Why it decides nothing; None where it decides."""

    @property
    def stage(self) -> Stage:
        """By its id."""
        if self.id.startswith("durability."):
            return Stage.DURABILITY
        return Stage.PERFORMANCE if self.id.startswith(_PERFORMANCE) else Stage.CORRECTNESS


def expected_cases(spec: Spec, scale: Scale, *, composite: bool) -> dict[str, ExpectedCase]:
    """All of them, by id. `composite`: of a composite store, which has some that others do not have."""
    there = (each for each in _cases(spec, scale) if composite or each.id not in OF_COMPOSITES)
    return {each.id: replace(each, standing=spec.standing(each.id)) for each in there}


def _cases(spec: Spec, scale: Scale) -> Iterator[ExpectedCase]:
    struck = scale.performance.outage.faults
    every = scale.performance.workloads == "all"
    for name in sorted(spec.suite_cases):
        beyond = name.startswith(_OUTAGE) and name.removeprefix(_OUTAGE) not in struck
        beyond |= name.startswith(_HIT_RATE) and name != _FIRST and not every
        beyond |= name.startswith(f"{ACROSS_FAULTS}/") and not scale.durability.isolation
        yield ExpectedCase(name, beyond_scale=beyond)
    for name, capability in spec.capabilities.items():
        yield from (ExpectedCase(f"capabilities.{name}/{case.id}", case.revision) for case in capability.cases)
    for workload in spec.workloads.values():
        for number, config in enumerate(configs(workload, scale.performance)):
            beyond = not scale.performance.measures(workload.workload, first=number == 0)
            yield ExpectedCase(config.case, beyond_scale=beyond, config=config)
