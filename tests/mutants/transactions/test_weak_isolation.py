"""Stores that break an isolation level now and then are caught by random transactions, and the honest one raises no alarm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from storeproof.blame import CaseEnding
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.experiments.isolation.run_isolation import run_isolation
from storeproof.spec.isolation import AnomalyKind
from storeproof.spec.scale import IsolationScale, Scale
from storeproof.store_under_test import Options, StoreUnderTest
from tests.mini_edition.edition import embedded_store
from tests.mutants.transactions import weak_isolation
from tests.mutants.transactions.weak_isolation import LIES, VARIANTS
from tests.shipped import SHIPPED

pytestmark = pytest.mark.slow

MIX = SHIPPED.mixes["read-modify-write"].model_copy(update={"beside": 0, "rolled_back": 0.2, "writes": 6})
FOUND: dict[str, set[AnomalyKind]] = {
    "weakens": {"G2-item"},
    "loses-some": {"lost-update", "G2-item"},
    "leaks-rollbacks": {"G1a"},
    "forgets-own-writes": {"own-writes"},
    "reads-the-latest": {"fuzzy-read", "G-single"},
    "pairs-only": {"G2-item"},
    "absent-forgotten": {"lost-update", "G2-item"},
    "loses": {"lost-update"},
}
"""What shows each lie; one of these, as chance has it."""
assert FOUND.keys() == LIES.keys()


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has a variant for each lie, and for the truths."""
    return store_file(tmp_path_factory.mktemp("weak"), weak_isolation.__file__, VARIANTS)


def store_file(folder: Path, adapter: str, lies: Iterable[str]) -> Path:
    """Of an adapter over the embedded store."""
    told = {"settings": {"journal_mode": "wal"}, "guarantee": "volatile"}
    written = yaml.safe_load(embedded_store()) | {
        "format": "2.4",
        "store": "weak",
        "adapter": adapter,
        "variants": {lie: {**told, "options": {"lie": lie}} for lie in lies} | {"truth": {**told, "default": True}},
        "claims": {"models": ["single_key"], "capabilities": {}},
    }
    path = folder / "weak.yaml"
    path.write_text(yaml.safe_dump(written))
    return path


def of_transactions(number: int) -> Scale:
    """A smoke test with that many of them: some lies take more than the 300 that it has."""
    scale = SHIPPED.scales["smoke"]
    more = IsolationScale(transactions=number, seconds=1.5)
    return scale.model_copy(update={"correctness": scale.correctness.model_copy(update={"isolation": more})})


@pytest.fixture
def judged(mutants: Path, lie: str) -> IsolationSummary:
    """A variant whose serializable transactions were tried."""
    return tried(mutants, lie)


def tried(file: Path, variant: str) -> IsolationSummary:
    """What its transactions showed."""
    (target,) = SHIPPED.targets([f"{file}:{variant}"])
    sut = StoreUnderTest(SHIPPED, target, Options(of_transactions(600), seed=1, launch="process", verify_settings=False), lambda _: None)
    layout = sut.layout(MIX.model)
    with closing(sut.connect(sut.shared())) as session:
        session.collection(layout).prepare()
        summary = IsolationSummary(level="serializable", mix=MIX.mix, guarantees="serializable")
        run_isolation(sut, sut.shared(), layout, MIX, summary, 1)
    sut.close_shared()
    return summary


@pytest.mark.parametrize("lie", LIES)
def test_a_weak_store_is_caught(judged: IsolationSummary, lie: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By an anomaly that the lie leads to; how many commits it took is printed."""
    seen = {each.kind: each.after for each in judged.anomalies if each.forbidden}
    with capsys.disabled():
        print(f"\n{lie}: {', '.join(f'{kind} after {after} commits' for kind, after in seen.items())}")
    assert judged.ending is CaseEnding.WRONG_ANSWER, judged.detail()
    assert FOUND[lie] & seen.keys(), judged.detail()


@pytest.mark.parametrize("lie", ["truth"])
def test_the_honest_store_raises_no_alarm(judged: IsolationSummary) -> None:
    """Enough of its transactions are contended to say so."""
    assert judged.ending is CaseEnding.RIGHT, judged.detail()
    assert Counter(each.forbidden for each in judged.anomalies) == {}


@pytest.mark.parametrize("lie", ["all-but-one"])
def test_a_client_without_an_answer_ends(judged: IsolationSummary) -> None:
    """Whether its last transaction happened is unknown, and the history of the others is judged."""
    assert judged.ending is CaseEnding.RIGHT, judged.detail()
    assert judged.outcomes["unknown"] == 1
