"""After the timed rounds the data is read back: a rate counts only if what was acknowledged is there, and whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from storeproof.contract import Collection, Path, Record, call, supports
from storeproof.load.engine import Plan, RunResult
from storeproof.printable import shortened
from storeproof.records.readback import Identified
from storeproof.records.self_verifying import recipe
from storeproof.spec.known_failure import CaseFinding
from storeproof.spec.workload import ANY_FIELD

SAMPLE: Final = 200
"""Records that are read back; one in a hundred damaged would be missed in one of seven audits, one in twenty hardly ever."""
_SHOWN: Final = 3


@dataclass(frozen=True)
class Audit:
    checked: int
    problems: tuple[str | CaseFinding, ...]

    @property
    def ok(self) -> bool:
        """Whether something was checked, and nothing was wrong."""
        return self.checked > 0 and not self.problems


def together(audits: Sequence[Audit]) -> Audit:
    """The audit of several collections: whole if each of them is."""
    return Audit(min(each.checked for each in audits), tuple(problem for each in audits for problem in each.problems))


def audit(collection: Collection, plan: Plan, rounds: Sequence[RunResult], seed: int) -> Audit:
    """Hold a collection against what the rounds acknowledged; `plan` is that of any of the rounds, `rounds` are all of its life.

    * No loaded record was missed by a read while the load was on, and no request for such records had an empty answer.
    * Where the store counts: no fewer records than were acknowledged, no more than were sent.
    * A sample of the keys, drawn from all that must be there: each is read, whole, and of a writer that there was.
    * A sample of what was removed: it is gone.

    Raises:
        Refused, Unknown, Unsupported, Breach: of the reads.
    """
    problems: list[str | CaseFinding] = []
    indeterminate = {number for each in rounds for number in each.indeterminate}
    written = _Written.of(plan, rounds, indeterminate)
    checked = 0
    missed: Counter[str] = Counter()
    for each in rounds:
        missed.update({name: operation.misses for name, operation in each.operations.items() if operation.misses})
    for name, count in missed.items():
        words = f"{name}: {count} records were asked for while the load was on, and not found"
        problems.append(CaseFinding(words, frozenset({"not_found"}), operation=name))
    if supports(collection, "count"):
        counted = call(collection, plan.layout, "count")
        checked += 1
        if not written.least <= counted <= written.most:
            problems.append(f"{counted} records were counted, where {written.least} were acknowledged and {written.most} were sent")
    random = Random(seed)
    for number in _sample(plan, written, indeterminate, random):
        checked += 1
        if wrong := _problem(collection, plan, number):
            problems.append(wrong)
    for number in _removed_sample(plan, written, indeterminate, random):
        checked += 1
        key = recipe(plan.layout.model, article_store=plan.article_store).key(number)
        if call(collection, plan.layout, "get", key) is not None:
            problems.append(f"{key} was removed and is there")
    more = len(problems) - _SHOWN
    return Audit(checked, tuple(problems[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])))


@dataclass(frozen=True)
class _Written:
    """What clients wrote beside the loaded records: client c has its new keys from `removed[c]` to before `positions[c]`."""

    positions: Sequence[int]
    removed: Sequence[int]
    least: int
    """Records that must be there, the loaded ones among them."""
    most: int
    """Records that may be there."""

    @classmethod
    def of(cls, plan: Plan, rounds: Sequence[RunResult], indeterminate: set[int]) -> _Written:
        positions = rounds[-1].positions if rounds else ()
        removed = (rounds[-1].removed if rounds else ()) or (0,) * len(positions)
        there = plan.known + sum(positions) - sum(removed)
        # A write without an answer may have happened: one of a record that is to be there, or that is to be there no more.
        places = [divmod(number - plan.known, plan.clients) for number in indeterminate if number >= plan.known]
        gone = sum(1 for place, client in places if place < removed[client])
        return cls(positions, removed, there - (len(places) - gone), there + gone)


def _sample(plan: Plan, written: _Written, indeterminate: set[int], random: Random) -> list[int]:
    """Numbers of keys that must be there: loaded ones, and new ones of all clients."""
    left = [used - gone for used, gone in zip(written.positions, written.removed, strict=True)]
    there = plan.known + sum(left)
    chosen: set[int] = set()
    for _ in range(min(SAMPLE, there)):
        place = random.randrange(there)
        if place < plan.known:
            chosen.add(place)
            continue
        place -= plan.known
        for client, used in enumerate(left):
            if place < used:
                chosen.add(plan.known + (written.removed[client] + place) * plan.clients + client)
                break
            place -= used
    return sorted(chosen - indeterminate)


def _removed_sample(plan: Plan, written: _Written, indeterminate: set[int], random: Random) -> list[int]:
    """Numbers of keys that must not be there: the last ones that each client removed, which had the least time to go, and others."""
    chosen: set[int] = set()
    for client, gone in enumerate(written.removed):
        places = {gone - 1, *(random.randrange(gone) for _ in range(SAMPLE // plan.clients))} if gone else ()
        chosen.update(plan.known + place * plan.clients + client for place in places)
    return sorted(chosen - indeterminate)


def _problem(collection: Collection, plan: Plan, number: int) -> str | None:
    """What is wrong with one record that must be there."""
    made = recipe(plan.layout.model, article_store=plan.article_store, fixed_numbers=plan.fixed_numbers)
    key = made.key(number)
    found: Record | None = call(collection, plan.layout, "get", key)
    if found is None:
        return f"{key} was acknowledged and is not there"
    seen = made.identify(key, found)
    if seen.kind == "invented":
        return f"{key} holds what no client wrote: {shortened(repr(found), 120)}"
    if seen.kind == "torn" and not _mixed_by_design(plan, seen):
        return f"{key} is torn between writes {', '.join(seen.write_ids)}: {shortened(repr(found), 120)}"
    writers = {int(write_id.partition(":")[0]) for write_id in seen.write_ids}
    if strangers := {writer for writer in writers if writer > plan.clients}:
        return f"{key} was written by client {min(strangers)}, and there were {plan.clients}"
    return None


def _mixed_by_design(plan: Plan, seen: Identified) -> bool:
    """Whether a record has all of its parts, and differs from one whole write only at those that the workload updates by themselves; what
    only one request updates, and all at once, is of one write."""
    single = [() if mix.path == (ANY_FIELD,) else mix.path for mix in plan.mix if mix.operation in ("set_path", "set_field")]
    groups = [mix.paths for mix in plan.mix if mix.operation in ("set_paths", "set_fields")]
    updated = [*single, *(path for group in groups for path in group)]
    rest = {write_id for path, write_id in seen.parts.items() if not _within(path, updated)}
    if not (updated and seen.complete and len(rest) <= 1):
        return False
    for group in groups:
        others = [*single, *(path for other in groups if other != group for path in other)]
        alone = [path for path in seen.parts if _within(path, group) and not _within(path, others)]
        if len({seen.parts[path] for path in alone}) > 1:
            return False
    return True


def _within(path: Path, places: Sequence[Path]) -> bool:
    """Whether a path is one of the places, or leads on from one."""
    return any(path[: len(place)] == place for place in places)
