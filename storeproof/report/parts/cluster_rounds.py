"""Rounds on a cluster in words and numbers: what a struck primary acknowledged, what became of it, and when another took over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof import units
from storeproof.report.tables import Cell, Table
from storeproof.result.measured.cluster_round import CaseRounds, ClusterRoundRecord, Kind, NodeSpan, Phase, case_rounds
from storeproof.result.measured.failover import after
from storeproof.result.model import GuaranteeRecord

NOTE: Final = (
    "Of each fault the round with most losses, or the first. Bars are writes that clients were told are done, by the node that told them, "
    "in fifths of a second: upwards those that were found in the end, downwards and striped those that are certainly lost. Hollow: "
    "deletes, and what a later write replaced, leave no trace that could be found or missed. So at least as many are lost as is shown. "
    "Transfers between accounts are drawn alike; of reads those are downwards that showed less than their client knew."
)


@dataclass(frozen=True)
class KindWords:
    """What a picture counts, in words."""

    one: str
    title: str
    """The title of a picture; what the fault does follows."""
    up: str
    """What bars upwards are."""
    down: str
    hollow: str
    """Empty where there are none."""
    rounds: str
    """Begins the number of rounds with any downwards."""
    columns: tuple[str, str, str, str]
    """Headings of the table: how many were answered, how many of these were found and lost, and the last answer."""


KINDS: Final[Mapping[Kind, KindWords]] = {
    "writes": KindWords(
        one="write",
        title="Who acknowledged what when",
        up="acknowledged, and found in the end",
        down="acknowledged, and lost",
        hollow="acknowledged, without a trace",
        rounds="writes lost in",
        columns=("acknowledged", "found", "certainly lost", "last acknowledged"),
    ),
    "transfers": KindWords(
        one="transfer",
        title="Who acknowledged which transfers when",
        up="acknowledged, and there in the end",
        down="acknowledged, and lost",
        hollow="",
        rounds="transfers lost in",
        columns=("acknowledged", "there", "lost", "last acknowledged"),
    ),
    "reads": KindWords(
        one="read",
        title="Who answered which reads when",
        up="shows what its client knew, or more",
        down="shows less",
        hollow="",
        rounds="reads that showed less in",
        columns=("answered", "right", "less than known", "last answered"),
    ),
}


@dataclass(frozen=True)
class FaultWords:
    """How a fault of a cluster is told."""

    deed: str
    """Follows the node's name, at the moment of the fault."""
    lasting: str
    """What it was while the fault lasted: follows "while" and the node's name."""
    end: str
    """Follows the node's name, at the end of the fault."""
    everywhere: bool = False
    """Whether it strikes all nodes alike: then no other one is expected to take writes while it lasts."""


WORDS: Final = {
    "isolate_primary": FaultWords("is isolated", "was isolated", "hears the others again"),
    "deaf_primary": FaultWords("is deaf to the others", "was deaf to the others", "hears the others again"),
    "split_all": FaultWords("is parted, as all are", "was parted, as all were", "hears the others again", everywhere=True),
    "lossy_links": FaultWords("loses packets, as all do", "lost packets, as all did", "loses none any more", everywhere=True),
    "slow_links": FaultWords(
        "is far from the others, as all are", "was far from the others, as all were", "is near again", everywhere=True
    ),
    "pause_primary": FaultWords("is paused", "was paused", "goes on"),
    "lagging_node_wipe": FaultWords("is gone, with its data", "was slow, then gone", "is back"),
    "kill_primary": FaultWords("is killed", "was gone", "is back"),
    "second_primary": FaultWords("is killed", "was gone", "is back"),
}
_OTHER: Final = FaultWords("is struck", "was struck", "is back")


def words_of(record: ClusterRoundRecord) -> FaultWords:
    return WORDS.get(record.fault, _OTHER)


def pictured(guarantees: Iterable[GuaranteeRecord], failovers: Iterable[CaseRounds]) -> Iterator[tuple[ClusterRoundRecord, CaseRounds]]:
    """The rounds that are shown, one of each fault of each case, with what is known of all; none in results that kept none."""
    of_writes = (case_rounds(f"durability.{each.guarantee}", "writes", each.cluster_rounds) for each in guarantees)
    for case in (*of_writes, *failovers):
        yield from ((each, case) for each in case.rounds if each.course)


def told(record: ClusterRoundRecord, kind: Kind = "writes") -> str:
    """What the primary acknowledged after the fault, what became of it, and who took over: one sentence for each. Of reads, which nodes
    showed less than a client knew."""
    return " ".join(_of_reads(record) if kind == "reads" else _sentences(record, KINDS[kind].one))


def spans(record: ClusterRoundRecord, kind: Kind = "writes") -> Table:
    """A row for each node and phase in which it was asked for anything."""
    traces = kind == "writes"
    answered, found, lost, last = KINDS[kind].columns
    header = ("node", "when", answered, found, lost, *(("no trace",) if traces else ()), "unknown", "refused", last)
    rows = [
        [
            Cell(each.node, "strong"),
            Cell(_when(each.phase, record)),
            Cell(units.whole(each.acknowledged)),
            Cell(units.whole(each.found)),
            Cell(units.whole(each.lost), "bad" if each.lost else "dim"),
            *([Cell(units.whole(each.acknowledged - each.found - each.lost))] if traces else []),
            Cell(units.whole(each.unknown), "" if each.unknown else "dim"),
            Cell(units.whole(each.refused), "" if each.refused else "dim"),
            Cell("–" if each.last_second is None else second(each.last_second)),
        ]
        for each in record.spans
    ]
    return Table(header, rows, "No client was answered.", frozenset(range(2, len(header))))


def second(value: float) -> str:
    """A moment, relative to the fault."""
    return f"{value:.2f} s".replace("-", "−")


def _when(phase: Phase, record: ClusterRoundRecord) -> str:
    if phase == "during":
        return f"while {record.struck} {words_of(record).lasting}"
    return "before the fault" if phase == "before" else "after it"


def _of_reads(record: ClusterRoundRecord) -> Iterator[str]:
    less = {node: sum(each.lost for each in record.spans if each.node == node) for node in record.nodes}
    if record.lost:
        by = ", ".join(f"{units.whole(number)} at {node}" for node, number in less.items() if number)
        yield f"{units.whole(record.lost)} of {units.plural(record.acknowledged, 'read')} showed less than their client knew: {by}."
    else:
        yield f"None of {units.plural(record.acknowledged, 'read')} showed less than its client knew."
    yield from _afterwards(record)


def _sentences(record: ClusterRoundRecord, one: str) -> Iterator[str]:
    of_struck = {each.phase: each for each in record.spans if each.node == record.struck}
    window, opening = _window(record, of_struck, one)
    lost = sum(each.lost for each in window)
    yield opening + (f": {_became(window)}." if any(each.acknowledged for each in window) else ".")
    if not record.lost and not any(each.acknowledged for each in window):
        yield f"No acknowledged {one} of this round is missing."
    if rest := record.lost - lost:
        yield f"Of the other {one}s of this round at least {units.whole(rest)} {_are(rest)} lost."
    yield from _afterwards(record)
    for each in record.set_aside:
        files = f"{units.plural(each.files, 'file')} with {units.plural(each.records, 'record')} ({units.size(each.bytes)})"
        yield f"{each.node} undid writes, and keeps them in {files}."


def _afterwards(record: ClusterRoundRecord) -> Iterator[str]:
    """Who took over, and who was the primary in the end."""
    if record.successor is None or record.failover_second is None:
        yield "No other node took its place." if words_of(record).everywhere else "No other node took writes in time."
    else:
        yield f"{record.successor} took writes {units.seconds(record.failover_second)} after the fault{_how(record)}."
    if (then := record.second_strike) is not None:
        killed = f"It was killed too, {units.seconds(then.second)} after the fault, when {record.struck} was back"
        if then.successor is None or then.failover_second is None:
            yield f"{killed}; no node took writes until it was back itself."
        else:
            yield f"{killed}; {then.successor} took writes {units.seconds(then.failover_second - then.second)} later."
    if record.primary != last_successor(record):
        yield f"In the end {record.primary} was the primary{' again' if record.primary == record.struck else ''}."


def _how(record: ClusterRoundRecord) -> str:
    """How it became the primary, as far as the nodes told it."""
    parts = record.failover
    if parts is None:
        return ""
    elected, before = parts.elected_second, parts.before_second
    if parts.promoted_by == "storeproof":
        took = "" if elected is None or before is None else f", which took {units.seconds(elected - before)}"
        return f": it was promoted by storeproof{took}"
    told = [f"{record.struck} was missed {after(parts.detected_second, 'after')}"] if parts.detected_second is not None else []
    if elected is not None and before is not None:
        told.append(f"{record.successor} was elected {after(elected, 'after')}, and {units.seconds(elected - before)} earlier was not")
    return f": {', '.join(told)}" if told else ": it was promoted by the store"


def last_successor(record: ClusterRoundRecord) -> str:
    """The last node that was seen to take over; the struck one if none was."""
    then = record.second_strike
    return (then.successor if then is not None else None) or record.successor or record.struck


def _window(record: ClusterRoundRecord, of_struck: dict[Phase, NodeSpan], one: str) -> tuple[list[NodeSpan], str]:
    """The spans of the struck node that a sentence is about, and how it begins."""
    before, during, after = (of_struck.get(phase) for phase in ("before", "during", "after"))
    node = record.struck
    if record.fault in ("kill_primary", "second_primary"):
        # Of the second the later ones are those of a node that is back.
        found = [each for each in (before, during if record.second_strike is None else None) if each]
        return found, f"The primary {node} was killed after it had acknowledged {_acknowledged(found, one)}"
    if record.fault == "lagging_node_wipe":
        found = [during] if during else []
        return (
            found,
            f"While the others lagged behind it, the primary {node} acknowledged {_acknowledged(found, one)}, and was lost with its data",
        )
    if record.fault == "pause_primary":
        found = [after] if after else []
        paused = "" if record.healed_second is None else f", paused for {units.seconds(record.healed_second)},"
        return found, f"The old primary {node}{paused} acknowledged {_acknowledged(found, one)} when it went on"
    lost_after = after is not None and after.lost > 0
    found = [each for each in (during, after if lost_after else None) if each]
    last = max((each.last_second for each in found if each.last_second is not None), default=0.0)
    words = words_of(record)
    stayed = words.everywhere and record.primary == node
    who, lasting = f"The {'' if stayed else 'old '}primary {node}", words.lasting
    if not any(each.acknowledged for each in found):
        return found, f"{who} acknowledged no {one} while it {lasting}"
    if last <= 0:  # the fault takes some milliseconds
        return found, f"{who} acknowledged {_acknowledged(found, one)} as it {lasting}, and none later"
    return found, f"{who} went on acknowledging {_acknowledged(found, one)} for {units.seconds(last)} after it {lasting}"


def _acknowledged(found: Sequence[NodeSpan], one: str) -> str:
    number = sum(each.acknowledged for each in found)
    return units.plural(number, one) if number else f"no {one}"


def _became(window: Sequence[NodeSpan]) -> str:
    acknowledged, found, lost = (sum(getattr(each, name) for each in window) for name in ("acknowledged", "found", "lost"))
    if not lost:
        return "none of them is missing" if acknowledged > 1 else "it is not missing"
    if lost == acknowledged:
        return "all of them are lost" if lost > 1 else "it is lost"
    there = units.whole(found) if found else "none"
    return f"at least {units.whole(lost)} of them {_are(lost)} lost, and {there} {'was' if found < 2 else 'were'} found"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
