"""With what the load of a role is measured: its workload, as an open loop at the rate that is needed, over the records that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.outcome import SHOWN, Outcome
from storeproof.result.needs.loads import SHARE_IS_ALL, same_load
from storeproof.result.running_case import EndCase
from storeproof.spec import Mix, Spec, Workload
from storeproof.spec.questions.needs import Load, Role, ShareBound, requests_case
from storeproof.spec.variation import Variation
from storeproof.store_under_test import Options, StoreUnderTest

OWN: Final = "mix"
"""What a mix is called that no workload of the specification has."""


def role_config(role: Role, spec: Spec, options: Options) -> BenchmarkConfig:
    """The configuration for a role with a load.

    Its records are as many as `--records` says, else the role, else the scale; a workload may have a number of its own. Its clients are as
    many as the role allows, else as many as the scale has for a workload that runs with few.

    Raises:
        EndCase: `not_run`, where the needs do not say all that a measurement must know.
    """
    load = role.load
    assert load is not None
    workload = workload_of(load, role.model, spec)
    record = _record(load, workload)
    if load.indexes > (most := len(record.applied(spec.models[role.model]).indexes)):
        raise _unclear(f"{load.indexes} indexes are needed, and records of {role.model} can have {most}")
    records = workload.preload_records or options.records or role.records
    preloaded = {"preload": True, "preload_records": records} if records else {}
    batch = sum(each.weight * each.batch for each in workload.mix) / sum(each.weight for each in workload.mix)
    return BenchmarkConfig(
        workload.model_copy(update={"loop": "open", **preloaded}),
        load.indexes,
        load.clients or max(options.scale.performance.few),
        rate=max(round(load.rate / batch), 1),
        record=record,
    )


def require_answers(name: str, role: Role, sut: StoreUnderTest) -> None:
    """No speed without proof: what shows that an operation is right on a model shows nothing of a role's own requests.
    Raises `EndCase`: `unsupported` or `not_run`, where the case of these requests did not pass, in this run or in one that is cited."""
    case = requests_case(name, role)
    if case is None:
        return
    found = next((each for each in sut.record.verified() if each.id == case), None)
    if found is None:
        raise EndCase(
            Outcome.NOT_RUN, f"{case} was not tried in this run; run the correctness stage with it, or cite a run that did (--proof)"
        )
    if found.outcome not in SHOWN:
        outcome = found.outcome if found.outcome is Outcome.UNSUPPORTED else Outcome.NOT_RUN
        raise EndCase(outcome, f"{case}: {found.outcome}: {found.detail}")


def workload_of(load: Load, model: str, spec: Spec) -> Workload:
    """The workload that is named, or the first with the same operations and requests in the same shares, or one of these alone, on records
    that are there and drawn uniformly. Raises `EndCase`: `not_run`: an operation of the mix needs more than its share."""
    found = [each for each in spec.workloads.values() if same_load(load, model, each)]
    with_record = [each for each in found if any(record.name == (load.record or "") for record in each.records)]
    if found:
        return (with_record or found)[0]
    return Workload(
        workload=OWN, kind="mixed", title="The mix of a role", model=model, mix=tuple(_mixed(load, model)), preload=True, clients="few"
    )


def _mixed(load: Load, model: str) -> Iterator[Mix]:
    weights: Counter[str] = Counter()
    shares: dict[str, ShareBound] = {}
    for each in load.mix:
        weights[each.label] += each.weight
        shares[each.label] = each
    for label, share in shares.items():
        about: dict[str, Any] = {"name": share.name, "operation": share.operation, "weight": weights[label]}
        if share.request is not None:
            yield Mix.model_validate({**about, "request": share.request})
        elif share.operation in SHARE_IS_ALL:
            yield Mix.model_validate({**about, "keys": "uniform", **SHARE_IS_ALL[share.operation]})
        else:
            raise _unclear(
                f"no workload of {model} has this mix, and {share.operation} needs more than a share; name a workload, or make a mix of "
                f"{', '.join(SHARE_IS_ALL)}, and of operations with a `request`"
            )


def _record(load: Load, workload: Workload) -> Variation:
    known = {each.name: each for each in workload.records}
    if (load.record or "") in known:
        return known[load.record or ""]
    if load.record is None and len(known) == 1:
        return workload.records[0]
    raise _unclear(f"{workload.workload} is measured with several records; name one of them: `record: {next(iter(known))}`")


def _unclear(why: str) -> EndCase:
    return EndCase(Outcome.NOT_RUN, f"the load of the role does not say all: {why}")
