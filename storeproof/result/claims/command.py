"""The command that would measure a claim."""

from __future__ import annotations

from itertools import product

from storeproof.run_command import RunCommand
from storeproof.spec import Spec
from storeproof.spec.questions.claim import ClaimedSide, Conditions, PublishedClaim

SCALE = "full"
"""That with the sizes of the texts."""


def command_for(claim: PublishedClaim, conditions: Conditions, spec: Spec) -> str:
    """Both sides in one run, with the correctness and the durability that a comparison needs; empty where no workload measures it."""
    edition = spec.edition.version
    if claim.keeps is not None:
        return str(RunCommand(store=[claim.keeps.target], scale="standard", edition=edition, keyword="test_guarantee"))
    if claim.a is None or claim.b is None:
        return ""
    stores = list(dict.fromkeys(_comparable(claim, claim.a, claim.b, spec)))
    pairs = claim.workloads
    models = dict.fromkeys(spec.workloads[name].model for pair in pairs for name in pair)
    names = dict.fromkeys(
        config_name(side, name, conditions, spec) for pair in pairs for side, name in zip((claim.a, claim.b), pair, strict=True)
    )
    cases = (*(f"stateful.{model}/" for model in models), *(f"performance.{name}/" for name in names))
    chosen = " or ".join(("test_guarantee", *cases))
    return str(RunCommand(store=stores, scale=SCALE, edition=edition, keyword=chosen))


def config_name(side: ClaimedSide, workload: str, conditions: Conditions, spec: Spec) -> str:
    """As the id of its case has it, with the scale's number of clients that is nearest to the text's."""
    found = spec.workloads[workload]
    numbers: tuple[int, ...] = getattr(spec.scales[SCALE].performance, found.clients)
    wanted = side.clients or conditions.clients or numbers[-1]
    clients = min(numbers, key=lambda number: abs(number - wanted))
    pipeline = f"{side.pipeline}p" if found.pipelines != (1,) else ""
    return "/".join(filter(None, (workload, f"{side.indexes}i", f"{clients}c", pipeline, side.record)))


def _comparable(claim: PublishedClaim, a: ClaimedSide, b: ClaimedSide, spec: Spec) -> tuple[str, str]:
    """Of the stores that it may be tried on the nearest two that promise the same guarantee; the text's own where no two do."""
    near = sorted(product(a.targets, b.targets), key=lambda pair: a.targets.index(pair[0]) + b.targets.index(pair[1]))
    if "durability" in claim.about:
        return near[0]
    return next((pair for pair in near if len({each.configuration.guarantee for each in spec.targets(pair)}) == 1), near[0])
