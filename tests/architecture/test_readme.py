"""The README says what the published results say, in one page, with commands that exist; `test_printed.py` has its numbers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache

import pytest

from storeproof.report.parts.roles import lacks
from storeproof.result.compare import Pair, Side, pair_of, sides_of
from storeproof.result.json_file import read_result
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from tests.architecture.installed import CHECKOUT

TEXT = (CHECKOUT / "README.md").read_text()
LONGEST = 900
"""Words, so that it is read to the end."""


@cache
def _result(name: str) -> Result:
    return read_result(CHECKOUT / "reports" / name)


def _store(result: Result, name: str) -> StoreResult:
    (found,) = [each for each in result.stores if each.store == name and each.variant != "volatile" and each.variant != "replica-set"]
    return found


def _measured(result: Result, store: str, workload: str) -> Measurement:
    """Of a store, the valid measurement of a workload without indexes."""
    (found,) = [each for each in _store(result, store).measurements if each.workload == workload and not each.indexes]
    assert not found.invalid
    assert not found.trend.drifting
    return found


def test_it_is_one_page() -> None:
    """What is more is in docs/."""
    assert len(TEXT.split()) <= LONGEST


def _all() -> list[StoreResult]:
    """The three runs that say what each store can do."""
    return [store for name in ("26-keys", "26-databases", "27-mysql") for store in _result(f"2026-11-{name}").stores]


def test_one_store_is_cache_and_document_store_and_these_lack_one_capability() -> None:
    """The first finding."""
    assert len({each.store for each in _all()}) == 10
    filled = {each.store: {profile.profile for profile in each.profiles if profile.verdict == "conforms"} for each in _all()}
    assert [name for name, roles in filled.items() if {"cache", "document_store"} <= roles] == ["mongodb"]
    assert (max(map(len, filled.values())), len(filled["mongodb"])) == (4, 4)
    lacking = {each.store: {what for profile in each.profiles for what in lacks(profile)} for each in _all()}
    only = {name for name, what in lacking.items() if what == {"expiry.hidden or expiry.put-expiring or expiry.swept"}}
    assert only == {"sqlite", "mysql"}


def test_a_synced_log_that_lost_something_was_synced() -> None:
    """The third finding: read back from the server."""
    assert _store(_result("2026-11-26-keys"), "tarantool").settings["wal_mode"] == "fsync"


def test_redis_leads_with_equal_durability() -> None:
    """The fourth finding: ratios within each block of one run, of stores that survived a power cut, beyond the noise."""
    result = _result("2026-11-27-speeds-again")
    sides = {side.store.store: side for side in sides_of(result) if side.store.variant != "volatile"}
    for name in ("postgresql", "mariadb", "mongodb", "mysql"):
        hashes = _ratio(sides["redis"], sides[name], "hash10-put")
        assert (hashes.paired, hashes.faster, sides[name].store.durability.proven) == (True, "A", "power_loss")


def _ratio(a: Side, b: Side, workload: str) -> Pair:
    one, other = (_measured(side.result, side.store.store, workload) for side in (a, b))
    return pair_of(a, one, b, other)


def _without_samples(name: str) -> str:
    """A page without the blocks that show what a program printed."""
    return re.sub(r"^```text\n.*?^```$", "", (CHECKOUT / name).read_text(), flags=re.MULTILINE | re.DOTALL)


COMMANDS = sorted(
    {
        " ".join(shlex.split(line, comments=True))
        for name in ("README.md", "CONTRIBUTING.md")
        for line in re.findall(r"(?:^|`)((?:storeproof|pytest) [^`\n]+)", _without_samples(name), flags=re.MULTILINE)
    }
)
_CALLED = {"pytest": ("-m", "pytest", "suites"), "storeproof": ("-c", "from storeproof.cli import main; main()")}


@cache
def _help(program: str, *words: str) -> str:
    """Of a command; an unknown one has none."""
    done = subprocess.run(
        [sys.executable, *_CALLED[program], *words, "--help"], cwd=CHECKOUT, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_a_command_and_its_options_exist(command: str) -> None:
    """A command or an option that is renamed is renamed in the text too."""
    program, *words = command.split()
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    told = _help(program) if program == "pytest" else _help(program, words[0])
    assert {option for option in options if not re.search(rf"(?<![\w-]){option}\b", told)} == set()
