"""The kinds of files of the specification, by their folders."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.spec.base import SpecFile
from storeproof.spec.capability import CapabilityGroup, Dataset
from storeproof.spec.device import DeviceSheet
from storeproof.spec.editions.dispute import DISPUTES, Dispute
from storeproof.spec.editions.records import EDITIONS, JUDGES, FrozenEdition, Judge
from storeproof.spec.guarantee import Guarantee
from storeproof.spec.isolation import TransactionMix
from storeproof.spec.model import Model
from storeproof.spec.profile import Profile
from storeproof.spec.questions.analysis import Analysis
from storeproof.spec.questions.claim import ClaimsFile
from storeproof.spec.reading.json_schema import schema_of
from storeproof.spec.scale import Scale
from storeproof.spec.scaling import Scaling
from storeproof.spec.store import Store
from storeproof.spec.workload import WorkloadFile

FILES: Mapping[str, type[SpecFile]] = {
    "models": Model,
    "guarantees": Guarantee,
    "datasets": Dataset,
    "capabilities": CapabilityGroup,
    "scaling": Scaling,
    "isolation": TransactionMix,
    "workloads": WorkloadFile,
    "profiles": Profile,
    "scales": Scale,
    "stores": Store,
    "claims": ClaimsFile,
    "analyses": Analysis,
    "devices": DeviceSheet,
}
"""The model of the files in each folder of the specification."""

RECORDS: Mapping[str, type[SpecFile]] = {EDITIONS: FrozenEdition, JUDGES: Judge, DISPUTES: Dispute}
"""The model of the files in folders that say what became of editions and cases; a folder may be empty."""


def schemas() -> dict[str, str]:
    """The JSON Schemas of all kinds of files, by file name, for editors and other tools."""
    return {f"{folder}.json": schema_of(folder, kind, ".".join(map(str, kind.FORMAT))) for folder, kind in {**FILES, **RECORDS}.items()}
