"""Results of format 1.0 and 1.1 are read: their fields get the names of today, and no value changes.

`format_1_0.json` is cut from results that storeproof wrote in that format: a store with a closed and an open loop, an outage, two answers
whose time was scaled, a history that is not linearizable, and all guarantees; the corpus is by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from storeproof.cli import main
from storeproof.errors import UsageError
from storeproof.result.json_file import read_result, write_result
from storeproof.result.model import FORMAT, Result
from storeproof.result.needs.published import published_results
from storeproof.result.older_formats import upgrade

OLD = Path(__file__).with_name("format_1_0.json")


def old(**changed: Any) -> dict[str, Any]:
    """The old result as parsed JSON, with some of its fields changed."""
    return json.loads(OLD.read_text()) | changed


def test_every_renamed_field_keeps_its_value() -> None:
    """Each name that format 1.0 had otherwise is there under its new name, with the value of the old file."""
    was, result = old()["stores"][0], read_result(OLD)
    now = result.stores[0]
    assert result.format == FORMAT
    assert result.run.corpus[0].skipped_pages == 7
    for guarantee, before in zip(now.durability.guarantees, was["durability"]["guarantees"], strict=True):
        assert (guarantee.faults_by_load, guarantee.power_cut_method) == (before["shapes"], before["cut_by"])
    loop, before = now.measurements[1], was["measurements"][1]
    assert loop.missed_sends == before["unissued"] == 9686
    assert loop.schedule_lag_us is not None
    assert loop.schedule_lag_us.model_dump() == before["lag_us"] | {"mean": None}
    renamed = {"missed_send_ratio": "achieved", "schedule_lag": "lag", "littles_law": "little", "steady_state": "steady"}
    assert {name: gate.model_dump() for name, gate in loop.gates.items()} == {
        name: before["gates"][renamed.get(name, name)] for name in loop.gates
    }
    assert not loop.gates["missed_send_ratio"].ok
    assert [each.sublinear for each in now.scaling] == [each["steady"] for each in was["growth"]]
    outage, before = now.outages[0], was["outages"][0]
    assert (outage.missed_sends, outage.degraded_seconds) == (before["unsent"], before["steady_seconds"])
    assert outage.gates["schedule_lag_ms"].model_dump() == before["gates"]["lag_ms"]
    assert [each.answer_known for each in now.histories[0].accesses] == [each["heard"] for each in was["histories"][0]["accesses"]]
    assert "system_of_record" in {each.profile for each in now.profiles}


def test_numbers_of_older_formats_are_graded() -> None:
    """As new ones: by the half interval, by the gates that say who was the limit or what broke, and by the rounds."""
    changed = old()
    closed, opened = changed["stores"][0]["measurements"][:2]
    closed["throughput"] |= {"median": 100.0, "low": 92.0, "high": 108.0}
    closed["gates"]["client_cpu"] = {"ok": False, "value": 0.95, "limit": 0.9}
    found = Result.model_validate(upgrade(changed, FORMAT)).stores[0].measurements
    assert (found[0].grade, found[0].at_least, found[0].invalid) == ("B", True, [])
    assert not found[0].trend.drifting
    assert found[1].invalid == ["missed_send_ratio"]
    assert opened["gates"]["missed_send_ratio"]["ok"] is False


def test_a_number_without_a_verdict_is_refused_and_not_guessed() -> None:
    """A measurement that lacks what a verdict needs has none, and the validation says what is missing."""
    changed = old()
    del changed["stores"][0]["measurements"][0]["verified"]
    upgrade(changed, FORMAT)
    assert "grade" not in changed["stores"][0]["measurements"][0]
    with pytest.raises(ValidationError, match="verified"):
        Result.model_validate(changed)


@pytest.mark.parametrize(("claimed", "now"), [("volatile", "volatile"), ("clean_restart", None), ("power_loss", None)])
def test_who_claimed_volatile_is_proven_without_a_fault(tmp_path: Path, claimed: str, now: str | None) -> None:
    """As in a new run: nothing was promised. Who claimed more and was not tried is not proven."""
    older = old()
    older["stores"][0]["durability"] |= {"claimed": claimed, "proven": None}
    (tmp_path / "result.json").write_text(json.dumps(older))
    assert read_result(tmp_path).stores[0].durability.proven == now


def test_format_1_1_is_read_too(tmp_path: Path) -> None:
    """It had who is to blame and the repeated attempts beside the fields of 1.0."""
    newer = old(format="1.1")
    newer["stores"][0]["outcomes"][0] |= {"named": "the machine", "spoiled": 2}
    (tmp_path / "result.json").write_text(json.dumps(newer))
    found = read_result(tmp_path).stores[0].outcomes[0]
    assert (found.named, found.spoiled) == ("the machine", 2)


def test_an_old_result_is_written_in_the_new_format(tmp_path: Path) -> None:
    """What is read and written again has no old name, and reads as the same result."""
    write_result(read_result(OLD), tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["format"] == FORMAT
    assert read_result(tmp_path) == read_result(OLD)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": FORMAT}, "Extra inputs are not permitted"),
        ({"stores": [3, None, {"measurements": 4}]}, "is not a result in format 1.0"),
        ({"stores": {"measurements": []}, "run": []}, "is not a result in format 1.0"),
    ],
    ids=["old names in the new format", "no stores", "no lists"],
)
def test_what_is_no_old_result_is_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    """Old names are read in files of an old format alone, and a damaged old file is refused with the reason."""
    (tmp_path / "result.json").write_text(json.dumps(old(**changed)))
    with pytest.raises(UsageError, match=message):
        read_result(tmp_path)


def test_a_field_under_both_names_is_refused(tmp_path: Path) -> None:
    """None of the two values is dropped in silence."""
    both = old()
    both["stores"][0]["scaling"] = []
    (tmp_path / "result.json").write_text(json.dumps(both))
    with pytest.raises(UsageError, match=r"stores\.0\.growth: Extra inputs"):
        read_result(tmp_path)


@pytest.mark.parametrize(
    "arguments", [["report", "{old}", "--report-dir", "{new}"], ["compare", "{old}", "{old}"]], ids=["report", "compare"]
)
def test_the_commands_take_an_old_result(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`report` draws it, by the new names, and `compare` sets it against another."""
    monkeypatch.setattr(sys, "argv", ["storeproof", *(each.format(old=OLD, new=tmp_path / "drawn") for each in arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert all("missed_send_ratio" in page.read_text() for page in tmp_path.glob("drawn/report.html"))


@pytest.mark.parametrize("path", published_results(), ids=lambda path: path.parent.name)
def test_every_published_result_is_read(path: Path) -> None:
    """Whatever format it was written in."""
    assert read_result(path).stores
