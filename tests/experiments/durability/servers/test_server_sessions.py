"""What clients see of their own writes through faults of one server in this process: they go on with what they had seen before."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from storeproof.check import judge_sessions
from storeproof.contract import Layout
from storeproof.experiments.durability.workloads.session_clients import MODEL
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.sessions import Sessions
from storeproof.history import Action, Operation, RequestOutcome
from storeproof.outcome import Outcome
from tests.experiments.durability.memory import Session, Store
from tests.experiments.durability.servers.struck_server import ROUNDS, SCALE, Forgetful, strike
from tests.shipped import SHIPPED

LAYOUT = Layout("c_values", SHIPPED.models[MODEL])


class Torn(Store):
    """Comes back with halves of what it had."""

    def recover(self) -> None:
        super().recover()
        for records in self.memory.values():
            for key, record in records.items():
                assert isinstance(record, bytes)
                records[key] = record[: len(record) // 2]


def struck(store: Store, fault: str = "process_kill") -> SessionSummary:
    """All rounds."""
    summary = SessionSummary()
    strike(store, fault, Session, lambda where: Sessions(where, LAYOUT, SCALE, summary))
    return summary


@pytest.mark.parametrize("fault", ["process_kill", "power_cut"])
def test_a_store_that_keeps_what_it_acknowledged_raises_no_alarm(fault: str) -> None:
    """Clients read after the fault, before they write again; what a store answers without its disk counts for nothing."""
    summary = struck(Store(), fault)
    assert (summary.wrong, summary.unexplained) == ([], [])
    assert summary.strikes == {fault: ROUNDS}
    assert summary.reads.keys() == {"only"}
    assert summary.cluster_rounds == []
    assert summary.outcome(claimed=True) is Outcome.PASS


def test_a_store_that_forgets_is_caught() -> None:
    """Own writes are gone, and reads go back."""
    summary = struck(Forgetful())
    assert summary.forgotten["only"] > 0
    assert "which it had written" in summary.detail()
    assert "by the server at -0." in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_a_read_of_what_the_fault_undid_breaks_a_promise_of_durable_reads_alone() -> None:
    """The write was never acknowledged; another client had read it. Of one that was, each store is held to its word."""

    def operation(
        client: int, action: Action, at: int, outcome: RequestOutcome = "ok", write: str = "", answer: str | None = None
    ) -> Operation:
        completed = None if outcome == "unknown" else at + 1
        found = Operation(client=client, action=action, collection=MODEL, key="k", invoked=at, completed=completed, outcome=outcome)
        return replace(found, write_id=write, answer=answer)

    def back(outcome: RequestOutcome) -> list[Operation]:
        read, again = operation(1, "get", 4, answer="0:2"), operation(1, "get", 9, answer="0:1")
        return [operation(0, "put", 1, write="0:1"), operation(0, "put", 3, outcome, "0:2"), read, again]

    for durable, outcome, counted in ((True, "unknown", (1, 0)), (False, "unknown", (0, 1)), (False, "ok", (1, 0))):
        summary = SessionSummary(durable_reads=durable)
        held = summary.held_to({"only": judge_sessions(back(cast(RequestOutcome, outcome)))})
        assert (len(held["only"].back), summary.undone_reads) == counted
        assert ("the store does not claim durable reads" in summary.detail()) is bool(counted[1])


def test_a_record_that_a_fault_has_torn_is_a_loss() -> None:
    """No client made it up: without a claim it breaks no promise."""
    summary = struck(Torn())
    assert summary.unexplained == []
    assert "(torn)" in summary.detail()
    assert (summary.outcome(claimed=True), summary.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)
