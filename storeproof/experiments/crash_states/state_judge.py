"""Judges what was read in the states of a recording, in the run and again from its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, zip_longest

from storeproof.check import Audits, Finding
from storeproof.disk.recording import DiskState
from storeproof.evidence import EvidenceDamaged, StateEvidence, StoreEvidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.tried_state import TriedState
from storeproof.experiments.trial_summary import acknowledged, findings_of
from storeproof.history import Operation, Place, Seen, as_of, by_place
from storeproof.records.beside.places import check_both


def in_order(states: Iterable[DiskState], seed: str) -> list[DiskState]:
    """In which they are tried: one of each tier in turn, within a tier as the seed has it. So a state cannot be left out unseen.

    In the time of a smoke test some states of each tier are tried, and not of the first alone: a store that does not start on zeros at the
    end of its log is seen in the second.
    """
    drawn = sorted(states, key=lambda state: (state.tier, hashlib.sha256(f"{seed} {state.name}".encode()).digest()))
    tiers = [list(tier) for _, tier in groupby(drawn, key=lambda state: state.tier)]
    return [state for turn in zip_longest(*tiers) for state in turn if state is not None]


def due(history: Sequence[Operation]) -> dict[Place, list[Operation]]:
    """The keys that are read in a state."""
    return Audits().due(history, everything=True)


def findings_again(history: Sequence[Operation], later: Sequence[Operation], seen: Mapping[Place, Seen]) -> list[Finding]:
    """The same after the next crash. `later`: what was written after the first one, under keys of its own."""
    old, new = _parted(history, seen)
    return [*findings_of(history, old), *findings_of(later, new)]


def _parted(history: Sequence[Operation], seen: Mapping[Place, Seen]) -> tuple[dict[Place, Seen], dict[Place, Seen]]:
    """What was read under the keys of the history, and under others."""
    places = by_place(history).keys()
    old = {place: each for place, each in seen.items() if place in places}
    return old, {place: each for place, each in seen.items() if place not in places}


def replay_states(store: StoreEvidence, summary: CrashSummary) -> None:
    """Add all states of a recording to the sums. The same reading of the same history is judged once.

    Raises:
        EvidenceDamaged: what had to be read was not, or the checks cannot judge it.
    """
    assert store.crash is not None
    replayed = _Replay(store)
    for each in store.crash.states:
        try:
            summary.add(replayed.tried(each))
        except ValueError as reason:
            raise EvidenceDamaged(f"state {each.name[:40]} of {store.case} cannot be judged: {reason}") from None


class _Replay:
    """The states of one recording, judged again."""

    def __init__(self, store: StoreEvidence) -> None:
        assert store.crash is not None
        self._load = store.crash.load(store.operations)
        self._later: dict[int, list[Operation]] = {}
        for each in store.operations:
            if each.client >= store.crash.clients:
                self._later.setdefault(each.client, []).append(each)
        self._histories: dict[int, list[Operation]] = {}
        self._judged: dict[tuple[int, tuple[tuple[Place, Seen], ...]], list[Finding]] = {}

    def tried(self, state: StateEvidence) -> TriedState:
        """Raises `ValueError`."""
        history = self._histories.get(state.mark)
        if history is None:
            history = self._histories[state.mark] = as_of(self._load, state.mark)
        disk = DiskState(0, state.name, state.tier, 0, state.fingerprint)
        later = [] if state.client is None else self._later.pop(state.client, [])
        number, findings = acknowledged(history), list[Finding]()
        if state.seen is not None:
            findings = self._findings(state.mark, history, state.seen)
        elif not state.broken:
            raise ValueError("it was not read, and nothing says why")
        if state.depth == 2 and (findings or not any(each.outcome == "ok" for each in later)):
            raise ValueError("it is said to have worked after the crash, and it did not")
        if state.again is not None:
            old, new = _parted(history, state.again)
            findings = [*self._findings(state.mark, history, old), *_judged(later, new)]
        elif state.depth == 2 and not state.broken:
            raise ValueError("it was not read after the next crash, and nothing says why")
        if not (findings or state.broken or state.again is not None):
            raise ValueError("it held after the crash, and there was no other one")
        return TriedState(disk, state.depth, acknowledged=number, findings=findings, broken=state.broken, ended=state.ended, log=None)

    def _findings(self, mark: int, history: Sequence[Operation], seen: Mapping[Place, Seen]) -> list[Finding]:
        key = mark, tuple(seen.items())
        if key not in self._judged:
            self._judged[key] = _judged(history, seen)
        return self._judged[key]


def _judged(history: Sequence[Operation], seen: Mapping[Place, Seen]) -> list[Finding]:
    """Raises `ValueError`: other keys were read than had to be."""
    if differing := by_place(history).keys() ^ seen.keys():
        raise ValueError(f"{len(differing)} keys were to be read and were not, or the reverse")
    check_both(seen)
    return findings_of(history, seen)
