"""A replica that applies commits in another order than the primary is caught by reads at both, and one that only lags raises no alarm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from storeproof.blame import CaseEnding
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.experiments.isolation.run_isolation import run_isolation
from storeproof.spec.isolation import AnomalyKind, Guarantees
from storeproof.store_under_test import Options, StoreUnderTest
from tests.mini_edition.edition import embedded_store
from tests.mutants.transactions import replicas
from tests.mutants.transactions.replicas import LIES, PRIMARY, REPLICA, TwoNodes
from tests.mutants.transactions.test_weak_isolation import of_transactions
from tests.mutants.transactions.weak_isolation import Honest
from tests.shipped import SHIPPED

pytestmark = pytest.mark.slow

MIX = SHIPPED.mixes["across-nodes"].model_copy(
    update={"records": "values", "clients": 4, "readers": 4, "keys": 4, "reads": (1, 3), "replaced": 0.5}
)
"""Some transactions read what they do not replace, so that one may depend on another and leave its record as it is."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has a variant for each lie."""
    told = {"settings": {"journal_mode": "wal"}, "guarantee": "volatile"}
    written = yaml.safe_load(embedded_store()) | {
        "format": "2.4",
        "store": "replicas",
        "adapter": str(Path(replicas.__file__)),
        "variants": {lie: {**told, "options": {"lie": lie}, "default": lie == "lags"} for lie in LIES},
        "claims": {"models": ["single_key"], "capabilities": {}},
    }
    path = tmp_path_factory.mktemp("replicas") / "replicas.yaml"
    path.write_text(yaml.safe_dump(written))
    return path


@pytest.fixture
def judged(stores: Path, lie: str, guarantees: Guarantees) -> Iterator[IsolationSummary]:
    """A variant that was read at both nodes."""
    (target,) = SHIPPED.targets([f"{stores}:{lie}"])
    Honest.done.clear()
    sut = StoreUnderTest(SHIPPED, target, Options(of_transactions(600), seed=1, launch="process", verify_settings=False), lambda _: None)
    layout = sut.layout(MIX.model)
    nodes: Any = TwoNodes(sut.shared().address)
    with closing(sut.connect(nodes.server)) as session:
        session.collection(layout).prepare()
        summary = IsolationSummary(level="snapshot", mix=MIX.mix, guarantees=guarantees)
        run_isolation(sut, nodes, layout, MIX, summary, 1)
    yield summary
    sut.close_shared()


@pytest.mark.parametrize(
    ("lie", "guarantees", "kinds"),
    [
        ("swaps", "snapshot_isolation", {"G-nonadjacent"}),
        ("swaps-any", "parallel_snapshot_isolation", {"G-single"}),
    ],
)
def test_another_order_at_a_replica_is_caught(judged: IsolationSummary, kinds: set[AnomalyKind]) -> None:
    """As a long fork if neither of two commits has seen the other; if one has, no order of both explains what the replica showed."""
    assert judged.ending is CaseEnding.WRONG_ANSWER, judged.detail()
    found = {each.kind: each for each in judged.anomalies if each.forbidden and each.order == "item"}
    assert found.keys() == kinds, judged.detail()
    assert all(any(f"at {REPLICA})" in step for step in each.story) for each in found.values())
    assert f"transactions at {PRIMARY}, {REPLICA}, " in judged.sentence()


@pytest.mark.parametrize(
    ("lie", "guarantees", "seen"),
    [("lags", "snapshot_isolation", "G-single-realtime"), ("swaps", "parallel_snapshot_isolation", "G-nonadjacent-item")],
)
def test_no_alarm_is_raised_of_what_is_allowed(judged: IsolationSummary, seen: str) -> None:
    """A replica may be late, and parallel snapshot isolation allows a long fork; that each was there to be seen is told."""
    assert judged.ending is CaseEnding.RIGHT, judged.detail()
    assert seen in {f"{each.kind}-{each.order}" for each in judged.anomalies}, judged.detail()
    assert not any(each.forbidden for each in judged.anomalies)
