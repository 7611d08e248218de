"""Times to live: what has expired stays away, what expires does so after the fault as well, and what was made to last lasts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from storeproof.contract import Collection, Key, Layout, Record, Session, call
from storeproof.errors import MachineFailed
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered, Part
from storeproof.oracle import same
from storeproof.records.beside.expiries import OFF
from storeproof.spec.known_failure import CaseFinding

_OVER: Final = 1
"""Seconds of those that expire before the fault."""
_SOON: Final = 2
"""Seconds of those that expire after it, unless the machine is slow."""
_LONG: Final = 3600
_LATE: Final = 1.1
"""Seconds after which a record that has expired is not found, beyond its time to live: what `put_expiring` allows."""
_SWEPT: Final = 121
"""Seconds after which a record that has expired was removed, where the store does it in the background."""
_LOOK: Final = 0.25

_RECORDS: Final[Mapping[str, Record]] = {"single_key": b"kept", "hash10": {"field0": b"kept", "field1": b"too"}, "counter": 7}
_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = {
    "single_key": ("expiry.put-expiring", "expiry.hidden"),
    "hash10": ("expiry.of-hashes",),
    "counter": ("expiry.of-counters",),
}
"""One of them, for the records of a model."""


@dataclass(frozen=True)
class TimedRecord:
    """A record."""

    layout: Layout
    key: Key
    record: Record
    seconds: int | None
    """Its time to live; None: it lasts."""
    since: float
    until: float
    """When the request that set it was sent, and answered."""
    how: str

    @property
    def gone(self) -> float:
        """When no read finds it any more."""
        return self.until + (self.seconds or 0) + _LATE


class TimesToLive(Aspect):
    """Of values, and of hashes and counters that may have one."""

    name: ClassVar[str] = "times to live"

    def __init__(self, offered: Offered) -> None:
        super().__init__(offered)
        self._layouts = {
            model: offered.layout(model) for model in _RECORDS if model in offered.models and any(map(offered.claims, _CLAIMS[model]))
        }
        self._written: list[TimedRecord] = []

    @property
    def offers(self) -> bool:
        return bool(self._layouts)

    def write(self, session: Session, part: Part) -> None:
        for model, layout in self._layouts.items():
            collection = session.collection(layout)
            collection.prepare()
            for how, seconds, then in self._ways(model):
                self._write(collection, layout, f"{part} {how}", seconds, then)

    def look(self, session: Session, *, moved: bool) -> Iterator[str | CaseFinding]:  # noqa: ARG002
        for each in self._written:
            collection = session.collection(each.layout)
            asked = time.monotonic()
            found = call(collection, each.layout, "get", each.key)
            what = f"{each.layout.model.model}, {each.how}"
            if each.seconds is not None and each.seconds <= _SOON:
                if found is not None:
                    yield _wrong_end(f"{what}: it is there, {asked - each.until - each.seconds:.1f} s after its time to live has ended")
            elif found is None or not same(found, each.record):
                yield f"{what}: {'it is not there' if found is None else f'it is {found!r}'}"
            elif self.offered.claims("expiry.read") and each.layout.model.model == "single_key":
                yield from self._remaining(collection, each, what)

    def _ways(self, model: str) -> Iterator[tuple[str, int, tuple[str, int | None] | None]]:
        """Name, time to live, and what comes next: an operation, and the time to live after it."""
        yield "expired before the fault", _OVER, None
        yield "expires after the fault", _SOON, None
        yield "expires in an hour", _LONG, None
        if model != "single_key":
            return
        yield "put again without a time to live", _SOON, ("put", None)
        if self.offered.claims("expiry.set"):
            yield "extended to an hour", _SOON, ("expire", _LONG)
            yield "shortened from an hour", _LONG, ("expire", _SOON)
        if self.offered.claims("expiry.remove"):
            yield "persisted", _SOON, ("persist", None)

    def _write(self, collection: Collection, layout: Layout, how: str, seconds: int, then: tuple[str, int | None] | None) -> None:
        key, record = how.replace(" ", "-"), _RECORDS[layout.model.model]
        since = first = time.monotonic()
        call(collection, layout, "put_expiring", key, record, seconds)
        lasting: int | None = seconds
        if then is not None:
            operation, lasting = then
            arguments: Mapping[str, tuple[Any, ...]] = {"put": (key, record), "expire": (key, lasting), "persist": (key,)}
            since = time.monotonic()
            call(collection, layout, operation, *arguments[operation])
        until = time.monotonic()
        if until - first >= min(seconds, _SOON) and then is not None:
            raise MachineFailed(f"two requests took {until - first:.1f} s, and the record may have expired between them")
        self._written.append(written := TimedRecord(layout, key, record, lasting, since, until, how))
        if lasting == _OVER:
            self.not_before = max(self.not_before, until + _OVER)
        if lasting is not None and lasting <= _SOON:
            self.due = max(self.due, written.gone)
        elif then is not None:  # that it lasts shows when its first time to live has ended
            self.due = max(self.due, until + min(seconds, _SOON) + _LATE)

    def _remaining(self, collection: Collection, each: TimedRecord, what: str) -> Iterator[str | CaseFinding]:
        before = time.monotonic()
        left = call(collection, each.layout, "expires_in", each.key)
        if each.seconds is None:
            if left is not None:
                yield f"{what}: it expires in {left:.0f} s"
            return
        least, most = each.seconds - (time.monotonic() - each.since) - OFF, each.seconds - (before - each.until) + OFF
        if left is None:
            yield f"{what}: it has no time to live"
        elif not least <= left <= most:
            yield _wrong_end(f"{what}: it expires in {left:.0f} s, and not in {least:.0f} to {most:.0f}")


def _wrong_end(words: str) -> CaseFinding:
    return CaseFinding(words, frozenset({"wrong_end"}))


class SweptTimesToLive(Aspect):
    """Where the store removes what has expired in the background, within two minutes."""

    name: ClassVar[str] = "times to live"

    def __init__(self, offered: Offered, *, patient: bool) -> None:
        """`patient`: it is waited until what has expired was removed."""
        super().__init__(offered)
        self._patient = patient
        self._exact = any(map(offered.claims, _CLAIMS["single_key"]))
        self._layout = offered.layout("single_key")
        self._ended: dict[Key, float] = {}
        self._lasting: list[Key] = []

    @property
    def offers(self) -> bool:
        return not self._exact and "single_key" in self.offered.models and self.offered.claims("expiry.swept")

    def write(self, session: Session, part: Part) -> None:
        collection, record = session.collection(self._layout), _RECORDS["single_key"]
        collection.prepare()
        brief, long, again = (f"{part}-{how}" for how in ("brief", "long", "again"))
        call(collection, self._layout, "put_swept", brief, record, _OVER)
        self._ended[brief] = time.monotonic() + _OVER
        call(collection, self._layout, "put_swept", long, record, _LONG)
        call(collection, self._layout, "put_swept", again, record, _OVER)
        call(collection, self._layout, "put", again, record)
        self._lasting += [long, again]

    def look(self, session: Session, *, moved: bool) -> Iterator[str]:  # noqa: ARG002
        collection = session.collection(self._layout)
        if self._patient:
            began = time.monotonic()
            while found := [key for key in self._ended if call(collection, self._layout, "exists", key)]:
                if (took := time.monotonic() - began) > _SWEPT:
                    yield f"{', '.join(map(str, found))}: not removed within {took:.0f} s after the start"
                    break
                time.sleep(_LOOK)
        else:
            self.shown = False
            self.told.append("of times to live only what lasts was looked at: the removal of expired records was not awaited")
        for key in self._lasting:
            if call(collection, self._layout, "get", key) is None:
                yield f"{key}: it is not there"
