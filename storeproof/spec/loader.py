"""Reads the whole specification and checks references between its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from storeproof.errors import SpecError, UsageError
from storeproof.regular_file import Unreadable
from storeproof.spec.base import RuleError, SpecFile
from storeproof.spec.capability import Capability, CapabilityGroup, Dataset
from storeproof.spec.cases import CaseIds, revisions_of
from storeproof.spec.cases import suite_cases as suite_cases_of
from storeproof.spec.edition import Edition, edition_of
from storeproof.spec.editions.dispute import read_disputes, withdrawn_cases
from storeproof.spec.guarantee import Guarantee
from storeproof.spec.isolation import TransactionMix
from storeproof.spec.kinds import FILES
from storeproof.spec.model import Model, Value
from storeproof.spec.profile import Profile
from storeproof.spec.reading.explain import unknown
from storeproof.spec.reading.inheritance import STORES
from storeproof.spec.reading.reader import reader
from storeproof.spec.reading.source import at, read
from storeproof.spec.scale import Scale
from storeproof.spec.scaling import Scaling
from storeproof.spec.standing import Standing, standing_of
from storeproof.spec.store import ROLES, Role, Store, Target
from storeproof.spec.store.claimable import Claimable
from storeproof.spec.workload import Kind, Workload, WorkloadFile

SPEC_ROOT = (Path(__file__).parent / "data").resolve()
"""The directory of the YAML files, in a checkout and in a wheel."""

_STORE_FILE = re.compile(r"^(.+\.ya?ml)(?:(:)(.*))?$")

F = TypeVar("F", bound=SpecFile)
T = TypeVar("T")
FieldPosition = tuple[Path, tuple[int | str, ...]]
"""A file and a field in it."""


@dataclass(frozen=True)
class Spec:
    """All demands and all stores, by name."""

    root: Path
    edition: Edition
    models: Mapping[str, Model]
    guarantees: Mapping[str, Guarantee]
    datasets: Mapping[str, Dataset]
    scaling: Mapping[str, Scaling]
    capabilities: Mapping[str, Capability]
    """By full name, `group.capability`."""
    workloads: Mapping[str, Workload]
    profiles: Mapping[str, Profile]
    scales: Mapping[str, Scale]
    mixes: Mapping[str, TransactionMix]
    store_files: Mapping[str, Path]
    """Files of the stores that come with the project; each is read when its store is requested."""
    suite_cases: frozenset[str] = frozenset()
    """The ids of the cases of the edition that the suites define by themselves: `storeproof.spec.cases.suite_cases`."""
    withdrawn: frozenset[str] = frozenset()
    """The ids of its cases that disputes have withdrawn."""
    bases: Path = STORES
    """The folder in which `extends:` finds stores by name."""
    own_models: frozenset[str] = frozenset()
    """The names in `models` that a reader brought along: a store that claims records of the kind claims them."""

    def with_models(self, own: Iterable[Model]) -> Spec:
        """With models of a reader's own, on which the suites try what they try on every model. The edition stays what it is."""
        brought = {each.model: each for each in own}
        cases = suite_cases_of({}, brought, {}, ()) - suite_cases_of({}, {}, {}, ())
        return replace(
            self,
            models={**self.models, **brought},
            own_models=self.own_models | brought.keys(),
            suite_cases=self.suite_cases | cases,
        )

    def standing(self, case: str) -> Standing | None:
        """Why a case, by its id, decides nothing; None where it decides."""
        return Standing.WITHDRAWN if case in self.withdrawn else standing_of(case, self.capabilities)

    def decides(self, case: str) -> bool:
        """Whether verdicts rest on a case: capabilities, profiles, needs, operations, the exit code of a run. All of them ask here."""
        return self.standing(case) is None

    @cached_property
    def deciding_cases(self) -> Mapping[str, Mapping[str, int | None]]:
        """By capability, the ids of the cases that it is judged by, with their revisions; None: the case has none."""
        found = {name: revisions_of(name, each) for name, each in self.capabilities.items()}
        return {name: {case: revision for case, revision in cases.items() if self.decides(case)} for name, cases in found.items()}

    @cached_property
    def later_cases(self) -> frozenset[str]:
        """Cases that the suites define for the demands of a frozen edition, and that it does not have: they came later."""
        return (
            suite_cases_of(self.capabilities, self.models, self.scaling, self.mixes) - self.suite_cases
            if self.edition.frozen
            else frozenset()
        )

    def store(self, name: str) -> tuple[Store, Path]:
        """A store by name, or by the path of any YAML file; with the file it was read from.

        Raises:
            UsageError: no such store.
            SpecError: its file breaks a rule, or claims what does not exist.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else self.store_files.get(name)
        if path is None:
            raise UsageError(unknown("store", name, self.store_files, extra="or the path of a store's YAML file"))
        try:
            reader().open(path).close()
        except Unreadable as reason:
            allowed = f"the path of a YAML file, or one of {', '.join(self.store_files)}"
            raise UsageError(f"the store file {name} {reason}; allowed: {allowed}") from None
        store = read(path, Store, self.bases)
        if name in self.store_files and store.name != name:
            raise SpecError([f"{at(path, 'store')}: found '{store.name}'; allowed: {name}, as the file is called"])
        claimable = self._claimable
        if self.edition.frozen:
            store = claimable.asked(store, None if name in self.store_files else lambda: load_spec()._claimable)
        claimable.check(store, path)
        return self._claiming_own(store), reader().settled(path)

    def _claiming_own(self, store: Store) -> Store:
        """With the claims on models of a reader's own that follow from what its file claims."""
        claimed = [self.models[name] for name in store.claims.models]
        forms = {(each.key, each.record.kind) for each in claimed}
        own = (name for name in sorted(self.own_models) if (self.models[name].key, self.models[name].record.kind) in forms)
        models = (*store.claims.models, *own)
        return store.model_copy(update={"claims": store.claims.model_copy(update={"models": models})}) if self.own_models else store

    def targets(self, wanted: Iterable[str]) -> list[Target]:
        """The targets of `--store`: `NAME` (the default variant), `NAME:VARIANT`, `NAME:all`, `all`, `x.yaml[:variant]`.
        Raises `UsageError`: an unknown store or variant, or two files with the same store name."""
        found: dict[str, Target] = {}
        files: dict[str, Path] = {}
        for text in wanted:
            names = sorted(self.store_files) if text == "all" else [text]
            for name in names:
                for target in self._variants_of(name, every=text == "all"):
                    found.setdefault(target.id, target)
                    other = files.setdefault(target.store.name, target.file)
                    if other != target.file:
                        raise UsageError(f"two files name their store `{target.store.name}`: {other} and {target.file}; rename one")
        return list(found.values())

    def _variants_of(self, text: str, *, every: bool) -> list[Target]:
        name, colon, variant = _named(text)
        store, path = self.store(name)
        parts = self.parts_of(store, path)
        if every or variant == "all":
            return [Target(store, each, path, parts) for each in store.variants]
        if colon and variant not in store.variants:
            raise UsageError(unknown(f"variant of {store.name}", variant, store.variants, extra="or `all`"))
        return [Target(store, variant or store.default_variant, path, parts)]

    def parts_of(self, store: Store, path: Path) -> dict[Role, Target]:
        """The servers of a composite store; empty for a store that is one server. `path`: the store's file.
        Raises `SpecError`: one does not exist, is several variants, or is itself a composite store."""
        return {role: self._part(role, store, path) for role in ROLES} if store.launch.composite is not None else {}

    def _part(self, role: Role, store: Store, path: Path) -> Target:
        named: str = getattr(store.launch.composite, role)
        text = str(path.parent / named) if _STORE_FILE.match(named) else named
        try:
            # First whether it is a composite: one that is a part of itself has no end.
            one = self.store(_named(text)[0])[0].launch.composite is None
            targets = self._variants_of(text, every=False) if one else []
        except UsageError as reason:
            raise SpecError([f"{at(path, 'launch', 'composite', role)}: {reason}"]) from None
        if len(targets) != 1 or targets[0].cluster is not None:
            where = at(path, "launch", "composite", role)
            raise SpecError([f"{where}: found '{named}'; allowed: one variant of a store that is one server"])
        return targets[0]

    @cached_property
    def _claimable(self) -> Claimable:
        return Claimable(self.capabilities, self.models, CaseIds(self.capabilities, self.models, self.workloads, self.scaling, self.mixes))


def _named(text: str) -> tuple[str, str, str]:
    """Store, colon and variant of what names them, the last two empty where it names only a store; a path may contain colons."""
    file = _STORE_FILE.match(text)
    store, colon, variant = file.groups() if file else text.partition(":")
    return store, colon or "", variant or ""


def load_spec(
    root: Path = SPEC_ROOT, *, edition: Edition | None = None, suite_cases: frozenset[str] | None = None, stores: Path | None = None
) -> Spec:
    """Read all demands under `root`; store files are only listed.

    Args:
        root: the folder with the demands.
        edition: its name and hash, of a frozen one (default: those of the draft).
        suite_cases: the cases of a frozen edition that the suites define (default: those of the suites beside it).
        stores: the folder of the store files (default: the one under `root`).

    Raises:
        SpecError: with all errors of all files.
    """
    problems = [f"{path}: is not read: rename it to {path.stem}.yaml" for folder in FILES for path in sorted((root / folder).glob("*.yml"))]

    def every(folder: str, kind: type[F]) -> list[tuple[Path, F]]:
        read_files = []
        for path in sorted((root / folder).glob("*.yaml")):
            try:
                read_files.append((path, read(path, kind)))
            except SpecError as breach:
                problems.extend(breach.problems)
        return read_files

    places: dict[tuple[str, str], FieldPosition] = {}

    def named(what: str, items: Iterable[tuple[str, T, FieldPosition]]) -> dict[str, T]:
        table: dict[str, T] = {}
        for name, item, (path, location) in items:
            if name in table:
                first_path, first = places[what, name]
                where = at(first_path, *first).rpartition(": ")[0]
                problems.append(f"{at(path, *location)}: the {what} `{name}` is already defined in {where}; names are unique")
            else:
                table[name], places[what, name] = item, (path, location)
        return table

    def files(folder: str, kind: type[F], name: Callable[[F], str]) -> dict[str, F]:
        what = "mix" if folder == "isolation" else folder.removesuffix("s")
        return named(what, [(name(item), item, (path, (what,))) for path, item in every(folder, kind)])

    spec = Spec(
        root=root,
        edition=edition or edition_of(root),
        models=files("models", Model, lambda item: item.model),
        guarantees=files("guarantees", Guarantee, lambda item: item.guarantee),
        datasets=files("datasets", Dataset, lambda item: item.dataset),
        scaling=files("scaling", Scaling, lambda item: item.scaling),
        capabilities=named(
            "capability",
            [
                (f"{group.group}.{item.capability}", item, (path, ("capabilities", position, "capability")))
                for path, group in every("capabilities", CapabilityGroup)
                for position, item in enumerate(group.capabilities)
            ],
        ),
        workloads=named(
            "workload",
            [
                (item.workload, item, (path, ("workloads", position, "workload")))
                for path, file in every("workloads", WorkloadFile)
                for position, item in enumerate(file.workloads)
            ],
        ),
        profiles=files("profiles", Profile, lambda item: item.profile),
        scales=files("scales", Scale, lambda item: item.scale),
        mixes=files("isolation", TransactionMix, lambda item: item.mix),
        store_files={path.stem: path for path in sorted((stores or root / "stores").glob("*.yaml"))},
    )
    # Names in a file with errors are unknown: references to them are not errors of their own.
    if not problems:
        unfit = (_unfit_records, _unfit_besides, _uneven_kinds, _undecided_demands)
        problems.extend(_disagreements(spec, places) or [wrong for check in unfit for wrong in check(spec, places)])
    if problems:
        raise SpecError(problems)
    frozen = suite_cases if suite_cases is not None else suite_cases_of(spec.capabilities, spec.models, spec.scaling, spec.mixes)
    return replace(spec, suite_cases=frozen, withdrawn=withdrawn_cases(read_disputes(root), spec.edition.version))


def shipped() -> Spec:
    """The specification of this installation, read once: a run and its report have the same.
    Raises `SpecError`: one of its files breaks a rule."""
    return _read_once(SPEC_ROOT)


@cache
def _read_once(root: Path) -> Spec:
    return load_spec(root)


def _disagreements(spec: Spec, places: Mapping[tuple[str, str], FieldPosition]) -> list[str]:
    """References to names that no file defines."""
    named: list[tuple[FieldPosition, str, str, Iterable[str]]] = []
    for kind, owners in (("capability", spec.capabilities), ("workload", spec.workloads)):
        for name, owner in owners.items():
            path, location = places[kind, name]
            named.append(((path, (*location[:-1], "model")), "model", owner.model, spec.models))
    for name, capability in spec.capabilities.items():
        if capability.dataset:
            path, location = places["capability", name]
            named.append(((path, (*location[:-1], "dataset")), "dataset", capability.dataset, spec.datasets))
    for kind, holders in (("dataset", spec.datasets), ("mix", spec.mixes)):
        named += [((places[kind, name][0], ("model",)), "model", holder.model, spec.models) for name, holder in holders.items()]
    for name, scaling in spec.scaling.items():
        path, _ = places["scaling", name]
        named.append(((path, ("model",)), "model", scaling.model, spec.models))
        for n, question in enumerate(scaling.questions):
            named.append(((path, ("questions", n, "capability")), "capability", question.capability, spec.capabilities))
    for name, profile in spec.profiles.items():
        path, _ = places["profile", name]
        named += [((path, ("models", n)), "model", model, spec.models) for n, model in enumerate(profile.models)]
        named += [((path, place), "capability", wanted, spec.capabilities) for place, wanted in profile.places()]
    for name, scale in spec.scales.items():
        if scale.performance.workloads != "all":
            path, _ = places["scale", name]
            at_scale = enumerate(scale.performance.workloads)
            named += [((path, ("performance", "workloads", n)), "workload", wanted, spec.workloads) for n, wanted in at_scale]
    return [f"{at(path, *location)}: {unknown(what, found, known)}" for (path, location), what, found, known in named if found not in known]


def _uneven_kinds(spec: Spec, places: Mapping[tuple[str, str], FieldPosition]) -> list[str]:
    """Scales that measure some of the workloads, and not one of each kind."""
    problems = []
    kinds = {workload.kind: name for name, workload in spec.workloads.items()}
    for scale_name, scale in spec.scales.items():
        if scale.performance.workloads == "all":
            continue
        where = at(places["scale", scale_name][0], "performance", "workloads")
        chosen: dict[Kind, str] = {}
        for name in scale.performance.workloads:
            kind = spec.workloads[name].kind
            if kind in chosen:
                problems.append(f"{where}: found `{chosen[kind]}` and `{name}`; allowed: one workload of the kind {kind}")
            chosen[kind] = name
        problems += [
            f"{where}: no workload of the kind {kind}; add one, such as `{name}`" for kind, name in kinds.items() if kind not in chosen
        ]
    return problems


def _undecided_demands(spec: Spec, places: Mapping[tuple[str, str], FieldPosition]) -> list[str]:
    """Profiles that demand a capability of which no case decides yet."""
    return [
        f"{at(places['profile', name][0], *place)}: all cases of {wanted} are provisional; allowed: a capability with a case that decides"
        for name, profile in spec.profiles.items()
        for place, wanted in profile.places()
        if spec.capabilities[wanted].provisional
    ]


def _unfit_records(spec: Spec, places: Mapping[tuple[str, str], FieldPosition]) -> list[str]:
    """Variations of records that do not apply to the workload's model."""
    problems = []
    for name, workload in spec.workloads.items():
        path, location = places["workload", name]
        for n, variation in enumerate(workload.records):
            try:
                varied = variation.applied(spec.models[workload.model])
                if (most := max(workload.indexes)) > (has := len(varied.indexes)):
                    raise RuleError(f"these records of {varied.model} can have {has} indexes, and the workload wants {most}")
            except RuleError as wrong:
                problems.append(f"{at(path, *location[:-1], 'records', n)}: {wrong}")
    return problems


def _unfit_besides(spec: Spec, places: Mapping[tuple[str, str], FieldPosition]) -> list[str]:
    """Cases with other records beside theirs, of a model that has no such records."""
    problems = []
    for name, capability in spec.capabilities.items():
        model = spec.models[capability.model]
        if model.key == "text" and isinstance(model.record, Value):
            continue
        path, location = places["capability", name]
        problems += [
            f"{at(path, *location[:-1], 'cases', n, 'beside')}: found {case.beside} of {model.model}; allowed: values under text keys"
            for n, case in enumerate(capability.cases)
            if case.beside
        ]
    return problems
