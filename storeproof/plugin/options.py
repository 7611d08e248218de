"""The command-line options of the suites, and the parsing of their values."""

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
MOST_LAPS: Final = 100
"""More have no scale with rounds enough."""


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("storeproof", "storeproof: conformance, durability and performance of data stores")
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
        help="how much to test and measure; smoke measures one workload of each kind, and those that -k selects (default: smoke)",
    )
    group.addoption(
        "--profile",
        action="append",
        metavar="NAME",
        help="run only what this profile demands, and report whether the store conforms; may be repeated",
    )
    group.addoption(
        "--require",
        choices=("claimed",),
        help="claimed: end with exit code 1 also where something that a store claims was not proven in this run",
    )
    group.addoption(
        "--edition",
        metavar="NAME",
        help="judge by this frozen edition of the specification, such as 2026.12 (default: the draft of this installation)",
    )
    group.addoption(
        "--needs",
        metavar="FILE",
        help="run what a needs file demands of its candidates, with the loads of all roles at the same time, and answer it; --store leaves "
        "only candidates of these stores",
    )
    group.addoption(
        "--launch",
        default="auto",
        choices=("auto", "container", "process", "endpoint"),
        help="how to start stores (default: endpoint if given, else container, else local binary)",
    )
    group.addoption(
        "--endpoint", action="append", metavar="STORE=URL", help="test a running server; only data written by the run is removed from it"
    )
    group.addoption(
        "--image", action="append", metavar="STORE=IMAGE", help="use this container image instead of the one in the store's file"
    )
    group.addoption(
        "--data-dir",
        metavar="DIR",
        help="parent of the data directories, to choose the disk (default: a temporary directory; in memory for correctness, "
        "which does not depend on the disk)",
    )
    group.addoption(
        "--disk",
        action="append",
        metavar="NAME=PATH",
        help="launch every store with its data below this directory too, to compare disks: once for each --disk, in interleaved rounds; "
        "NAME=model:MODEL (hdd-15k, sata-ssd, nvme) is a model of a device, which needs root; then "
        "`storeproof compare RESULT --across=disk`; may be repeated",
    )
    group.addoption(
        "--power-cut",
        default="auto",
        choices=("auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"),
        help="how to simulate a power cut: ext4 on a loop device (needs root), or a file system in memory (fuse); strace cuts nothing "
        "and only records syncs (default: ext4 if available, else fuse)",
    )
    group.addoption(
        "--corpus",
        action="append",
        metavar="FILE",
        help="load articles from a MediaWiki dump (.xml, .xml.bz2, .xml.gz); may be repeated (default: generated texts)",
    )
    group.addoption(
        "--engine",
        default="auto",
        choices=("auto", "wire", "driver"),
        help="load generator: compiled code that sends the requests of the store's client (wire), or the client itself (driver) "
        "(default: wire if it was built and supports the workload, else driver)",
    )
    group.addoption(
        "--hosts",
        metavar="SCHEDULER",
        help="put on the load from the workers of a Dask scheduler, such as tls://10.0.0.1:8786, one on each host; needs --endpoint "
        "(default: from this machine)",
    )
    group.addoption(
        "--proof",
        action="append",
        metavar="RESULT",
        help="a result.json, or its directory, that shows correctness and durability of the same store: same variant, version, settings, "
        "binary or image, and edition; what this run does not verify itself is taken from there and marked as cited; may be repeated",
    )
    group.addoption(
        "--records",
        metavar="N",
        help="number of records to load, in place of the scale's; the scale's limit of bytes (data_bytes) does not apply",
    )
    group.addoption(
        "--laps",
        metavar="N",
        help="measure all speeds N times over, with servers that are started again for each lap, and share the rounds of every number "
        "among the laps: shows what differs from one start to the next (default: 1)",
    )
    group.addoption(
        "--cores",
        type=int,
        metavar="N",
        help="number of cores that each store may use, the same for all, to compare stores as on a smaller machine (default: all that "
        "the load generator leaves)",
    )
    group.addoption(
        "--memory",
        metavar="SIZE",
        help="how much memory every store is given, such as 512MiB or 8GiB; for a local process this needs root (default: all)",
    )
    group.addoption(
        "--anatomy",
        action="store_true",
        help="watch the I/O of local processes while workloads that write are measured, and show it by kind: journal, save, merge; needs "
        "root and data on ext4, and makes syncs some microseconds slower",
    )
    group.addoption("--keep", action="store_true", help="keep data directories and containers after the run")
    group.addoption("--report-dir", default="reports/latest", metavar="DIR", help="directory of the report (default: reports/latest)")
    group.addoption(
        "--no-verify-settings",
        dest="verify_settings",
        action="store_false",
        help="test the store even if its live settings differ from the variant's; for tests with deliberately wrong stores",
    )
    group.addoption(
        "--seed",
        type=int,
        metavar="N",
        help="seed of all random choices (default: the edition's own with --edition, else drawn; it is printed)",
    )


def pairs(flag: str, given: Iterable[str] | None) -> dict[str, str]:
    """Both sides of each `STORE=VALUE`. Raises UsageError if one is missing."""
    found = {}
    for text in given or ():
        store, equals, value = text.partition("=")
        if not (store and equals and value):
            raise UsageError(f"{flag} takes STORE=VALUE; found {redact(text)!r}")
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
    """The absolute path of a directory. Raises UsageError if it does not exist."""
    if given is None:
        return None
    path = Path(given)
    if not (exists(path) and path.is_dir()):
        raise UsageError(f"{flag} {given} is not a directory; create it first")
    return path.resolve()


def named(what: str, name: str, table: Mapping[str, T]) -> T:
    """The entry of a table. Raises UsageError if there is none of that name."""
    if name not in table:
        raise UsageError(f"unknown {what} `{name}`; allowed: {', '.join(sorted(table))}")
    return table[name]
