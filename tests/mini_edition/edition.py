"""Parts of the specification as an edition of their own, for runs of the suites inside a test: the whole has 870 cases."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from storeproof.spec import SPEC_ROOT

CASES = (
    "key_access.put-get/001",
    "key_access.put-get/002",
    "key_access.put-get/004",
    "key_access.put-get/008",
    "key_access.delete/001",
    "key_access.exists/001",
    "key_access.empty-value/001",
    "key_access.multi-get/001",
    "key_access.put-if-absent/001",
    "key_access.compare-and-set/001",
    "key_access.count/001",
    "key_access.ordered-scan/001",
    "expiry.put-expiring/001",
    "fields.set-field/001",
)
"""The fixed cases of the mini-edition. Those of the suites that need no capability, such as random histories, come beside them."""
_WORKLOADS = ("single-put-distinct-90", "single-put-distinct-100", "single-get")
_PROFILES = ("cache", "document_store")
_STORES = ("sqlite", "redis", "azure-redis-cache", "couchbase", "aerospike", "marklogic")
_LOAD = ("stream",)

Tree = dict[str, Any]
_FIXED = "capabilities."
"""How the ids of the fixed cases begin."""


@cache
def mini_edition() -> Path:
    """The mini-edition: 14 fixed cases, three workloads, and one shape of load for each guarantee. Made once per process."""
    root = Path(tempfile.mkdtemp(prefix="mini-edition-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    write_edition(root, CASES, workloads=_WORKLOADS)
    cut_load(root, _LOAD)
    for name in _PROFILES:
        (root / "profiles" / f"{name}.yaml").write_text(_dump(_fitting_profile(_read(SPEC_ROOT / "profiles" / f"{name}.yaml"))))
    for name in _STORES:
        (root / "stores" / f"{name}.yaml").write_text(fitting(_read(SPEC_ROOT / "stores" / f"{name}.yaml")))
    return root


@cache
def all_cases() -> Path:
    """All cases of the specification, with one shape of load for each guarantee. Made once per process."""
    root = Path(tempfile.mkdtemp(prefix="all-cases-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    shutil.copytree(SPEC_ROOT, root, ignore=shutil.ignore_patterns("schema"), dirs_exist_ok=True)
    cut_load(root, _LOAD)
    return root


def write_edition(root: Path, wanted: Iterable[str], *, workloads: Collection[str] | None = None) -> Path:
    """Write the parts of the specification that are wanted under `root`, without profiles, scaling or stores.

    Args:
        root: a folder, which is made.
        wanted: capabilities, with all their cases (`filter.in`), or single cases (`filter.in/001`).
        workloads: all but these are left out; None leaves out none.
    """
    for folder in ("guarantees", "datasets", "scales", "models", "workloads", "devices"):
        shutil.copytree(SPEC_ROOT / folder, root / folder, ignore=shutil.ignore_patterns("*.md", "*.svg"), dirs_exist_ok=True)
    for folder in ("capabilities", "profiles", "scaling", "stores"):
        (root / folder).mkdir(exist_ok=True)
    wanted = set(wanted)
    for path in sorted((SPEC_ROOT / "capabilities").glob("*.yaml")):
        group = _read(path)
        group["capabilities"] = [part for each in group["capabilities"] if (part := _part(each, group["group"], wanted))]
        if group["capabilities"]:
            (root / "capabilities" / path.name).write_text(_dump(group))
    if workloads is not None:
        for path in (root / "workloads").iterdir():
            file = _read(path)
            file["workloads"] = [each for each in file["workloads"] if each["workload"] in workloads]
            path.write_text(_dump(file)) if file["workloads"] else path.unlink()
        for path in (root / "scales").iterdir():
            scale = _read(path)
            scale["performance"]["workloads"] = "all"  # of those that are left
            path.write_text(_dump(scale))
    return root


def cut_load(root: Path, load: Collection[str]) -> None:
    """Change the guarantees of the edition under `root`: they are tried under this load alone."""
    for path in (root / "guarantees").glob("*.yaml"):
        guarantee = _read(path)
        guarantee["load"] = [shape for shape in guarantee.get("load", ()) if shape in load]
        path.write_text(_dump(guarantee))


def embedded_store() -> str:
    """The embedded store's own file, without what is known to fail there: a store of a test has no such excuse."""
    return re.sub(r"(?m)^known_failures:\n(?:  .*\n)+", "", (SPEC_ROOT / "stores" / "sqlite.yaml").read_text())


def fitting(store: Tree | str) -> str:
    """A store's file without what it claims, and what is known to fail, beyond the mini-edition."""
    file: Tree = yaml.load(store, yaml.CSafeLoader) if isinstance(store, str) else store
    capabilities = {case.partition("/")[0] for case in CASES}
    known = capabilities | {name.partition(".")[0] for name in capabilities} | set(CASES)
    for claims in (file["claims"], *file["variants"].values()):
        if "capabilities" in claims:
            claims["capabilities"] = {name: claim for name, claim in claims["capabilities"].items() if name in known}
    fixed = {case: case.removeprefix(_FIXED) for case in file.get("known_failures", ()) if case.startswith(_FIXED)}
    failing = {case: why for case, why in file.pop("known_failures", {}).items() if fixed.get(case, CASES[0]) in known}
    return _dump(file | {"known_failures": failing} if failing else file)


def _part(capability: Tree, group: str, wanted: Collection[str]) -> Tree | None:
    """A capability with the cases that are wanted of it."""
    name = f"{group}.{capability['capability']}"
    if name in wanted:
        return capability
    cases = [case for case in capability.get("cases", ()) if f"{name}/{case['id']}" in wanted]
    return {**capability, "cases": cases} if cases else None


def _fitting_profile(profile: Tree) -> Tree:
    capabilities = {case.partition("/")[0] for case in CASES}
    kept = {field: [some for each in profile[field] if (some := _fitting(each, capabilities))] for field in ("capabilities", "extended")}
    return {**profile, **kept, "models": profile["models"][:2]}  # each model has histories and requests of its own


def _fitting(wanted: str | Tree, capabilities: Collection[str]) -> str | Tree | None:
    """What of a demand is in the mini-edition; None where nothing is."""
    some = [name for name in ([wanted] if isinstance(wanted, str) else wanted["any_of"]) if name in capabilities]
    return {"any_of": some} if len(some) > 1 else (some or [None])[0]


def _read(path: Path) -> Tree:
    found: Tree = yaml.load(path.read_text(), yaml.CSafeLoader)
    return found


def _dump(tree: Tree) -> str:
    return yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False)
