"""Anomalies that analyses report, held against results: seen in the same version, in another one, not seen, or why that cannot be said."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.claims import AnomalyVerdict, ReportedAnomaly, judge_claims
from storeproof.result.measured.isolation import AnomalySeen, IsolationCounts
from storeproof.result.model import OutcomeRecord, Result
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder
from storeproof.spec.questions.analysis import Analysis
from tests.report.sample import sample_result
from tests.result.claimed import result, store
from tests.shipped import SHIPPED

LEVEL: Isolation = "repeatable_read"
SERVER = "mysql:innodb"


def seen(kind: AnomalyKind, order: AnomalyOrder = "item", after: int = 17) -> AnomalySeen:
    return AnomalySeen(kind=kind, order=order, forbidden=False, after=after, transactions=[], steps=[], story=[])


def case(*anomalies: AnomalySeen, mix: str = "list-append", outcome: Outcome = Outcome.PASS, level: Isolation = LEVEL) -> OutcomeRecord:
    """A mix with 400 contended commits."""
    counts = IsolationCounts(
        level=level,
        mix=mix,
        guarantees="read_committed",
        committed=500,
        contended=400,
        rolled_back=0,
        unknown=0,
        anomalies=list(anomalies),
    )
    base = sample_result(seed=1).stores[0].outcomes[0]
    return base.model_copy(update={"id": isolation_case(level, mix), "outcome": outcome, "isolation": counts, "detail": "a sentence"})


def run(*cases: OutcomeRecord, name: str = SERVER, version: str = "MySQL 8.4.1", title: str = "MySQL") -> Result:
    return result(store(name, outcomes=list(cases), version=version, title=title))


def judged(reported: dict[str, Any], *results: Result, **more: Any) -> ReportedAnomaly:
    """What becomes of one anomaly of an analysis of MySQL 8.0.34."""
    base = {"kind": "isolation", "level": LEVEL, "seen": ["lost-update"], "nodes": "one", "expected": "none", "tried_on": [SERVER]}
    file = {"format": "1.0", "analysis": "x", "title": "X", "source": "https://jepsen.io/analyses/x", "year": 2020, "store": "mysql"}
    text = {**file, "versions": ["8.0.34"], "reported": [reported.get("whole") or base | reported], **more}
    (found,) = judge_claims([], results, SHIPPED, [Analysis.model_validate(text)]).anomalies
    return found


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ("MySQL 8.0.34", AnomalyVerdict.REPRODUCED),
        ("MySQL 8.0.34-2", AnomalyVerdict.REPRODUCED),
        ("MySQL 8.0.3", AnomalyVerdict.STILL_SO),
        ("MySQL 9.7.4-2", AnomalyVerdict.STILL_SO),
    ],
)
def test_an_anomaly_is_reproduced_in_its_own_version_and_still_so_in_another(version: str, verdict: AnomalyVerdict) -> None:
    """One mix that shows it is enough, and the earliest says after how many commits."""
    cases = (case(), case(seen("lost-update", after=9), mix="many-keys"), case(seen("lost-update"), mix="predicates"))
    found = judged({}, run(*cases, version=version))
    assert (found.verdict, found.reason, found.command) == (verdict, "", "")
    assert [each.seen for each in found.tried] == ["first after 9 commits"]


def test_another_store_never_reproduces_it() -> None:
    """Although its version has the same number."""
    other = run(case(seen("lost-update")), name="mariadb:innodb-flush-1", version="MariaDB 8.0.34", title="MariaDB")
    assert judged({"tried_on": [SERVER, "mariadb:innodb-flush-1"]}, other).verdict is AnomalyVerdict.STILL_SO


def test_where_it_was_not_seen_the_number_of_transactions_is_given() -> None:
    """Of all mixes at that level alone; and one run in which it was seen counts more than any number of others."""
    without = run(case(), case(mix="many-keys"), case(seen("lost-update"), level="read_committed"))
    found = judged({}, without)
    assert (found.verdict, [each.number for each in found.tried]) == (AnomalyVerdict.NOT_SEEN, [800])
    found = judged({}, without, run(case(seen("lost-update"))))
    assert (found.verdict, [each.number for each in found.tried]) == (AnomalyVerdict.STILL_SO, [400])


@pytest.mark.parametrize(
    ("kind", "order", "there"),
    [
        ("G-nonadjacent", "item", seen("G-single")),
        ("G2", "item", seen("G2-item")),
        ("G-single", "realtime", seen("G-single")),
        ("G-single", "realtime", seen("G-single", "process")),
    ],
)
def test_a_case_in_which_another_anomaly_hides_it_says_nothing(kind: str, order: str, there: AnomalySeen) -> None:
    """It is not looked for there, so that its absence is no evidence, be it with a bound."""
    found = judged({"seen": [kind], "order": order}, run(case(there)))
    assert (found.verdict, found.reason) == (
        AnomalyVerdict.CANNOT_SAY,
        "mysql:innodb: it is not looked for beside the anomalies that were seen",
    )
    found = judged({"seen": [kind], "order": order}, run(case(there), case(mix="many-keys")))
    assert (found.verdict, found.tried[0].number) == (AnomalyVerdict.NOT_SEEN, 400)


def test_an_anomaly_in_the_order_of_time_is_another_one() -> None:
    """A stale read is no read skew by reads and writes alone."""
    assert judged({}, run(case(seen("lost-update", "realtime")))).verdict is AnomalyVerdict.CANNOT_SAY
    found = judged({"order": "realtime"}, run(case(seen("lost-update", "realtime"))))
    assert (found.verdict, found.anomaly) == (AnomalyVerdict.STILL_SO, "lost update by real time")


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([], "not tried in these results on mysql:innodb"),
        ([case(outcome=Outcome.EXCLUDED)], "not tried in these results on mysql:innodb"),
        ([case(outcome=Outcome.INCONCLUSIVE)], "mysql:innodb: inconclusive: a sentence"),
        ([case().model_copy(update={"isolation": None, "outcome": Outcome.UNSUPPORTED})], "mysql:innodb: unsupported: a sentence"),
    ],
    ids=["no-case", "excluded", "inconclusive", "level-not-offered"],
)
def test_what_was_not_tried_has_its_reason_and_the_command(cases: list[OutcomeRecord], reason: str) -> None:
    """Too few contended transactions, or a level that the store does not have, are no evidence of absence."""
    found = judged({}, run(*cases))
    assert (found.verdict, found.reason, found.tried) == (AnomalyVerdict.CANNOT_SAY, reason, [])
    assert found.command == "pytest suites/ --store=mysql:innodb --scale=standard -k transactions.isolation/repeatable_read/"


def test_what_no_case_tries_has_a_reason_and_no_command() -> None:
    """Of the analysis's file, or that there is no store; whatever was seen at that level on another store."""
    found = judged({"tried_on": [], "untried": "it needs a failover"}, run(case(seen("lost-update"))))
    assert (found.verdict, found.reason, found.command) == (AnomalyVerdict.CANNOT_SAY, "it needs a failover", "")
    found = judged({"tried_on": []}, run(case(seen("lost-update"))), store="nosuch")
    assert (found.verdict, found.reason, found.command) == (AnomalyVerdict.CANNOT_SAY, "there is no store file nosuch", "")
    other = {
        "kind": "other",
        "what": "Two clients hold one lock",
        "nodes": "several",
        "expected": "one does",
        "untried": "no case takes locks",
    }
    assert judged({"whole": other}).anomaly == "Two clients hold one lock"


LOSS = {"kind": "durability", "nodes": "one", "expected": "all", "after": ["process_crash"], "tried_on": ["redis:aof-always"]}


def test_a_lost_write_is_seen_and_rounds_without_one_are_counted() -> None:
    """Of the faults that are like those of the analysis."""
    lost = result(store("redis:aof-always", lost=True))
    found = judged({"whole": LOSS}, lost)
    assert (found.verdict, found.tried[0].seen) == (AnomalyVerdict.STILL_SO, "9 of 15,840 after process_crash, in 1 of 20 rounds")
    found = judged({"whole": LOSS}, result(store("redis:aof-always", lost=False)))
    assert (found.verdict, found.tried[0].number) == (AnomalyVerdict.NOT_SEEN, 20)
    assert judged({"whole": {**LOSS, "after": ["power_loss"]}}, lost).verdict is AnomalyVerdict.CANNOT_SAY


def test_each_anomaly_of_one_report_has_a_verdict() -> None:
    """One may be seen and another not."""
    text = {
        "format": "1.0", "analysis": "x", "title": "X", "source": "https://jepsen.io/analyses/x", "year": 2020, "store": "mysql",
        "versions": ["1"], "reported": [
            {"kind": "isolation", "level": LEVEL, "seen": ["lost-update", "G1a"], "nodes": "one", "expected": "none", "tried_on": [SERVER]}
        ],
    }  # fmt: skip
    found = judge_claims([], [run(case(seen("lost-update")))], SHIPPED, [Analysis.model_validate(text)])
    assert [each.verdict for each in found.anomalies] == [AnomalyVerdict.STILL_SO, AnomalyVerdict.NOT_SEEN]
    assert found.answer_on_anomalies == "Of Jepsen's 2 anomalies: 0 reproduced, 1 still so, 1 not seen, 0 cannot say."
