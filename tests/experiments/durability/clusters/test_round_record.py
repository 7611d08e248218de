"""What a result keeps of a round on a cluster, by handwritten histories: who acknowledged what, in which phase, and what became of it."""

from __future__ import annotations

from typing import Any

from storeproof.check import Anomaly, Finding
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Moments, Roles, WriteFates, record_of
from storeproof.history import Operation
from storeproof.result.measured.cluster_round import ClusterRoundRecord, NodeSpan, SetAside, shown_rounds, with_one_course

MS = 1_000_000
MOMENTS = Moments(began=1000 * MS, strike=1900 * MS, struck=2000 * MS, failed_over=3500 * MS, healed=5000 * MS, ended=7000 * MS)
ROLES = Roles(("n1", "n2", "n3"), struck="n1", successor="n2", primary="n2")
TIED, FOLLOWING, NEXT = 0, 1, 2


def connections() -> Connections:
    """One client is tied to n1, one followed it, and one went on at n2."""
    found = Connections()
    found.opened(TIED, 900 * MS, "n1")
    found.opened(FOLLOWING, 900 * MS, "n1")
    found.opened(NEXT, 3600 * MS, "n2")
    return found


def put(client: int, key: str, at: int, took: int | None = 10, **more: Any) -> Operation:
    """One put, in milliseconds; without a time that it took it is unknown."""
    return Operation(
        client=client,
        action=more.pop("action", "put"),
        collection="c",
        key=key,
        invoked=at * MS,
        completed=None if took is None else (at + took) * MS,
        outcome=more.pop("outcome", "ok" if took is not None else "unknown"),
        write_id=f"{client}:{at}",
        **more,
    )


def found(write: Operation) -> Finding:
    """It was read in the end."""
    return Finding("c", write.key, Anomaly.OK, "whole", survivor=write)


def lost(*writes: Operation) -> Finding:
    """The key is absent."""
    return Finding("c", writes[0].key, Anomaly.LOST, "absent", missing=writes)


def recorded(*operations: Operation, findings: list[Finding], moments: Moments = MOMENTS) -> ClusterRoundRecord:
    """The record of an isolated n1."""
    aside = [SetAside(node="n1", files=1, bytes=100, records=2)]
    node_of = connections().node_of
    return record_of("isolate_primary", ROLES, moments, operations, WriteFates(findings), node_of=node_of, set_aside=aside)


def span(record: ClusterRoundRecord, node: str, phase: str) -> NodeSpan:
    """The only one of a node and a phase."""
    (one,) = [each for each in record.spans if (each.node, each.phase) == (node, phase)]
    return one


def test_an_acknowledgement_counts_where_and_when_it_was_given() -> None:
    """By the node of the client's connection; one that was sent before the fault and answered after it is of the time after it."""
    before, across, during = put(FOLLOWING, "a", 1500), put(TIED, "b", 1895), put(TIED, "c", 4000)
    late, new = put(TIED, "d", 4995), put(NEXT, "e", 4000)
    record = recorded(before, across, during, late, new, findings=[found(before), lost(across), lost(during), lost(late), found(new)])
    assert [(each.node, each.phase, each.acknowledged, each.found, each.lost) for each in record.spans] == [
        ("n1", "before", 1, 1, 0),
        ("n1", "during", 2, 0, 2),
        ("n1", "after", 1, 0, 1),
        ("n2", "during", 1, 1, 0),
    ]
    assert (record.acknowledged, record.lost) == (5, 3)
    assert span(record, "n1", "during").last_second == 2.01
    assert (record.began_second, record.strike_second, record.failover_second) == (-1.0, -0.1, 1.5)
    assert (record.healed_second, record.ended_second) == (3.0, 5.0)
    assert record.set_aside[0].records == 2


def test_what_had_no_acknowledgement_counts_when_it_was_sent() -> None:
    """Unknown and refused ones are told apart, and neither is lost."""
    open_, refused = put(TIED, "a", 1800, None), put(TIED, "a", 2500, 1, outcome="refused")
    record = recorded(open_, refused, findings=[])
    assert [(each.phase, each.acknowledged, each.unknown, each.refused) for each in record.spans] == [
        ("before", 0, 1, 0),
        ("during", 0, 0, 1),
    ]
    assert span(record, "n1", "during").last_second is None
    assert record.course == []


def test_what_a_later_write_replaced_is_neither_found_nor_lost() -> None:
    """It left no trace. Of a counter that is right all increments are there; of one that is wrong it is not known which."""
    replaced, last = put(TIED, "a", 1000), put(TIED, "a", 1100)
    right, wrong = put(TIED, "r", 1000, action="increment", amount=1), put(TIED, "w", 1000, action="increment", amount=1)
    counters = [Finding("c", "r", Anomaly.OK, "1"), Finding("c", "w", Anomaly.MISCOUNTED, "7")]
    record = recorded(replaced, last, right, wrong, findings=[found(last), *counters])
    one = span(record, "n1", "before")
    assert (one.acknowledged, one.found, one.lost) == (4, 2, 0)


def test_the_last_look_decides_what_is_found_and_every_look_what_is_lost() -> None:
    """Without the lost node it was there; once the node was back it was not."""
    write = put(TIED, "a", 1000)
    one = span(recorded(write, findings=[found(write), lost(write)]), "n1", "before")
    assert (one.found, one.lost) == (0, 1)
    one = span(recorded(write, findings=[lost(write), found(write)]), "n1", "before")
    assert (one.found, one.lost) == (0, 1)


def test_a_damaged_record_does_not_show_what_is_missing() -> None:
    """As for the losses of the verdict."""
    write = put(TIED, "a", 1000)
    one = span(recorded(write, findings=[Finding("c", "a", Anomaly.TORN, "torn", missing=(write,))]), "n1", "before")
    assert (one.found, one.lost) == (0, 0)


def test_other_rounds_and_other_clients_do_not_count() -> None:
    """Writes of the round before, of the trial after the audit, and of a client that is not under the fault."""
    record = recorded(put(TIED, "a", 500), put(TIED, "b", 7100), put(9, "c", 4000), findings=[])
    assert record.spans == []


def test_a_client_that_connects_again_may_write_at_another_node() -> None:
    """An operation is that of the connection before it."""
    known = connections()
    known.opened(FOLLOWING, 4000 * MS, "n3")
    assert known.node_of(put(FOLLOWING, "a", 3999)) == "n1"
    assert known.node_of(put(FOLLOWING, "a", 4001)) == "n3"
    assert known.node_of(put(FOLLOWING, "a", 800)) is None


def test_the_course_has_fifths_of_a_second_from_the_first_to_the_last() -> None:
    """Counted from the fault: none is of both sides of it. Its sums are those of the spans."""
    writes = [put(TIED, "a", 1785), put(TIED, "b", 1980), put(TIED, "c", 1995), put(TIED, "d", 2700)]
    record = recorded(*writes, findings=[found(writes[0]), lost(writes[2]), lost(writes[3])])
    (course,) = record.course
    assert (course.node, course.first) == ("n1", -2)
    assert course.acknowledged == [1, 1, 1, 0, 0, 1]
    assert course.found == [1, 0, 0, 0, 0, 0]
    assert course.lost == [0, 0, 1, 0, 0, 1]
    for name in ("acknowledged", "found", "lost"):
        assert sum(getattr(course, name)) == sum(getattr(each, name) for each in record.spans)


def test_a_fault_that_never_ended_under_load_has_no_phase_after_it() -> None:
    """The node was lost; it comes back when no client writes."""
    moments = Moments(began=1000 * MS, strike=1900 * MS, struck=2000 * MS, failed_over=None, healed=None, ended=7000 * MS)
    record = recorded(put(TIED, "a", 6000), findings=[], moments=moments)
    assert [each.phase for each in record.spans] == ["during"]
    assert (record.failover_second, record.healed_second) == (None, None)


def test_one_round_of_each_fault_keeps_its_course() -> None:
    """The first of those that lost most; where none lost anything, the first."""

    def made(fault: str, missing: int) -> ClusterRoundRecord:
        writes = [put(TIED, str(number), 4000 + number) for number in range(3)]
        record = recorded(*writes, findings=[lost(each) for each in writes[:missing]])
        return record.model_copy(update={"fault": fault})

    rounds = [made("x", 0), made("y", 0), made("x", 2), made("y", 0), made("x", 2), made("x", 1)]
    assert [bool(each.course) for each in with_one_course(rounds)] == [False, True, True, False, False, False]
    assert shown_rounds(with_one_course(rounds)) == [rounds[2], rounds[1]]
