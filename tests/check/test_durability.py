"""The check of one key, on histories written by hand: what it must call a loss, and what it must let pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from storeproof.check import Anomaly, judge_key
from storeproof.history import ABSENT, Observation
from tests.check.histories import history

TORN = Observation("torn")
INVENTED = Observation("invented")


def whole(write_id: str) -> Observation:
    """A record that one write made."""
    return Observation("whole", write_id)


def test_an_acknowledged_put_that_is_there_is_kept() -> None:
    """The plainest promise, kept."""
    assert judge_key(history("put a |--ok|"), whole("a")).anomaly is Anomaly.OK


def test_an_acknowledged_put_that_is_absent_is_lost() -> None:
    """The plainest promise, broken."""
    finding = judge_key(history("put a |--ok|"), ABSENT)
    assert finding.anomaly is Anomaly.LOST
    assert [each.write_id for each in finding.missing] == ["a"]


def test_an_unknown_put_may_be_there_or_not() -> None:
    """No client knows whether it happened."""
    writes = history("put a |--?")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK


def test_a_refused_put_must_not_be_there() -> None:
    """`refused` says that it definitely did not happen: its record is one that no client wrote."""
    writes = history("put a |--no|")
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    assert judge_key(writes, whole("a")).anomaly is Anomaly.INVENTED


def test_a_refused_delete_takes_nothing_away() -> None:
    """Absence after it is the loss of the put."""
    assert judge_key(history("put a |-ok|", "             del |-no|"), ABSENT).anomaly is Anomaly.LOST


def test_a_delete_that_found_nothing_promises_nothing() -> None:
    """It saw another client's delete, which was not acknowledged and may be gone. Absence is no loss either: it may be the answer to a
    request that was sent twice."""
    put, seen = history("put a |-ok|", "             del |-ok|")
    writes = [put, replace(seen, answer=False)]
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    assert judge_key([put, replace(seen, answer=True)], whole("a")).anomaly is Anomaly.RESURRECTED
    later = [*writes, *history("put b                     |-ok|")]
    assert judge_key(later, whole("a")).anomaly is Anomaly.REVERTED
    assert judge_key(later, ABSENT).anomaly is Anomaly.LOST


def test_the_older_of_two_puts_in_sequence_is_a_reverted_update() -> None:
    """put a; then put b; a is seen: b, though acknowledged, is gone."""
    writes = history("put a |-ok|", "             put b |-ok|")
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK
    finding = judge_key(writes, whole("a"))
    assert finding.anomaly is Anomaly.REVERTED
    assert [each.write_id for each in finding.missing] == ["b"]
    assert finding.survivor is not None
    assert finding.survivor.write_id == "a"


def test_of_two_overlapping_puts_either_may_be_the_last() -> None:
    """Inside the store either can have come second, whichever was answered first."""
    writes = history("put a |------ok|", "   put b |-ok|")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK
    assert judge_key(writes, ABSENT).anomaly is Anomaly.LOST


def test_overlap_does_not_pass_on() -> None:
    """a overlaps b and b overlaps c, but c began after a had ended: a is out."""
    writes = history("put a |-ok|", "       put b |-------ok|", "              put c |-ok|")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.REVERTED
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK
    assert judge_key(writes, whole("c")).anomaly is Anomaly.OK


def test_an_unknown_put_after_an_acknowledged_one_leaves_both_open_but_not_absence() -> None:
    """The second may not have happened; the first was promised."""
    writes = history("put a |-ok|", "             put b |-?")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK
    assert judge_key(writes, ABSENT).anomaly is Anomaly.LOST


def test_an_unknown_put_may_take_effect_after_a_later_acknowledged_one() -> None:
    """Its request may have slept in a queue of the store; the client only knows that it sent it."""
    assert judge_key(history("put a |-?", "             put b |-ok|"), whole("a")).anomaly is Anomaly.OK


def test_an_acknowledged_delete_that_is_undone_is_a_resurrection() -> None:
    """put a; then delete; a is seen."""
    writes = history("put a |-ok|", "             del |-ok|")
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    finding = judge_key(writes, whole("a"))
    assert finding.anomaly is Anomaly.RESURRECTED
    assert [each.action for each in finding.missing] == ["delete"]


def test_every_older_value_behind_a_delete_is_a_resurrection() -> None:
    """put a; put b; delete: whether a or b is seen, the key should not be there at all."""
    writes = history("put a |-ok|", "             put b |-ok|", "                          del |-ok|")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.RESURRECTED
    assert judge_key(writes, whole("b")).anomaly is Anomaly.RESURRECTED


def test_an_old_value_from_before_a_delete_is_reverted_if_a_newer_one_ought_to_be_there() -> None:
    """put a; delete; put b; a is seen: a value is right, this one is not."""
    writes = history("put a |-ok|", "             del |-ok|", "                          put b |-ok|")
    assert judge_key(writes, whole("a")).anomaly is Anomaly.REVERTED
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK


def test_absence_from_before_the_newest_put_loses_that_put_alone() -> None:
    """put a; delete; put b; absent: the state after the delete, so b is missing and a is not."""
    finding = judge_key(history("put a |-ok|", "             del |-ok|", "                          put b |-ok|"), ABSENT)
    assert finding.anomaly is Anomaly.LOST
    assert [each.write_id for each in finding.missing] == ["b"]


def test_absence_of_a_key_that_was_never_deleted_loses_every_put() -> None:
    """put a; put b; absent: the state is from before both."""
    finding = judge_key(history("put a |-ok|", "             put b |-ok|"), ABSENT)
    assert [each.write_id for each in finding.missing] == ["a", "b"]


def test_a_delete_that_overlaps_a_put_may_come_before_or_after_it() -> None:
    """Both states are right."""
    writes = history("put a |------ok|", "   del |-ok|")
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK


def test_an_unknown_delete_may_take_effect_late() -> None:
    """Sent before the put, carried out after it: absence is no loss."""
    writes = history("del |-?", "             put a |-ok|")
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    assert judge_key(writes, whole("a")).anomaly is Anomaly.OK


def test_a_delete_before_the_put_explains_nothing() -> None:
    """delete; then put a; absent: the delete was over when the put began."""
    assert judge_key(history("del |-ok|", "           put a |-ok|"), ABSENT).anomaly is Anomaly.LOST


def test_a_resurrection_stays_one_beside_an_unknown_put() -> None:
    """put a; delete; put b without a reply: b and absence are right, a is not, whatever became of b."""
    writes = history("put a |-ok|", "             del |-ok|", "                          put b |-?")
    assert judge_key(writes, ABSENT).anomaly is Anomaly.OK
    assert judge_key(writes, whole("b")).anomaly is Anomaly.OK
    assert judge_key(writes, whole("a")).anomaly is Anomaly.RESURRECTED


def test_a_key_that_was_only_deleted_is_rightly_absent() -> None:
    """It was absent before, too."""
    assert judge_key(history("del |-ok|"), ABSENT).anomaly is Anomaly.OK


def test_a_write_id_that_no_client_wrote_here_is_invented() -> None:
    """A record of another key, or of no key at all."""
    assert judge_key(history("put a |-ok|"), whole("z")).anomaly is Anomaly.INVENTED
    assert judge_key(history("del |-ok|"), whole("a")).anomaly is Anomaly.INVENTED


def test_what_no_write_can_have_made_is_invented() -> None:
    """As the record itself says."""
    assert judge_key(history("put a |-?"), INVENTED).anomaly is Anomaly.INVENTED


def test_a_torn_record_is_torn_even_if_nothing_was_acknowledged() -> None:
    """An unknown write may be there or not, but whole."""
    assert judge_key(history("put a |-?"), TORN).anomaly is Anomaly.TORN


def test_the_very_same_moment_counts_as_overlap() -> None:
    """A reply and a request within one tick of the clock cannot be told apart: the benefit of the doubt goes to the store."""
    first, second = history("put a |-ok|", "   put b |-ok|")
    touching = replace(second, invoked=first.completed or 0)
    assert judge_key([first, touching], whole("a")).anomaly is Anomaly.OK


def test_the_order_of_the_list_does_not_matter() -> None:
    """Logs of several clients are merged in no particular order."""
    writes = history("put a |-ok|", "             put b |-ok|", "                          del |-ok|")
    assert {judge_key(some, whole("a")).anomaly for some in (writes, writes[::-1], [writes[1], writes[2], writes[0]])} == {
        Anomaly.RESURRECTED
    }


def test_a_finding_names_key_sight_and_the_acknowledged_write() -> None:
    """The message is what a vendor works from."""
    text = str(judge_key(history("put a |-ok|"), ABSENT))
    assert text == "single_key['k'] lost: found absent; last acknowledged: put single_key['k'] a by client 0: ok"


def test_operations_of_two_keys_or_none_are_an_error_of_the_caller() -> None:
    """A verdict on them would mean nothing."""
    with pytest.raises(ValueError, match="found 2 keys"):
        judge_key(history("put a |-ok|") + history("put b |-ok|", key="other"), ABSENT)
    with pytest.raises(ValueError, match="found 0 keys"):
        judge_key([], ABSENT)


def test_increments_are_not_judged_as_a_register() -> None:
    """They do not replace what was there."""
    with pytest.raises(ValueError, match="counters have a check of their own"):
        judge_key(history("add +1 |-ok|"), ABSENT)
