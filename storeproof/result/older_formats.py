"""Reads what results of formats before 2.5, and the first of 2.5, said in sentences. Nothing else takes a sentence apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from storeproof.outcome import Lack, Outcome
from storeproof.result.measured.case_records import Lacked, StaleReadCounts
from storeproof.result.measured.damage import DamageCounts
from storeproof.result.missing import Kind, MissingDemand

_KINDS: Final[Mapping[str, Kind]] = {"model": "model", "capability": "capability", "guarantee": "guarantee"}
_OUTCOMES: Final = frozenset(map(str, Outcome))
_WATCHED: Final = ("stale_reads.", "durability.front_", "durability.home_", "durability.both_links/")
"""How the names of the cases begin that watch reads."""
_READS: Final = re.compile(r"\b([\d,]+) reads (?:beside |was stale|were stale)|: not seen in ([\d,]+) reads")
_STALE: Final = re.compile(r"\b([\d,]+) (?:of [\d,]+ reads )?(?:was|were) stale, (?:in|by) ")
_FAULT: Final = re.compile(r"; (\d+) operations within \d+ ms, (?:suffix|holes)")
"""What one fault cost, in the detail of a record."""
_WITHOUT_FAILOVER: Final = re.compile(r"; no other node took writes in time: (\d+) times")
_REST: Final = re.compile(r" \| and \d+ more\b")
"""The detail names six faults, and how many others there were."""
_OPERATION: Final = re.compile(r"[a-z_]+ on [a-z_0-9]+: ")
"""What a refusal named before its reason, which is the same for many operations."""
_ROUNDS: Final = re.compile(r"^(\d+) (?:rounds|times)\b")
_WRONG: Final = re.compile(r"\b(\d+) times it served\b")
_MISSING: Final = re.compile(r"\b(\d+) times (?:it started without|records were missing, and nothing)")
"""As the cases of damaged files counted their rounds, since edition 2026.11.12 and before."""
_UNVERIFIED: Final = re.compile(r"(?P<operation>\w+) on (?P<model>\w+) was not (?:correct|verified) in this run")
_NOT_RUN: Final[Mapping[Lack, str]] = {
    Lack.BEGUN: r"the run ended before this case",
    Lack.NODES: r"[\w.-]+ runs as a single server: it has no nodes|[\w.-]+ is a front over a home, and no cluster",
    Lack.CLUSTER: r"it runs as one server: it has no nodes|it does not run as the cluster of a topology",
    Lack.TRANSACTIONS: r"[\w.:-]+ claims no transactions that could be tested",
    Lack.ACCOUNTS: r"[\w.:-]+ claims no accounts and entries",
    Lack.OWN_SERVER: r"the store was given as an endpoint|the server is an endpoint",
    Lack.DISK: r"a power cut needs |a power cut without |no power cut; strace saw |strace |tracing the syncs "
    r"|its data is not on a disk whose power can be cut|the power of the nodes of a cluster cannot be cut"
    r"|its data directory is not accessible from here|[\w.:-]+: its data is in a volume of the engine's own",
    Lack.PARTS: r"its (?:front|home): |[\w.:-]+ claims no model whose records have copies",
    Lack.MODELS: r"[\w.:-]+ claims (?:none of the models that fault tests write|no model with the operations of these tests)",
    Lack.COMPILED_PART: r".{1,60} needs the compiled part",
    Lack.VERIFIED_QUESTIONS: r"not every question was verified",
    Lack.ENGINE: r"the store's client has one request in flight|the engine `\w+` cannot do it|.{1,80} that can be asked for",
    Lack.PLAIN_CONNECTION: r"bytes cannot be counted on an encrypted connection",
    Lack.FRONT: r"the file of [\w.-]+ does not say how the memory of its front|the adapter of this composite store does not",
}
"""How the details of cases began that were not run, before a field had what was lacking."""
_AROUND: Final = re.compile(r"^stale reads are declared as possible: |; seed \d+; reproduce: .*$")
_OLDEST: Final = re.compile(r"\b([\d.]+) ms at most")


def missing_of(found: Any) -> Any:
    """What a profile misses, of a line; all else is left as it is, for the validation."""
    return _missing(found) if isinstance(found, str) else found


@lru_cache(maxsize=4096)
def _missing(line: str) -> MissingDemand:
    """Of `capability NAME/CASE: OUTCOME: WHY`, `capability NAME or NAME: OUTCOME: CASE: WHY`, `model NAME: OPERATION: OUTCOME`,
    `guarantee NAME: [RUNG: ][OUTCOME: ]WHY`, `CASE/GUARANTEE: [OUTCOME: ]WHY`. Many stores have the same lines."""
    what, *rest = line.split(": ")
    first, _, name = what.partition(" ")
    kind = _KINDS.get(first, "case")
    name, case = name if kind != "case" else what, ""
    if kind in ("capability", "case"):
        name, _, case = name.partition("/")
    at = next((position for position, part in enumerate(rest[:2]) if part in _OUTCOMES), None)
    if at is None:
        claimed = not rest or not rest[0].startswith(("not claimed", "the variant claims only "))
        outcome = Outcome.NOT_RUN if claimed else Outcome.UNSUPPORTED
    else:
        outcome = Outcome(rest.pop(at))
        if at or (kind == "capability" and not case and rest):
            case = rest.pop(0)
    return MissingDemand(kind=kind, name=name, case=case, outcome=outcome, reason=": ".join(rest), sentence=line)


def stale_reads_of(case: str, detail: str) -> StaleReadCounts | None:
    """What a case that watched its reads says of them; None of any other."""
    if not case.startswith(_WATCHED) or (found := _READS.search(detail)) is None:
        return None
    stale, oldest = _STALE.search(detail), _OLDEST.search(detail)
    reads = int((found[1] or found[2]).replace(",", ""))
    if stale is None:
        return StaleReadCounts(reads=reads, stale=0, oldest_ms=0)
    return StaleReadCounts(reads=reads, stale=int(stale[1].replace(",", "")), oldest_ms=float(oldest[1]) if oldest else 0)


SAID_IN_DETAILS: Final = frozenset({"refusal", "damage", "lacked"})
"""The fields of a case that the first results of format 2.5 do not have either."""


def said_in(case: str, outcome: Outcome, detail: str) -> dict[str, Any]:
    """These fields, as the detail of a case says them."""
    lacked = lacked_of(detail) if outcome is Outcome.NOT_RUN else None
    return {"refusal": refusal_of(detail), "damage": damage_of(case, detail), "lacked": lacked}


@lru_cache(maxsize=4096)
def refusal_of(detail: str) -> str | None:
    """The first line without the operation that it names; None where it names none."""
    line = detail.strip().partition("\n")[0]
    reason = _OPERATION.sub("", line, count=1)
    return reason if reason != line else None


def damage_of(case: str, detail: str) -> DamageCounts | None:
    """What a case that damaged files counted; None of any other, and where it did not come to a round."""
    if not case.startswith("durability.corruption/") or (rounds := _ROUNDS.search(detail)) is None:
        return None
    made_up, silent = (int(found[1]) if (found := each.search(detail)) else 0 for each in (_WRONG, _MISSING))
    return DamageCounts(rounds=int(rounds[1]), made_up=made_up, silent=silent)


@lru_cache(maxsize=4096)
def lacked_of(detail: str) -> Lacked | None:
    """What a case was not run for want of, by how its detail begins; None where that excuses no case."""
    if unverified := _UNVERIFIED.match(detail):
        return Lacked(what=Lack.VERIFIED_OPERATION, **unverified.groupdict())
    return next((Lacked(what=lack) for lack, said in _NOT_RUN.items() if re.match(said, detail)), None)


def sentence_of(detail: str) -> str:
    """The first line, without the declaration with which it began, and without the command with which it ended."""
    return _AROUND.sub("", detail.strip().partition("\n")[0])


def lost_operations_of(records: int, detail: str) -> tuple[int, bool]:
    """The acknowledged operations that a fault cost, of which that many records are lost; and whether that is a lower bound."""
    told = [int(each) for each in _FAULT.findall(detail)]
    if (told or not records) and not _REST.search(detail):
        return sum(told), False
    return max(records, sum(told)), True


def without_failover_of(detail: str) -> int:
    """Rounds on a cluster in which no other node took writes in time."""
    found = _WITHOUT_FAILOVER.search(detail)
    return int(found[1]) if found else 0
