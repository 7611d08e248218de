"""The answer of a verification: its first line, what was computed again and what is only reported, and the badge."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from storeproof.conformance.archive import YAML
from storeproof.conformance.known import HERE
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.verify import Verified
from storeproof.outcome import Outcome
from storeproof.printable import in_one_line
from storeproof.report import formatting
from storeproof.report.parts.roles import role_of
from storeproof.result.sources import OWN
from storeproof.result.unproven import durability_claim, unproven_capabilities
from storeproof.site.badges import COLOURS, OTHER, Badge, survives
from storeproof.spec import LADDER, Edition
from storeproof.units import plural

_NAMED: Final = 60
"""Characters of a product and its version on a badge."""
_REPORTED: Final = "the answers of each case, damaged and full disks, first starts, outages"
_REPORTED_BEFORE: Final = "linearizability, transfers, sessions"
"""Further ones, of judges that did not keep their histories."""
_OF_A_BINARY: Final = "that this binary is the product"
_LISTED: Final = 5
"""Failed cases that are told in full."""
_NAMES: Final = 10
"""Names that are listed."""
_REASON: Final = 160
"""Characters of the reason for which a case was not run."""


MAKERS_WORD: Final = (
    "that this run took place, that it was of this product, where its programs came from, and that it is not the luckiest of several"
)
"""What no one can compute from a bundle: a history that is invented whole, a run of another product under this name, and a seed that suited
are never found out from the file."""


class Level(StrEnum):
    """How much a stranger knows of a claim."""

    SELF_REPORTED = "self-reported"  # a bundle as its maker wrote it
    RECOMPUTED = "recomputed"  # everything agrees that can be computed from it
    REPRODUCED = "reproduced"  # a stranger's run came to the same verdicts


def answer_lines(found: Verified, level: Level = Level.RECOMPUTED) -> Iterator[str]:
    """The answer first, in one line."""
    product, run, store = found.product, found.result.run, found.store
    named = f"{product.product} {product.version}, edition {found.result.edition.version}"
    if found.expired_by:
        yield f"expired: {in_one_line(named)}, with edition {found.expired_by}; newer ones: {', '.join(found.later)}"
    yield in_one_line(f"verified: {named}: {durability_claim(found.store)}; {_profiles(found)} ({level})")
    yield f"by {in_one_line(product.organization)}, {product.mode}, {in_one_line(product.contact)}, {product.url}"
    if not Edition(found.result.edition.version, found.result.edition.hash).frozen:
        yield "made in a draft, which no later release verifies; a run with --edition=NAME is judged by a frozen edition"
    if found.judge.judge != HERE:
        yield f"judged by storeproof {found.judge.storeproof} (`{found.judge.judge}`); the verdicts are those of this installation"
    if found.durability.rounds and not found.judge.reach:
        yield "its judge did not look whether the faults struck the files of what clients wrote"
    yield f"tried as {formatting.name_of(store)} on {run.started} at {run.scale} scale: {formatting.SCALES.get(run.scale, '')}"
    yield _seed(found)
    if own := [name.removeprefix(OWN) for name in store.sources if name.startswith(OWN)]:
        yield f"asked through files of the vendor, which are in the bundle to be read: {in_one_line(', '.join(own))}"
    yield _capabilities(found)
    yield "cases: " + ", ".join(f"{store.counts[each]} {each}" for each in Outcome if store.counts.get(each))
    yield from _failed(found)
    yield from _not_shown(found)
    yield from _disputes(found)
    judged = found.durability
    yield (
        f"computed again: {plural(judged.rounds, 'fault')} of {plural(judged.cases, 'case')} from "
        f"{plural(judged.operations, 'operation')}, {found.capabilities} capabilities, "
        f"{plural(len(store.profiles), 'profile')}, {plural(found.numbers, 'number')}"
    )
    yield from judged.states
    reported = ", ".join([_REPORTED, *([] if found.judge.workloads else [_REPORTED_BEFORE]), *judged.undecided])
    if level is Level.REPRODUCED:
        yield f"repeated here, on the same version and binary; the maker's word is still {_OF_A_BINARY}"
    else:
        yield f"the maker's word, which no file can show: {MAKERS_WORD}; `storeproof rerun` repeats it"
        yield f"the maker's word, which is not computed again: {reported}"


def badge_of(found: Verified, level: Level = Level.RECOMPUTED) -> Badge:
    """The claim, for the README of the product: which product it is of, what it survives, and what it claims beyond that."""
    bad = any(each.is_failure for each in found.store.outcomes)
    durability = found.store.durability
    kept = durability.proven is not None
    conforming = f"{_conforming(found)} of {plural(len(found.store.profiles), 'profile')}"
    survived = survives(durability.proven)
    if durability.proven is None or LADDER.index(durability.proven) < LADDER.index(durability.claimed):
        survived = f"{survived}, claims {durability.claimed}"
    named = in_one_line(f"{found.product.product} {found.product.version}", _NAMED)
    words = [named, survived, conforming, found.result.edition.version, f"{found.result.run.scale} scale"]
    if any(name.startswith(OWN) and not name.endswith(YAML) for name in found.store.sources):
        words.append("by the maker's own adapter")
    known = found.store.counts.get(Outcome.KNOWN_FAIL, 0)
    if known:
        words.append(plural(known, "known failure"))
    words.append(level if level is Level.REPRODUCED else f"{level}, not repeated")
    more = "" if level is Level.REPRODUCED else f"; the maker's word: {MAKERS_WORD}"
    if found.expired_by:
        return Badge(" · ".join([f"expired with {found.expired_by}", *words]), *OTHER, more)
    return Badge(" · ".join(words), *(COLOURS["good"] if kept and not bad and not known else ("orange", "#9a6700")), more)


def refused_badge(refused: ClaimRefused) -> Badge:
    """A claim that is refused has a badge too, so that an old one does not stay."""
    return Badge(f"refused: {refused.reason}", *COLOURS["bad"])


def contradicted_badge(found: Verified) -> Badge:
    """Of a claim that was repeated, and of which a verdict is worse in the repetition."""
    return Badge(
        f"{in_one_line(f'{found.product.product} {found.product.version}', _NAMED)} · contradicted by a repetition", *COLOURS["bad"]
    )


def _capabilities(found: Verified) -> str:
    """How many are claimed, and those of them that are not proven."""
    claimed, lacking = sum(each.claimed for each in found.store.capabilities), unproven_capabilities(found.store)
    said = f"capabilities: {claimed} of {len(found.store.capabilities)} claimed, {claimed - len(lacking)} of these proven"
    return said + (f"; not proven: {_some(lacking)}" if lacking else "")


def _failed(found: Verified) -> Iterator[str]:
    """The cases that failed, with what was found."""
    failed = [each for each in found.store.outcomes if each.is_failure]
    for each in failed[:_LISTED]:
        yield in_one_line(f"{each.outcome}: {each.id}: {each.detail}")
    if len(failed) > _LISTED:
        yield f"failed too: {_some([each.id for each in failed[_LISTED:]])}"


def _not_shown(found: Verified) -> Iterator[str]:
    """Each case that was not run or not decided, with the reason, and each attempt that was spoiled."""
    for outcome in (Outcome.NOT_RUN, Outcome.INCONCLUSIVE):
        reasons: dict[str, list[str]] = {}
        for each in found.store.outcomes:
            if each.outcome is outcome:
                reasons.setdefault(in_one_line(each.detail, _REASON), []).append(each.id)
        yield from (f"{outcome}: {', '.join(names)}: {reason}" for reason, names in reasons.items())
    for record in found.store.durability.guarantees:
        if record.spoiled:
            yield f"spoiled: {plural(record.spoiled, 'attempt')} of {record.guarantee}, which say nothing about the store"


def _seed(found: Verified) -> str:
    run, edition = found.result.run, found.result.edition
    of = Edition(edition.version, edition.hash)
    if not of.frozen:
        return f"seed {run.seed}, drawn or chosen: a draft has none of its own"
    return f"seed {run.seed}, the edition's own" if run.seed == of.seed else f"seed {run.seed}, chosen by its maker"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _disputes(found: Verified) -> Iterator[str]:
    """Cases that decide nothing any more, and those of which that is not decided."""
    outcomes = {each.id: each.outcome for each in found.store.outcomes}
    for each in found.disputes:
        what = f"{each.about} ({outcomes.get(each.about, Outcome.NOT_RUN)})"
        if each.state == "withdrawn":
            yield in_one_line(f"withdrawn: {what} decides nothing: {each.decision}")
        elif each.state == "open":
            yield in_one_line(f"disputed: {what} decides until the dispute is decided: {each.reason}")
    yield from (f"disputed: {text}" for text in found.durability.disputed)


def _conforming(found: Verified) -> int:
    return sum(each.verdict == "conforms" for each in found.store.profiles)


def _profiles(found: Verified) -> str:
    names = [f"{each.profile}{role_of(each).how}" for each in found.store.profiles if each.verdict == "conforms"]
    return f"conforms to {', '.join(names)}" if names else "conforms to no profile"
