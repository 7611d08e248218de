"""True stores under nuisances raise no alarm, and stores that lie are caught all the same.

    python -m tests.nuisance.runner              # all: `nox -s nuisance`, as root, with the servers and images of .ci/setup
    python -m tests.nuisance.runner --quick      # some, within a minute
    python -m tests.nuisance.runner --store redis --launch process --nuisance "full TMPDIR" --trials 1 --mutants 0 --keep DIR

A spoiled round is one case, tried while a nuisance was at work. A false `fail` is one of a true store; a case that the machine spoiled
must say so (`inconclusive`, `not_run`). What is ours (`error`, a traceback, a trial without a report, something left behind) is a defect
too, and is listed beside the score. Not collected by pytest, since it takes many minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path

from tests.nuisance import full_tmpdir, network_rules
from tests.nuisance.mutants import Mutant, caught, mutants
from tests.nuisance.nuisance import Nuisance
from tests.nuisance.nuisances import NUISANCES
from tests.nuisance.short_trial import ShortTrial, given_up
from tests.nuisance.spoiled_round import SpoiledRound, spoil

PAIRS = (
    ("sqlite", "process"),
    ("redis", "container"),
    ("postgresql", "process"),
    ("mongodb", "container"),
    ("redis", "process"),
    ("postgresql", "container"),
    ("mongodb", "process"),
)
"""SQLite is a library: there is no server of it in a container."""
_CORRECTNESS = "stateful and (counter or hash10 or row) or all_answers or walk and single_key or each_item or half_written and usertable"
_GUARANTEES = ("process_crash", "power_loss")
_QUICK = (("redis", "process", "killed server"), ("sqlite", "process", "mount copies"), ("sqlite", "process", "full TMPDIR"))
_QUICK_MUTANTS = 2

Combination = tuple[str, str, Nuisance]


def plan(pairs: Sequence[tuple[str, str]], nuisances: Sequence[Nuisance]) -> Iterator[Combination]:
    """Store, launch and nuisance, without an end: every pair meets every nuisance, in an order that mixes both."""
    while True:
        for turn in range(len(nuisances)):
            for number, (store, launch) in enumerate(pairs):
                yield store, launch, nuisances[(number + turn) % len(nuisances)]


def quick() -> list[Combination]:
    """A few that differ."""
    named = {each.name: each for each in NUISANCES}
    return [(store, launch, named[nuisance]) for store, launch, nuisance in _QUICK]


class TrueStores:
    """True stores under nuisances, until there were as many rounds as are wanted."""

    def __init__(self, wanted: int, base: Path) -> None:
        self.rounds: list[SpoiledRound] = []
        self.wrong: list[str] = []
        self.lacking: set[str] = set()
        self._wanted = wanted
        self._base = base
        self._lock = threading.Lock()

    @property
    def false(self) -> list[SpoiledRound]:
        """False alarms."""
        return [each for each in self.rounds if each.outcome == "fail"]

    def enough(self) -> bool:
        """Whether no more trial need begin."""
        return len(self.rounds) >= self._wanted or given_up.is_set()

    def one(self, combination: Combination, seed: int) -> None:
        """One trial, unless there is enough."""
        if self.enough():
            return
        store, launch, nuisance = combination
        guarantee = random.Random(f"{store} {launch} {nuisance.name} {seed}").choice(_GUARANTEES)
        selection = " or ".join(filter(None, (f"test_guarantee and {guarantee}", _CORRECTNESS, nuisance.also)))
        sut = ShortTrial(store, launch, self._base / f"true-{seed}", selection, seed)
        if reason := nuisance.cannot(sut):
            with self._lock:
                self.lacking.add(f"{nuisance.name}: {reason}")
            return
        began = time.monotonic()
        rounds, wrong = spoil(sut, nuisance)
        where = f"{store} by {launch}, {nuisance.name}, seed {seed}"
        loud = [f"{each.outcome.upper()} {each.case}: {_brief(each.detail)}" for each in rounds if each.outcome in ("fail", "error")]
        with self._lock:
            self.rounds += rounds
            self.wrong += [f"{where}: {each}" for each in wrong]
            said = f"[{len(self.rounds):3}] {where}: {_counted(each.outcome for each in rounds)}"
            print(f"{said}; {len(sut.acts)} acts, {time.monotonic() - began:.0f} s", flush=True)
            for each in (*loud, *(f"WRONG {each}" for each in wrong)):
                print(f"      {each}", flush=True)
        if not loud and not wrong:
            sut.remove()


class Mutants:
    """Stores that lie, each under another nuisance."""

    def __init__(self, base: Path) -> None:
        self.caught = 0
        self.tried = 0
        self._base = base
        self._lock = threading.Lock()

    def one(self, mutant: Mutant, nuisance: Nuisance, seed: int) -> None:
        """One of them."""
        if given_up.is_set():
            return
        began = time.monotonic()
        found, seen = caught(mutant, nuisance, self._base / f"mutant-{mutant.name}", seed)
        with self._lock:
            self.tried += 1
            self.caught += found
            verdict = "caught" if found else "NOT CAUGHT"
            print(f"{mutant.name}, {nuisance.name}: {verdict} by {mutant.case}: {seen} ({time.monotonic() - began:.0f} s)", flush=True)


def _met_by(mutant: Mutant, turn: int, nuisances: Sequence[Nuisance]) -> Nuisance:
    """The nuisance whose turn it is, of those under which there can be a finding."""
    able = [each for each in nuisances if (each.lasting if mutant.short else not each.ends_the_run)] or list(nuisances)
    return able[turn % len(able)]


def _counted(outcomes: Iterable[str]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in sorted(Counter(outcomes).items())) or "nothing was tried under it"


def _brief(detail: str) -> str:
    """Without the store's log."""
    return detail.partition("\n--- last lines of its log ---")[0][:1000]


def _side_by_side(jobs: int, works: Iterable[Callable[[], None]], enough: Callable[[], bool]) -> None:
    """Begin no work before there is room for it: what is planned may have no end."""
    room = threading.Semaphore(jobs)

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            room.release()

    with ThreadPoolExecutor(jobs) as pool:
        begun = []
        for work in works:
            room.acquire()
            if enough():
                break
            begun.append(pool.submit(run, work))
        for each in begun:
            each.result()


def _summary(true: TrueStores, lying: Mutants) -> None:
    """The rounds by nuisance and by store, then all that is wrong."""
    for name, of in (("nuisance", lambda each: each.nuisance), ("store", lambda each: f"{each.store} by {each.launch}")):
        print(f"\n| {name} | spoiled rounds | outcomes |\n|---|---|---|")
        for value in dict.fromkeys(map(of, true.rounds)):
            outcomes = [each.outcome for each in true.rounds if of(each) == value]
            print(f"| {value} | {len(outcomes)} | {_counted(outcomes)} |")
    print()
    for each in sorted(true.lacking):
        print(f"not had here: {each}")
    for each in true.rounds:
        if each.outcome in ("fail", "error"):
            where = f"{each.store} by {each.launch}, {each.nuisance}, seed {each.seed}"
            print(f"{each.outcome} of {each.case}, {where}: {_brief(each.detail)}")
    for wrong in true.wrong:
        print(f"wrong: {_brief(wrong)}")
    errors = sum(each.outcome == "error" for each in true.rounds)
    print(f"{errors} errors of ours, {len(true.wrong)} trials' ends that were wrong")
    print(f"{len(true.rounds)} spoiled rounds: {len(true.false)} false fail; {lying.caught} of {lying.tried} mutants caught", flush=True)


def main() -> int:
    """Exit status 0 where all is as it must be, 1 elsewhere, 2 where the runner was told to end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="spoiled rounds of true stores, at least (default: 200)")
    parser.add_argument("--mutants", type=int, default=30, choices=range(31), metavar="N", help="stores that lie (default and most: 30)")
    parser.add_argument("--jobs", type=int, default=2, help="trials side by side (default: 2)")
    parser.add_argument("--trials", type=int, help="trials of true stores, at most")
    parser.add_argument("--first", type=int, default=1, help="seed of the first trial; each next one has the next (default: 1)")
    parser.add_argument("--store", action="append", help="this one alone; may be repeated, as the next two")
    parser.add_argument("--launch", action="append", choices=("process", "container"))
    parser.add_argument("--nuisance", action="append", choices=[each.name for each in NUISANCES])
    parser.add_argument("--quick", action="store_true", help="three trials and two mutants, within a minute")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the trials' folders are made; those that went wrong stay")
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: given_up.set())
    if os.geteuid() == 0:
        network_rules.sweep()
        full_tmpdir.sweep()

    pairs = [each for each in PAIRS if each[0] in (given.store or each) and each[1] in (given.launch or each)]
    nuisances = [each for each in NUISANCES if each.name in (given.nuisance or (each.name,))]
    planned = quick() if given.quick else islice(plan(pairs, nuisances), given.trials)
    with tempfile.TemporaryDirectory(prefix="storeproof-nuisance-") as folder:
        base = given.keep or Path(folder)
        base.mkdir(parents=True, exist_ok=True)
        base.chmod(0o755)  # servers run as other users, who must get through
        true, lying = TrueStores(given.rounds, base), Mutants(base)
        turns = zip(planned, count(given.first), strict=False)
        _side_by_side(given.jobs, (lambda each=each: true.one(*each) for each in turns), true.enough)
        told = mutants(base)[: _QUICK_MUTANTS if given.quick else given.mutants]
        works = (lambda n=n, each=each: lying.one(each, _met_by(each, n, nuisances), n) for n, each in enumerate(told))
        _side_by_side(given.jobs, works, given_up.is_set)
        _summary(true, lying)
    if given_up.is_set():
        return 2
    defects = [each for each in true.rounds if each.outcome in ("fail", "error")] + true.wrong
    return int(bool(defects) or lying.caught < len(told) or not true.rounds)


if __name__ == "__main__":
    sys.exit(main())
