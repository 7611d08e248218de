"""After the timed rounds the data is read back: a rate counts only if what was acknowledged is there, and whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from storeproof.contract import Collection, Record, call, supports
from storeproof.load.engine import Plan, RunResult
from storeproof.load.keys import key_of
from storeproof.load.records import Seen, recipe

SAMPLE: Final = 200
"""Records that are read back; one in a hundred damaged would be missed in one of seven audits, one in twenty hardly ever."""
_SHOWN: Final = 3


@dataclass(frozen=True)
class Audit:
    """What was found."""

    checked: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether something was checked, and nothing was wrong."""
        return self.checked > 0 and not self.problems


def audit(collection: Collection, plan: Plan, rounds: Sequence[RunResult], seed: int) -> Audit:
    """Hold a collection against what the rounds acknowledged; `plan` is that of any of the rounds, `rounds` are all of its life.

    * No loaded record was missed by a read while the load was on.
    * Where the store counts: no fewer records than were acknowledged, no more than were sent.
    * A sample of the keys, drawn from all that must be there: each is read, whole, and of a writer that there was.

    Raises:
        Refused, Unknown, Unsupported, Breach: of the reads.
    """
    problems: list[str] = []
    positions = rounds[-1].positions if rounds else ()
    doubtful = {number for each in rounds for number in each.doubtful}
    sent = plan.known + sum(positions)
    sure = sent - sum(1 for number in doubtful if number >= plan.known)
    checked = 0
    if missed := sum(each.misses for each in rounds):
        problems.append(f"{missed} records were asked for while the load was on, and not found")
    if supports(collection, "count"):
        counted = call(collection, plan.layout, "count")
        checked += 1
        if not sure <= counted <= sent:
            problems.append(f"{counted} records were counted, where {sure} were acknowledged and {sent} were sent")
    for number in _sample(plan, positions, doubtful, Random(seed)):
        checked += 1
        if wrong := _wrong(collection, plan, number):
            problems.append(wrong)
    more = len(problems) - _SHOWN
    return Audit(checked, tuple(problems[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])))


def _sample(plan: Plan, positions: Sequence[int], doubtful: set[int], random: Random) -> list[int]:
    """Numbers of keys that must be there: loaded ones, and new ones of all clients."""
    written = plan.known + sum(positions)
    chosen: set[int] = set()
    for _ in range(min(SAMPLE, written)):
        place = random.randrange(written)
        if place < plan.known:
            chosen.add(place)
            continue
        place -= plan.known
        for client, used in enumerate(positions):
            if place < used:
                chosen.add(plan.known + place * plan.clients + client)
                break
            place -= used
    return sorted(chosen - doubtful)


def _wrong(collection: Collection, plan: Plan, number: int) -> str | None:
    """What is wrong with one record that must be there."""
    model = plan.layout.model
    key = key_of(model, number)
    found: Record | None = call(collection, plan.layout, "get", key)
    if found is None:
        return f"{key} was acknowledged and is not there"
    seen = recipe(model).identify(key, found)
    if seen.kind == "invented":
        return f"{key} holds what nobody wrote: {_shown(found)}"
    if seen.kind == "torn" and not _mixed_by_design(plan, seen):
        return f"{key} is torn between writes {', '.join(seen.stamps)}: {_shown(found)}"
    writers = {int(stamp.partition(":")[0]) for stamp in seen.stamps}
    if strangers := {writer for writer in writers if writer > plan.clients}:
        return f"{key} was written by client {min(strangers)}, and there were {plan.clients}"
    return None


def _mixed_by_design(plan: Plan, seen: Seen) -> bool:
    """Whether a record differs from one whole write only at the paths that the workload updates by themselves."""
    updated = [mix.path for mix in plan.mix if mix.operation in ("set_path", "set_field")]
    rest = {stamp for path, stamp in seen.parts.items() if not any(path[: len(part)] == part for part in updated)}
    return bool(updated) and None not in seen.parts.values() and len(rest) == 1


def _shown(record: Record) -> str:
    text = repr(record)
    return text if len(text) <= 120 else f"{text[:117]}..."
