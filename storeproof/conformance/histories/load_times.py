"""Whether the times in a history can be those of clients, of a load and of a start: a forged one may have none that a machine can keep."""

from __future__ import annotations

from typing import Final

from storeproof.evidence import EvidenceDamaged, RoundEvidence, StoreEvidence
from storeproof.history import Operation, Transaction, Transfer

_REPLY: Final = 1_000
"""Nanoseconds. A request crosses two threads at least, mostly two processes; the quickest reply in eleven true bundles took 5,300."""
_START: Final = 0.001
"""Seconds. A server is started, opens its files, and answers a client; the quickest in eleven true bundles took 0.015."""


def check_load(part: StoreEvidence, least: float) -> None:
    """Raises `EvidenceDamaged`: a client asked before it had its reply, a reply or a start came too soon, or a load was too short.

    `least`: seconds that clients of a stream write before the fault, after as many acknowledged writes as it waits for.
    """
    last: dict[int, Operation | Transaction | Transfer] = {}
    for number, each in enumerate(part.requests):
        before = last.get(each.client)
        parts = isinstance(before, Operation) and isinstance(each, Operation) and before.write_id == each.write_id
        together = before is not None and before.invoked == each.invoked and parts
        if before is not None and before.completed is not None and before.completed > each.invoked and not together:
            raise EvidenceDamaged(f"operation {number} of {part.case} was sent before its client had the reply to the one before")
        if each.outcome == "ok" and each.completed is not None and each.completed - each.invoked < _REPLY:
            raise EvidenceDamaged(f"operation {number} of {part.case} was acknowledged after {each.completed - each.invoked} ns")
        last[each.client] = each
    for number, round_ in enumerate(part.rounds, 1):
        _check_round(round_, f"round {number} of {part.case}", least)


def _check_round(round_: RoundEvidence, where: str, least: float) -> None:
    loaded = (round_.struck - round_.began) / 1e9
    if round_.shape == "stream" and round_.struck and loaded < least:
        raise EvidenceDamaged(f"{where} was struck after {loaded:.6f} s, and the scale has a load of {least:g} s or more")
    if round_.recovered is None:
        return
    if round_.recovered < _START:
        raise EvidenceDamaged(f"{where} has a start in {round_.recovered:.6f} s, in which no server starts and answers")
    if round_.audit is not None and round_.recovered > (least_of := (round_.audit.moment - round_.load_ended) / 1e9):
        raise EvidenceDamaged(f"{where} has a start in {round_.recovered:.3f} s, and was read back after {least_of:.3f} s")
