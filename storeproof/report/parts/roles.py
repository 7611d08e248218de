"""Whether a variant can fill a role: it meets the profile, and in which way; or lacks some of it, or failed what it claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from storeproof.result.measured.first_screen import RoleVerdict
from storeproof.result.missing import MissingDemand, Way
from storeproof.result.model import ProfileVerdict
from storeproof.support import Support

LABELS: Final = {
    "cache": "cache",
    "session_store": "sessions",
    "document_store": "documents",
    "search_store": "search",
    "system_of_record": "system of record",
}
"""The profiles in the order of their columns, with their headings."""


@dataclass(frozen=True)
class ProfileAnswer:
    """One variant in one role."""

    profile: str
    verdict: RoleVerdict
    missing: tuple[MissingDemand, ...]
    ways: tuple[Way, ...]
    """Alternatives by which demands are met."""
    extended: Mapping[str, Support]
    """By extended demand; none of them decides."""

    @property
    def label(self) -> str:
        return label_of(self.profile)

    @property
    def broken(self) -> list[str]:
        """What failed, each thing once."""
        return list(dict.fromkeys(each.thing for each in self.missing if each.broken))

    @property
    def lacks(self) -> list[str]:
        """What else it does not have, each thing once."""
        failed = set(self.broken)
        return list(dict.fromkeys(each.thing for each in self.missing if not each.open and each.thing not in failed))

    @property
    def open(self) -> list[str]:
        """What was not shown, for or against, each thing once."""
        refuted = {*self.broken, *self.lacks}
        return list(dict.fromkeys(each.thing for each in self.missing if each.open and each.thing not in refuted))

    @property
    def text(self) -> str:
        """`meets`, `meets by expiry.swept`, `lacks 3`, `fails 1, lacks 7`, `lacks 1, 9 not shown`."""
        if self.verdict == "open":
            return "not shown"
        if self.verdict == "meets":
            return f"✔ meets{self.how}"
        counts = (("fails {}", self.broken), ("lacks {}", self.lacks), ("{} not shown", self.open))
        return ", ".join(words.format(len(things)) for words, things in counts if things)

    @property
    def looser(self) -> list[str]:
        """The capabilities by which a demand is met that has a stricter alternative: the difference is told."""
        return [each.capability for each in self.ways if not each.is_strictest and each.demand not in self.extended]

    @property
    def how(self) -> str:
        """What follows the name of a profile that is met: nothing, or ` by expiry.swept`."""
        return f" by {', '.join(self.looser)}" if self.looser else ""

    def by_support(self) -> dict[Support, list[str]]:
        """The extended demands that are supported, and those that are not."""
        return {one: names for one in Support if (names := [name for name, each in self.extended.items() if each is one])}

    @property
    def tone(self) -> str:
        """`good`, `near`, `bad`, or nothing for a store of another kind or one that was not tried."""
        if self.verdict == "lacks":
            return "near" if len(self.lacks) + len(self.open) < MANY else ""
        return {"meets": "good", "failed": "bad"}.get(self.verdict, "")

    def by_reason(self) -> list[tuple[str, list[str]]]:
        """What is missing, each thing once, grouped by reason: what it failed before what it lacks, and of both the reason that has least,
        which is the nearest miss, first."""
        told: dict[str, MissingDemand] = {}
        for each in sorted(self.missing, key=lambda one: not one.broken):
            told.setdefault(each.thing, each)
        groups: dict[tuple[bool, str], list[str]] = {}
        for thing, each in told.items():
            said = f"{each.outcome}: {each.why}" if each.broken else each.why or each.outcome
            groups.setdefault((not each.broken, said), []).append(thing)
        return [(said, things) for (_, said), things in sorted(groups.items(), key=lambda group: (group[0][0], len(group[1])))]


MANY: Final = 10
"""A variant that lacks as many things is of another kind, and no near miss."""


def label_of(profile: str) -> str:
    return LABELS.get(profile, profile.replace("_", " "))


def role_of(verdict: ProfileVerdict) -> ProfileAnswer:
    failed: RoleVerdict = "failed" if any(each.broken for each in verdict.missing) else "lacks"
    found: Mapping[str, RoleVerdict] = {"conforms": "meets", "incomplete": "open"}
    return ProfileAnswer(verdict.profile, found.get(verdict.verdict, failed), tuple(verdict.missing), tuple(verdict.ways), verdict.extended)


def profiles_in(verdicts: Iterable[ProfileVerdict]) -> list[str]:
    """All that occur, in the order of the columns."""
    found = dict.fromkeys(each.profile for each in verdicts)
    return [*(name for name in LABELS if name in found), *(name for name in found if name not in LABELS)]


def lacks(verdict: ProfileVerdict) -> set[str]:
    """What a store lacks for a profile: models, capabilities and guarantees by name, whatever number of their cases fail; nothing that
    was not shown."""
    return {each.thing for each in verdict.missing if not each.open}
