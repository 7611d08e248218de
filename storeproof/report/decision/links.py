"""Where a page about a decision leads: to its own parts, or to other pages that have the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from storeproof.result.needs.decision import Candidate
from storeproof.result.needs.joined_results import JoinedPart
from storeproof.result.needs.judged_need import JudgedNeed, Seen


def anchor(candidate: Candidate, judgement: JudgedNeed | None = None) -> str:
    """The id of the part of the page about a candidate, or about one of its needs. An id has no spaces."""
    found = f"candidate-{candidate.name}" + (f"-{judgement.need.id}" if judgement else "")
    return "-".join(found.split())


class Links(Protocol):
    """Addresses, relative to the page."""

    def evidence(self, candidate: Candidate, found: JudgedNeed) -> str:
        """What shows best whether a need is met; where nothing does, the part of the page that says what would."""

    def all_of(self, found: JudgedNeed) -> Iterable[tuple[Seen, str]]:
        """All that was seen, each with the page that has it; empty where there is none."""

    def run(self, source: JoinedPart) -> str:
        """The page of a run; empty where there is none."""


class OwnLinks:
    """The links of a page without others beside it."""

    def evidence(self, candidate: Candidate, found: JudgedNeed) -> str:
        """The part of the page about it."""
        return f"#{anchor(candidate, found)}"

    def all_of(self, found: JudgedNeed) -> Iterable[tuple[Seen, str]]:
        return [(each, "") for each in found.seen]

    def run(self, source: JoinedPart) -> str:  # noqa: ARG002 - there is none
        return ""
