"""The sentences of a decision, the same in every form of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from storeproof.outcome import Outcome
from storeproof.report.parts.stale_reads import is_stale
from storeproof.result.needs.decision import Candidate, Decision, Dropped, Looser
from storeproof.result.needs.joined_results import JoinedPart
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.result.needs.need import Need
from storeproof.units import plural, times

MARKS = {NeedVerdict.MET: "✔", NeedVerdict.NOT_MET: "✘", NeedVerdict.NOT_SHOWN: "?"}
TONES = {NeedVerdict.MET: "good", NeedVerdict.NOT_MET: "bad", NeedVerdict.NOT_SHOWN: "open"}
_NAMED = 4
"""Candidates that a sentence names; of more it says how many there are."""


def headline(decision: Decision) -> str:
    """The answer in one or two sentences."""
    if meeting := decision.meeting:
        verb = "meets" if len(meeting) == 1 else "meet"
        return f"{listed(each.name for each in meeting)} {verb} every need{_only(meeting)}."
    nearest = decision.candidates[0]
    if not nearest.missed:
        count = len(nearest.open)
        what = f"{count} of its needs {'is' if count == 1 else 'are'} not shown: {needs(nearest.open)}"
        return f"No candidate is shown to meet every need. Nearest: {nearest.name}, of which {what}."
    missed, left = [each.need for each in nearest.missed], len(nearest.open)
    alike = [each for each in decision.candidates if [other.need for other in each.missed] == missed and len(each.open) == left]
    answer = f"No candidate meets every need. Nearest: {listed(each.name for each in alike)}, without {needs(nearest.missed)}."
    if tried := [each.name for each in decision.possible if each.mostly_tried]:
        answer += f" {listed(tried)} {'misses' if len(tried) == 1 else 'miss'} nothing that was tried, and not all was."
    if untried := len(decision.possible) - len(tried):
        answer += f" Of {plural(untried, 'other')} too little was tried."
    return answer


def _only(meeting: Sequence[Candidate]) -> str:
    """The looser alternatives by which all of them meet a need: that is no small print."""
    each_by = [{each.way for each in candidate.judged if each.need.must and each.alternative} for candidate in meeting]
    shared = set.intersection(*each_by)
    ways = [f"{need(each.need)} only by {each.way}" for each in meeting[0].judged if each.way in shared]
    return f"; {listed(ways)}" if ways else ""


def needs(judged: Sequence[JudgedNeed]) -> str:
    """`expiry.put-expiring (sessions) and power_loss (catalogue)`."""
    return listed([need(each.need) for each in judged])


def need(it: Need) -> str:
    subject = "records of " if it.subject == "model" else ""
    return f"{subject}{it.title or it.name} ({it.role})"


def against(candidate: Candidate) -> str:
    """What stands against a candidate, or how much more than the needs it can do."""
    binding = candidate.binding
    if binding is None:
        return "nothing was found against it"
    if binding.verdict is NeedVerdict.MET:
        assert binding.headroom is not None, "the binding need that is met is one with a number"
        least = "at least " if binding.at_least else ""
        return f"tightest need: {need(binding.need)}, met {least}{times(binding.headroom)} times"
    said = f"{'lacks' if candidate.missed else 'not shown:'} {need(binding.need)}: {binding.reason}"
    counts = ((len(candidate.missed) - 1, "misses {} more"), (len(candidate.open) - (not candidate.missed), "{} more not shown"))
    return "; ".join([said, *(words.format(count) for count, words in counts if count > 0)])


def mark(candidate: Candidate) -> NeedVerdict:
    """The verdict on a candidate as a whole."""
    if candidate.missed:
        return NeedVerdict.NOT_MET
    return NeedVerdict.NOT_SHOWN if candidate.open else NeedVerdict.MET


def met(candidate: Candidate) -> str:
    """How many of the needs that must be met are: `11/12`."""
    wanted = [each for each in candidate.judged if each.need.must]
    return f"{sum(each.verdict is NeedVerdict.MET for each in wanted)}/{len(wanted)}"


def dropped(it: Dropped) -> str:
    """What one need less would buy."""
    verb = "meets" if len(it.candidates) == 1 else "meet"
    least = "at least" if it.at_least else "up to"
    gain = f", with {least} {times(it.gain)} times the rate" if it.gain is not None and it.gain > 1 else ""
    return f"Without {need(it.need)}: {listed(it.candidates)} {verb} every other need{gain}."


def bought(decision: Decision) -> list[str]:
    """What a looser need, or one need less, would buy."""
    return [*map(looser, decision.looser), *map(dropped, decision.dropped)]


def looser(it: Looser) -> str:
    """What a looser alternative would buy."""
    verb = "meets" if len(it.candidates) == 1 else "meet"
    return f"With {it.instead.title} in place of {need(it.need)}: {listed(it.candidates)} {verb} every need."


def source(it: JoinedPart) -> str:
    """A run: its id, day and scale."""
    run = it.side.result.run
    return f"run {run.id} of {run.started[:10]}, {run.scale}"


def listed(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many `a, b, c, d and 7 more`."""
    all_names = list(names)
    shown = all_names if len(all_names) <= _NAMED + 1 else [*all_names[:_NAMED], f"{len(all_names) - _NAMED} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def known(decision: Decision, candidate: Candidate) -> list[str]:
    """What its results say against it that no need asks for: failures that are known, and stale reads that it declares."""
    found: dict[str, str] = {}
    for target in dict.fromkeys(candidate.targets.values()):
        evidence = decision.evidence.get(target)
        for one in evidence.sources if evidence else ():
            for case in one.cases.values():
                if case.outcome is Outcome.KNOWN_FAIL or is_stale(case):
                    found.setdefault(f"{target}: {case.id}", case.why)
    return [f"{name}: {said}" for name, said in found.items()]


def runs(decision: Decision) -> list[JoinedPart]:
    """One source of each run that was read for the candidates, the latest first."""
    found = {each.run: each for known in decision.evidence.values() for each in known.sources}
    return sorted(found.values(), key=lambda each: each.side.result.run.started, reverse=True)


def left_out(decision: Decision) -> list[str]:
    """Results that were not joined, each with the store and the reason."""
    return [f"{known.target}: {reason}" for known in decision.evidence.values() for reason in known.left_out]
