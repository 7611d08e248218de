"""Reads results of format 1.0 and 1.1, whose fields had other names, and of 2.0, whose numbers had gates and no grade.

A result is rewritten as parsed JSON, before it is validated: what is not a result is left as it is, for the validation to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from storeproof.load.quality.gates import invalid_by, is_lower_bound
from storeproof.spec.guarantee import LADDER
from storeproof.stats.grade import grade
from storeproof.stats.trend import trend

OLDER: Final = ("1.0", "1.1", "2.0")
"""The formats that are rewritten before they are read."""

_STORE: Final = {"growth": "scaling"}
_GUARANTEE: Final = {"shapes": "faults_by_load", "cut_by": "power_cut_method"}
_MEASUREMENT: Final = {"lag_us": "schedule_lag_us", "unissued": "missed_sends"}
_GATES: Final = {"achieved": "missed_send_ratio", "lag": "schedule_lag", "little": "littles_law", "steady": "steady_state"}
_SCALING: Final = {"steady": "sublinear"}
_OUTAGE: Final = {"unsent": "missed_sends", "steady_seconds": "degraded_seconds"}
_OUTAGE_GATES: Final = {"lag_ms": "schedule_lag_ms"}
_ACCESS: Final = {"heard": "answer_known"}
_CORPUS: Final = {"passed_over": "skipped_pages"}
_PROFILES: Final = {"golden_store": "system_of_record"}


def upgrade(result: dict[str, Any], newest: str) -> dict[str, Any]:
    """A result of an older format in the format `newest`. Changes `result`, and returns it. No value changes: fields get other names,
    and verdicts are added: on each number, and that `volatile` is proven by itself."""
    result["format"] = newest
    for corpus in _items(result.get("run"), "corpus"):
        _rename(corpus, _CORPUS)
    for store in _items(result, "stores"):
        _rename(store, _STORE)
        _prove_nothing(store.get("durability"))
        for guarantee in _items(store.get("durability"), "guarantees"):
            _rename(guarantee, _GUARANTEE)
        for measurement in _items(store, "measurements"):
            _rename(measurement, _MEASUREMENT)
            _rename(measurement.get("gates"), _GATES)
            _add_verdicts(measurement)
        for scaling in _items(store, "scaling"):
            _rename(scaling, _SCALING)
        for outage in _items(store, "outages"):
            _rename(outage, _OUTAGE)
            _rename(outage.get("gates"), _OUTAGE_GATES)
        for history in _items(store, "histories"):
            for access in _items(history, "accesses"):
                _rename(access, _ACCESS)
        for verdict in _items(store, "profiles"):
            if isinstance(verdict.get("profile"), str):
                verdict["profile"] = _PROFILES.get(verdict["profile"], verdict["profile"])
    return result


def _prove_nothing(durability: Any) -> None:
    """Who claims `volatile` promises nothing, and so is proven without a fault."""
    if isinstance(durability, dict) and durability.get("claimed") == LADDER[0] and durability.get("proven", "") is None:
        durability["proven"] = LADDER[0]


def _add_verdicts(measurement: dict[str, Any]) -> None:
    """Grade a number as new ones are, from its interval, rounds and gates. One that lacks these is left for the validation to refuse."""
    try:
        interval = measurement["throughput"]
        half = (interval["high"] - interval["low"]) / 2 / interval["median"] if interval["median"] else float("inf")
        failing = [name for name, gate in measurement["gates"].items() if not gate["ok"]]
        drift = trend([each["throughput"] for each in measurement["rounds"]])
        verified = bool(measurement["verified"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    measurement |= {
        "grade": grade(half),
        "at_least": is_lower_bound(failing),
        "trend": {"change": drift.change, "probability": drift.probability, "drifting": drift.drifting},
        "invalid": invalid_by(failing, verified=verified),
    }


def _items(part: Any, name: str) -> Iterator[dict[str, Any]]:
    """The mappings in the list under a name, if there is such a list."""
    found = part.get(name) if isinstance(part, dict) else None
    yield from (each for each in found if isinstance(each, dict)) if isinstance(found, list) else ()


def _rename(part: Any, names: Mapping[str, str]) -> None:
    """Give fields their new names, in place. One that is there under both keeps its old name, which the validation refuses."""
    if isinstance(part, dict):
        renamed = {name if names.get(name) in part else names.get(name, name): value for name, value in part.items()}
        part.clear()
        part.update(renamed)
