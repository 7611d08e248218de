"""Forgeries of the histories, and of what the result says that they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from storeproof.conformance.reasons import Reason
from storeproof.evidence import EVIDENCE, AuditEvidence, StoreEvidence
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.replay import replay
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.history import ABSENT, Observation, Place, Reach, by_place
from storeproof.outcome import Outcome
from storeproof.result.model import Harm
from tests.conformance.forging import (
    Forge,
    Forgery,
    Json,
    of_case,
    rounds_of,
    with_evidence,
    with_parts,
    with_result,
    with_store,
    with_stores,
)

CRASH = "durability.process_crash"
RESTART = "durability.clean_restart"


def guarantee_of(store: Json, case: str) -> Json:
    """The record of a guarantee."""
    return next(each for each in store["durability"]["guarantees"] if f"durability.{each['guarantee']}" == case)


def struck(stores: list[StoreEvidence], case: str) -> StoreEvidence:
    """The history of a case."""
    (found,) = [each for each in stores if each.case == case]
    return found


def audit_of(store: StoreEvidence, number: int) -> AuditEvidence:
    """What was read back in a round."""
    found = store.rounds[number].audit
    assert found is not None
    return found


def kept(store: StoreEvidence, number: int) -> Place:
    """A record that was written once, alone and acknowledged, and read back whole in a round."""
    operations = by_place(store.operations)
    parts = Counter(each.write_id for each in store.operations)
    return next(
        place
        for place, each in audit_of(store, number).seen.items()
        if isinstance(each, Observation)
        and each.sight == "whole"
        and [one.outcome for one in operations[place]] == ["ok"]
        and parts[each.write_id] == 1
    )


def lose(stores: list[StoreEvidence]) -> Place:
    """The true history of a store that lost a write: one that the forger would have to hide."""
    store = struck(stores, CRASH)
    place, audit = kept(store, 1), audit_of(store, 1)
    store.rounds[1].audit = replace(audit, seen={**audit.seen, place: ABSENT})
    read_no_more(store, place)
    return place


def read_no_more(store: StoreEvidence, place: Place) -> None:
    """A key that was harmed in the second round is not read in later ones."""
    for number in range(2, len(store.rounds)):
        later = audit_of(store, number)
        store.rounds[number].audit = replace(later, seen={key: each for key, each in later.seen.items() if key != place})


def leave_out(stores: list[StoreEvidence]) -> None:
    """The lost key is not in any audit."""
    place = lose(stores)
    store = struck(stores, CRASH)
    audit = audit_of(store, 1)
    store.rounds[1].audit = replace(audit, seen={key: each for key, each in audit.seen.items() if key != place})


def unacknowledge(stores: list[StoreEvidence]) -> None:
    """The record that is there was refused: a forger mixes up what to hide."""
    store = struck(stores, CRASH)
    place = kept(store, 1)
    store.operations[:] = [replace(each, outcome="refused") if each.place == place else each for each in store.operations]
    read_no_more(store, place)


def drop_round(stores: list[StoreEvidence]) -> None:
    struck(stores, CRASH).rounds.pop()


def repeat_round(stores: list[StoreEvidence]) -> None:
    rounds = struck(stores, CRASH).rounds
    rounds[-1] = replace(rounds[0])


def strike_at_no_time(stores: list[StoreEvidence]) -> None:
    """A fault since the beginning of time: without its disk a store acknowledges nothing."""
    struck(stores, CRASH).rounds[2].struck = 0


def copy_history(stores: list[StoreEvidence]) -> None:
    """The harmless restarts stand for the kills."""
    crash, restart = struck(stores, CRASH), struck(stores, RESTART)
    crash.rounds[:], crash.operations[:] = restart.rounds, restart.operations


def last_audit_of_new_keys(stores: list[StoreEvidence]) -> None:
    """What an earlier round wrote is not read again after the last fault."""
    store = struck(stores, CRASH)
    judge = RoundJudge(DurabilitySummary(), cuts_off=store.cuts_off)
    *others, last = store.rounds
    for each in others:
        assert each.audit is not None
        judge.begin(each)
        judge.came_back(each, lambda: store.operations)
        judge.audited(judge.history(store.operations, each.audit.moment), each.audit, each)
        judge.end(each)
    assert last.audit is not None
    due = judge.due(judge.history(store.operations, last.audit.moment), everything=False)
    assert len(due) < len(last.audit.seen)
    last.audit = replace(last.audit, everything=False, seen={place: last.audit.seen[place] for place in due})


def keep_elsewhere(stores: list[StoreEvidence]) -> None:
    """Nothing of what was written was in the files that the fault struck."""
    each = struck(stores, CRASH).rounds[-1]
    each.reach = Reach(0, ())


def write_elsewhere(stores: list[StoreEvidence]) -> None:
    each = struck(stores, CRASH).rounds[-1]
    assert each.reach is not None
    each.reach = Reach(each.reach.written, ("/var/lib/elsewhere.db",))


def hide_reach(stores: list[StoreEvidence]) -> None:
    """As releases wrote it that did not look."""
    struck(stores, CRASH).rounds[-1].reach = None


def as_judged(store: Json, stores: list[StoreEvidence]) -> None:
    """What a careful forger does: every sum of the result follows from the changed histories."""
    found = guarantee_of(store, CRASH)
    summary = DurabilitySummary()
    replay(struck(stores, CRASH), summary)
    made = summary.record("process_crash", Outcome.PASS, found["detail"]).model_dump(mode="json")
    found |= {name: value for name, value in made.items() if name not in ("outcome", "power_cut_method", "spoiled")}
    for name in Harm.model_fields:
        store["durability"][name] = sum(each[name] for each in store["durability"]["guarantees"])


def _record(**fields: Any) -> Forge:
    return with_store(lambda store: guarantee_of(store, CRASH).update(fields))


def _in(case: str, **fields: Any) -> Callable[[list[Json]], object]:
    """Other fields in the line that begins a case."""
    return lambda lines: of_case(lines, case)[0].update(fields)


def _power_loss(store: Json) -> None:
    """A guarantee that no fault tested, out of one that was."""
    found = guarantee_of(store, CRASH)
    store["durability"]["guarantees"].append(found | {"guarantee": "power_loss"})


def _partition(store: Json) -> None:
    """A guarantee of a cluster, whose rounds cannot be judged again."""
    others = [each for each in store["durability"]["guarantees"] if each["guarantee"] != "partition"]
    store["durability"]["guarantees"] = [*others, guarantee_of(store, CRASH) | {"guarantee": "partition"}]


def _proven(store: Json) -> None:
    store["durability"]["proven"] = "power_loss"


def _no_evidence(parts: dict[str, bytes]) -> None:
    del parts[EVIDENCE]


def _many(lines: list[Json]) -> None:
    """As many operations as no store is judged by."""
    number = 150_001
    columns = {"client": [0], "key": [0], "after": [1], "took": [1], "write": [""], "amount": [0], "action": "d", "outcome": "o"}
    next(line for line in of_case(lines, CRASH) if line["line"] == "operations").update(
        {name: each * number for name, each in columns.items()}
    )


EVIDENCES = (
    Forgery(
        "no histories", "the result still has their hash", with_parts(_no_evidence), Reason.EVIDENCE, "in the result and not in the bundle"
    ),
    Forgery(
        "histories forgotten",
        "neither the bundle nor the result has them",
        with_result(lambda result: result["run"].update(evidence=None)),
        Reason.EVIDENCE,
        "in the bundle and not in the result",
    ),
    Forgery(
        "histories of another run",
        "a run that lost nothing",
        with_evidence(lambda lines: lines[0].update(run="0123456789ab")),
        Reason.EVIDENCE,
        "it is of the run '0123456789ab'",
    ),
    Forgery(
        "another store's history",
        "of a store that lost nothing",
        with_evidence(_in(CRASH, target="redis:aof-always")),
        Reason.SEED,
        "are of redis:aof-always",
    ),
    Forgery(
        "another kind of fault",
        "what a store answered without its disk is unknown",
        with_evidence(_in(CRASH, cuts_off=True)),
        Reason.EVIDENCE,
        "are not of the fault that tests it",
    ),
    Forgery(
        "another fault's history",
        "the same restarts, called kills",
        with_stores(copy_history),
        Reason.EVIDENCE,
        "are those of another store once more",
    ),
    Forgery(
        "replayed seed",
        "histories of a seed that suited",
        with_evidence(_in(CRASH, seed="7 sqlite:wal-full process_crash 0")),
        Reason.SEED,
        "'7 sqlite:wal-full",
    ),
    Forgery(
        "another seed",
        "in the result and the command",
        with_result(lambda result: result["run"].update(seed=2)),
        Reason.SEED,
        "has the seed 1",
    ),
    Forgery(
        "verdict flipped",
        "a write was lost, and the result says nothing",
        with_stores(lambda stores: lose(stores)),
        Reason.DURABILITY,
        "faults_with_loss is 0",
    ),
    Forgery(
        "verdict flipped with sums",
        "the loss is counted, and passes",
        with_stores(lambda stores: lose(stores), as_judged),
        Reason.DURABILITY,
        "is pass in the result, and fail",
    ),
    Forgery(
        "lost key left out",
        "the audit did not read it",
        with_stores(leave_out, lambda *_: None),
        Reason.EVIDENCE,
        "keys were to be read back and were not",
    ),
    Forgery("acknowledgement erased", "a write was refused after all", with_stores(unacknowledge), Reason.DURABILITY, "process_crash: "),
    Forgery("round dropped", "from the histories", with_stores(drop_round), Reason.DURABILITY, "rounds is 5 in the result, and 4"),
    Forgery("round dropped everywhere", "from histories and sums", with_stores(drop_round, as_judged), Reason.ROUNDS, "was struck 4 times"),
    Forgery(
        "round repeated", "a good one in place of a bad one", with_stores(repeat_round), Reason.EVIDENCE, "times that are not in order"
    ),
    Forgery("fault at no time", "before all writes", with_stores(strike_at_no_time), Reason.EVIDENCE, "times that are not in order"),
    Forgery(
        "last audit cut short",
        "old keys are not read again",
        with_stores(last_audit_of_new_keys, as_judged),
        Reason.ROUNDS,
        "did not read the keys of all rounds",
    ),
    Forgery("files elsewhere", "and the histories say so", with_stores(write_elsewhere), Reason.DURABILITY, "rounds is 5"),
    Forgery(
        "an empty data directory", "with every sum to match", with_stores(keep_elsewhere, as_judged), Reason.DURABILITY, "and error by"
    ),
    Forgery(
        "no look at the files", "as in older releases", with_stores(hide_reach), Reason.EVIDENCE, "does not show that its fault struck"
    ),
    Forgery("too many operations", "to exhaust the reader", with_evidence(_many), Reason.EVIDENCE, "the most that is judged again"),
    Forgery(
        "column cut",
        "one reply is missing",
        with_evidence(lambda lines: next(line for line in lines if line["line"] == "operations")["took"].pop()),
        Reason.EVIDENCE,
        "columns of operations have different lengths",
    ),
    Forgery(
        "faster recovery",
        "in the result",
        with_store(lambda store: guarantee_of(store, CRASH)["recovery_seconds"].__setitem__(0, 0.001)),
        Reason.DURABILITY,
        "recovery_seconds is",
    ),
    Forgery("more faults", "in the result", _record(rounds=50, faults_by_load={"stream": 50}), Reason.DURABILITY, "rounds is 50"),
    Forgery("better bound", "in the result", _record(loss_bound=0.01), Reason.DURABILITY, "loss_bound is 0.01"),
    Forgery("a round without failover", "of one server", _record(without_failover=1), Reason.DURABILITY, "without_failover is 1"),
    Forgery("more was at risk", "in the result", _record(acknowledged=10_000_000), Reason.DURABILITY, "acknowledged is 10000000"),
    Forgery("guarantee invented", "a record without histories", with_store(_power_loss), Reason.DURABILITY, "power_loss: "),
    Forgery("cluster without histories", "a record without histories", with_store(_partition), Reason.DURABILITY, "partition: "),
    Forgery("more is proven", "than the faults show", with_store(_proven), Reason.DURABILITY, "power_loss is proven in the result"),
    Forgery(
        "spoiled round",
        "a bad round is called spoiled",
        with_evidence(lambda lines: rounds_of(lines, CRASH)[-1].update(spoiled=True)),
        Reason.DURABILITY,
        "rounds is 5",
    ),
)
