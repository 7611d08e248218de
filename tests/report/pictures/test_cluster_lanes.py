"""A round on a cluster is told in a sentence, in a table and in a picture, all from the data in the result."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from storeproof.faults.cluster_fault import ClusterFault
from storeproof.faults.registry import faults
from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.parts.cluster_rounds import WORDS, spans, told
from storeproof.report.parts.first_screen import fault_summary
from storeproof.report.parts.losses import Loss
from storeproof.report.pictures.cluster_lanes import cluster_lanes, cluster_pictures
from storeproof.result.measured.cluster_round import ClusterRoundRecord, FailoverParts, SecondStrike, SetAside, case_rounds
from storeproof.result.model import Result
from tests.report.clusters import ISOLATED, PROMOTED, cluster_round, parts, span
from tests.site.made import fault, result, struck

SVG = "{http://www.w3.org/2000/svg}"
PAUSED = cluster_round("pause_primary", span("n1", "during", 5), span("n1", "after", 4, 0, 4))
WIPED = cluster_round("lagging_node_wipe", span("n1", "during", 900, 0, 875), healed_second=None, strike_second=-1.1)
KILLED = cluster_round("kill_primary", span("n1", "before", 300, 200), span("n1", "during", 1, 0, 1), healed_second=None)
QUIET = cluster_round("isolate_primary", span("n1", "during", 0, unknown=7), span("n2", "during", 300, 200))
SPLIT = cluster_round(
    "split_all", span("n1", "during", 12, 8, last_second=2.0), span("n1", "after", 9, 9), successor=None, failover_second=None, primary="n1"
)
TWICE = cluster_round(
    "second_primary",
    span("n1", "before", 300, 200),
    span("n2", "during", 50, 40, 5),
    span("n1", "during", 9, 9),
    healed_second=5.0,
    primary="n3",
    second_strike=SecondStrike(node="n2", second=3.5, successor="n3", failover_second=4.25),
)
ASIDE = SetAside(node="n1", files=3, bytes=2048, records=899)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            ISOLATED,
            "The old primary n1 went on acknowledging 1,644 writes for 2.1 s after it was isolated: at least 900 of them are lost, and *.",
        ),
        (QUIET, "The old primary n1 acknowledged no write while it was isolated. No acknowledged write of this round is missing."),
        (PAUSED, "The old primary n1, paused for 4 s, acknowledged 4 writes when it went on: all of them are lost."),
        (
            WIPED,
            "While the others lagged behind it, the primary n1 acknowledged 900 writes, and was lost with its data: at least 875 *.",
        ),
        (KILLED, "The primary n1 was killed after it had acknowledged 301 writes: at least 1 of them is lost, and 200 were found."),
    ],
)
def test_a_round_is_told_in_sentences(record: ClusterRoundRecord, said: str) -> None:
    """What the primary acknowledged, what became of it, and who took over: each fault in its words."""
    whole = said.replace("875 *", "875 of them are lost, and *").replace("and *", "and none was found")
    assert told(record) == f"{whole} n2 took writes 2 s after the fault."


def test_nothing_is_said_that_was_not_seen() -> None:
    """Kept writes are called not missing, other losses are told apart, and so is a failover that there was not."""
    kept = cluster_round("isolate_primary", span("n1", "during", 12, 8), span("n2", "after", 9, 0, 3))
    kept = kept.model_copy(update={"successor": None, "failover_second": None, "primary": "n1"})
    assert told(kept) == (
        "The old primary n1 went on acknowledging 12 writes for 1 s after it was isolated: none of them is missing. "
        "Of the other writes of this round at least 3 are lost. No other node took writes in time."
    )
    going_on = cluster_round("isolate_primary", span("n1", "during", 10, 0, 10), span("n1", "after", 5, 0, 5, last_second=4.5))
    assert "acknowledging 15 writes for 4.5 s after it was isolated: all of them are lost." in told(going_on)


@pytest.mark.parametrize(
    ("failover", "said", "drawn_"),
    [
        (
            parts(),
            ": n1 was missed after 1 s, n2 was elected after 1.5 s, and 50 ms earlier was not.",
            ["1.00 s: n1 is missed", "1.50 s: n2 is elected"],
        ),
        (parts(elected_second=None, before_second=None), ": n1 was missed after 1 s.", ["1.00 s: n1 is missed"]),
        (parts(detected_second=None), ": n2 was elected after 1.5 s, and 50 ms earlier was not.", ["1.50 s: n2 is elected"]),
        (parts(detected_second=None, elected_second=None, before_second=None), ": it was promoted by the store.", []),
        (parts(detected_second=-0.1), ": n1 was missed as the fault struck, n2 was elected after 1.5 s, and 50 ms earlier was not.", None),
        (PROMOTED, ": it was promoted by storeproof, which took 120 ms.", ["0.13 s: n2 is promoted by storeproof"]),
    ],
)
def test_a_failover_is_told_in_its_parts(failover: FailoverParts, said: str, drawn_: list[str] | None) -> None:
    """Those that the nodes told; each has a line of the picture before the one of the first write."""
    record = ISOLATED.model_copy(update={"failover": failover})
    assert told(record).endswith(f"n2 took writes 2 s after the fault{said}")
    lines = [each for each in letters(record) if " s: " in each]
    assert drawn_ is None or lines == ["0.00 s: n1 is isolated", *drawn_, "2.00 s: n2 takes writes", "4.00 s: n1 hears the others again"]


def test_of_a_fault_that_strikes_all_no_other_primary_is_expected() -> None:
    """The same one goes on, or another one takes its place later; the picture shades all nodes."""
    assert told(SPLIT) == (
        "The primary n1 went on acknowledging 12 writes for 2 s after it was parted, as all were: none of them is missing. "
        "No other node took its place."
    )
    later = told(SPLIT.model_copy(update={"primary": "n3"}))
    assert later.startswith("The old primary n1 went on")
    assert later.endswith("In the end n3 was the primary.")
    for record, nodes in ((SPLIT, 3), (ISOLATED, 1)):
        assert sum(each.attrib.get("stroke-dasharray") == "2 3" for each in drawn(record).iter(f"{SVG}rect")) == nodes


def test_a_primary_that_was_replaced_once_more_is_told() -> None:
    """When that happened is not known: its lane has dashes from where it took writes."""
    for primary, said, role in (
        ("n3", "In the end n3 was the primary.", "n3: a replica; the primary in the end."),
        ("n1", "In the end n1 was the primary again.", "n1: the primary; was isolated until 4.00 s. The primary again in the end."),
    ):
        record = ISOLATED.model_copy(update={"primary": primary})
        assert told(record).endswith(said)
        assert role in letters(record)
        assert 'stroke-width="7" stroke-dasharray="8 5"' in cluster_lanes(record, "round-1")
    assert "In the end" not in told(ISOLATED)
    assert 'stroke-dasharray="8 5"' not in cluster_lanes(ISOLATED, "round-1")


def test_a_second_strike_is_told_and_drawn() -> None:
    """When it struck, whom, and who took over then; each node is shaded, and has no line, while it was gone."""
    beginning = (
        "The primary n1 was killed after it had acknowledged 300 writes: none of them is missing. "
        "Of the other writes of this round at least 5 are lost. n2 took writes 2 s after the fault. "
        "It was killed too, 3.5 s after the fault, when n1 was back; "
    )
    assert told(TWICE) == f"{beginning}n3 took writes 750 ms later."
    then = SecondStrike(node="n2", second=3.5, successor=None, failover_second=None)
    assert (
        told(TWICE.model_copy(update={"second_strike": then, "primary": "n2"}))
        == f"{beginning}no node took writes until it was back itself."
    )
    assert [each for each in letters(TWICE) if ": " in each] == [
        "0.00 s: n1 is killed",
        "2.00 s: n2 takes writes",
        "3.50 s: n1 is back, and n2 is killed",
        "4.25 s: n3 takes writes",
        "5.00 s: n2 is back",
        "n1: the primary; was gone until 3.50 s.",
        "n2: a replica; the primary from 2.00 s; was gone from 3.50 s until 5.00 s.",
        "n3: a replica; the primary from 4.25 s.",
    ]
    shaded = [each for each in drawn(TWICE).iter(f"{SVG}rect") if each.attrib.get("stroke-dasharray") == "2 3"]
    assert [(each.attrib["x"], each.attrib["width"]) for each in shaded] == [("7.69%", "53.85%"), ("61.54%", "23.08%")]
    lines = [each.attrib for each in drawn(TWICE).iter(f"{SVG}line") if each.attrib.get("stroke-width") in ("1", "7")]
    assert [(each["x1"], each["x2"], each["stroke-width"]) for each in lines] == [
        ("0.00%", "7.69%", "7"),
        ("61.54%", "100.00%", "1"),
        ("0.00%", "38.46%", "1"),
        ("38.46%", "61.54%", "7"),
        ("84.62%", "100.00%", "1"),
        ("0.00%", "73.08%", "1"),
        ("73.08%", "100.00%", "7"),
    ]


def test_an_acknowledgement_before_the_fault_had_struck_is_not_of_the_time_after_it() -> None:
    """The fault takes some milliseconds; what is lost of it is lost all the same."""
    early = cluster_round("isolate_primary", span("n1", "during", 3, 0, 1, last_second=-0.01))
    assert told(early).startswith(
        "The old primary n1 acknowledged 3 writes as it was isolated, and none later: at least 1 of them is lost, and none was found. "
    )


def test_files_with_undone_writes_are_evidence() -> None:
    """Their number, their records and their size."""
    said = told(ISOLATED.model_copy(update={"set_aside": [ASIDE]}))
    assert said.endswith(" n1 undid writes, and keeps them in 3 files with 899 records (2 KiB).")


def test_every_fault_of_a_cluster_has_its_words() -> None:
    """A new one would be told as if no more were known of it than that it struck."""
    assert {each.name for each in faults().values() if isinstance(each, ClusterFault)} == set(WORDS)


def test_a_table_has_a_row_for_each_node_and_phase() -> None:
    """Everything that was acknowledged is found, lost, or left no trace."""
    rows = [[cell.text for cell in row] for row in spans(ISOLATED).rows]
    assert rows[1] == ["n1", "while n1 was isolated", "1,644", "0", "900", "744", "0", "0", "2.10 s"]
    assert [cell.tone for cell in spans(ISOLATED).rows[1]][4] == "bad"
    assert [cell.tone for cell in spans(ISOLATED).rows[0]][4] == "dim"


def drawn(record: ClusterRoundRecord) -> ElementTree.Element:
    """The picture, which is well-formed."""
    return ElementTree.fromstring(cluster_lanes(record, "round-1"))


def letters(record: ClusterRoundRecord) -> list[str]:
    """What is written in it."""
    return [each.text or "" for each in drawn(record).iter(f"{SVG}text")]


def test_each_node_has_a_lane_and_each_event_a_line() -> None:
    """With its role in words, the moments by name, and an axis of seconds."""
    found = letters(ISOLATED)
    assert [each for each in found if ": " in each] == [
        "0.00 s: n1 is isolated",
        "2.00 s: n2 takes writes",
        "4.00 s: n1 hears the others again",
        "n1: the primary; was isolated until 4.00 s.",
        "n2: a replica; the primary from 2.00 s.",
        "n3: a replica.",
    ]
    assert found[:4] == ["0 s", "1 s", "2 s", "3 s"]
    assert "−1.10 s: n1 lags the others" in letters(WIPED)
    tops = [float(each.attrib["y"]) for each in drawn(ISOLATED).iter(f"{SVG}text") if each.text and each.text.startswith("n")]
    assert tops == sorted(set(tops))


def test_what_is_lost_has_stripes_and_goes_down() -> None:
    """So that it is told without colours; and it is not there where nothing was lost."""
    (lost,) = [each for each in drawn(ISOLATED).iter(f"{SVG}path") if each.attrib["fill"] == "url(#round-1-lost)"]
    (depth,) = re.findall(r"v(-?[0-9.]+)", lost.attrib["d"])
    assert float(depth) > 0
    others = [each for each in drawn(ISOLATED).iter(f"{SVG}path") if each is not lost and "url(" not in each.attrib["fill"]]
    assert all(float(each) < 0 for path in others for each in re.findall(r"v(-?[0-9.]+)", path.attrib["d"]))
    assert [each for each in drawn(QUIET).iter(f"{SVG}path") if "url(" in each.attrib["fill"]] == []
    assert drawn(ISOLATED).find(f".//{SVG}pattern") is not None


def test_letters_keep_their_size_on_every_screen() -> None:
    """Only the bars are stretched: the picture itself has no box of view, and places along it are shares of its width."""
    picture = drawn(ISOLATED)
    assert "viewBox" not in picture.attrib
    assert picture.attrib["width"] == "100%"
    for each in picture.findall(f"{SVG}text"):
        assert each.attrib["x"] == "0" or each.attrib["x"].endswith("%")
    for bars in picture.findall(f"{SVG}svg"):
        assert bars.find(f".//{SVG}text") is None


def test_it_says_what_it_shows() -> None:
    """To those who do not see it: a title, and the sentences."""
    picture = drawn(ISOLATED)
    title, desc = picture.find(f"{SVG}title"), picture.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert picture.attrib["role"] == "img"
    assert picture.attrib["aria-labelledby"].split() == [title.attrib["id"], desc.attrib["id"]]
    assert title.text == "Who acknowledged what when n1 is isolated"
    assert (desc.text or "").startswith(told(ISOLATED))


def test_one_round_of_each_fault_is_shown() -> None:
    """The worst, with the number of rounds in which writes were lost; every picture of a page has ids of its own."""
    worse = cluster_round("isolate_primary", span("n1", "during", 2000, 0, 1000))
    record = fault("partition", cluster_rounds=[ISOLATED.model_copy(update={"course": []}), worse, QUIET, PAUSED])
    first, second = cluster_pictures([record], [], itertools.count(4))
    assert (first.fault, first.rounds, first.lossy) == ("isolate_primary", "writes lost in 2 of 3 rounds", True)
    assert first.told == told(worse)
    assert first.scale == "A bar of full height: 2,000 writes in 0.2 s."
    assert ("round-4-title" in first.svg, "round-5-title" in second.svg, "round-4" in second.svg) == (True, True, False)


def test_transfers_and_reads_are_drawn_as_writes_are() -> None:
    """In words of their own: none of them is without a trace, and what is wrong is told with its nodes."""
    wrong = cluster_round("isolate_primary", span("n1", "during", 40, 31, 9), span("n2", "during", 3, 2, 1), wrong=["client 1 went back"])
    better = cluster_round("isolate_primary", span("n1", "during", 40, 40))
    transfers = case_rounds("durability.transfers/partition", "transfers", [better, wrong])
    reads = case_rounds("durability.sessions/partition", "reads", [better, wrong])
    first, second = cluster_pictures([], [transfers, reads], itertools.count(1))
    assert first.told.startswith("The old primary n1 went on acknowledging 40 transfers for 1 s after it was isolated: at least 9 of them")
    assert "Of the other transfers of this round at least 1 is lost." in first.told
    assert second.told == "10 of 43 reads showed less than their client knew: 9 at n1, 1 at n2. n2 took writes 2 s after the fault."
    assert second.rounds == "reads that showed less in 1 of 2 rounds"
    assert "Who answered which reads when n1 is isolated" in second.svg
    assert second.scale == "A bar of full height: 40 reads in 0.2 s."
    assert (first.words.hollow, "no trace" in first.spans.header, second.wrong) == ("", False, ["client 1 went back"])


def result_of(*rounds: ClusterRoundRecord) -> Result:
    """A result with one cluster, which a partition struck."""
    return result(struck("mongodb:three", fault("partition", Outcome.UNSUPPORTED, lost=900, cluster_rounds=list(rounds))))


def test_the_report_has_the_pictures_and_a_result_without_records_has_none() -> None:
    """Beside the ladder, with the sentence first; open where writes were lost."""
    text = render_html(result_of(ISOLATED, PAUSED.model_copy(update={"spans": [span("n1", "after", 4)]})))
    assert text.count('<details class="round" open>') == 1
    assert text.count('<details class="round">') == 1
    assert text.index('id="durable"') < text.index(told(ISOLATED)) < text.index("round-1-title") < text.index('id="fast"')
    assert told(ISOLATED) in render_markdown(result_of(ISOLATED))
    whole = result_of()
    durability = whole.stores[0].durability.model_copy(
        update={"failovers": [case_rounds("durability.sessions/partition", "reads", [ISOLATED])]}
    )
    reads = whole.model_copy(update={"stores": [whole.stores[0].model_copy(update={"durability": durability})]})
    assert told(ISOLATED, "reads") in render_markdown(reads)
    assert "isolate_primary, reads" in render_html(reads)
    for without in (render_html(result_of()), render_markdown(result_of())):
        assert "round-1" not in without
        assert "When the primary of a cluster is struck" not in without


def test_the_failover_is_the_median_and_the_longest() -> None:
    """Of a fault of a cluster's nodes; the time in which one server starts again is none."""
    taken = [2.0, 6.0, 3.0]
    assert Loss(fault("partition", recovery_seconds=taken), promised=True).failover_text == "3 s, at most 6 s"
    assert Loss(fault("partition", recovery_seconds=[]), promised=True).failover_text == ""
    rounds = [cluster_round("isolate_primary", failover=each) for each in (parts(), parts(detected_second=1.2, elected_second=1.7), None)]
    found = Loss(fault("partition", recovery_seconds=taken, cluster_rounds=rounds), promised=True, timeouts={"wait": "2000"})
    assert found.failover_text == "3 s, at most 6 s (detected 1.1 s, elected 1.6 s)"
    assert found.back == "2 s · 3 s · 6 s (detected 1.1 s, elected 1.6 s; wait = 2000)"
    rounds = [cluster_round("isolate_primary", failover=parts(detected_second=-0.1))]
    found = Loss(fault("partition", recovery_seconds=taken, cluster_rounds=rounds), promised=True)
    assert found.failover_text == "3 s, at most 6 s (detected as the fault struck, elected 1.5 s)"
    rounds = [cluster_round("isolate_primary", failover=PROMOTED)]
    found = Loss(fault("partition", recovery_seconds=taken, cluster_rounds=rounds), promised=True)
    assert found.failover_text == "3 s, at most 6 s (promoted by storeproof)"
    assert (fault_summary(found).failover, fault_summary(found).succession) == ((3, 6), "promoted by storeproof")
    assert Loss(fault("process_crash", recovery_seconds=taken), promised=True).failover is None


def test_names_from_a_result_cannot_break_the_page() -> None:
    """A node may be called anything."""
    bad = "<script>alert(1)</script>"
    hostile = ISOLATED.model_copy(update={"struck": bad, "nodes": [bad, "n2"], "fault": bad})
    assert "<script>alert" not in render_html(result_of(hostile))
