"""Hand-written records of a small store with two capabilities, for the tests of verdicts."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from storeproof.outcome import Outcome, Stage
from storeproof.result.measurement import Measurement
from storeproof.result.model import GuaranteeRecord, OutcomeRecord
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Capability, CapabilityCase, Profile, Spec, Step, Store, Target
from tests.report.sample import WORKLOADS, sample_guarantee, sample_measurement
from tests.shipped import SHIPPED

BASIC = ("get", "put", "delete", "exists")


def capability(name: str, cases: int, provisional: int = 0) -> Capability:
    """A capability with that number of cases, the last of which are provisional."""
    case = CapabilityCase(id="001", title="a case", steps=(Step(do="get", args=("k",)),))
    return Capability(
        capability=name,
        title=name,
        model="single_key",
        operations=("get",),
        cases=tuple(
            case.model_copy(update={"id": f"{number:03d}", "provisional": number > cases - provisional}) for number in range(1, cases + 1)
        ),
    )


def small(**capabilities: Capability) -> Spec:
    """The specification with these capabilities of the group `key` alone, and no cases of the suites."""
    return replace(SHIPPED, capabilities={f"key.{name}": each for name, each in capabilities.items()}, suite_cases=frozenset())


SMALL = small(one=capability("one", 2), two=capability("two", 1))


def store_record(guarantee: str = "process_crash", models: Iterable[str] = ("single_key", "counter")) -> StoreRecord:
    """A record of nothing yet."""
    store = Store.model_validate(
        {
            "format": "2.0",
            "store": "small",
            "title": "Small",
            "product": "small",
            "adapter": "small",
            "launch": {},
            "variants": {"only": {"guarantee": guarantee, "default": True}},
            "claims": {"models": list(models), "capabilities": {"key.one": True, "key.two": False}},
        }
    )
    return StoreRecord(Target(store, "only", Path("small.yaml")), version="Small 1.0")


def good_record(guarantee: str = "process_crash") -> StoreRecord:
    """A record in which everything was shown."""
    record = store_record(guarantee)
    for operation in BASIC:
        add_proof(record, "single_key", operation, Outcome.PASS)
    for case in ("key.one/001", "key.one/002", "key.two/001"):
        add_case(record, case, Outcome.PASS)
    record.guarantees += [struck("clean_restart", Outcome.PASS), struck("process_crash", Outcome.PASS)]
    record.measurements.append(measured())
    return record


def add_case(record: StoreRecord, case: str, outcome: Outcome, detail: str = "") -> None:
    """Note the outcome of a case of a capability."""
    record.add(OutcomeRecord(id=f"capabilities.{case}", revision=1, stage=Stage.CORRECTNESS, outcome=outcome, detail=detail, seconds=0.1))


def add_proof(record: StoreRecord, model: str, operation: str, outcome: Outcome) -> None:
    """Note that an operation on a model was tried."""
    record.proofs.setdefault((model, operation), []).append(outcome)


def struck(guarantee: str, outcome: Outcome, rounds: int = 5) -> GuaranteeRecord:
    """One fault."""
    return sample_guarantee(guarantee, outcome, 7 if outcome is Outcome.FAIL else 0, random.Random(1), rounds)


def measured(clients: int = 50, speed: float = 10_000) -> Measurement:
    """One measurement that passes its gates, of the workload `single-get`, near 12 000 a second at 50 clients."""
    found = sample_measurement(WORKLOADS[2], clients, 0, speed, random.Random(3))
    gates = {name: gate.model_copy(update={"ok": True}) for name, gate in found.gates.items()}
    return found.model_copy(update={"gates": gates, "at_least": False, "invalid": []})


def profile(guarantee: str = "process_crash", model: str = "single_key") -> Profile:
    """The demands that `good_record` meets."""
    return Profile.model_validate(
        {
            "format": "1.0",
            "profile": "small_profile",
            "title": "Small",
            "models": [model],
            "capabilities": ["key.one", "key.two"],
            "guarantee": guarantee,
        }
    )
