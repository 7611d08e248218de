"""The answer in one table and one picture: what a cell says, and what it must not show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.report.answer_table import AnswerCell, AnswerTable, answer_table
from storeproof.report.pictures.answer import draw_answer
from storeproof.report.pictures.lettering import width_of
from storeproof.result.measurement import Interval, Measurement
from storeproof.result.model import ProfileVerdict, Result, StoreResult, WorstLoss
from tests.report.clusters import PROMOTED, cluster_round
from tests.report.sample import DRIFTING, STEADY, TARGETS, sample_result
from tests.site.made import fault, judged

SQLITE, REDIS, VOLATILE = range(3)


def _with(result: Result, number: int, **changed: Any) -> Result:
    stores = list(result.stores)
    stores[number] = stores[number].model_copy(update=changed)
    return result.model_copy(update={"stores": stores})


def _cell(table: AnswerTable, kind: str, heading: str, store: int) -> AnswerCell:
    (group,) = [each for each in table.groups if each.kind == kind]
    return group.rows[store][list(group.headings).index(heading)]


def _table(result: Result, **changed: Any) -> AnswerTable:
    return answer_table([result], changed.get("speeds", result), changed.get("wanted", ()), changed.get("titles", {}))


def _verdicts(**missing: list[str]) -> list[ProfileVerdict]:
    return [judged(name, "does_not_conform" if each else "conforms", each) for name, each in missing.items()]


def _struck(store: StoreResult, guarantee: str, **changed: Any) -> StoreResult:
    records = [each.model_copy(update=changed) if each.guarantee == guarantee else each for each in store.durability.guarantees]
    return store.model_copy(update={"durability": store.durability.model_copy(update={"guarantees": records})})


def _measured(store: StoreResult, workload: str, **changed: Any) -> list[Measurement]:
    return [each.model_copy(update=changed) if each.workload == workload else each for each in store.measurements]


@pytest.fixture(scope="module")
def result() -> Result:
    """Three of the sample's variants: two stores, one of them twice."""
    return sample_result(TARGETS[:3])


def test_what_is_missing_counts_once_whatever_number_of_its_cases_fail(result: Result) -> None:
    """Three cases of one capability are one thing that is missing."""
    three = [f"capability expiry.put-expiring/00{number}: unsupported: no" for number in (1, 2, 3)]
    changed = _with(result, SQLITE, profiles=_verdicts(cache=three, system_of_record=["model hash10: not claimed", *three]))
    table = _table(changed)
    assert _cell(table, "roles", "cache", SQLITE) == AnswerCell("1 missing", "1", "near")
    assert _cell(table, "roles", "system of record", SQLITE) == AnswerCell("2 missing", "2", "near")


def test_the_answer_names_the_nearest_stores_and_what_they_lack(result: Result) -> None:
    """One sentence: who fills all roles, or who lacks least and what."""
    lacking = ["capability expiry.put-expiring/001: unsupported: no"]
    near = _with(result, SQLITE, profiles=_verdicts(cache=lacking, documents=[]))
    for number in (REDIS, VOLATILE):
        near = _with(
            near, number, profiles=_verdicts(cache=[], documents=[f"capability path.{each}/001: unsupported: no" for each in "ab"])
        )
    titles = {"expiry.put-expiring": "A record with a time to live"}
    said = "No store fills all 2 roles. Nearest: SQLite, without “A record with a time to live”."
    assert _table(near, titles=titles).answer == said
    either = _with(
        near, SQLITE, profiles=_verdicts(cache=["capability expiry.put-expiring or expiry.swept: unsupported: no"], documents=[])
    )
    assert _table(either, titles=titles).answer == said.replace("”.", "” or 1 alternative.")

    far = [f"capability path.{each}/001: unsupported: no" for each in "abcdefghijkl"]
    few = {number: _verdicts(cache=[], documents=far) for number in (SQLITE, REDIS, VOLATILE)}
    for number, profiles in few.items():
        near = _with(near, number, profiles=profiles)
    assert _table(near).answer.endswith(", without 12 things each.")

    full = _with(near, VOLATILE, profiles=_verdicts(cache=[], documents=[]))
    assert _table(full).answer == "Redis (volatile) can fill all 2 roles."


def test_a_profile_that_was_not_run_is_neither_met_nor_missing(result: Result) -> None:
    """Missing evidence has a name of its own, and such a store is in no answer."""
    table = _table(result)
    assert _cell(table, "roles", "document store", SQLITE).text == "not run"
    assert table.answer == ""


@pytest.mark.parametrize(
    ("changed", "claimed", "text", "tone"),
    [
        ({"rounds": 0}, "power_loss", "not run", ""),
        ({"acknowledged": 33_606, "lost": 0}, "power_loss", "0 of 33.6k", "good"),
        ({"acknowledged": 1000, "lost": 100, "lost_operations": 214}, "power_loss", "21 % lost", "bad"),
        ({"acknowledged": 1000, "lost": 2, "lost_operations": 2}, "power_loss", "< 1 % lost", "bad"),
        ({"acknowledged": 1000, "lost": 300, "lost_operations": 460}, "volatile", "46 % lost\n(not promised)", "near"),
        ({"lost": 0, "torn": 44}, "power_loss", "44 torn", "bad"),
        ({"lost": 0, "outcome": Outcome.INCONCLUSIVE}, "power_loss", "inconclusive", "bad"),
        ({"lost": 0, "faults_with_loss": 1}, "power_loss", "did not start", "bad"),
        (
            {"acknowledged": 10, "lost": 4, "lost_operations": 5, "worst_loss": WorstLoss(shape="unstartable", records=5, window_ms=9.0)},
            "power_loss", "50 % lost,\nno start", "bad",
        ),
    ],
)  # fmt: skip
def test_a_loss_is_a_share_and_bad_only_where_it_was_promised(
    result: Result, changed: dict[str, Any], claimed: str, text: str, tone: str
) -> None:
    """What a setting does not claim to survive is no broken promise; what was not tried is not 0."""
    clean = {"rounds": 20, "lost": 0, "faults_with_loss": 0, "lost_operations": 0, "worst_loss": None, "outcome": Outcome.PASS}
    store = _struck(result.stores[REDIS], "process_crash", **{**clean, **changed})
    durability = store.durability.model_copy(update={"claimed": claimed})
    cell = _cell(_table(_with(result, REDIS, durability=durability)), "losses", "kill -9", REDIS)
    assert (cell.text, cell.tone) == (text, tone)


@pytest.mark.parametrize(
    ("changed", "text", "brief", "grade"),
    [
        ({}, "5.01k ±15 %", "5.01k", "C"),
        ({"at_least": True}, "≥ 5.01k ±15 %", "≥ 5.01k", "C"),
        ({"trend": DRIFTING}, "5.01k drifting", "drifting", "C"),
        ({"invalid": ["errors", "audit"], "at_least": True}, "✘ errors, audit", "✘", None),
    ],
    ids=["precise", "at least", "drifting", "invalid"],
)
def test_a_speed_shows_its_grade_and_what_it_is_not(result: Result, changed: dict[str, Any], text: str, brief: str, grade: str) -> None:
    """A lower bound has a sign, a drifting number the word; only an invalid one has no number, and says what broke."""
    rate = Interval(median=5012.0, low=4300.0, high=5800.0, unit="operations/s")
    plain = {"throughput": rate, "grade": "C", "at_least": False, "invalid": [], "trend": STEADY}
    measured = _measured(result.stores[REDIS], "hash10-put", **plain | changed)
    cell = _cell(_table(_with(result, REDIS, measurements=measured)), "speeds", "write ten fields", REDIS)
    assert (cell.text, cell.brief, cell.grade) == (text, brief, grade)
    assert (cell.rate is None) == bool(changed.get("invalid"))


def test_a_workload_without_a_valid_number_has_no_column(result: Result) -> None:
    """A column of nothing but ✘ says nothing; the other columns stay."""
    changed = result
    for number, store in enumerate(result.stores):
        changed = _with(changed, number, measurements=_measured(store, "hash10-put", invalid=["audit"]))
    (group,) = [each for each in _table(changed).groups if each.kind == "speeds"]
    assert "write ten fields" not in group.headings
    assert "read ten fields" in group.headings


@pytest.mark.parametrize(
    ("title", "version", "named"),
    [
        ("MySQL NDB Cluster", "MySQL 9.7.4-2", "MySQL NDB Cluster 9.7.4"),
        ("MySQL", "MySQL 9.7.4-2", "MySQL 9.7.4"),
        ("MySQL", "Percona Server 8.4.1", "Percona Server 8.4.1"),
        ("FerretDB over SQLite", "FerretDB 1.24.0", "FerretDB 1.24.0"),
        ("Redis", None, "Redis, never reached"),
    ],
)
def test_a_store_is_called_what_its_server_says_and_what_its_title_adds(
    result: Result, title: str, version: str | None, named: str
) -> None:
    """A cluster is not called like the single server that answers for it; another product never has the title of what it speaks for."""
    assert _table(_with(result, REDIS, title=title, version=version)).stores[REDIS][0] == named


def test_speeds_of_another_version_are_of_another_store(result: Result) -> None:
    """Two results are joined by store, variant and version."""
    other = _with(result, REDIS, version="Redis 8.0.0")
    table = _table(result, speeds=other)
    assert _cell(table, "speeds", "write ten fields", REDIS).text == "–"
    assert _cell(table, "speeds", "write ten fields", VOLATILE).rate is not None
    assert [note.partition(":")[0] for note in table.notes[:2]] == ["Roles and losses", "Speeds"]


def test_a_workload_that_was_not_measured_is_a_usage_error(result: Result) -> None:
    """The message names those that were."""
    with pytest.raises(UsageError, match=r"ycsb-z: not measured in this result; it has .*hash10-put"):
        _table(result, wanted=["ycsb-z"])


def test_a_result_without_anything_to_draw_is_a_usage_error() -> None:
    """No empty picture is written."""
    with pytest.raises(UsageError, match="nothing to draw"):
        _table(sample_result(()))


@pytest.mark.parametrize("narrow", [False, True])
def test_every_store_and_heading_is_in_the_picture(result: Result, tmp_path: Path, narrow: bool) -> None:
    """Read from the text of the SVG, wide and narrow."""
    table = _table(result)
    draw_answer(table, tmp_path / "answer.svg", narrow=narrow)
    drawn = (tmp_path / "answer.svg").read_text()
    for product, variant in table.stores:
        assert product in drawn
        assert variant in drawn
    assert "kill -9" in drawn
    assert "cache" in drawn
    assert 'width="280.8pt"' in drawn if narrow else 'width="280.8pt"' not in drawn, "390 pixels"


@pytest.mark.parametrize("narrow", [False, True])
def test_long_names_stay_in_their_column(result: Result, tmp_path: Path, narrow: bool) -> None:
    """In several lines, without leaving anything out."""
    title = "Memcached over PostgreSQL"
    long = _with(result, REDIS, title=title, version=f"{title} 1.6.45 over 18.6-2", variant="three-members-majority-reads")
    draw_answer(_table(long), tmp_path / "answer.svg", narrow=narrow)
    drawn = (tmp_path / "answer.svg").read_text()
    styles = dict(re.findall(r"\.(s\d+)\{([^}]*)\}", drawn))
    drawn = re.sub(r' class="(s\d+)"', lambda found: f' style="{styles[found[1]]}"', drawn)
    first = min(float(each) for each in re.findall(r'<path d="M([0-9.]+)[^"]*" style="fill: #f5f3ee', drawn))
    names = re.findall(r'<text style="(font-weight: 700; )?font-size: ([0-9.]+)px;[^"]*start;[^"]*" x="5.76"[^>]*>([^<]*)</text>', drawn)
    found = [text for _, _, text in names]
    assert "Memcached 1.6.45 over PostgreSQL 18.6 " in " ".join(found)
    assert "three-members-majority-reads" in "".join(found)
    for bold, size, text in names:
        assert 5.76 + 0.72 * width_of(text, float(size), bold=bool(bold)) <= first, text


def test_a_picture_of_another_format_is_a_usage_error(result: Result, tmp_path: Path) -> None:
    """The message names the formats, and a place that cannot be written is one too."""
    with pytest.raises(UsageError, match=r"\.png, \.svg, \.pdf"):
        draw_answer(_table(result), tmp_path / "answer.gif")
    with pytest.raises(UsageError, match="cannot be written"):
        draw_answer(_table(result), tmp_path / "nowhere" / "answer.png")


def test_several_results_are_one_table() -> None:
    """Where they are judged alike, and no variant is in two of them."""
    whole = sample_result()
    first, second = (whole.model_copy(update={"stores": stores}) for stores in (whole.stores[:1], whole.stores[1:]))
    one, several = _table(whole), answer_table([first, second], whole, (), {})
    assert (several.stores, several.groups, several.answer) == (one.stores, one.groups, one.answer)
    assert [note.partition(":")[0] for note in several.notes[:3]] == ["Roles and losses", "Roles and losses", "Speeds"]
    with pytest.raises(UsageError, match=r"sqlite:.*: in more than one of the results"):
        answer_table([first, first], whole, (), {})
    small = second.model_copy(update={"run": second.run.model_copy(update={"scale": "smoke"})})
    with pytest.raises(UsageError, match="several editions or scales"):
        answer_table([first, small], whole, (), {})


def test_a_cluster_has_its_failover_between_its_losses_and_its_speed(result: Result) -> None:
    """The median and the longest; without a cluster there is no such group."""
    assert [group.kind for group in _table(result).groups] == ["roles", "losses", "speeds"]
    partition = fault("partition", recovery_seconds=[2.0, 6.0, 3.0])
    durability = result.stores[REDIS].durability.model_copy(update={"guarantees": [partition]})
    table = _table(_with(result, REDIS, durability=durability))
    assert [group.kind for group in table.groups] == ["roles", "losses", "failovers", "speeds"]
    assert _cell(table, "failovers", "partition", REDIS) == AnswerCell("3 s\n(at most 6 s)", "3 s")
    assert _cell(table, "failovers", "partition", SQLITE) == AnswerCell("–", "–")
    assert any(note.startswith("Failover: ") for note in table.notes)
    assert not any(note.startswith("†") for note in table.notes)
    promoted = partition.model_copy(update={"cluster_rounds": [cluster_round("isolate_primary", failover=PROMOTED)]})
    table = _table(_with(result, REDIS, durability=durability.model_copy(update={"guarantees": [promoted]})))
    assert _cell(table, "failovers", "partition", REDIS) == AnswerCell("3 s†\n(at most 6 s)", "3 s†")
    assert any(note.startswith("†: promoted by storeproof") for note in table.notes)


def test_a_number_that_may_be_in_no_ratio_stands_beside_no_other(result: Result) -> None:
    """Of another load engine than the others, which `storeproof compare` refuses: in no picture it has a bar among theirs."""
    other = _with(result, REDIS, measurements=_measured(result.stores[REDIS], "hash10-put", engine="wire"))
    table = _table(other)
    assert _cell(table, "speeds", "write ten fields", REDIS).text == "not comparable"
    assert _cell(_table(result), "speeds", "write ten fields", REDIS).rate is not None
    name = f"redis:{result.stores[REDIS].variant}"
    assert table.notes[-1] == f"Not comparable: {name}: load engine differs: wire against driver."
