"""A claim on waits is held against one store on two disks of one run, by the ratio that `compare --across=disk` gives."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.claims.markdown import render_claims_html, render_claims_markdown
from storeproof.result.claims import ClaimVerdict, JudgedClaim, JudgedClaims, judge_claims
from storeproof.result.compare import sides_of
from storeproof.result.model import Result
from storeproof.result.ratios.across_disks import across_disks, waits_of
from storeproof.spec.questions.claim import ClaimsFile
from tests.report.test_anatomy import LOST
from tests.result.claimed import around, file_of, number, result, store
from tests.result.ratios.test_across_disks import on_disks, waits
from tests.result.test_compare import rounds
from tests.shipped import SHIPPED

ROW = {"arrangement": "alone", "overall": 40, "save": 30, "journal": 50, "merge_read": 50, "merge_write": 10}
DEVICES = {
    "one": ROW | {"device": "Rotating | 15K", "medium": "hdd-15k"},
    "two": ROW | {"device": "Card", "medium": "pcie-ssd", "overall": 4, "journal": 5},
}
SIDE = {"store": "redis", "variant": "aof-always", "instead": ["sqlite:wal-full", "redis:wal-full"], "workload": "single-get"}
CLAIM: dict[str, Any] = {
    "about": ["disk"],
    "wait": "journal",
    "a": SIDE | {"disk": "hdd", "device": "one"},
    "b": SIDE | {"disk": "nvme", "medium": "pcie-ssd"},
}
"""The journal of a hard disk waits ten times as long: reproduced between 6.3 and 17.8."""
SLOW, FAST = (1000.0, 900.0, 1050.0, 1100.0), (100.0, 90.0, 104.0, 110.0)


def file(**changed: Any) -> ClaimsFile:
    return file_of(CLAIM | changed, devices=DEVICES)


def ran(slow: dict[str, Any], fast: dict[str, Any], names: tuple[str, str] = ("hdd", "nvme"), name: str = "sqlite") -> Result:
    """A run on both disks, each with a file system of its own."""
    four = {"rounds": rounds(1, 1, 1, 1)}
    found = on_disks((name, names[0], four | slow), (name, names[1], four | fast))
    disks = {each: sheet.model_copy(update={"device": f"8:{at}"}) for at, (each, sheet) in enumerate(found.environment.disks.items())}
    return found.model_copy(update={"environment": found.environment.model_copy(update={"disks": disks})})


def watched(*slow: float) -> Result:
    return ran({"anatomy": waits(*slow or SLOW)}, {"anatomy": waits(*FAST)})


def judged_on(*results: Result, **changed: Any) -> JudgedClaim:
    (found,) = judge_claims([file(**changed)], results, SHIPPED).claims
    return found


@pytest.mark.parametrize(
    ("slow", "changed", "verdict"),
    [
        (SLOW, {}, ClaimVerdict.REPRODUCED),
        ((200.0, 180.0, 210.0, 220.0), {}, ClaimVerdict.REFUTED),
        ((200.0, 180.0, 210.0, 220.0), {"reproduced": {"above": 1}}, ClaimVerdict.REPRODUCED),
        ((500.0, 2000.0, 300.0, 4000.0), {}, ClaimVerdict.CANNOT_SAY),
    ],
)
def test_the_ratio_of_the_waits_decides(slow: tuple[float, ...], changed: dict[str, Any], verdict: ClaimVerdict) -> None:
    """Whatever the rates are, which are alike here; on a store in place of the text's own."""
    found = judged_on(watched(*slow), **changed)
    assert (found.verdict, found.figure, found.figure_a, found.figure_b, found.wait) == (verdict, 10, 50, 5, "journal")
    assert (found.reason == "the interval reaches over a bound") == (verdict is ClaimVerdict.CANNOT_SAY)


def test_the_ratio_is_that_of_the_comparison_of_disks() -> None:
    """There is one computation; A is the claim's first disk also where the run names it last."""
    backwards = ran({"anatomy": waits(*FAST)}, {"anatomy": waits(*SLOW)}, names=("nvme", "hdd"))
    (comparison,) = across_disks(sides_of(watched()))
    (wait, _) = waits_of(comparison.pairs[0])
    assert wait.ratio is not None
    for result_read in (watched(), backwards):
        (found,) = judged_on(result_read).ratios
        assert (found.ratio, found.low, found.high) == pytest.approx((wait.ratio.middle, wait.ratio.low, wait.ratio.high))
        assert (found.a.name, found.b.name, found.interleaved) == ("sqlite:wal-full@hdd", "sqlite:wal-full@nvme", True)


def test_a_claim_is_on_one_kind_of_io() -> None:
    """Waits of another kind decide nothing."""
    assert judged_on(watched(), wait="overall").reason == "seen in 0 blocks of both, and 2 at least are needed"


SEEN = {"anatomy": waits(*SLOW)}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (ran({}, {}), "no waits of journal were seen on both disks (--anatomy)"),
        (ran(SEEN, SEEN | {"anatomy": SEEN["anatomy"] | LOST}), "B: not valid: complete"),
        (ran(SEEN | {"proven": "power_loss"}, SEEN), "proven durability differs: power_loss against process_crash"),
        (
            ran(SEEN, SEEN, names=("hdd", "other")),
            "not measured: single-get on disks called hdd and nvme, by redis:aof-always or sqlite:wal-full or redis:wal-full",
        ),
        (ran(SEEN, SEEN, name="etcd"), "not measured"),
        (result(store("redis:aof-always", number("single-get", *around(1)))), "not measured"),
    ],
)
def test_what_is_missing_is_said(found: Result, reason: str) -> None:
    """With the command that would measure it."""
    claim = judged_on(found)
    assert claim.verdict is ClaimVerdict.CANNOT_SAY
    assert claim.reason.startswith(reason)


def test_two_stores_or_two_runs_are_no_two_disks() -> None:
    """What one sync covers differs between stores, and each run has disks of its own."""
    stores = on_disks(("redis", "hdd", SEEN), ("sqlite", "nvme", SEEN))
    assert judged_on(stores).reason.startswith("not measured")
    one, other = (watched() for _ in range(2))
    parts = [each.model_copy(update={"stores": [each.stores[at]]}) for at, each in enumerate((one, other))]
    apart = [each.model_copy(update={"run": each.run.model_copy(update={"id": f"r{at}"})}) for at, each in enumerate(parts)]
    assert judged_on(*apart).reason == "seen in 0 blocks of both, and 2 at least are needed"


def test_two_names_of_one_disk_decide_nothing() -> None:
    """Between them is only noise, which would refute every claim."""
    one = on_disks(("sqlite", "hdd", SEEN), ("sqlite", "nvme", SEEN))
    claim = judged_on(one)
    assert (claim.verdict, claim.reason) == (ClaimVerdict.CANNOT_SAY, "hdd and nvme are directories of one file system")


def test_the_command_is_of_a_store_whose_files_are_known() -> None:
    """Both disks by the names that the claim has, and with `--anatomy`."""
    side = {"store": "marklogic", "variant": "fast", "instead": ["postgresql:synchronous-commit-on"], "workload": "corpus-replace"}
    sides = {"a": side | {"disk": "hdd", "device": "one"}, "b": side | {"disk": "nvme", "device": "two"}}
    line = judged_on(**sides).command
    assert "--store=postgresql:synchronous-commit-on --scale=full" in line
    assert "--launch=process --disk=hdd=/mnt/hdd --disk=nvme=model:nvme --anatomy" in line
    assert line.endswith("or performance.corpus-replace/0i/50c/'")


def test_the_disks_are_told_beside_those_of_the_text() -> None:
    """What a name stands for, what was measured of it, and that it did not become steady."""
    differs = judged_on(watched()).differs
    assert "hdd: /dev/hdd, 600 bytes appended and synced in 8 ms (text: Rotating | 15K, alone)" in differs
    assert "nvme: /dev/nvme, 600 bytes appended and synced in 8 ms (text: the median of all on pcie-ssd)" in differs
    assert "sqlite:wal-full@hdd did not become steady" in differs


def test_the_page_has_waits_in_place_of_rates_and_the_table_once() -> None:
    """Folded, at the end; a page without such a table has no word of it."""
    judged: JudgedClaims = judge_claims([file()], [watched()], SHIPPED)
    text = render_claims_markdown(judged)
    assert "A/B 10 (50 ms against 5 ms); reproduced between 6.31 and 17.8." in text
    assert "| indexes | mean wait | durability |" in text
    assert "| 50 | 0 | 1.4 ms | process_crash" in text
    assert "operations/s" not in text
    assert text.count("| 000 | Rotating \\| 15K | alone | 40.00 | 30.00 | 50.00 | 50.00 | 10.00 |") == 1
    assert text.index("## Devices") > text.index("## Reproduced")
    page = render_claims_html(judged)
    assert page.count("Card") == 1
    assert all('id="devices-that-the-texts-tested"' in page and "2 rows from 4.00 to 40.00 ms" in each for each in (text, page))
    without = judge_claims([file_of({"no_workload": "none"})], [watched()], SHIPPED)
    assert "Devices" not in render_claims_markdown(without) + render_claims_html(without)
