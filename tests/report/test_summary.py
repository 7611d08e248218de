"""The summary is one screen, 80 or 120 columns wide, and says the same with and without colour."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from storeproof.check import ANOMALIES
from storeproof.outcome import Outcome
from storeproof.report import print_summary
from storeproof.report.speed import numbers
from storeproof.result.model import Citation, Result
from tests.report.sample import DRIFTING, STEADY, TARGETS, sample_result
from tests.site.made import judged, way


def shown(result: Result, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_summary(result, Path("reports/latest/report.html"), console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("stores", [0, 1, 4, 6, 7, 9])
def test_it_fits(width: int, stores: int) -> None:
    """No line is wider than the terminal; every store is named."""
    lines = shown(sample_result(TARGETS[:stores]), width)
    assert max(len(line.rstrip()) for line in lines) <= width
    assert len(lines) <= 40
    text = "\n".join(lines)
    for store, _, variant, *_ in TARGETS[:stores]:
        assert f"{store}:{variant}" in text
    assert "STANDARD" in text
    assert lines[-1] == "report  reports/latest/report.html"


@pytest.mark.slow
def test_many_stores_fit_on_one_screen() -> None:
    """Twenty-seven variants, one line each."""
    targets = [(store, title, f"{variant}-{copy}", *rest) for copy in range(3) for store, title, variant, *rest in TARGETS]
    lines = shown(sample_result(targets), 120)  # type: ignore[arg-type]
    assert len(lines) <= 60


def test_one_store_is_shown_with_all_that_was_found() -> None:
    """Capabilities and counts, claimed and proven durability with its losses, roles, a line of speed for each workload."""
    lines = shown(sample_result(TARGETS[4:5]), 80)
    text = " ".join(" ".join(lines).split())
    for part in (
        "mongodb:default · MongoDB 6.0.5 · process",
        "3 of 8 capabilities; 7 claimed",
        "1 error · 1 fail",
        "claimed process_crash · proven clean_restart",
        "process_crash: 55 of 15,840 operations (< 1 %); records: 53 lost, 1 torn",
        "system_of_record lacks",
    ):
        assert part in text
    (line,) = [each for each in lines if "hash10-put" in each]
    assert re.search(r"hash10-put +(≥ )?[\d.]+k/s \[[\d.]+k, [\d.]+k\] [A-D]", line)
    assert lines[-2].split("speed")[-1].strip() == numbers.count(sample_result(TARGETS[4:5]).stores[0].measurements)


def test_the_way_in_which_a_role_is_met_is_said() -> None:
    """Once for the roles that it is of; beside it how much of the extended parts there is."""
    result = sample_result(TARGETS[4:5])
    profiles = [judged(name, "conforms", ways=[way("expiry.swept")]) for name in ("cache", "session_store")]
    profiles += [judged("search_store", "conforms", extended={"text.language-ja": "unsupported", "text.language-zh-hans": "supported"})]
    profiles += [judged("document_store", "incomplete", extended={"aggregation.sum": "not_shown"})]
    lines = shown(result.model_copy(update={"stores": [result.stores[0].model_copy(update={"profiles": profiles})]}), 80)
    text = " ".join(" ".join(lines).split())
    assert "cache, session_store: met by expiry.swept (expired records are removed within two minutes)" in text
    assert "extended: search_store 1/2" in text
    assert "document_store 0/1" not in text
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("outcome", "sign", "named", "others"),
    [(Outcome.FAIL, "✘ ", 3, "and 2 more: see the report"), (Outcome.INCONCLUSIVE, "? ", 2, "and 3 more inconclusive: see the report")],
)
def test_failures_and_what_stayed_open_are_named_and_fit_on_a_line_each(outcome: Outcome, sign: str, named: int, others: str) -> None:
    """The first ones with their outcome; the report has the others."""
    result = sample_result(TARGETS[4:5])
    found = [each.model_copy(update={"outcome": outcome, "detail": "found 1\nright is 2 " * 20}) for each in result.stores[0].outcomes[:5]]
    store = result.stores[0].model_copy(update={"outcomes": found})
    lines = shown(result.model_copy(update={"stores": [store]}), 80)
    assert sum(line.lstrip().startswith(sign) and "found 1 right is 2" in line for line in lines) == named
    assert any(others in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_no_loss_is_said_with_the_writes_and_faults_behind_it() -> None:
    """Zero of nothing would be no evidence."""
    result = sample_result(TARGETS[:1])
    kept = [each.model_copy(update=dict.fromkeys(ANOMALIES, 0)) for each in result.stores[0].durability.guarantees]
    durability = result.stores[0].durability.model_copy(update={"guarantees": kept})
    store = result.stores[0].model_copy(update={"durability": durability})
    writes, faults = sum(each.acknowledged for each in kept), sum(each.rounds for each in kept)
    text = "\n".join(shown(result.model_copy(update={"stores": [store]}), 80))
    assert f"0 of {writes:,} acknowledged writes lost in {faults} faults" in text


def test_each_kind_of_workload_has_one_line_in_their_order() -> None:
    """The first workload of a kind in its plainest form, whatever was measured of it besides."""
    result = sample_result(TARGETS[:1])
    kinds = {"hash10-put": "hash-write", "row-get": "row-read", "single-get": "value-read"}
    measured = [each.model_copy(update={"kind": kinds[each.workload]}) for each in result.stores[0].measurements if each.workload in kinds]
    store = result.stores[0].model_copy(update={"measurements": measured})
    lines = shown(result.model_copy(update={"stores": [store]}), 80)
    found = [line[8:].split()[:2] for line in lines if re.search(r"(hash-write|row-read|value-read)", line)]
    assert found == [["value-read", "single-get"], ["hash-write", "hash10-put"], ["row-read", "row-get"]]


def test_what_the_scale_leaves_out_is_counted_and_the_next_command_measures_it() -> None:
    """Other workloads by name; a series of one that was measured is no other workload."""
    result = sample_result(TARGETS[:1], scale="smoke")
    beyond = ["performance.hash10-put/1i/4c", "performance.ycsb-b/0i/8c", "performance.ycsb-b/0i/1c", "performance.ycsb-f/0i/1c"]
    command = "pytest suites/ --store=redis --report-dir=elsewhere -q --store valkey --edition=2026.12 --seed=3 -k hash10"
    run = result.run.model_copy(update={"beyond_scale": beyond, "command": command})
    text = "\n".join(shown(result.model_copy(update={"run": run}), 120))
    assert "13 workloads measured; 2 more, all series and outages, at --scale=standard" in text
    assert "next    pytest suites/ --store=redis --store=valkey --scale=standard --edition=2026.12" in text
    assert "storeproof doctor" not in text, "the user knows other stores"


def test_a_claim_that_was_not_reached_is_marked_without_colour() -> None:
    """✘ where it was refuted, ○ where it was not shown."""
    text = "\n".join(shown(sample_result(), 120))
    assert "clean_restart ✘" in text
    assert "process_crash ○" in text


def test_a_run_without_stores_says_so() -> None:
    """Not an empty table."""
    assert "No store was run." in shown(sample_result([]), 80)


def test_several_stores_show_grades_and_the_noise_floor() -> None:
    """Each rate with its interval and grade; one that drifts or is not valid says so instead; what is noise is said in words."""
    result = sample_result(TARGETS[:3])
    plain = {"at_least": False, "invalid": [], "trend": STEADY, "grade": "B", "kind": "value-write"}
    stores = []
    for store, changed in zip(result.stores, ({"at_least": True}, {"trend": DRIFTING}, {"invalid": ["errors"]}), strict=True):
        measured = [each.model_copy(update=plain | changed) for each in store.measurements[:1]]
        stores.append(store.model_copy(update={"measurements": measured}))
    lines = shown(result.model_copy(update={"stores": stores}), 80)
    limited, drifting, broken = (next(line for line in lines if name in line) for name in ("sqlite:", "aof-always", "redis:volatile"))
    assert re.search(r"≥ [\d.]+k? ±\d+% B", limited)
    assert re.search(r" [\d.]+k? B$", drifting.rstrip())
    assert lines[lines.index(drifting) + 1].split() == ["drifting"]
    assert broken.rstrip().endswith(" ✘")
    text = " ".join(" ".join(lines).split())
    assert re.search(r"noise differences below \d+ % are noise", text)
    assert "3 numbers: 2 B, of which 1 lower bound, 1 drifting; 1 invalid (errors 1)" in text


def test_one_store_says_what_broke_in_place_of_an_interval() -> None:
    """The first gate by name and the number of others, within 80 columns; the last line counts all of them."""
    result = sample_result(TARGETS[:1])
    broken = ["schedule_lag", "missed_send_ratio"]
    rate = result.stores[0].measurements[0].throughput.model_copy(update={"median": 170.0})
    changed = {"workload": "single-put-distinct-100", "kind": "document-write", "invalid": broken, "throughput": rate}
    store = result.stores[0].model_copy(update={"measurements": [result.stores[0].measurements[0].model_copy(update=changed)]})
    lines = shown(result.model_copy(update={"stores": [store]}), 80)
    (line,) = [each for each in lines if "single-put" in each]
    assert line.rstrip().endswith("170/s ✘ schedule_lag +1")
    assert "1 invalid (schedule_lag 1, missed_send_ratio 1)" in " ".join(" ".join(lines).split())


def test_answers_that_this_run_did_not_ask_for_are_not_none() -> None:
    """A run of speeds alone has tried no capability: it says so, and whose answers it cites."""
    sample = sample_result()
    citation = Citation(run="r1", started="2026-01-01T00:00:00Z", scale="standard", seed=1, sha256="0" * 64)
    idle = [each.model_copy(update={"outcome": Outcome.NOT_RUN}) for each in sample.stores[0].capabilities]
    alone, cited = (sample.stores[0].model_copy(update={"capabilities": idle, "cites": each}) for each in (None, citation))
    for store, said in ((alone, "not tried"), (cited, "cited, run r1")):
        text = "\n".join(shown(sample.model_copy(update={"stores": [store]}), 80))
        assert re.search(rf"answers +{said}", text)
    text = "\n".join(shown(sample.model_copy(update={"stores": [alone, cited]}), 120))
    assert "0/" not in text
    assert "cited" in text
