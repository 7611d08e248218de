"""Reads the results that needs are held against: the published ones of this checkout, by an index, or others.

The index has of each published result what a decision reads, and the SHA-256 of its file and of its content. A file that has changed since
is read itself. An index could say anything, so only that of this checkout is used, which a test makes again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.regular_file import Unreadable, exists
from storeproof.result.consistency import check_agrees
from storeproof.result.json_file import compressed, content_of, digest_of, file_in, read_result, write_bytes
from storeproof.result.measured.cluster_round import ClusterRoundRecord, NodeSpan
from storeproof.result.measured.isolation import AnomalySeen
from storeproof.result.measured.lost import lost_by
from storeproof.result.measurement import Measurement
from storeproof.result.model import CapabilityResult, GuaranteeRecord, OutcomeRecord, Result, StoreResult
from storeproof.result.needs.joined_results import NO_EVIDENCE, ReadResult
from storeproof.result.needs.servers import has_tried_half
from storeproof.spec import SPEC_ROOT
from storeproof.stats.latency import encode, new_histogram

REPORTS: Final = SPEC_ROOT.parent / "reports"
INDEX: Final = "index.json.xz"


def published_results() -> list[Path]:
    """The published results of this checkout, without the latest run of its user. Raises `UsageError` where there are none."""
    found = _files(REPORTS)
    if not found:
        raise UsageError("there are no published results beside this installation; name results: storeproof decide NEEDS RESULT...")
    return found


def published_evidence() -> list[ReadResult]:
    """What decisions read of the published results. Raises `UsageError`: there are none, or one cannot be read."""
    known = _read_index(REPORTS / INDEX)
    return [_indexed(file, known) or read_agreeing(file) for file in published_results()]


def write_index(reports: Path) -> None:
    """Write the index of the results in the folders of a directory. Raises `UsageError`: one cannot be read, or was changed."""
    write_bytes(reports / INDEX, compressed(index_of(reports).encode()))


def index_of(reports: Path) -> str:
    """The content of the index, a line for each result: the SHA-256 of its file, that of its content, and what decisions read, in JSON."""
    return "".join(f"{_digest(file)} {digest_of(file)} {_what_decisions_read(read_agreeing(file).result)}\n" for file in _files(reports))


def read_agreeing(file: Path) -> ReadResult:
    """A result that agrees with itself. Raises `UsageError`: it cannot be read, or was changed after its run."""
    result = read_result(file)
    check_agrees(file, result)
    return ReadResult(file, result)


def _files(reports: Path) -> list[Path]:
    folders = (each for each in sorted(reports.glob("*/")) if each.name != "latest")
    return [file for folder in folders if exists(file := file_in(folder))]


def _read_index(index: Path) -> dict[bytes, bytes]:
    """What it has of each file, by the SHA-256; nothing where it cannot be read."""
    try:
        lines = content_of(index).splitlines()
    except Unreadable:
        return {}
    return {digest: rest for digest, _, rest in (line.partition(b" ") for line in lines)}


def _indexed(file: Path, known: dict[bytes, bytes]) -> ReadResult | None:
    digest, _, result = known.get(_digest(file).encode(), b"").partition(b" ")
    try:
        return ReadResult(file, Result.model_validate_json(result), digest.decode())
    except ValidationError:
        return None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _what_decisions_read(result: Result) -> str:
    """The result without what takes most of its room and is in no answer: the rounds and histograms of numbers, the second by second of
    outages and clusters, the steps of isolation anomalies, the verdicts of profiles, and cases that say nothing about the store."""
    read = result.model_copy(update={"stores": [_of_store(each) for each in result.stores]})
    return read.model_dump_json(exclude=_IN_NO_ANSWER)


def _of_store(store: StoreResult) -> StoreResult:
    joint = [each.model_copy(update={"numbers": {role: _number(one) for role, one in each.numbers.items()}}) for each in store.joint]
    guarantees = [_guarantee(each) for each in store.durability.guarantees]
    update = {
        "durability": store.durability.model_copy(update={"guarantees": guarantees}),
        "capabilities": [_STAND_IN[has_tried_half(store)]],
        "outcomes": [_outcome(each) for each in store.outcomes if each.outcome not in NO_EVIDENCE],
        "measurements": [_number(each) for each in store.measurements],
        "outages": [each.model_copy(update={"bins": []}) for each in store.outages],
        "joint": joint,
        "profiles": [],
    }
    return store.model_copy(update=update)


def _guarantee(record: GuaranteeRecord) -> GuaranteeRecord:
    """Of a cluster the operations that were lost, and of the rounds in which any were, by which fault and how many."""
    if not record.cluster_rounds:
        return record
    lossy = [_round(each) for each in record.cluster_rounds if each.lost]
    return record.model_copy(update={"lost_operations": lost_by(record).operations, "cluster_rounds": lossy})


def _round(found: ClusterRoundRecord) -> ClusterRoundRecord:
    spans = [NodeSpan(node="", phase="during", acknowledged=0, found=0, lost=found.lost, unknown=0, refused=0, last_second=None)]
    update = {"spans": spans, "course": [], "set_aside": [], "wrong": [], "second_strike": None, "nodes": [], "struck": "", "primary": ""}
    seconds = dict.fromkeys(("failover_second", "healed_second", "successor"))
    return found.model_copy(update=update | seconds | dict.fromkeys(("began_second", "strike_second", "ended_second"), 0.0))


def _outcome(case: OutcomeRecord) -> OutcomeRecord:
    """Of the states of crashes and the errors of disks no need asks; but what is known of them is told beside an answer."""
    if (case.crash_states or case.io_errors) and case.outcome is not Outcome.KNOWN_FAIL:
        case = case.model_copy(update={"detail": ""})
    seen = case.isolation and case.isolation.model_copy(update={"anomalies": [_anomaly(each) for each in case.isolation.anomalies]})
    return case.model_copy(update={"seconds": 0, "isolation": seen})


def _anomaly(seen: AnomalySeen) -> AnomalySeen:
    return seen.model_copy(update={"transactions": [], "steps": [], "story": []})


def _number(measured: Measurement) -> Measurement:
    """One that drifts is judged by its slowest and its fastest round."""
    rounds = sorted(measured.rounds, key=lambda each: each.throughput) if measured.trend.drifting else []
    return measured.model_copy(update={"rounds": [*rounds[:1], *rounds[-1:]], "histogram": _EMPTY})


_NOT_OF_A_NUMBER: Final = {
    "laps", "parts", "interleaved_with", "service_us", "schedule_lag_us", "machine_speed", "disturbance", "anatomy", "anatomy_reason",
}  # fmt: skip
_IN_NO_ANSWER: Final[Any] = {
    "stores": {
        "__all__": {
            **dict.fromkeys(("histories", "scaling", "sources", "operations"), True),
            "durability": {"failovers": True},
            "outcomes": {"__all__": {"named", "spoiled", "standing", "crash_states", "io_errors"}},
            "measurements": {"__all__": _NOT_OF_A_NUMBER},
        }
    }
}
"""Fields that a result may lack."""
_STAND_IN: Final = {
    tried: CapabilityResult(capability="", claimed=False, outcome=Outcome.PASS if tried else Outcome.NOT_RUN, cases=0, passed=0)
    for tried in (True, False)
}
"""In place of all capabilities: decisions ask of them whether half were tried."""
_EMPTY: Final = encode(new_histogram())
"""A number must have a histogram."""
