"""Results of formats before 2.5, as they are published, say what is missing in sentences: each is read as what a judge finds today."""

from __future__ import annotations

import json

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.result.json_file import result_from, written
from storeproof.result.missing import Kind, MissingDemand
from storeproof.result.model import FORMAT
from storeproof.result.older_formats import SAID_IN_DETAILS, damage_of, lacked_of, missing_of, refusal_of, stale_reads_of
from tests.report.sample import sample_result

EITHER = "expiry.hidden or expiry.swept"


@pytest.mark.parametrize(
    ("line", "kind", "name", "case", "outcome", "reason"),
    [
        ("capability text.word/001: fail: wrong: twice", "capability", "text.word", "001", "fail", "wrong: twice"),
        ("capability text.word/pushdown: not_run", "capability", "text.word", "pushdown", "not_run", ""),
        (f"capability {EITHER}: unsupported: expiry.hidden/001: no", "capability", EITHER, "expiry.hidden/001", "unsupported", "no"),
        ("capability text.word: no case was run", "capability", "text.word", "", "not_run", "no case was run"),
        ("model nested: not claimed", "model", "nested", "", "unsupported", "not claimed"),
        ("model nested: get: known_fail", "model", "nested", "get", "known_fail", ""),
        ("model nested: not verified in this run: get, put", "model", "nested", "", "not_run", "not verified in this run: get, put"),
        ("guarantee power_loss: the variant claims only volatile", "guarantee", "power_loss", "", "unsupported", None),
        ("guarantee power_loss: clean_restart: fail: lost", "guarantee", "power_loss", "clean_restart", "fail", "lost"),
        ("guarantee power_loss: not_run", "guarantee", "power_loss", "", "not_run", ""),
        ("durability.metadata/clean_restart: left no outcome in this run", "case", "durability.metadata", "clean_restart", "not_run", None),
        ("speed single-get at 50 clients: not measured", "case", "speed single-get at 50 clients", "", "not_run", "not measured"),
    ],
)
def test_a_line_is_what_a_judge_finds(line: str, kind: Kind, name: str, case: str, outcome: str, reason: str | None) -> None:
    """And is written again as it was; what no run decided is open, never lacking."""
    found = missing_of(line)
    told = line.partition(": ")[2] if reason is None else reason
    assert found == MissingDemand(kind=kind, name=name, case=case, outcome=Outcome(outcome), reason=told, sentence=line)
    assert found.open is (outcome == "not_run")
    assert json.loads(found.model_dump_json()) == line


def test_an_older_result_is_written_as_it_was_and_a_new_one_has_no_sentences() -> None:
    """As conformance claims demand: no one can say in 2.5 what only an older format says."""
    data = sample_result().model_dump(mode="json") | {"format": "2.4"}
    profile = next(each for store in data["stores"] for each in store["profiles"] if each["missing"])
    profile["missing"] = ["model nested: not claimed"]
    older = result_from(json.dumps(data), "result.json")
    assert json.loads(written(older)) == data
    with pytest.raises(UsageError, match=f"is not a result in format {FORMAT}:\n.*which formats before {FORMAT} have"):
        result_from(json.dumps(data | {"format": FORMAT}), "result.json")


@pytest.mark.parametrize(
    ("case", "detail", "seen"),
    [
        ("stale_reads.hash10", "5 rounds, 3,893 reads beside 69 writes of 2 keys by 16 clients; none was stale", (3893, 0, 0)),
        (
            "stale_reads.hash10",
            "declared: 8,893 reads beside 69 writes; 1,816 were stale, in 5 of 5 rounds; age was 2.6 ms in the median, 63.2 ms at most",
            (8893, 1816, 63.2),
        ),
        ("stale_reads.hash10", "stale reads are declared as possible: not seen in 3,000 reads", (3000, 0, 0)),
        ("durability.front_link/hang", "none is missing in the home; none of 408 reads was stale; seed 7", (408, 0, 0)),
        ("durability.both_links/hang", "18 of 408 reads were stale, by 779 ms at most, which is declared as possible", (408, 18, 779)),
        ("stale_reads.hash10", "the store does not claim the model hash10", None),
        ("durability.front_kill", "5 faults; nothing lost of 408 keys", None),
        ("linearizable.register", "none of 408 reads was stale", None),
    ],
)
def test_stale_reads_are_those_of_the_detail(case: str, detail: str, seen: tuple[int, int, float] | None) -> None:
    """None seen is not the same as not tried."""
    found = stale_reads_of(case, detail)
    assert (found and (found.reads, found.stale, found.oldest_ms)) == seen


@pytest.mark.parametrize(
    ("detail", "counts"),
    [
        ("5 rounds, bytes changed in a; 5 times it served data that no client wrote; b", (5, 5, 0)),
        ("5 times bytes were changed in a; 1 times it served what was not written, 3 times it started without a part", (5, 1, 3)),
        ("5 rounds, one file truncated, of a; 3 times records were missing, and nothing was reported", (5, 0, 3)),
        ("5 times a file was cut short in a; 2 times it started without a part of the data", (5, 0, 2)),
        ("5 rounds, bytes changed in a; 5 times it refused to start", (5, 0, 0)),
        ("it wrote nothing to its files that could be damaged", None),
    ],
)
def test_rounds_with_damaged_files_are_those_of_the_detail(detail: str, counts: tuple[int, int, int] | None) -> None:
    """As both editions count them; of another case they say nothing."""
    found = damage_of("durability.corruption/flip", detail)
    assert (found and (found.rounds, found.made_up, found.silent)) == counts
    assert damage_of("durability.full_disk", detail) is None


def test_a_result_without_the_fields_says_them_in_its_details_and_one_with_them_does_not() -> None:
    """What a new result leaves empty stays empty: no detail can be made to excuse a case."""
    data = sample_result().model_dump(mode="json")
    first, second = data["stores"][0]["outcomes"][:2]
    first.update(outcome="not_run", detail="the run ended before this case: interrupted")
    second.update(id="durability.corruption/flip", detail="5 rounds, bytes changed in a; 5 times it refused to start")
    for field, case in (("lacked", first), ("damage", second)):
        case[field] = None
        assert [getattr(each, field) for each in result_from(json.dumps(data), "result.json").stores[0].outcomes[:2]] == [None, None]
    for field in SAID_IN_DETAILS:
        del first[field], second[field]
    read, other = result_from(json.dumps(data), "result.json").stores[0].outcomes[:2]
    assert (read.lacked, read.is_begun) == (lacked_of(first["detail"]), False)
    assert other.damage is not None


@pytest.mark.parametrize(
    ("detail", "reason"),
    [
        ("put_expiring on single_key: nothing deletes by the clock\nmore", "nothing deletes by the clock"),
        ("claimed, but find on document10: no index", "claimed, but no index"),
        ("it has no index", None),
    ],
)
def test_a_refusal_is_the_detail_without_its_operation(detail: str, reason: str | None) -> None:
    """Where it names one."""
    assert refusal_of(detail) == reason
