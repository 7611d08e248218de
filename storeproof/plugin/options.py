"""The options of the suites, and the reading of what is given for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import pytest

from storeproof.errors import UsageError
from storeproof.regular_file import exists
from storeproof.result.redact import redact

T = TypeVar("T")
MOST_RECORDS: Final = 10**11
"""Keys have twelve digits, and some of their numbers are for probes."""


def add_options(parser: pytest.Parser) -> None:
    """Make pytest know them."""
    group = parser.getgroup("storeproof", "storeproof: conformance, durability and speed of data stores")
    group.addoption(
        "--store",
        action="append",
        metavar="STORE[:VARIANT]",
        help="store to test: NAME (its default variant), NAME:VARIANT, NAME:all, a file X.yaml, or all; may be repeated (default: sqlite)",
    )
    group.addoption(
        "--scale",
        default="smoke",
        choices=("smoke", "standard", "full"),
        help="how much is tested and measured: smoke measures one workload of each kind, and others that -k names (default: smoke)",
    )
    group.addoption(
        "--profile",
        action="append",
        metavar="NAME",
        help="run what the profile demands and say whether the store conforms; may be repeated",
    )
    group.addoption(
        "--launch",
        default="auto",
        choices=("auto", "container", "process", "endpoint"),
        help="how stores are started (default: endpoint if given, else container, else local binary)",
    )
    group.addoption(
        "--endpoint", action="append", metavar="STORE=URL", help="a running server; only what the run itself wrote is ever removed there"
    )
    group.addoption("--image", action="append", metavar="STORE=IMAGE", help="container image in place of the one in the store's file")
    group.addoption(
        "--data-dir",
        metavar="DIR",
        help="where data directories are made, so that disks can be compared (default: a temporary directory; in memory for "
        "correctness, which no disk decides)",
    )
    group.addoption(
        "--power-cut",
        default="auto",
        choices=("auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"),
        help="how the power is cut: ext4 on a loop device (root), or a file system in memory (fuse); strace only looks at what is synced "
        "(default: ext4 if it can be had, else fuse)",
    )
    group.addoption(
        "--corpus",
        action="append",
        metavar="FILE",
        help="a MediaWiki dump (.xml, .xml.bz2, .xml.gz) whose articles are loaded; may be repeated (default: texts are generated)",
    )
    group.addoption(
        "--engine",
        default="auto",
        choices=("auto", "wire", "driver"),
        help="load generator: compiled code that repeats the requests of the store's client over its connections (wire), or the client "
        "itself (driver) (default: wire where it was built and can do the workload, else driver)",
    )
    group.addoption(
        "--proof",
        action="append",
        metavar="RESULT",
        help="a result.json, or its directory, that shows correctness and durability of the same store: same variant, version, settings, "
        "binary or image, and edition; what this run does not verify itself is taken from there, and said to be; may be repeated",
    )
    group.addoption(
        "--records",
        metavar="N",
        help="records that are loaded for workloads over loaded data, in place of the scale's number; its limit of bytes (data_bytes) does "
        "not hold for them",
    )
    group.addoption("--keep", action="store_true", help="keep data directories and containers after the run")
    group.addoption("--report-dir", default="reports/latest", metavar="DIR", help="where the report is written (default: reports/latest)")
    group.addoption(
        "--no-verify-settings",
        dest="verify_settings",
        action="store_false",
        help="do not stop when the live settings differ; for lying stores on purpose",
    )
    group.addoption("--seed", type=int, metavar="N", help="seed of all random choices (default: drawn, and printed)")


def pairs(flag: str, given: Iterable[str] | None) -> dict[str, str]:
    """What stands on both sides of `STORE=VALUE`. Raises UsageError: one is missing."""
    found = {}
    for text in given or ():
        store, equals, value = text.partition("=")
        if not (store and equals and value):
            raise UsageError(f"{flag} is written STORE=VALUE; found {redact(text)!r}")
        found[store] = value
    return found


def whole_number(flag: str, given: str | None, most: int) -> int | None:
    """The number that was given. Raises UsageError: it is none from 1 to `most`."""
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= most):
        raise UsageError(f"{flag} takes a whole number from 1 to {most:,}, written in digits alone; found {redact(given)!r}")
    return int(given)


def existing_directory(flag: str, given: str | None) -> Path | None:
    """The directory that was given, absolute. Raises UsageError: there is none."""
    if given is None:
        return None
    path = Path(given)
    if not (exists(path) and path.is_dir()):
        raise UsageError(f"{flag} {given} is not a directory; create it first")
    return path.resolve()


def named(what: str, name: str, table: Mapping[str, T]) -> T:
    """What a table has under a name. Raises UsageError: nothing."""
    if name not in table:
        raise UsageError(f"unknown {what} `{name}`; allowed: {', '.join(sorted(table))}")
    return table[name]
