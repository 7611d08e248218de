"""Reads a needs file, and checks that what it names exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from storeproof.errors import SpecError, UsageError
from storeproof.spec.loader import Spec
from storeproof.spec.model import Document, Model
from storeproof.spec.profile import AnyOf, OneWanted, Wanted
from storeproof.spec.questions.needs import Load, NeedsFile, Role
from storeproof.spec.reading.explain import unknown
from storeproof.spec.reading.json_schema import schema_of
from storeproof.spec.reading.source import at, read
from storeproof.spec.workload import variables_of

Place = tuple[int | str, ...]


def read_needs(path: Path, spec: Spec) -> NeedsFile:
    """The needs in a file. Roles with a model of `models` name it as results do. Raises `SpecError`: with one line for each error."""
    needs = read(path, NeedsFile)
    problems = [f"{at(path, *place)}: {wrong}" for place, wrong in _wrong(needs, spec)]
    if problems:
        raise SpecError(problems)
    return needs.with_names_of_results()


def needs_schema() -> str:
    return schema_of("needs", NeedsFile, ".".join(map(str, NeedsFile.FORMAT)))


def capabilities_of(name: str, spec: Spec) -> tuple[str, ...]:
    """The full names that a demand stands for: those of a group that have a case which decides, or the one that is named."""
    if name in spec.capabilities:
        return (name,)
    return tuple(each for each, cases in spec.deciding_cases.items() if cases and each.partition(".")[0] == name)


def _wrong(needs: NeedsFile, spec: Spec) -> Iterator[tuple[Place, str]]:
    for name in sorted(needs.models.keys() & spec.models.keys()):
        yield ("models", name), f"found {name}, which is a model of the specification; allowed: another name"
    models = {**spec.models, **{name: own.named(name) for name, own in needs.models.items()}}
    for name, role in needs.roles.items():
        yield from ((("roles", name, *inner), wrong) for inner, wrong in _wrong_role(role, models, spec))
    if not isinstance(needs.candidates, str):
        for candidate, targets in needs.candidates.items():
            for its_role, target in targets.items():
                try:
                    found = spec.targets([target])
                except UsageError as reason:
                    yield ("candidates", candidate, its_role), str(reason)
                else:
                    if len(found) > 1:
                        yield ("candidates", candidate, its_role), f"found {target}, which is {len(found)} variants; allowed: one of them"


def _wrong_role(role: Role, models: Mapping[str, Model], spec: Spec) -> Iterator[tuple[Place, str]]:
    if role.model not in models:
        yield ("model",), unknown("model", role.model, models, extra="or one of your own, under `models:`")
    for field in ("must", "should"):
        wanted: Wanted = getattr(role, field)
        for number, each in enumerate(wanted):
            for inner, capability in _names(each):
                if not capabilities_of(capability, spec):
                    yield (field, number, *inner), unknown("capability", capability, _like(capability, spec))
    if role.load is not None and role.model in models:
        yield from ((("load", "mix", *inner), wrong) for inner, wrong in _wrong_requests(role.load, models[role.model]))
    if role.load is not None and role.load.workload is not None:
        workload = spec.workloads.get(role.load.workload)
        if workload is None:
            yield ("load", "workload"), unknown("workload", role.load.workload, spec.workloads)
        elif workload.model != role.model:
            allowed = f"one of {role.model}" if role.model in spec.models else "a `mix`: no workload is of a model of your own"
            yield ("load", "workload"), f"found {workload.workload}, of the model {workload.model}; allowed: {allowed}"
        elif role.load.record not in (None, *(known := [each.name for each in workload.records])):
            yield ("load", "record"), unknown("variation", role.load.record or "none", [each or "none" for each in known])


def _wrong_requests(load: Load, model: Model) -> Iterator[tuple[Place, str]]:
    for place, each in enumerate(load.mix):
        if each.request is None:
            continue
        if not isinstance(model.record, Document):
            yield (place, "operation"), f"found {each.operation} on records of the kind {model.record.kind}; allowed: on documents"
        elif (drawn := variables_of(each.request)) and not model.text:
            yield (place, "request"), f"found ${drawn[0]}, which stands for a part of an article; allowed: on records of corpus"


def _names(wanted: OneWanted) -> list[tuple[Place, str]]:
    if isinstance(wanted, AnyOf):
        return [(("any_of", number), name) for number, name in enumerate(wanted.any_of)]
    return [((), wanted)]


def _like(capability: str, spec: Spec) -> list[str]:
    """The capabilities of its group, or the groups where there is no such group."""
    group, dot, _ = capability.partition(".")
    return [name for name in spec.capabilities if dot and name.startswith(f"{group}.")] or sorted(
        {name.partition(".")[0] for name in spec.capabilities}
    )
