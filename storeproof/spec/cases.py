"""The ids of all cases, as the suites generate them, to check the case names in store files."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from storeproof.spec.capability import Capability
from storeproof.spec.guarantee import CRASHES, IO_ERRORS, LADDER, NODES, SUDDEN
from storeproof.spec.interleaving import LEVELS
from storeproof.spec.model import Model, Value
from storeproof.spec.scaling import Scaling

_SHOWN = 5
PUSHDOWN: Final = "pushdown"
"""The further case of every capability with queries: that the store did the work."""

OF_COMPOSITES: Final = frozenset(
    {
        "cache.cold_start",
        "cache.dogpile",
        *(f"cache.hit_rate/{name}" for name in ("all", "half", "quarter")),
        "durability.front_kill",
        "durability.home_kill",
        "durability.front_pause",
        "durability.home_pause",
        *(f"durability.{links}/{way}" for links in ("front_link", "home_link", "both_links") for way in ("hang", "reset")),
    }
)
"""Cases that only composite stores have."""

_TOGETHER = ("append", "compare-and-set", "get-and-set", "increment", "insert-many", "put-if-absent", "queue", "set-fields", "set-paths")


def revisions_of(name: str, capability: Capability) -> dict[str, int | None]:
    """The ids of a capability's cases, by its full name, with their revisions; None: the case has none."""
    numbers: dict[str, int | None] = {case.id: case.revision for case in capability.cases}
    if capability.questions:
        numbers[PUSHDOWN] = None
    return {f"capabilities.{name}/{number}": revision for number, revision in numbers.items()}


def metadata_case(guarantee: str) -> str:
    """The case that shows whether what belongs to records survives the fault of a guarantee with them."""
    return f"durability.metadata/{guarantee}"


def crash_states_case(guarantee: str) -> str:
    """The case that tries each state that a crash may leave."""
    return f"durability.crash_states/{guarantee}"


def io_errors_case(error: str) -> str:
    """The case in which each call to a disk fails in turn."""
    return f"durability.io_errors/{error}"


ISOLATION: Final = "transactions.isolation"
"""How the ids of the cases of isolation levels begin."""


def isolation_case(level: str, mix: str) -> str:
    """The case of a mix of transactions at one level."""
    return f"{ISOLATION}/{level}/{mix}"


ACROSS_FAULTS: Final = "durability.isolation"
"""How the ids of the cases of transactions across faults begin."""

_FIXED = (
    *OF_COMPOSITES,
    "capabilities.indexes.built-while-writing/concurrent",
    "capabilities.indexes.built-while-writing/unique",
    "capabilities.indexes.dropped-while-reading/concurrent",
    "capabilities.server_side.change-feed/concurrent",
    *(f"concurrency.{name}" for name in _TOGETHER),
    *(f"durability.{name}" for name in (*LADDER[1:], *NODES, "full_disk")),
    *(f"durability.bootstrap/{name}" for name in ("power_cut", "process_kill")),
    *(f"durability.corruption/{name}" for name in ("flip", "truncate")),
    *(f"durability.{name}/{guarantee}" for name in ("isolation", "linearizable", "sessions", "transfers") for guarantee in SUDDEN),
    *(crash_states_case(name) for name in CRASHES),
    *(io_errors_case(name) for name in IO_ERRORS),
    *(metadata_case(name) for name in LADDER[1:]),
    "limits.key-length",
    *(f"linearizable.{name}" for name in ("compare-and-set", "counter", "register")),
    *(f"performance.outage/{name}" for name in ("crash", "pause", "restart")),
    *(f"pushdown.{name}/hash10" for name in ("delete_field", "get_field", "get_fields", "set_field", "set_fields")),
    *(f"pushdown.{name}/nested" for name in ("exists", "get_path", "get_paths", "set_path", "set_paths", "unset_path")),
    *(f"requests.{name}" for name in ("ledger", "place", "product")),
    "settings.readback",
    *(f"stale_reads.{name}" for name in ("document10", "hash10", "single_key")),
    *(f"thresholds.{name}" for name in ("hash10", "members", "nested", "queue", "ranking", "single_key")),
    "walk.single_key",
)
"""Ids that the suites define and not the YAML files; a test compares them with the collected ones."""


def suite_cases(
    capabilities: Mapping[str, Capability], models: Mapping[str, Model], scaling: Mapping[str, Scaling], mixes: Iterable[str]
) -> frozenset[str]:
    """The ids of the cases that the suites define by themselves, for these demands: all but the cases of capabilities, which are in the
    YAML files, and the workloads, whose cases depend on the scale."""
    ids = {*_FIXED, *(f"capabilities.{name}/pushdown" for name, each in capabilities.items() if each.questions)}
    for name, model in models.items():
        ids.add(f"stateful.{name}")
        if model.record.kind in ("hash", "document", "row"):
            ids.add(f"concurrency.whole/{name}")
        if isinstance(model.record, Value):
            ids |= {f"sizes.{name}/{size}" for size in model.record.sizes}
    if "corpus" in models:
        ids |= {f"requests.corpus/{indexes}i" for indexes in (0, len(models["corpus"].indexes))}
    for name, each in scaling.items():
        ids |= {f"growth.{name}/{indexes}i" for indexes in (0, each.indexes)}
    ids |= {isolation_case(level, mix) for level in LEVELS for mix in mixes}
    return frozenset(ids)


class CaseIds:
    """All valid case names: ids, and the part of an id before the slash."""

    def __init__(
        self,
        capabilities: Mapping[str, Capability],
        models: Collection[str],
        workloads: Iterable[str],
        scaling: Iterable[str],
        mixes: Iterable[str],
    ) -> None:
        ids = {*_FIXED, *(isolation_case(level, mix) for level in LEVELS for mix in mixes)}
        for name, capability in capabilities.items():
            ids |= {f"capabilities.{name}/{case.id}" for case in capability.cases}
            if capability.questions:
                ids.add(f"capabilities.{name}/pushdown")
        for model in models:
            ids |= {f"stateful.{model}", f"concurrency.whole/{model}"}
        self.ids = frozenset(ids)
        """Ids that do not depend on the scale."""
        self._names = ids | {name.partition("/")[0] for name in ids} | {name.rpartition("/")[0] for name in ids}
        self._open = {f"performance.{name}" for name in workloads} | {f"growth.{name}" for name in scaling}
        self._open |= {"requests.corpus", *(f"sizes.{model}" for model in models)}
        """Names whose part after the slash depends on the scale or the model."""

    def __contains__(self, name: str) -> bool:
        return name in self._names or name.partition("/")[0] in self._open

    def wrong(self, name: str) -> str | None:
        """Why a case name is invalid, or None if it exists."""
        if name in self:
            return None
        near = difflib.get_close_matches(name, sorted(self._names | self._open), n=_SHOWN, cutoff=0.5)
        allowed = "allowed: the id of a case, as the report has it, or the part of it before a slash"
        return f"unknown case `{name}`; {allowed}" + (f"; the most similar: {', '.join(near)}" if near else "")
