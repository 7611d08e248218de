"""The pages of decisions, and where their evidence is: each sign leads to the answer, the fault or the number that it is from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from storeproof.outcome import SHOWN
from storeproof.report.decision import tables, words
from storeproof.report.decision.links import anchor
from storeproof.result.needs.decision import Candidate
from storeproof.result.needs.joined_results import JoinedPart
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen
from storeproof.site import names
from storeproof.site.rendering import Renderer
from storeproof.site.site_content import SiteContent
from storeproof.spec.cases import ISOLATION


@dataclass(frozen=True, eq=False)
class SiteLinks:
    content: SiteContent
    root: str
    """From the page of a decision to the site's folder."""

    @cached_property
    def _with_answers(self) -> frozenset[str]:
        """The variants that have a row on the pages of capabilities."""
        return frozenset(each.name for each in self.content.variants if each.answers)

    def evidence(self, candidate: Candidate, found: JudgedNeed) -> str:
        """Of several capabilities the first that is lacking; where all are there, the list of them. What was not shown has its command on
        the page itself."""
        pages = [page for _, page in self.all_of(found)]
        if found.verdict is NeedVerdict.NOT_SHOWN or not pages:
            return f"#{anchor(candidate, found)}"
        if found.verdict is NeedVerdict.MET and found.need.subject == "capability" and len(pages) > 1:
            store = found.seen[0].source.store
            return f"{self.root}{names.variant_page(store.store, store.configuration)}#does"
        return pages[0]

    def all_of(self, found: JudgedNeed) -> list[tuple[Seen, str]]:
        """Each page once, with the first that it shows; those first that speak against the store."""
        pages: dict[str, Seen] = {}
        for each in sorted(found.seen, key=_speaks_for):
            pages.setdefault(self._page(each), each)
        return [(each, page) for page, each in pages.items()]

    def run(self, source: JoinedPart) -> str:
        return f"{self.root}{names.run_page(source.run)}"

    def _page(self, seen: Seen) -> str:
        name, variant = seen.source.store.store, seen.source.store.configuration
        kind, _, what = seen.what.partition(".")
        if kind == "capabilities":
            capability = what.partition("/")[0]
            if capability in self.content.capabilities and seen.source.side.name in self._with_answers:
                return f"{self.root}{names.capability_page(capability)}#{names.store_anchor(name, variant)}"
            there = names.store_anchor(name, variant)
        elif seen.what.startswith(f"{ISOLATION}/"):
            there = names.isolation_anchor(name, variant, seen.what)
        elif what.startswith("roles/"):
            there = names.joint_anchor(name, variant, seen.what)
        elif seen.measured is not None:
            there = names.number_anchor(name, variant, seen.measured)
        elif kind == "performance":
            there = names.outage_anchor(name, variant, what.partition("/")[2])
        else:
            there = (names.loss_anchor if kind == "durability" else names.model_anchor)(name, variant, what)
        return f"{self.run(seen.source)}#{there}"


def _speaks_for(seen: Seen) -> bool:
    """Whether it is a case that the store answered correctly, or no case."""
    found = seen.source.cases.get(seen.what)
    return found is None or found.outcome in SHOWN


def decision_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    links = SiteLinks(content, "../")
    for decision in content.decisions:
        path = names.decision_page(decision.needs.decision)
        yield path, renderer.page(path, "decision.html.j2", decision=decision, tables=tables, words=words, links=links)
