"""A run on several disks names each store with its disk, everywhere once, and has the sheet of each disk."""

from __future__ import annotations

from pathlib import Path

from storeproof.report.html import render_html
from storeproof.report.junit import render_junit
from storeproof.report.markdown import render_markdown
from storeproof.report.tables import machine
from storeproof.result.model import Result
from storeproof.result.needs.joined_results import ReadResult
from storeproof.result.needs.joined_results import join as join_evidence
from storeproof.site.joined_results import join
from tests.report.sample import TARGETS, sample_result
from tests.result.ratios.test_across_disks import SHEET
from tests.shipped import SHIPPED
from tests.site.made import sources


def on_two_disks() -> Result:
    """One store, on `fast` and on `slow`."""
    result = sample_result(TARGETS[:1])
    (store,) = result.stores
    sheets = {name: SHEET.model_copy(update={"disk": f"/dev/{name}"}) for name in ("fast", "slow")}
    return result.model_copy(
        update={
            "stores": [store.model_copy(update={"disk": name}) for name in sheets],
            "environment": result.environment.model_copy(update={"disks": sheets}),
        }
    )


def test_the_machine_has_its_disks_in_place_of_the_one_of_the_data_directory() -> None:
    """Each with what was measured of it, and without what could not be."""
    rows = {row[0].text: row[1].text for row in machine(on_two_disks()).rows}
    assert rows["disk slow"] == "/dev/slow, ext4 (rw); 600 bytes appended and synced 8 ms; 128 MiB/s written in sequence"
    assert "disk fast" in rows
    assert "disk of the data directory" not in rows
    assert "disk of the data directory" in {row[0].text for row in machine(sample_result()).rows}


def test_every_report_tells_the_disks_apart() -> None:
    """By the name of the store."""
    result = on_two_disks()
    for text in (render_markdown(result), render_html(result)):
        assert "sqlite:wal-full@fast" in text
        assert "sqlite:wal-full@slow" in text
    assert 'classname="sqlite.wal-full@slow.correctness"' in render_junit(result)


def test_what_is_read_of_several_results_takes_them_for_two_stores() -> None:
    """A site has a row for each, and `decide` may choose a store on one disk: what its file claims of the variant holds on both."""
    found = on_two_disks()
    assert [each.name for each in join(sources(found), {})] == ["sqlite:wal-full@fast", "sqlite:wal-full@slow"]
    evidence = join_evidence([ReadResult(Path("result.json"), found)], SHIPPED)
    assert list(evidence) == ["sqlite:wal-full@fast", "sqlite:wal-full@slow"]
    assert all(each.levels for each in evidence.values())
