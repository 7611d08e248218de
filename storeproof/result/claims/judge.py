"""The verdict on each published claim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from storeproof.check import ANOMALIES
from storeproof.outcome import REFUTED, SHOWN
from storeproof.result.claims.analyses import judge_analyses
from storeproof.result.claims.differences import differences, of_durability, of_the_run, of_version
from storeproof.result.claims.judged import ClaimVerdict, DeviceTested, JudgedClaim, JudgedClaims, RatioFound, RunRead
from storeproof.result.claims.pairs import ClaimPair, find, judged, judged_wait
from storeproof.result.compare import Side
from storeproof.result.measured.lost import lost_by
from storeproof.result.model import GuaranteeRecord, Result
from storeproof.run_command import RunCommand
from storeproof.spec import Spec
from storeproof.spec.guarantee import rank
from storeproof.spec.questions.analysis import Analysis
from storeproof.spec.questions.claim import ClaimedSide, ClaimsFile, Conditions, Kept, PublishedClaim
from storeproof.spec.questions.read_devices import place_of


def judge_claims(files: Iterable[ClaimsFile], results: Sequence[Result], spec: Spec, analyses: Iterable[Analysis] = ()) -> JudgedClaims:
    sides = [Side(result, store) for result in results for store in result.stores]
    runs = [
        RunRead(
            id=each.run.id,
            started=each.run.started,
            scale=each.run.scale,
            edition=each.edition.version,
            stores=[side.name for side in sides if side.result is each],
        )
        for each in results
    ]
    texts = list(files)
    return JudgedClaims(
        runs=runs,
        claims=[_judge(file, file.with_figure(claim), sides, spec) for file in texts for claim in file.claims],
        anomalies=judge_analyses(analyses, sides, spec),
        devices=[
            DeviceTested(source=file.source, **each.model_dump(exclude={"medium"})) for file in texts for each in file.devices.values()
        ],
    )


def _judge(file: ClaimsFile, claim: PublishedClaim, sides: Sequence[Side], spec: Spec) -> JudgedClaim:
    if reason := claim.no_workload or claim.withdrawn:
        told: dict[str, Any] = {"verdict": ClaimVerdict.CANNOT_SAY, "reason": reason}
    elif claim.keeps is not None:
        told = _kept(file, claim, sides)
    else:
        told = _ratios(file, claim, sides)
    if told["verdict"] is ClaimVerdict.CANNOT_SAY and not claim.withdrawn:
        told["command"] = command_for(claim, file.conditions_of(claim), spec)
    figure = claim.figure
    low, high = claim.bounds if claim.a else (0.0, math.inf)
    return JudgedClaim(
        claim=claim.claim,
        source=file.source,
        year=file.year,
        title=claim.title,
        basis=claim.basis,
        figure=figure.value if figure else None,
        figure_a=figure.a if figure else None,
        figure_b=figure.b if figure else None,
        above=low or None,
        below=high if high < math.inf else None,
        wait=claim.wait or "",
        guarantee=claim.keeps.guarantee if claim.keeps else "",
        note=claim.note,
        **told,
    )


def _kept(file: ClaimsFile, claim: PublishedClaim, sides: Sequence[Side]) -> dict[str, Any]:
    assert claim.keeps is not None
    verdict, words, side = judge_kept(claim.keeps, sides)
    differs: list[str] = []
    if side is not None:
        differs = [*of_version(side, claim.keeps.version), *of_the_run(file, file.conditions_of(claim), side)]
        differs.append(of_durability(side, claim.keeps.settings))
    said = {"reason": words} if verdict is ClaimVerdict.CANNOT_SAY else {"kept": words}
    return {"verdict": verdict, "differs": [*differs, *claim.not_repeated], **said}


def _ratios(file: ClaimsFile, claim: PublishedClaim, sides: Sequence[Side]) -> dict[str, Any]:
    assert claim.a is not None
    assert claim.b is not None
    clients = file.conditions_of(claim).clients
    found = {pair: find(claim, pair, clients, sides) for pair in claim.workloads}
    there = {pair: each for pair, each in found.items() if each is not None}
    wait, bounds = claim.wait, claim.bounds
    ratios = {pair: judged_wait(each, wait, bounds) if wait else judged(each, bounds) for pair, each in there.items()}
    differs = dict.fromkeys(phrase for each in there.values() for phrase in differences(file, claim, each))
    verdict = _together([ratios[pair].verdict if pair in ratios else ClaimVerdict.CANNOT_SAY for pair in found])
    return {
        "verdict": verdict,
        "reason": _reason(claim, found, ratios, sides) if verdict is ClaimVerdict.CANNOT_SAY else "",
        "ratios": list(ratios.values()),
        "differs": [*differs, *claim.not_repeated],
    }


def _together(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """Of a claim for each of several workloads: one that refutes it is enough, and all are needed to reproduce it."""
    if ClaimVerdict.REFUTED in verdicts:
        return ClaimVerdict.REFUTED
    return ClaimVerdict.REPRODUCED if set(verdicts) == {ClaimVerdict.REPRODUCED} else ClaimVerdict.CANNOT_SAY


def _reason(
    claim: PublishedClaim,
    found: dict[tuple[str, str], ClaimPair | None],
    ratios: dict[tuple[str, str], RatioFound],
    sides: Sequence[Side],
) -> str:
    """Each reason once, with the workloads that it is true of where it is not true of all."""
    reasons: dict[str, list[str]] = {}
    for pair in found:
        why = ratios[pair].reason if pair in ratios else _unmeasured(claim, pair, sides)
        reasons.setdefault(why, []).append(pair[0])
    return "; ".join(why if len(names) == len(found) else f"{', '.join(names)}: {why or 'reproduced'}" for why, names in reasons.items())


def _unmeasured(claim: PublishedClaim, pair: tuple[str, str], sides: Sequence[Side]) -> str:
    """Which side has no measurement."""
    assert claim.a is not None
    assert claim.b is not None
    if claim.wait is not None:
        return f"not measured: {pair[0]} on disks called {claim.a.disk} and {claim.b.disk}, by {' or '.join(claim.a.stores)}"
    missing: dict[str, list[str]] = {}
    for side, workload in zip((claim.a, claim.b), pair, strict=True):
        wanted = (workload, side.indexes, side.pipeline, side.record)
        if not any(
            (each.workload, each.indexes, each.pipeline, each.record) == wanted
            for there in sides
            if there.name in side.targets
            for each in there.store.measurements
        ):
            missing.setdefault("" if claim.for_each else f"{workload} on ", []).append(" or ".join(side.targets))
    named = [f"{workload}{' and '.join(dict.fromkeys(targets))}" for workload, targets in missing.items()]
    return f"not measured: {', '.join(named) or 'both on the same store'}"


SCALE = "full"
"""That with the sizes of the texts."""


def command_for(claim: PublishedClaim, conditions: Conditions, spec: Spec) -> str:
    """Both sides in one run, with the correctness and the durability that a comparison needs; empty where no workload measures it."""
    edition = spec.edition.version
    if claim.keeps is not None:
        return str(RunCommand(store=[claim.keeps.target], scale="standard", edition=edition, keyword="test_guarantee"))
    if claim.a is None or claim.b is None:
        return ""
    pairs = claim.workloads
    models = dict.fromkeys(spec.workloads[name].model for pair in pairs for name in pair)
    names = dict.fromkeys(
        config_name(side, name, conditions, spec) for pair in pairs for side, name in zip((claim.a, claim.b), pair, strict=True)
    )
    cases = (*(f"stateful.{model}/" for model in models), *(f"performance.{name}/" for name in names))
    if claim.wait is not None:
        return _on_disks(claim.a, claim.b, cases, spec)
    stores = list(dict.fromkeys(_comparable(claim, claim.a, claim.b, spec)))
    chosen = " or ".join(("test_guarantee", *cases))
    return str(RunCommand(store=stores, scale=SCALE, edition=edition, keyword=chosen))


def _on_disks(a: ClaimedSide, b: ClaimedSide, cases: Iterable[str], spec: Spec) -> str:
    """One store on both disks, or models of them, whose I/O is watched: the nearest of which is known what its files are for."""
    seen = next((each for each in a.stores if spec.store(each.partition(":")[0])[0].files), a.stores[0])
    disks = [f"{side.disk}={place_of(side.disk)}" for side in (a, b) if side.disk is not None]
    edition, keyword = spec.edition.version, " or ".join(cases)
    return str(RunCommand(store=[seen], scale=SCALE, edition=edition, launch="process", disk=disks, anatomy=True, keyword=keyword))


def config_name(side: ClaimedSide, workload: str, conditions: Conditions, spec: Spec) -> str:
    """As the id of its case has it, with the scale's number of clients that is nearest to the text's."""
    found = spec.workloads[workload]
    numbers: tuple[int, ...] = getattr(spec.scales[SCALE].performance, found.clients)
    wanted = side.clients or conditions.clients or numbers[-1]
    clients = min(numbers, key=lambda number: abs(number - wanted))
    pipeline = f"{side.pipeline}p" if found.pipelines != (1,) else ""
    return "/".join(filter(None, (workload, f"{side.indexes}i", f"{clients}c", pipeline, side.record)))


def _comparable(claim: PublishedClaim, a: ClaimedSide, b: ClaimedSide, spec: Spec) -> tuple[str, str]:
    """The nearest two of the stores it may be tried on that promise the same guarantee; the text's own where no two do."""
    near = sorted(product(a.stores, b.stores), key=lambda pair: a.stores.index(pair[0]) + b.stores.index(pair[1]))
    if "durability" in claim.about:
        return near[0]
    return next((pair for pair in near if len({each.configuration.guarantee for each in spec.targets(pair)}) == 1), near[0])


def judge_kept(kept: Kept, sides: Sequence[Side]) -> tuple[ClaimVerdict, str, Side | None]:
    """The verdict, what it rests on or why there is none, and the run with most faults behind it.

    One run in which an acknowledged write was lost refutes the claim, whatever others kept: a fault that does no harm proves little.
    """
    wanted = rank(kept.guarantee)
    tried = [
        (side, each)
        for side in sides
        if side.name == kept.target
        for each in side.store.durability.guarantees
        if each.rounds and 0 < rank(each.guarantee) <= wanted
    ]
    tried.sort(key=lambda pair: (rank(pair[1].guarantee), pair[1].rounds, pair[0].result.run.started), reverse=True)
    for side, each in tried:
        if each.outcome in REFUTED:
            return ClaimVerdict.REFUTED, f"{_harm(each)} in {each.rounds} faults ({each.guarantee})", side
    for side, each in tried:
        if rank(side.store.durability.proven or "") >= wanted and each.outcome in SHOWN:
            most = f"; at most {each.loss_bound * 100:.0f} % of such faults lose one" if each.loss_bound is not None else ""
            found = f"of {each.acknowledged:,} acknowledged writes in {each.rounds} faults ({each.guarantee}): none lost{most}"
            return ClaimVerdict.REPRODUCED, found, side
    if tried:
        return ClaimVerdict.CANNOT_SAY, f"{kept.guarantee} was tried, and neither held nor failed", tried[0][0]
    return ClaimVerdict.CANNOT_SAY, f"not measured: no fault struck {kept.target}", None


def _harm(record: GuaranteeRecord) -> str:
    """Operations of operations; then what was found of the records."""
    harms = [f"{count:,} {name}" for name in ANOMALIES if (count := getattr(record, name))]
    if not harms:
        return f"the store did not come back with its {record.acknowledged:,} acknowledged writes"
    return f"{lost_by(record).counts} acknowledged writes lost (records: {', '.join(harms)})"
