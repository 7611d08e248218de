"""The pages of isolation: all variants by level, and a page for each store, level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from storeproof.outcome import REFUTED, Outcome
from storeproof.report.formatting import MARKS, MEANINGS
from storeproof.report.parts.isolation_drawn import AnomalyDrawn, drawn_of
from storeproof.report.parts.isolation_table import named
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.run_command import RunCommand
from storeproof.site.isolation_levels import LevelShown
from storeproof.site.names import isolation_anchor, isolation_page, level_anchor, run_page, variant_page
from storeproof.site.rendering import Renderer
from storeproof.site.site_content import SiteContent
from storeproof.spec.cases import ISOLATION
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import LevelClaim, in_words
from storeproof.units import plural, whole

ALL: Final = "isolation.html"
_HEADER: Final = ("variant", "claims", "verdict", "strongest not refuted", "first anomaly", "committed", "contended", "mixes", "run")


@dataclass(frozen=True)
class StoreLevel:
    """One level of all variants of a store that have it."""

    level: Isolation
    shown: Sequence[LevelShown]

    @cached_property
    def claims(self) -> list[tuple[LevelClaim, list[str]]]:
        """Each claim, with the variants that make it."""
        found: dict[LevelClaim, list[str]] = {}
        for each in self.shown:
            if each.claim is not None:
                found.setdefault(each.claim, []).append(each.variant.variant)
        return list(found.items())

    @property
    def tried(self) -> list[LevelShown]:
        return [each for each in self.shown if each.tried]

    @property
    def untried(self) -> list[str]:
        return [each.variant.variant for each in self.shown if not each.tried]

    @property
    def table(self) -> Table:
        return Table(_HEADER, [_row(each) for each in self.tried], "", frozenset({5, 6, 7}))

    @property
    def drawn(self) -> list[tuple[str, list[AnomalyDrawn]]]:
        """By variant its anomalies: the one that counts most first."""
        return [(each.variant.variant, [drawn_of(seen) for _, seen in each.anomalies]) for each in self.tried if each.anomalies]


def isolation_pages(content: SiteContent, renderer: Renderer) -> Iterator[tuple[str, str]]:
    every = [each for levels in content.levels.values() for each in levels]
    yield ALL, renderer.page(ALL, "isolation.html.j2", answer=answer(every), table=_all(content), without=_without(content))
    for store in dict.fromkeys(each.store for each in content.variants):
        shown = [each for variant in content.of_store(store) for each in content.levels[variant.name]]
        if shown:
            path = isolation_page(store)
            about = {"store": store, "title": shown[0].variant.title, "answer": answer(shown), "command": trying(store)}
            levels = [StoreLevel(level, found) for level in LEVELS if (found := [each for each in shown if each.level == level])]
            yield path, renderer.page(path, "isolation_of_store.html.j2", levels=levels, **about)


def answer(levels: Sequence[LevelShown]) -> str:
    """In a few sentences: how many levels keep what is said of them, and which one does not."""
    if not levels:
        return "No isolation level is claimed, and none was tried."
    tried = [each for each in levels if each.tried]
    if not tried:
        return "No result has tried a level: all that is known is what its maker says."
    kept, broken = ([each for each in tried if each.outcome in outcomes] for outcomes in ((Outcome.PASS,), REFUTED))
    open_, untried = len(tried) - len(kept) - len(broken), len(levels) - len(tried)
    said = [f"{_held(kept)}, as far as {whole(sum(each.committed for each in kept))} transactions show."] if kept else []
    said += [f"{each.asked} of {each.variant.name} does not hold: {each.why}." for each in broken[:1]]
    said += [f"Nor {'does' if len(broken) == 2 else 'do'} {len(broken) - 1} more."] if len(broken) > 1 else []
    said += [f"Of {plural(open_, 'level')} there were too few transactions to say."] if open_ else []
    said += [f"{plural(untried, 'level')} {'was' if untried == 1 else 'were'} not tried."] if untried else []
    return " ".join(said)


def _held(kept: Sequence[LevelShown]) -> str:
    """`begin(serializable) holds as serializable`, with the variant where it is another level in another one; of many levels how many."""
    named = {(each.asked, in_words(each.guarantees)): each.variant.variant for each in kept if each.guarantees is not None}
    times = Counter(asked for asked, _ in named)
    held = [f"{asked} as {level}" + f" in {variant}" * (times[asked] > 1) for (asked, level), variant in named.items()]
    if len({each.variant.store for each in kept}) > 1 or len(held) > len(LEVELS):
        return f"{plural(len(kept), 'level')} {'holds' if len(kept) == 1 else 'hold'}"
    return ", ".join(held).replace(" as ", " holds as ", 1)


def summary_of(levels: Sequence[LevelShown]) -> tuple[str, str]:
    """For the table of all capabilities: a word, and how it is meant."""
    outcomes = [each.outcome for each in levels if each.outcome is not None]
    if not outcomes:
        return ("not tried" if levels else "no level"), ""
    worst = min(outcomes, key=list(Outcome).index)
    return {Outcome.PASS: "not refuted", Outcome.FAIL: "fails", Outcome.KNOWN_FAIL: "fails"}.get(worst, "no verdict"), str(worst)


def trying(store: str) -> str:
    """What would try the levels of all variants."""
    return str(RunCommand(store=[f"{store}:all"], scale="standard", keyword=f"{ISOLATION}/"))


def _row(each: LevelShown) -> list[Cell]:
    assert each.outcome is not None
    assert each.guarantees is not None
    variant = each.variant
    mix = each.anomalies[0][0] if each.anomalies else each.tried[0]
    run = mix.found.source.result.run.id
    return [
        Cell(variant.variant, "strong", f"../{variant_page(variant.store, variant.variant)}"),
        Cell(in_words(each.guarantees)),
        outcome_cell(each.outcome, hint=mix.case.detail),
        Cell(", ".join(map(in_words, each.not_refuted)) or "none"),
        _first(each),
        Cell(whole(each.committed)),
        Cell(whole(each.contended)),
        Cell(str(len(each.tried)), hint=", ".join(one.counts.mix for one in each.tried)),
        Cell(mix.found.source.name, link=f"../{run_page(run)}#{isolation_anchor(variant.store, variant.variant, mix.case.id)}"),
    ]


def _first(each: LevelShown) -> Cell:
    if not each.anomalies:
        return Cell("none", "dim")
    (_, seen), *_ = each.anomalies
    return Cell(f"{named(seen)}; {'forbidden' if seen.forbidden else 'allowed'}", "bad" if seen.forbidden else "")


def _all(content: SiteContent) -> Table:
    """Variants by levels."""
    rows = []
    for variant in content.variants:
        by_level = {each.level: each for each in content.levels[variant.name]}
        if by_level:
            name = Cell(variant.name, "strong", isolation_page(variant.store))
            rows.append([name, *(_cell(by_level.get(level)) for level in LEVELS)])
    return Table(["store:variant", *(f"begin({level})" for level in LEVELS)], rows, "None of these stores has a level.")


def _cell(each: LevelShown | None) -> Cell:
    if each is None or each.guarantees is None:
        return Cell("–", "dim", hint="it has no such level, or says nothing of it")
    link = f"{isolation_page(each.variant.store)}#{level_anchor(each.level)}"
    claims = in_words(each.guarantees)
    if each.outcome is None:
        return Cell(f"{claims}: not tried", "dim", link)
    if each.outcome is Outcome.PASS:
        return Cell(f"{MARKS[each.outcome]} {claims}", str(each.outcome), link, f"not refuted by {whole(each.committed)} transactions")
    why = f": {each.why}" if each.outcome in REFUTED else ""
    return Cell(f"{MARKS[each.outcome]} {claims}{why}", str(each.outcome), link, MEANINGS[each.outcome])


def _without(content: SiteContent) -> list[str]:
    """Variants that claim no level, and were tried at none."""
    return [each.name for each in content.variants if not content.levels[each.name]]
