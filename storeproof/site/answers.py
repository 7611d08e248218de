"""What a variant answered to each capability, and why not where it did not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.capabilities import by_capability
from storeproof.result.model import CapabilityResult, OutcomeRecord, StoreResult

LETTERS: Final[Mapping[Outcome, str]] = {
    Outcome.ERROR: "e",
    Outcome.FAIL: "f",
    Outcome.INCONCLUSIVE: "i",
    Outcome.NOT_RUN: "n",
    Outcome.KNOWN_FAIL: "k",
    Outcome.UNSUPPORTED: "u",
    Outcome.EXCLUDED: "x",
    Outcome.UNDECLARED: "d",
    Outcome.PASS: "p",
}
"""One for each outcome, for the data of the scripts."""
ABSENT: Final = "-"
"""A capability that the result does not have."""

_LONGEST: Final = 400


@dataclass(frozen=True)
class SiteAnswer:
    """Of one variant to one capability."""

    summary: CapabilityResult
    cases: tuple[OutcomeRecord, ...]

    @property
    def shown(self) -> bool:
        return self.summary.outcome in SHOWN

    @property
    def reason(self) -> str:
        """The reason of the worst case in one line; empty for a pass."""
        if self.shown:
            return ""
        why = next((each.why for each in self.cases if each.outcome is self.summary.outcome and each.detail), "")
        return in_one_line(why, _LONGEST)

    @property
    def alternatives(self) -> list[str]:
        """What a correct answer recorded beside its outcome, such as which of several right answers it was."""
        return [in_one_line(each.detail, _LONGEST) for each in self.cases if each.outcome in SHOWN and each.detail]


def answers_of(store: StoreResult) -> dict[str, SiteAnswer]:
    cases = by_capability(store.outcomes)
    return {each.capability: SiteAnswer(each, tuple(cases.get(each.capability, ()))) for each in store.capabilities}


def letters(store: StoreResult, capabilities: Iterable[str]) -> str:
    """The outcomes of these capabilities, a letter each."""
    found = {each.capability: LETTERS[each.outcome] for each in store.capabilities}
    return "".join(found.get(name, ABSENT) for name in capabilities)


def by_group(answers: Mapping[str, SiteAnswer]) -> dict[str, list[str]]:
    """The capabilities of each group, in their order."""
    groups: dict[str, list[str]] = {}
    for name in answers:
        groups.setdefault(name.partition(".")[0], []).append(name)
    return groups


def missing_by_reason(answers: Mapping[str, SiteAnswer]) -> list[tuple[Outcome, str, list[str]]]:
    """What was not shown, grouped by outcome and reason: the worst outcome first, and of one outcome the reason that has most."""
    groups: dict[tuple[Outcome, str], list[str]] = {}
    for name, answer in answers.items():
        if not answer.shown:
            groups.setdefault((answer.summary.outcome, answer.reason), []).append(name)
    order = list(Outcome)
    found = [(outcome, reason, names) for (outcome, reason), names in groups.items()]
    return sorted(found, key=lambda group: (order.index(group[0]), -len(group[2])))
