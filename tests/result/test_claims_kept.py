"""Claims that a store keeps its writes, held against what faults left."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.result.claims import ClaimVerdict
from tests.result.claimed import judged, result, store

KEEPS = {"keeps": {"store": "redis", "variant": "aof-always", "guarantee": "process_crash"}}


def test_a_store_that_lost_nothing_keeps_what_it_is_said_to_keep() -> None:
    """With the number of writes and faults, and what that many faults can show."""
    found = judged(KEEPS, result(store("redis:aof-always", lost=False, proven="process_crash")))
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert found.kept == "of 15,840 acknowledged writes in 20 faults (process_crash): none lost; at most 45 % of such faults lose one"


def test_one_lost_write_in_one_run_refutes_it() -> None:
    """Whatever another run with more faults kept."""
    kept = result(store("redis:aof-always", lost=False, proven="process_crash", faults=100))
    lost = result(store("redis:aof-always", lost=True, proven="clean_restart"), run="r2")
    for results in ((kept, lost), (lost, kept)):
        found = judged(KEEPS, *results)
        assert found.verdict is ClaimVerdict.REFUTED
        assert found.kept == "9 of 15,840 acknowledged writes lost (records: 7 lost, 1 torn) in 20 faults (process_crash)"


def test_a_store_that_does_not_come_back_keeps_nothing() -> None:
    """Although no single write can be counted as lost."""
    run = result(store("redis:aof-always", lost=False, proven=None))
    (fault,) = run.stores[0].durability.guarantees
    fault = fault.model_copy(update={"outcome": Outcome.FAIL})
    durability = run.stores[0].durability.model_copy(update={"guarantees": [fault]})
    run = run.model_copy(update={"stores": [run.stores[0].model_copy(update={"durability": durability})]})
    found = judged(KEEPS, run)
    assert found.verdict is ClaimVerdict.REFUTED
    assert found.kept == "the store did not come back with its 15,840 acknowledged writes in 20 faults (process_crash)"


def test_a_loss_on_a_lower_rung_refutes_it_too_and_one_on_a_higher_does_not() -> None:
    """Who loses writes in a crash does not keep them in a power cut."""
    lost = result(store("redis:aof-always", lost=True, proven="clean_restart"))
    assert judged({"keeps": {**KEEPS["keeps"], "guarantee": "power_loss"}}, lost).verdict is ClaimVerdict.REFUTED
    found = judged({"keeps": {**KEEPS["keeps"], "guarantee": "clean_restart"}}, lost)
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, "not measured: no fault struck redis:aof-always")


def test_where_no_fault_struck_it_cannot_be_said() -> None:
    """With the command; and a fault that decided nothing is no proof."""
    found = judged(KEEPS, result(store("redis:aof-always")))
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, "not measured: no fault struck redis:aof-always")
    assert found.command == "pytest suites/ --store=redis:aof-always --scale=standard -k test_guarantee"
    found = judged(KEEPS, result(store("redis:aof-always", lost=False, proven=None)))
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, "process_crash was tried, and neither held nor failed")
