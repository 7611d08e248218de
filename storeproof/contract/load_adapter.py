"""Imports a store's adapter, and checks that its client packages are installed and that it has `connect`."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from packaging.requirements import InvalidRequirement, Requirement

from storeproof.contract.address import Address, PartAddress
from storeproof.contract.clusters import Cluster, Promotion
from storeproof.contract.families import Session
from storeproof.errors import NotAvailable, UsageError
from storeproof.regular_file import Unreadable, open_regular
from storeproof.spec.store import Store, Topology


class Adapter(Protocol):
    """The adapter module of one store: `adapters/x.py`, or a vendor's own file."""

    def connect(self, address: Address, options: Mapping[str, str]) -> Session:
        """Open one authenticated session; `options` are the variant's.

        Raises:
            Refused: wrong credentials.
            Unknown: no server answers (yet).
        """


def load_adapter(store: Store, store_file: Path) -> Adapter:
    """The adapter's module.

    Raises:
        NotAvailable: a client package is missing; the remedy is the `pip install` line.
        UsageError: there is no such module, or it has no `connect`.
    """
    missing = [text for text in store.requires if not _is_installed(_requirement(text, store_file))]
    if missing:
        wanted = " ".join(f"'{text}'" for text in missing)
        raise NotAvailable(f"{store.name} needs the client {', '.join(missing)}", f"pip install {wanted}")
    module = _from_file(store_file.parent / store.adapter) if store.adapter.endswith(".py") else _from_package(store.adapter, store_file)
    if not callable(getattr(module, "connect", None)):
        found = f"adapter {store.adapter} of {store.name} has no function `connect(address, options)`"
        raise UsageError(f"{found}; see `storeproof manual 'add a store'`")
    return cast(Adapter, module)


def load_cluster(adapter: Adapter, store: Store, topology: Topology, options: Mapping[str, str]) -> Cluster:
    """What forms and repairs the clusters of a store; `options`: the variant's, and its time-outs. Raises `UsageError`: its adapter does
    not."""
    make = getattr(adapter, "cluster", None)
    made = make(options) if callable(make) else None
    if not isinstance(made, Cluster):
        found = "has no function `cluster(options)`" if made is None else "returns from `cluster(options)` what is no `Cluster`"
        raise UsageError(f"{store.name} has topologies, and its adapter {store.adapter} {found}; see storeproof/contract/clusters.py")
    if topology.failover == "operator" and not isinstance(made, Promotion):
        raise UsageError(f"{store.name}: `failover: operator` needs `promote` in its adapter; see storeproof/contract/clusters.py")
    return made


def adapter_of(part: PartAddress) -> Adapter:
    """The adapter of one server of a composite store. Raises `UsageError` if there is no such module."""
    path = Path(part.adapter)
    return cast(Adapter, _from_file(path) if part.adapter.endswith(".py") else _from_package(part.adapter, path))


def _requirement(text: str, store_file: Path) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement:
        raise UsageError(f'{store_file}: requires: found {text!r}; allowed: packages as pip writes them, as in "client>=5"') from None


def _is_installed(requirement: Requirement) -> bool:
    try:
        found = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(found, prereleases=True)


def _from_package(name: str, store_file: Path) -> ModuleType:
    try:
        return importlib.import_module(f"storeproof.adapters.{name}")
    except ModuleNotFoundError as reason:
        if not f"storeproof.adapters.{name}".startswith(reason.name or "?"):
            raise  # the adapter exists; a module that it imports does not
        allowed = "`adapter:` names a module of adapters/, or the path of a Python file ending in .py"
        raise UsageError(f"{store_file}: adapter: there is no adapter `{name}`; {allowed}") from None


def _from_file(path: Path) -> ModuleType:
    """A vendor's file, under a module name made of its path, so that worker processes can load it too."""
    try:
        open_regular(path).close()
    except Unreadable as reason:
        raise UsageError(f"the adapter file {path} {reason}; `adapter:` is relative to the store's YAML file") from None
    path = path.resolve()
    name = f"storeproof_adapter_{path.stem}_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    described = importlib.util.spec_from_file_location(name, path)
    if described is None or described.loader is None:
        raise UsageError(f"the adapter file {path} is not a Python module")
    module = importlib.util.module_from_spec(described)
    sys.modules[name] = module
    try:
        described.loader.exec_module(module)
    except (Exception, SystemExit) as reason:
        del sys.modules[name]  # a half-executed module must not be found at the next attempt
        raise UsageError(f"the adapter file {path} cannot be imported: {type(reason).__name__}: {reason}") from reason
    return module
