"""The front pages (the first screen, the capabilities, the comparison, the runs); and the pages of capabilities: the requests, the correct
answers, what each variant answered, and the YAML of the demands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from storeproof.report.decision.words import headline
from storeproof.report.formatting import MARKS, WORDS
from storeproof.report.parts.demands import ShownStep, exchanges
from storeproof.site.answers import SiteAnswer
from storeproof.site.isolation_pages import summary_of
from storeproof.site.joined_results import SiteVariant
from storeproof.site.names import capability_page, demand_page
from storeproof.site.rendering import Renderer
from storeproof.site.script_data import as_script, payload, ratios
from storeproof.site.site_content import SiteContent
from storeproof.spec import CapabilityCase
from storeproof.spec.isolation import ANOMALIES
from storeproof.spec.standing import Standing


@dataclass(frozen=True)
class Reply:
    """The reply of one variant to one capability."""

    variant: SiteVariant
    answer: SiteAnswer | None
    """None where it was not asked."""

    @property
    def word(self) -> str:
        return WORDS[self.answer.summary.outcome] if self.answer else "not asked"

    @property
    def tone(self) -> str:
        return str(self.answer.summary.outcome) if self.answer else ""

    @property
    def cases(self) -> list[tuple[str, str]]:
        """Every case with its outcome, unless all is right."""
        if self.answer is None or self.answer.shown:
            return []
        return [(each.id.rpartition("/")[2], f"{MARKS[each.outcome]} {each.outcome}") for each in self.answer.cases]


def capability_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    asked = [each for each in content.variants if each.answers]
    for name in content.capabilities:
        path = capability_page(name)
        replies = [Reply(each, content.answers[each.name].get(name)) for each in asked]
        demand = content.demand(name)
        cases: list[tuple[CapabilityCase, Standing | None, list[ShownStep]]] = [
            (case, content.spec.standing(f"capabilities.{name}/{case.id}"), exchanges(case)) for case in (demand.cases if demand else ())
        ]
        group = content.groups.get(name.partition(".")[0])
        yield (
            path,
            renderer.page(
                path, "capability.html.j2", name=name, replies=replies, demand=demand, cases=cases, group=group if demand else None
            ),
        )
    for name, group in content.groups.items():
        path = demand_page(name)
        yield path, renderer.page(path, "demand.html.j2", group=group)


def replies_of(content: SiteContent) -> list[tuple[str, list[Reply]]]:
    """For the table of all capabilities."""
    asked = [each for each in content.variants if each.answers]
    return [(name, [Reply(each, content.answers[each.name].get(name)) for each in asked]) for name in content.capabilities]


def front_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    data = payload(content)
    asked = [each for each in content.variants if each.answers]
    yield "index.html", renderer.page("index.html", "index.html.j2", data=as_script(data), shown=data, headline=headline)
    isolation = [summary_of(content.levels[each.name]) for each in asked]
    shown = {"asked": asked, "replies": replies_of(content), "isolation": isolation, "anomalies": ANOMALIES.values()}
    yield "capabilities.html", renderer.page("capabilities.html", "capabilities.html.j2", **shown)
    yield "compare.html", renderer.page("compare.html", "compare.html.j2", data=as_script(data | {"ratios": ratios(content)}))
    yield "runs.html", renderer.page("runs.html", "runs.html.j2")
