"""Reads the published claims, and checks that what they name exists. Only who judges claims reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from storeproof.errors import SpecError, UsageError
from storeproof.spec.base import SpecFile
from storeproof.spec.loader import Spec
from storeproof.spec.questions.claim import ClaimedSide, ClaimsFile, PublishedClaim, Subject
from storeproof.spec.reading.explain import unknown
from storeproof.spec.reading.source import at, read
from storeproof.spec.store import Target
from storeproof.spec.workload import Workload

Place = tuple[int | str, ...]
F = TypeVar("F", bound=SpecFile)


def read_claims(spec: Spec) -> tuple[ClaimsFile, ...]:
    """All files of `claims/`, by their sources. Raises `SpecError`: with all errors of all files."""
    problems: list[str] = []
    files: list[ClaimsFile] = []
    seen: dict[str, tuple[Path, int]] = {}
    for path, file in files_called(spec.root / "claims", ClaimsFile, "source", problems):
        files.append(file)
        for number, claim in enumerate(file.claims):
            first = seen.setdefault(claim.claim, (path, number))
            if first != (path, number):
                where = at(first[0], "claims", first[1], "claim").rpartition(": ")[0]
                found = f"the claim `{claim.claim}` is already defined in {where}; names are unique"
                problems.append(f"{at(path, 'claims', number, 'claim')}: {found}")
            problems += [f"{at(path, 'claims', number, *inner)}: {wrong}" for inner, wrong in _wrong(spec, file, claim)]
    if problems:
        raise SpecError(problems)
    return tuple(files)


def files_called(folder: Path, kind: type[F], field: str, problems: list[str]) -> Iterator[tuple[Path, F]]:
    """The files of a folder, in order, each of which is called what one of its fields says. `problems`: what is wrong is added to it."""
    for path in sorted(folder.glob("*.yaml")):
        try:
            file = read(path, kind)
        except SpecError as breach:
            problems += breach.problems
            continue
        if (name := getattr(file, field)) != path.stem:
            problems.append(f"{at(path, field)}: found '{name}'; allowed: {path.stem}, as the file is called")
        yield path, file


def _wrong(spec: Spec, file: ClaimsFile, claim: PublishedClaim) -> Iterator[tuple[Place, str]]:
    """What a claim names and what there is not, each with its place."""
    known = [name for name in claim.for_each if name in spec.workloads]
    for number, name in enumerate(claim.for_each):
        if name not in known:
            yield ("for_each", number), unknown("workload", name, spec.workloads)
    for letter, side in (("a", claim.a), ("b", claim.b)):
        if side is not None:
            yield from (((letter, *inner), wrong) for inner, wrong in _wrong_side(spec, side, known))
            yield from (((letter, *inner), wrong) for inner, wrong in _no_device(file, side))
    if claim.keeps is not None:
        yield from ((("keeps", *inner), wrong) for inner, wrong in wrong_target(spec, claim.keeps.store, claim.keeps.variant))
    if claim.a is not None and claim.b is not None:
        yield from ((("about",), wrong) for wrong in _alike(spec, claim.a, claim.b, claim.about))


def _alike(spec: Spec, a: ClaimedSide, b: ClaimedSide, about: Sequence[Subject]) -> Iterator[str]:
    """What the claim is said to be about, and in what its two variants do not differ."""
    one, other = (_target(spec, side.store, side.variant) for side in (a, b))
    if one is None or other is None:
        return
    if "durability" in about and (both := one.configuration.guarantee) == other.configuration.guarantee:
        yield f"found durability; allowed: where the variants promise unlike guarantees, and both promise {both}"
    if "topology" in about and one.topology == other.topology:
        yield f"found topology; allowed: where the variants have unlike topologies, and both are {one.topology}"


def _wrong_side(spec: Spec, side: ClaimedSide, for_each: Sequence[str]) -> Iterator[tuple[Place, str]]:
    yield from wrong_target(spec, side.store, side.variant)
    for number, target in enumerate(side.instead):
        store, _, variant = target.partition(":")
        yield from ((("instead", number), wrong) for _, wrong in wrong_target(spec, store, variant))
    if side.workload is not None and side.workload not in spec.workloads:
        yield ("workload",), unknown("workload", side.workload, spec.workloads)
        return
    for name in for_each if side.workload is None else (side.workload,):
        yield from _unmeasured(side, spec.workloads[name])


def _no_device(file: ClaimsFile, side: ClaimedSide) -> Iterator[tuple[Place, str]]:
    """Whether the text's table has none of what the side stands for."""
    media = {each.medium for each in file.devices.values()}
    if side.device is not None and side.device not in file.devices:
        yield ("device",), unknown("device", side.device, file.devices)
    if side.medium is not None and side.medium not in media:
        yield ("medium",), unknown("medium", side.medium, media)


def _unmeasured(side: ClaimedSide, workload: Workload) -> Iterator[tuple[Place, str]]:
    """With what the workload is never measured."""
    for field, found, allowed in (
        ("indexes", side.indexes, workload.indexes),
        ("pipeline", side.pipeline, workload.pipelines),
        ("record", side.record, tuple(record.name for record in workload.records)),
    ):
        if found not in allowed:
            measured = ", ".join(str(each) or "none" for each in allowed)
            yield (field,), f"found {found or 'none'}; allowed: {measured}, with which {workload.workload} is measured"


def wrong_target(spec: Spec, store: str, variant: str) -> Iterator[tuple[Place, str]]:
    """Whether there is no such store, or it has no such variant."""
    if store not in spec.store_files:
        yield ("store",), unknown("store", store, spec.store_files)
    elif _target(spec, store, variant) is None:
        yield ("variant",), unknown(f"variant of {store}", variant, spec.store(store)[0].variants)


def _target(spec: Spec, store: str, variant: str) -> Target | None:
    try:
        (target,) = spec.targets([f"{store}:{variant}"])
    except UsageError:
        return None
    return target
