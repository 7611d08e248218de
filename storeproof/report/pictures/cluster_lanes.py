"""Draws a round on a cluster: a lane for each node, with its role, when it was cut off, and what it acknowledged.

The picture has no width of its own: along it all places are shares of the width that there is, so that letters keep their size on a
phone. Only the bars, which have no letters, are stretched. What was lost is told by direction and stripes, not by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from storeproof import units
from storeproof.report.parts.cluster_rounds import KINDS, KindWords, pictured, second, spans, told, words_of
from storeproof.report.tables import Table
from storeproof.result.measured.cluster_round import BIN_SECONDS, CaseRounds, ClusterRoundRecord, Kind, NodeCourse
from storeproof.result.model import GuaranteeRecord

_ROW: Final = 17
"""Pixels of a line of letters."""
_UP, _DOWN, _BAND, _GAP = 36, 28, 7, 12
"""Pixels: of the highest bar upwards and downwards, of the strip with the role, and between two lanes."""
_AXIS: Final = 24
_TICKS: Final = 7
"""At most: more would touch each other on a phone."""
_STEPS: Final = (1, 2, 5, 10, 20, 50)
_RIGHT: Final = 0.55
"""Letters that begin further along end there instead."""


@dataclass(frozen=True)
class _Lane:
    """Where a node is drawn, in pixels from the top."""

    node: str
    top: int
    course: NodeCourse | None
    down: int

    @property
    def band(self) -> int:
        return self.top + _ROW

    @property
    def base(self) -> int:
        """The line from which the bars go up and down."""
        return self.band + _BAND + (_UP + 4 if self.course else 0)

    @property
    def bottom(self) -> int:
        return self.base + self.down


@dataclass(frozen=True)
class ClusterPicture:
    """One round, with what a page shows beside its picture."""

    fault: str
    kind: Kind
    rounds: str
    """In how many rounds of this fault any are lost."""
    told: str
    """The answer, in sentences."""
    svg: str
    scale: str
    """What the highest bar stands for."""
    words: KindWords
    spans: Table
    wrong: Sequence[str]
    """The first that are, in words."""
    lossy: bool


def cluster_pictures(guarantees: Sequence[GuaranteeRecord], failovers: Sequence[CaseRounds], page: Iterator[int]) -> list[ClusterPicture]:
    """One for each fault of each case of a variant. `page`: numbers that no other picture of the same page has."""
    return [
        ClusterPicture(
            fault=each.fault,
            kind=case.kind,
            rounds=f"{KINDS[case.kind].rounds} {case.lossy.get(each.fault, 0)} of {units.plural(case.struck.get(each.fault, 0), 'round')}",
            told=told(each, case.kind),
            svg=cluster_lanes(each, f"round-{next(page)}", case.kind),
            scale=f"A bar of full height: {units.plural(_most(each), KINDS[case.kind].one)} in {BIN_SECONDS:g} s.",
            words=KINDS[case.kind],
            spans=spans(each, case.kind),
            wrong=each.wrong,
            lossy=each.lost > 0,
        )
        for each, case in pictured(guarantees, failovers)
    ]


def cluster_lanes(record: ClusterRoundRecord, name: str, kind: Kind = "writes") -> str:
    """The `<svg>`; `name`: of its ids, as an id may be. It says what it shows to those who do not see it."""
    return "".join(_Drawing(record, name, kind).parts())


def _most(record: ClusterRoundRecord) -> int:
    """Acknowledged writes in the fullest bin."""
    return max((number for each in record.course for number in each.acknowledged), default=1)


class _Drawing:
    def __init__(self, record: ClusterRoundRecord, name: str, kind: Kind) -> None:
        self._record = record
        self._kind = kind
        self._name = escape(name)
        self._begin = min(record.began_second, record.strike_second)
        self._length = max(record.ended_second - self._begin, BIN_SECONDS)
        self._events = list(self._told_events())
        courses = {each.node: each for each in record.course}
        self._most = _most(record)
        self._lanes: list[_Lane] = []
        top = _ROW * len(self._events) + 6
        for node in record.nodes:
            course = courses.get(node)
            lane = _Lane(node, top, course, _DOWN if course and any(course.lost) else 2)
            self._lanes.append(lane)
            top = lane.bottom + _GAP
        self._foot = top - _GAP + 4

    def parts(self) -> Iterator[str]:
        record, name = self._record, self._name
        ids = f"{name}-title {name}-desc"
        yield f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{self._foot + _AXIS}" role="img" aria-labelledby="{ids}">'
        yield f'<title id="{name}-title">{escape(f"{KINDS[self._kind].title} {record.struck} {words_of(record).deed}")}</title>'
        yield f'<desc id="{name}-desc">{escape(told(record, self._kind))} {escape(" ".join(map(self._role, record.nodes)))}</desc>'
        yield f'<defs><pattern id="{name}-lost" width="1" height="4" patternUnits="userSpaceOnUse">'
        yield '<rect width="1" height="2" fill="var(--bad)"/></pattern></defs>'
        for lane in self._lanes:
            yield from self._drawn(lane)
        yield from self._axis()
        yield from self._drawn_events()
        for lane in self._lanes:
            yield self._letters(self._role(lane.node), 'x="0"', lane.top + 12)
        yield "</svg>"

    def _told_events(self) -> Iterator[tuple[float, str]]:
        record, words = self._record, words_of(self._record)
        if record.strike_second <= -BIN_SECONDS and record.fault == "lagging_node_wipe":
            yield record.strike_second, f"{record.struck} lags the others"
        yield 0.0, f"{record.struck} {words.deed}"
        if record.successor is not None and record.failover_second is not None:
            yield from self._told_parts(record.successor)
            yield record.failover_second, f"{record.successor} takes writes"
        back = record.struck
        if (then := record.second_strike) is not None:
            yield then.second, f"{record.struck} {words.end}, and {then.node} {words.deed}"
            if then.successor is not None and then.failover_second is not None:
                yield then.failover_second, f"{then.successor} takes writes"
            back = then.node
        if record.healed_second is not None:
            yield record.healed_second, f"{back} {words.end}"

    def _told_parts(self, successor: str) -> Iterator[tuple[float, str]]:
        """What came before its first write."""
        parts = self._record.failover
        if parts is not None and parts.detected_second is not None:
            yield parts.detected_second, f"{self._record.struck} is missed"
        if parts is not None and parts.elected_second is not None:
            yield parts.elected_second, f"{successor} is {'promoted by storeproof' if parts.promoted_by == 'storeproof' else 'elected'}"

    def _share(self, moment: float) -> float:
        return min(max((moment - self._begin) / self._length, 0.0), 1.0)

    def _at(self, moment: float) -> str:
        return f"{100 * self._share(moment):.2f}%"

    def _long(self, begin: float, end: float) -> str:
        return f"{100 * (self._share(end) - self._share(begin)):.2f}%"

    def _role(self, node: str) -> str:
        """In words: what its lane shows."""
        record, struck = self._record, node == self._record.struck
        outages: list[str] = []
        if (struck or not words_of(record).everywhere) and (out := self._outage(node)) is not None:
            begin, end = out
            since = f" from {second(begin)}" if begin else ""
            until = "" if end == record.ended_second else f" until {second(end)}"
            outages = [f"{words_of(record).lasting}{since}{until}"]
        taken = [f"the primary from {second(moment)}" for taker, moment in self._takeovers() if taker == node]
        if struck:
            again = " The primary again in the end." if record.successor and node == record.primary and not taken else ""
            return f"{node}: {'; '.join(['the primary', *outages, *taken])}.{again}"
        finally_ = ["the primary in the end"] if node == record.primary and not taken else []
        return f"{node}: {'; '.join(['a replica', *taken, *outages, *finally_])}."

    def _takeovers(self) -> Iterator[tuple[str, float]]:
        """The nodes that took writes next, and when."""
        record, then = self._record, self._record.second_strike
        if record.successor is not None and record.failover_second is not None:
            yield record.successor, record.failover_second
        if then is not None and then.successor is not None and then.failover_second is not None:
            yield then.successor, then.failover_second

    def _outage(self, node: str) -> tuple[float, float] | None:
        """From when and until when the fault holds a node; None if it does not."""
        record, then = self._record, self._record.second_strike
        end = record.ended_second if record.healed_second is None else record.healed_second
        if then is not None and node == then.node:
            return then.second, end
        if node == record.struck:
            return 0.0, end if then is None else then.second
        return (0.0, end) if words_of(record).everywhere else None

    def _drawn(self, lane: _Lane) -> Iterator[str]:
        if (out := self._outage(lane.node)) is not None:
            yield self._out(lane, *out)
        yield from self._band(lane)
        if lane.course:
            yield f'<line x1="0" y1="{lane.base}" x2="100%" y2="{lane.base}" stroke="var(--line)"/>'
            yield from self._bars(lane, lane.course)

    def _out(self, lane: _Lane, begin: float, end: float) -> str:
        """Shade the time in which the fault holds the node."""
        place = f'x="{self._at(begin)}" y="{lane.band}" width="{self._long(begin, end)}" height="{lane.bottom - lane.band}"'
        return f'<rect {place} fill="var(--track)" stroke="var(--soft)" stroke-dasharray="2 3"/>'

    def _band(self, lane: _Lane) -> Iterator[str]:
        """The role: a thick line for the primary, a thin one for a replica, and none for a node that is gone."""
        record, node, end = self._record, lane.node, self._record.ended_second
        struck = node == record.struck
        changes: list[tuple[float, bool | None]] = [(moment, True) for taker, moment in self._takeovers() if taker == node]
        if (struck or not words_of(record).everywhere) and (out := self._outage(node)) is not None:
            gone, back = out
            changes += [(gone, None), (back, struck and record.successor is None)]
        begin = self._begin
        leads: bool | None = struck
        for moment, then in [*sorted(changes, key=lambda change: change[0]), (end, None)]:
            if leads is not None and begin < moment:
                deposed = leads and not struck and moment == end and record.primary != node
                yield self._line(lane, begin, moment, thick=leads, dashed=deposed)
            begin, leads = moment, then

    def _line(self, lane: _Lane, begin: float, end: float, *, thick: bool, dashed: bool = False) -> str:
        """`dashed`: it was the primary for some of the time."""
        y = lane.band + _BAND / 2
        width = _BAND if thick else 1
        colour = "var(--ink)" if thick else "var(--soft)"
        dashes = ' stroke-dasharray="8 5"' if dashed else ""
        return f'<line x1="{self._at(begin)}" y1="{y}" x2="{self._at(end)}" y2="{y}" stroke="{colour}" stroke-width="{width}"{dashes}/>'

    def _bars(self, lane: _Lane, course: NodeCourse) -> Iterator[str]:
        """In units of a bin along, stretched to the width that there is; upwards and downwards in pixels."""
        bins = self._length / BIN_SECONDS
        offset = course.first - self._begin / BIN_SECONDS
        not_lost = [each - lost for each, lost in zip(course.acknowledged, course.lost, strict=True)]
        up, hollow = self._path(course.found, offset, -_UP), self._path(not_lost, offset, -_UP)
        down = self._path(course.lost, offset, _DOWN)
        height = lane.base + lane.down
        yield f'<svg x="0" y="0" width="100%" height="{height}" viewBox="0 0 {bins:.3f} {height}" preserveAspectRatio="none">'
        yield f'<g transform="translate(0 {lane.base})">'
        edge = 'stroke-width="1" vector-effect="non-scaling-stroke"'
        if hollow:
            yield f'<path d="{hollow}" fill="var(--panel)" stroke="var(--rate)" {edge}/>'
        if up:
            yield f'<path d="{up}" fill="var(--rate)"/>'
        if down:
            yield f'<path d="{down}" fill="url(#{self._name}-lost)" stroke="var(--bad)" {edge}/>'
        yield "</g></svg>"

    def _path(self, numbers: list[int], offset: float, longest: int) -> str:
        """A bar for each number but zero; the smallest can still be seen."""
        parts = []
        for at, number in enumerate(numbers):
            if number:
                long = longest * max(number / self._most, 2 / abs(longest))
                parts.append(f"M{offset + at + 0.06:.3f} 0h.88v{long:.1f}h-.88z")
        return "".join(parts)

    def _drawn_events(self) -> Iterator[str]:
        """Each in a line of its own, so that they do not touch each other on a phone."""
        for row, (moment, text) in enumerate(self._events):
            y, at = _ROW * row, self._at(moment)
            yield f'<line x1="{at}" y1="{y + 2}" x2="{at}" y2="{self._foot}" stroke="var(--ink)" stroke-dasharray="4 3"/>'
            right = self._share(moment) > _RIGHT
            anchor = 'dx="-5" text-anchor="end"' if right else 'dx="5"'
            yield self._letters(f"{second(moment)}: {text}", f'x="{at}" {anchor}', y + 13)

    def _letters(self, text: str, place: str, y: int) -> str:
        """With a rim, so that a line behind them does not go through them."""
        rim = 'stroke="var(--panel)" stroke-width="4" paint-order="stroke" stroke-linejoin="round"'
        return f'<text {place} y="{y}" font-size="12" fill="var(--ink)" {rim}>{escape(text)}</text>'

    def _axis(self) -> Iterator[str]:
        end = self._begin + self._length
        step = next((each for each in _STEPS if self._length / each <= _TICKS), _STEPS[-1])
        y = self._foot
        yield f'<line x1="0" y1="{y}" x2="100%" y2="{y}" stroke="var(--soft)"/>'
        first = -int(-self._begin // step) * step
        for moment in range(first, int(end) + 1, step):
            share = self._share(moment)
            anchor = "start" if share < 0.03 else "end" if share > 0.95 else "middle"
            yield f'<line x1="{self._at(moment)}" y1="{y}" x2="{self._at(moment)}" y2="{y + 4}" stroke="var(--soft)"/>'
            place = f'x="{self._at(moment)}" y="{y + 16}" text-anchor="{anchor}"'
            yield f'<text {place} font-size="11" fill="var(--soft)">{escape(f"{moment} s".replace("-", "−"))}</text>'
