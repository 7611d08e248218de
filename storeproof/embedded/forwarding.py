"""A ready-made session that maps the contract's operations to the host's functions, so that no adapter need be written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from storeproof.contract import OPERATIONS, Address, Breach, Layout, Refused, Unsupported, Version
from storeproof.contract import Collection as Records
from storeproof.embedded.link import HostLink

KINDS = ("value", "hash", "counter", "list")
"""Kinds of records that MessagePack can express. For others write an adapter that converts what `HostLink.call` returns."""
_PAIRS = ("scan", "scan_prefix")
_OTHERS = ("version", "read_settings", "prepare", "clear", "compact")
"""Functions that are no operations."""
_REWRITE_SECONDS = 600.0
"""The time-out of a rewrite of all files."""


class _Forwarding:
    """A collection: each operation is a function of the host, which gets the collection's name first."""

    def __init__(self, host: HostLink, name: str) -> None:
        self._host = host
        self._name = name

    def prepare(self) -> None:
        self._host.call("prepare", self._name)

    def clear(self) -> None:
        self._host.call("clear", self._name)

    def describe(self) -> Mapping[str, str]:
        return {"indexes": "0"}


class ForwardingSession:
    def __init__(self, host: HostLink, functions: Mapping[str, Callable[..., Any]], keeps: Collection[str]) -> None:
        self._host = host
        self._keeps = keeps
        self._kind = type("Forwarding", (_Forwarding,), {name: _make_forwarder(name) for name in functions if name in OPERATIONS})

    def version(self) -> Version:
        """Product and number, which the host's function `version` returns as a pair."""
        return Version(*self._host.call("version"))

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The host's function `read_settings` returns all settings that it knows, by name."""
        found = self._host.call("read_settings")
        return {name: found[name] for name in names if name in found}

    def collection(self, layout: Layout) -> Records:
        """There are no secondary indexes."""
        if layout.model.record.kind not in self._keeps:
            raise Unsupported(
                f"it supports records of the kinds {', '.join(self._keeps)}, and {layout.model.model} is {layout.model.record.kind}"
            )
        if layout.indexes:
            raise Unsupported("it has no secondary indexes")
        return cast(Records, self._kind(self._host, layout.name))

    def close(self) -> None:
        self._host.close()


class CompactingSession(ForwardingSession):
    """One whose host has a function `compact`."""

    def compact(self) -> str:
        """As `Maintenance` says."""
        with self._host.patience(_REWRITE_SECONDS):
            command = self._host.call("compact")
        if not isinstance(command, str):
            raise Breach(f"compact returns the command as an administrator would write it, a str; found {command!r:.60}")
        return command


def session(
    address: Address, options: Mapping[str, str], functions: Mapping[str, Callable[..., Any]], *, keeps: Collection[str] = ("value",)
) -> ForwardingSession:
    """A session on the host at `address`, whose operations are `functions`: the same ones that the host serves.

    * `version(database)` returns the pair of product and version number; `read_settings(database)` the live settings, by name.
    * `prepare(database, name)` and `clear(database, name)` make and remove a collection.
    * `compact(database)`, if there is one, rewrites the files of the database, and returns the command for that as an administrator would
      write it. Faults then strike during a rewrite too.
    * Every other is an operation of `storeproof.contract.families`, with the same arguments and reply behind database and name, as
      `put(database, name, key, record)`; it is called as the operation is called, and a family is implemented whole or not at all.

    Args:
        keeps: the kinds of records that it stores, out of `KINDS`.

    Raises:
        Refused: the variant has options, which need a custom adapter; or a function is none of these.
        Unknown: the host does not answer (yet).
    """
    if options:
        raise Refused(
            f"a session of storeproof.embedded has no options; found {', '.join(options)}; use settings, which `open_database` gets"
        )
    if strange := [kind for kind in keeps if kind not in KINDS]:
        raise Refused(f"keeps: found {', '.join(strange)}; allowed: {', '.join(KINDS)}; for others write the adapter with `connect`")
    if strange := [name for name in functions if name not in OPERATIONS and name not in _OTHERS]:
        raise Refused(f"functions: found {', '.join(strange)}; allowed: {', '.join(_OTHERS)}, and the operations {', '.join(OPERATIONS)}")
    kind = CompactingSession if "compact" in functions else ForwardingSession
    return kind(HostLink(address), functions, keeps)


def _make_forwarder(name: str) -> Callable[..., Any]:
    def operation(self: _Forwarding, *arguments: Any) -> Any:
        reply = self._host.call(name, self._name, *arguments)
        if name in _PAIRS and isinstance(reply, list):
            return [tuple(each) if isinstance(each, list) else each for each in reply]
        return tuple(reply) if name == "walk" and isinstance(reply, list) else reply

    operation.__name__ = name
    return operation
