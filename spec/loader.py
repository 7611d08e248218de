"""Reads the whole specification and checks that its files agree with each other."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from storeproof.errors import SpecError, UsageError
from storeproof.spec.base import SpecFile
from storeproof.spec.capability import Capability, CapabilityGroup
from storeproof.spec.edition import Edition, edition_of
from storeproof.spec.guarantee import Guarantee
from storeproof.spec.model import Model
from storeproof.spec.profile import Profile
from storeproof.spec.scale import Scale
from storeproof.spec.source import read
from storeproof.spec.store import Store, Target
from storeproof.spec.workload import Workload, WorkloadFile

SPEC_ROOT = Path(__file__).resolve().parent
"""Where the YAML files are, in a checkout and in a wheel alike."""

FILES: Mapping[str, type[SpecFile]] = {
    "models": Model,
    "guarantees": Guarantee,
    "capabilities": CapabilityGroup,
    "workloads": WorkloadFile,
    "profiles": Profile,
    "scales": Scale,
    "stores": Store,
}
"""The folders of the specification and what their files hold."""

F = TypeVar("F", bound=SpecFile)
T = TypeVar("T")


@dataclass(frozen=True)
class Spec:
    """All demands and all stores, by name."""

    root: Path
    edition: Edition
    models: Mapping[str, Model]
    guarantees: Mapping[str, Guarantee]
    capabilities: Mapping[str, Capability]
    """By full name, `group.capability`."""
    workloads: Mapping[str, Workload]
    profiles: Mapping[str, Profile]
    scales: Mapping[str, Scale]
    store_files: Mapping[str, Path]
    """The stores that come with the project; each file is read only when its store is asked for."""

    def store(self, name: str) -> tuple[Store, Path]:
        """A store by name, or by the path of a YAML file that lives anywhere; with the file it was read from.

        Raises:
            UsageError: no such store.
            SpecError: its file breaks a rule, or does not state every capability.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else self.store_files.get(name)
        if path is None:
            raise UsageError(_unknown("store", name, self.store_files, extra="or the path of a store's YAML file"))
        if not path.is_file():
            raise UsageError(f"store file {name} does not exist; give the path of a YAML file, or one of {', '.join(sorted(self.store_files))}")
        store = read(path, Store)
        self._check_claims(store, path)
        return store, path.resolve()

    def targets(self, wanted: Iterable[str]) -> list[Target]:
        """The targets that `--store` names: `redis` (its default variant), `redis:volatile`, `redis:all`, `all`, `x.yaml[:variant]`.

        Raises:
            UsageError: an unknown store or variant.
        """
        found: dict[str, Target] = {}
        for text in wanted:
            names = sorted(self.store_files) if text == "all" else [text]
            for name in names:
                for target in self._variants_of(name, every=text == "all"):
                    found.setdefault(target.id, target)
        return list(found.values())

    def _variants_of(self, text: str, *, every: bool) -> list[Target]:
        name, _, variant = text.partition(":")
        store, path = self.store(name)
        if every or variant == "all":
            return [Target(store, each, path) for each in store.variants]
        if variant and variant not in store.variants:
            raise UsageError(_unknown(f"variant of {store.store}", variant, store.variants, extra="or `all`"))
        return [Target(store, variant or store.default_variant, path)]

    def _check_claims(self, store: Store, path: Path) -> None:
        problems = []
        stated = store.claims.capabilities
        for name in sorted(set(self.capabilities) - set(stated)):
            problems.append(f"{path}: claims.capabilities: {name} is not stated; write `{name}: true` or `{name}: false`")
        overridden = [name for variant in store.variants.values() for name in variant.capabilities]
        for name in sorted({*stated, *overridden} - set(self.capabilities)):
            problems.append(f"{path}: claims.capabilities: {_unknown('capability', name, self.capabilities)}")
        for name in sorted(set(store.claims.models) - set(self.models)):
            problems.append(f"{path}: claims.models: {_unknown('model', name, self.models)}")
        if problems:
            raise SpecError(problems)


def load_spec(root: Path = SPEC_ROOT) -> Spec:
    """Read every demand under `root`; stores are listed, and read when asked for.

    Raises:
        SpecError: with all breaches of all files together.
    """
    problems: list[str] = []

    def every(folder: str, kind: type[F]) -> list[tuple[Path, F]]:
        read_files = []
        for path in sorted((root / folder).glob("*.yaml")):
            try:
                read_files.append((path, read(path, kind)))
            except SpecError as breach:
                problems.extend(breach.problems)
        return read_files

    def named(folder: str, files: Iterable[tuple[Path, T]], name: Callable[[T], str]) -> dict[str, T]:
        table: dict[str, T] = {}
        for path, item in files:
            if name(item) in table:
                problems.append(f"{path}: {folder} {name(item)} is defined twice; names are unique")
            table[name(item)] = item
        return table

    groups = every("capabilities", CapabilityGroup)
    capabilities = named(
        "capability",
        [(path, (f"{group.group}.{item.capability}", item)) for path, group in groups for item in group.capabilities],
        lambda pair: pair[0],
    )
    workload_files = every("workloads", WorkloadFile)
    spec = Spec(
        root=root,
        edition=edition_of(root),
        models=named("model", every("models", Model), lambda item: item.model),
        guarantees=named("guarantee", every("guarantees", Guarantee), lambda item: item.guarantee),
        capabilities={name: item for name, (_, item) in capabilities.items()},
        workloads=named("workload", [(path, item) for path, file in workload_files for item in file.workloads], lambda item: item.workload),
        profiles=named("profile", every("profiles", Profile), lambda item: item.profile),
        scales=named("scale", every("scales", Scale), lambda item: item.scale),
        store_files={path.stem: path for path in sorted((root / "stores").glob("*.yaml"))},
    )
    problems.extend(_disagreements(spec))
    if problems:
        raise SpecError(problems)
    return spec


def _disagreements(spec: Spec) -> list[str]:
    """Names in one file that no other file defines."""
    found = []
    for name, capability in spec.capabilities.items():
        if capability.model not in spec.models:
            found.append(f"capabilities: {name}: {_unknown('model', capability.model, spec.models)}")
    for name, workload in spec.workloads.items():
        if workload.model not in spec.models:
            found.append(f"workloads: {name}: {_unknown('model', workload.model, spec.models)}")
    for name, profile in spec.profiles.items():
        found += [f"profiles: {name}: {_unknown('model', m, spec.models)}" for m in profile.models if m not in spec.models]
        found += [f"profiles: {name}: {_unknown('capability', c, spec.capabilities)}" for c in profile.capabilities if c not in spec.capabilities]
        found += [f"profiles: {name}: {_unknown('workload', s.workload, spec.workloads)}" for s in profile.speed if s.workload not in spec.workloads]
    return found


def schemas() -> dict[str, str]:
    """The JSON Schemas of all kinds of files, by file name: editors use them, and other tools."""
    return {f"{folder}.json": json.dumps(kind.model_json_schema(), indent=2, sort_keys=True) + "\n" for folder, kind in FILES.items()}


def _unknown(what: str, found: str, allowed: Iterable[str], extra: str = "") -> str:
    names = sorted(allowed)
    close = difflib.get_close_matches(found, names, n=1)
    hint = f" (did you mean `{close[0]}`?)" if close else ""
    return f"unknown {what} `{found}`{hint}; allowed: {', '.join(names)}{', ' + extra if extra else ''}"
