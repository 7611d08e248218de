"""Stores that lie, each tried under a nuisance with the check that is meant for it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.end_to_end.running import lying_store
from tests.mini_edition.inner_run import CHECKOUT, told
from tests.mutants import test_mutants
from tests.mutants.durability import host_lies, server_lies, trials
from tests.mutants.durability.lie import Found, Lie
from tests.nuisance.nuisance import Nuisance
from tests.nuisance.short_trial import ShortTrial
from tests.nuisance.spoiled_round import spoil

_TRIES = 6
"""A trial that a nuisance spoiled, so that it found nothing either way, is repeated. One that calls a mutant true is not."""
_CHECKS = "key_access or put-expiring/001 or stateful and single_key or concurrency or test_walk or clean_restart and resurrected-delete"
"""The checks that are meant for one of those that lie about answers, as `-k` selects tests."""
_CORRECTNESS = (
    "lost_put",
    "stale_get",
    "torn_hash",
    "racing_increment",
    "unordered_multi_get",
    "truncation_at_nul",
    "normalised_keys",
    "exists_always",
    "racing_append",
    "walk_by_offset",
)
_HOSTS = (
    *("memory-only", "queue", "contended", "one-in-a-thousand", "deletes-unlogged"),
    *("updates-unlogged", "field-by-field", "batch-in-parts", "synced-at-first"),
)
_SERVERS = (
    *("redis-everysec", "redis-no", "redis-snapshots", "redis-old-snapshot", "postgresql-no-fsync", "postgresql-no-wait"),
    *("postgresql-unlogged", "mongodb-unjournaled", "mongodb-eaten", "sqlite-off", "sqlite-wal-normal"),
)


@dataclass(frozen=True)
class Mutant:
    """One of them, and what catches it."""

    name: str
    case: str
    prepare: Callable[[Path, int], ShortTrial]
    """Of a folder and a seed: its trial, not begun."""
    short: bool
    """Whether its case takes milliseconds, so that only a nuisance that lasts can meet it."""
    seen_through: Callable[[ShortTrial], bool]
    """Whether the failure of the case is about the lie."""


class Editions:
    """The specification with guarantees cut down to some loads: made once for all mutants that are tried with these."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._lock = threading.Lock()

    def of(self, load: Sequence[str]) -> Path:
        root = self._base / "-".join(load)
        with self._lock:
            return root if root.is_dir() else trials.edition_of(load, root)


def mutants(base: Path) -> list[Mutant]:
    """Thirty: in turn of the correctness, of the embedded and of the server kind."""
    editions = Editions(base / "editions")
    answers = {each.name: each for each in test_mutants.MUTANTS}
    kept = {each.name: each for each in (*host_lies.LIES, *server_lies.LIES)}
    kinds = (
        [_answering(answers[name]) for name in _CORRECTNESS],
        [_keeping(kept[name], editions) for name in _HOSTS],
        [_keeping(kept[name], editions) for name in _SERVERS],
    )
    return [kind[number] for number in range(max(map(len, kinds))) for kind in kinds if number < len(kind)]


def _answering(mutant: test_mutants.Mutant) -> Mutant:
    def prepare(folder: Path, seed: int) -> ShortTrial:
        sut = ShortTrial("sqlite", "process", folder, _CHECKS, seed, arguments=["--no-verify-settings"])
        sut.prepare()
        sut.store_argument = lying_store(folder, mutant.name, whole=True).removeprefix("--store=")
        return sut

    return Mutant(mutant.name, mutant.check, prepare, True, lambda _: True)


def _keeping(lie: Lie, editions: Editions) -> Mutant:
    store = lie.name.partition("-")[0] if lie in server_lies.LIES else "sqlite"

    def prepare(folder: Path, seed: int) -> ShortTrial:
        plugins, environment = told(editions.of(lie.load), pages=True)
        suites = (str(CHECKOUT / "suites" / "durability" / "test_guarantees.py"),)
        sut = ShortTrial(store, "process", folder, lie.guarantee, seed, suites, environment, plugins)
        sut.prepare()
        sut.store_argument = str(trials.store_file_of(lie, folder))
        return sut

    def seen_through(sut: ShortTrial) -> bool:
        result = sut.result()
        assert result is not None
        (store,) = result["stores"]
        (outcome,) = [each for each in store["outcomes"] if each["id"] == f"durability.{lie.guarantee}"]
        (record,) = store["durability"]["guarantees"]
        return bool(lie.by & Found(outcome["outcome"], outcome["detail"] or "", record).kinds)

    return Mutant(lie.name, f"durability.{lie.guarantee}", prepare, False, seen_through)


def caught(mutant: Mutant, nuisance: Nuisance, folder: Path, seed: int) -> tuple[bool, str]:
    """Whether the case that is meant for it failed for the right reason while the nuisance was at work, and what was seen.

    A round that the nuisance spoiled, or did not meet, is repeated a few times; a pass under it is a mutant that got away.
    """
    seen = []
    for number in range(_TRIES):
        sut = mutant.prepare(folder / str(number), random.Random(f"{seed} {number}").randrange(10**6))
        if reason := nuisance.cannot(sut):
            return False, reason
        rounds, _ = spoil(sut, nuisance)
        of_case = [each for each in rounds if each.case == mutant.case]
        if not of_case:
            seen.append("not under it")
            continue
        (found,) = of_case
        seen.append(found.outcome)
        if found.outcome == "fail" and mutant.seen_through(sut):
            sut.remove()
            return True, ", ".join(seen)
        if found.outcome == "fail":
            seen[-1] = f"fail of something else ({found.detail.splitlines()[0][:200]})"
        if found.outcome == "pass":
            break
    return False, ", ".join(seen)
