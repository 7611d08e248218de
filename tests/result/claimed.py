"""Small results with given rates, and claims on them."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from typing import Any

from storeproof.outcome import Outcome
from storeproof.result.claims import JudgedClaim, judge_claims
from storeproof.result.machine import Placement
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.spec.questions.claim import ClaimsFile
from tests.report.sample import sample_environment, sample_result
from tests.result.records import measured, struck
from tests.shipped import SHIPPED


def number(workload: str, *rates: float, **changed: Any) -> Measurement:
    """A measurement with these rates, one for each round; other fields by name."""
    rounds = [{"seconds": 1.0, "operations": 1000, "throughput": each, "errors": 0, "misses": 0} for each in rates]
    middle = sorted(rates)[len(rates) // 2]
    throughput = {"median": middle, "low": min(rates), "high": max(rates), "unit": "operations/s"}
    kind = {"workload": workload, "clients": 50, "invalid": [], "at_least": False, "loaded": 0, "rounds": rounds, "throughput": throughput}
    return Measurement.model_validate(measured().model_dump() | kind | changed)


def around(rate: float) -> tuple[float, float, float]:
    """Three rounds with a spread of one per cent."""
    return rate, rate * 1.01, rate * 0.99


def store(name: str, *numbers: Measurement, proven: str | None = "power_loss", **changed: Any) -> StoreResult:
    """`store:variant` with its numbers; `lost`: writes that a killed process lost."""
    product, _, variant = name.partition(":")
    sample = sample_result(seed=1).stores[0]
    lost = changed.pop("lost", None)
    faults = [] if lost is None else [struck("process_crash", Outcome.FAIL if lost else Outcome.PASS, changed.pop("faults", 20))]
    durability = sample.durability.model_copy(update={"proven": proven, "claimed": "power_loss", "guarantees": faults})
    update = {"store": product, "variant": variant, "measurements": list(numbers), "durability": durability, "version": "Product 1.2"}
    return sample.model_copy(update=update | changed)


def result(*stores: StoreResult, run: str = "r1", noise: float = 1.0, **changed: Any) -> Result:
    """A run of these stores; `noise`: the noise floor of `single-get`, with three rounds and two stores that hardly scatter, to which a
    third one is added that does."""
    sample = sample_result(seed=1)
    info = sample.run.model_copy(update={"id": run, "scale": "standard", "started": "2026-01-01T00:00:00Z"} | changed)
    if noise > 1:
        far = sqrt(3 * (log(noise) / 1.96) ** 2 / (pi / 3))
        stores = (*stores, store("noisy:only", number("single-get", *(1000 * exp(each) for each in (-far, 0, far)))))
    return Result(edition=sample.edition, run=info, environment=sample_environment(), stores=list(stores))


def given(found: Result, server: list[int], generator: list[int], cores: int, shared: str = "", memory: int | None = None) -> Result:
    """The same on a machine with this number of cores, of which the stores and the load generator were given these."""
    placement = Placement(server=server, generator=generator, shared=shared, memory_bytes=memory)
    return found.model_copy(update={"environment": found.environment.model_copy(update={"cores": cores, "placement": placement})})


SIDES: dict[str, Any] = {
    "a": {"store": "redis", "variant": "aof-always", "workload": "single-get"},
    "b": {"store": "mongodb", "variant": "journaled", "workload": "single-get"},
}
TWICE = {**SIDES, "figure": {"ratio": 2}}
"""A is twice as fast as B: reproduced between 1.74 and 2.38."""


def file_of(claim: dict[str, Any], **more: Any) -> ClaimsFile:
    """A file with one claim."""
    claims = [{"claim": "c", "title": "A claim", **claim}]
    return ClaimsFile.model_validate({"format": "1.0", "source": "000", "title": "A text", "claims": claims, **more})


def judged(claim: dict[str, Any], *results: Result, **more: Any) -> JudgedClaim:
    """What becomes of one claim."""
    return judge_claims([file_of(claim, **more)], results, SHIPPED).claims[0]


def two(a: Sequence[float] | Measurement, b: Sequence[float] | Measurement, **changed: Any) -> Result:
    """A run of both sides of `SIDES`."""
    numbers = [each if isinstance(each, Measurement) else number("single-get", *each) for each in (a, b)]
    return result(store("redis:aof-always", numbers[0]), store("mongodb:journaled", numbers[1]), **changed)
