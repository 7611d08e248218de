"""Where a store's I/O went is shown, and why it is not."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.resources.anatomy import anatomies, sentences, unmatched
from storeproof.report.tables import workloads
from storeproof.result.anatomy import Anatomy, DeviceRecord, KindOfIo, MeanWaits, Waits
from storeproof.result.model import Result
from storeproof.result.part import Gate
from tests.report.sample import TARGETS, sample_result

HISTOGRAM = sample_result().stores[0].measurements[0].histogram
WAITS = Waits(samples=500, mean=1400.0, p50=1300.0, p99=None, max=7300.0, histogram=HISTOGRAM)
JOURNAL = KindOfIo(written_bytes=80_000, syncs=162, direct_writes=0, waits=WAITS, under_way=0.75, read_bytes=0, reads=None)
FOUND = Anatomy(
    rounds=3,
    seconds=0.3,
    kinds={"journal": JOURNAL},
    mean_waits=MeanWaits(journal=1400.0, save=None, merge_write=None, merge_read=None, overall=1400.0),
    client_share=0.75,
    client_bytes=50_000,
    file_bytes=80_000,
    files_per_client=1.6,
    device=DeviceRecord(written_bytes=800_000, flushes=324, flush_waits=WAITS, flushes_per_sync=2.0),
    device_per_client=16.0,
    device_reason="",
    lost_records=0,
    unmatched=["save: *.rdb"],
    gates={"classified": Gate(ok=True, value=0.0, limit=0.01), "complete": Gate(ok=True, value=0, limit=0)},
)
LOST = {"gates": {**FOUND.gates, "complete": Gate(ok=False, value=7, limit=0)}, "lost_records": 7, "invalid": ["complete"]}


def result_of(found: Anatomy | None, reason: str = "") -> Result:
    """One workload of one store."""
    result = sample_result(TARGETS[1:2])
    (store,) = result.stores
    measured = store.measurements[0].model_copy(update={"anatomy": found, "anatomy_reason": reason})
    return result.model_copy(update={"stores": [store.model_copy(update={"measurements": [measured]})]})


def shown(found: Anatomy | None, reason: str = "") -> tuple[list[str], list[str]]:
    """The cells, and the sentences, without the names."""
    (measured,) = workloads(result_of(found, reason)).values()
    table = anatomies(measured)
    assert table is not None
    assert {len(row) for row in table.rows} == {len(table.header)}
    return [cell.text for cell in table.rows[0][4:]], [each.partition(": ")[2] for each in sentences(measured)]


def test_the_seeds_table_and_what_it_says() -> None:
    """The four kinds, the clients' share, and the way of a byte."""
    cells, said = shown(FOUND)
    assert cells == ["1.4 ms", "–", "1.4 ms", "–", "–", "75 %", "162", "1.6", "16", "2", "–", "0"]
    share = "75 % of the clients' time passed while a sync of the journal was under way"
    way = "a byte of the clients becomes 1.6 in files, and 16 on the device"
    assert said == [f"{share}; each sync costs 2 flushes of the device; {way}"]
    (measured,) = workloads(result_of(FOUND)).values()
    assert unmatched(measured) == ["redis:aof-always: no I/O was seen of save: *.rdb"]


@pytest.mark.parametrize(("rounds", "since", "said"), [(4, None, "–"), (12, None, "drifting"), (12, 3, "round 3")])
def test_from_when_on_it_is_steady(rounds: int, since: int | None, said: str) -> None:
    """Four rounds are too few to tell."""
    cells, _ = shown(FOUND.model_copy(update={"rounds": rounds, "steady_from": since}))
    assert cells[-2] == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (LOST, "not valid: the kernel dropped 7 records"),
        (
            {"gates": {**FOUND.gates, "classified": Gate(ok=False, value=0.4, limit=0.01)}, "invalid": ["classified"]},
            "not valid: 40 % of the I/O is of files whose kind is not known",
        ),
        ({"kinds": {}}, "no sync of a journal was seen: no client waits for one; each sync costs"),
        ({"device": None, "device_per_client": None, "device_reason": "others wrote"}, "not known of the device: others wrote"),
    ],
)
def test_what_is_not_so_is_said(change: dict[str, Any], said: str) -> None:
    """Nothing is told of a table that is not valid, and no number of a device that others used."""
    cells, sentence = shown(FOUND.model_copy(update=change))
    assert said in sentence[0]
    assert cells[0].startswith("✘") == bool(change.get("invalid"))
    assert ("under way" in sentence[0]) == ("invalid" not in change and "kinds" not in change)


def test_a_store_that_could_not_be_watched() -> None:
    """Dashes, and the reason."""
    cells, said = shown(None, "its data is on tmpfs")
    assert set(cells) == {"–"}
    assert said == ["not watched: its data is on tmpfs"]


@pytest.mark.slow
def test_both_reports_have_it_where_it_was_asked_for() -> None:
    """And say nothing of it elsewhere; what is read back is what was written."""
    for render in (render_html, render_markdown):
        assert "flushes / sync" in render(result_of(FOUND))
        assert "flushes / sync" not in render(result_of(None))
    again = Result.model_validate_json(result_of(FOUND).model_dump_json())
    assert again.stores[0].measurements[0].anatomy == FOUND
