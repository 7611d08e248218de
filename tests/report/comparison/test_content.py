"""A comparison says what each ratio shows, where it shows nothing, and why; on a screen of 80 columns and in files."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from storeproof.errors import UsageError
from storeproof.report.comparison import files
from storeproof.report.comparison.content import ComparedContent, of_agreement, of_comparison, rate
from storeproof.report.comparison.screen import print_content
from storeproof.result.compare import Side, compare, sides_of
from storeproof.result.json_file import read_result
from storeproof.result.measurement import MachineSpeedRecord
from storeproof.result.model import Citation
from storeproof.result.ratios.agreement import agreement
from tests.architecture.installed import CHECKOUT
from tests.result.records import measured
from tests.result.test_compare import _beside, rounds, side

FAST, SLOW = {"rounds": rounds(1080, 1081, 1079)}, {"rounds": rounds(1000, 1001, 999)}
SERIES, SPEEDS, AGAIN = (CHECKOUT / "reports" / name for name in ("2026-11-27-series", "2026-11-27-speeds", "2026-11-27-speeds-again"))


def _screen(content: ComparedContent, width: int = 80) -> list[str]:
    screen = StringIO()
    print_content(content, Console(file=screen, width=width))
    return screen.getvalue().splitlines()


def _shown(one: dict[str, Any], other: dict[str, Any]) -> str:
    return " ".join(" ".join(_screen(of_comparison(compare(side(**one), side(**other))), 200)).split())


def test_what_is_within_the_noise_says_so() -> None:
    """And how far it reaches, in the table and in words."""
    noisy = of_comparison(compare(_beside(side(**FAST), (1000, 1200, 900)), side(**SLOW)))
    assert [cell.text for cell in noisy.table.rows[0]][3:] == ["1.08× [1.08, 1.08]", "noise < 23 %"]
    assert "noise floor: differences below 23 % are noise" in [note.text for note in noisy.notes]
    assert "1.08× [1.08, 1.08] A faster" in _shown(FAST, SLOW)
    assert "0.93× [0.92, 0.93] B faster" in _shown(SLOW, FAST)


def test_a_lower_bound_is_an_inequality() -> None:
    """With its sign at the number and at the ratio; a deficit of the limited side shows nothing."""
    assert f"(50c, 0i) ≥ {rate(measured())} {rate(measured())} " in _shown(FAST | {"at_least": True}, SLOW)
    assert "≥ 1.08× [1.08, 1.08] A faster" in _shown(FAST | {"at_least": True}, SLOW)
    assert "≥ 0.93× [0.92, 0.93] A was limited" in _shown(SLOW | {"at_least": True}, FAST)


def test_a_cited_proof_names_the_run_that_proved_it() -> None:
    """In the heading of its side, with the scale; one of the run itself names none."""
    proven = side()
    cited = Citation(run="r1", started="", scale="full", seed=1, sha256="")
    durability = proven.store.durability.model_copy(update={"cited": cited})
    citing = replace(proven, store=proven.store.model_copy(update={"durability": durability}))
    one, other = of_comparison(compare(proven, citing)).about
    assert "durability proven: process_crash, scale standard" in one
    assert "durability proven: process_crash (cited from run r1, scale full), scale standard" in other


def test_how_it_was_measured_is_told() -> None:
    """What tells two measurements of one workload apart stands beside them."""
    many = {"pipeline": 4, "record": "size-1000", "load_model": "open", "rate": 500.0}
    assert "50c, 0i, 500/s offered, 4 in flight, 1,000 bytes" in _shown(FAST | many, SLOW | many)
    assert "number of requests in flight differs: 4 against 1" in _shown(FAST | many, SLOW)


@pytest.mark.slow
def test_a_reason_is_said_once_for_all_that_it_refuses() -> None:
    """What all pairs have in common first, then what is each one's own."""
    a, b = sides_of(read_result(SERIES))[3], sides_of(read_result(SERIES))[1]
    lines = [note.text for note in of_comparison(compare(a, b)).notes if note.text.startswith("refused")]
    assert lines[0].startswith("refused, all ")
    assert "proven durability differs: process_crash against power_loss" in lines[0]
    assert sum("proven durability" in line for line in lines) == 1


@pytest.mark.parametrize(("store", "against"), [("redis", "postgresql"), ("mariadb", "mongodb"), ("sqlite", "tarantool")])
def test_a_real_comparison_fits_80_columns(store: str, against: str) -> None:
    """Every line of a published result, and no cell is cut."""
    named = {side.store.store: side for side in sides_of(read_result(SERIES))}
    content = of_comparison(compare(named[store], named[against]))
    lines = _screen(content)
    assert max(map(len, lines)) <= 80
    text = "".join("".join(lines).split())
    assert "…" not in text
    for row in content.table.rows:
        assert all("".join(cell.text.split()) in text for cell in row[1:])


def test_the_agreement_of_two_real_runs_is_one_table_of_80_columns() -> None:
    """By kind of workload: numbers, how many agree, the share; then those that do not, each with its rates."""
    left, right = ({side.name: side for side in sides_of(read_result(path))} for path in (SPEEDS, AGAIN))
    pairs = [(left[name], right[name]) for name in left if name in right]
    found = agreement(pairs)
    lines = _screen(of_agreement(found, *pairs[0]))
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    agreeing = sum(each.agrees for each in found.numbers)
    assert 0 < agreeing < len(found.numbers)
    assert f"{agreeing} of {len(found.numbers)} numbers agree ({agreeing / len(found.numbers):.0%}".replace("%", " %") in text
    for each in found.numbers:
        assert (f"{each.store} {each.a.workload}" in text.partition("beyond the noise floor")[2]) >= (not each.agrees)


def test_the_agreement_says_how_fast_the_machine_was_where_that_is_known() -> None:
    """The baseline of each run, and how many of its numbers are from slower moments."""
    fast, slow = (MachineSpeedRecord(rate=150e3, baseline=181e3, slow=rounds, repeated=0) for rounds in (0, 99))
    known, unknown = side(), side(**FAST)
    every = [measured().model_copy(update={"machine_speed": each}) for each in (fast, slow, None)]
    store = known.store.model_copy(update={"measurements": every})
    known = Side(known.result.model_copy(update={"stores": [store]}), store)
    about = of_agreement(agreement([(known, unknown)]), known, unknown).about
    assert about[0].endswith(", reference load 181k/s, 1 number on a slow machine")
    assert about[1].endswith(", scale standard")


def test_a_comparison_is_written_as_json_markdown_and_html(tmp_path: Path) -> None:
    """The same pairs in each; in JSON every value, in the pages every cell."""
    comparison = compare(side(**FAST), side(**SLOW))
    content = of_comparison(comparison)
    for name in ("x.json", "x.md", "x.html"):
        files.write(tmp_path / name, [files.comparison_data(comparison)], [content])
    ((pair,),) = (each["pairs"] for each in json.loads((tmp_path / "x.json").read_text()))
    assert pair["ratio"]["middle"] == pytest.approx(1.08)
    assert (pair["bound"], pair["faster"], pair["a"]["grade"], pair["refused"]) == ("", "A", comparison.pairs[0].a.grade, [])
    markdown, page = (tmp_path / "x.md").read_text(), (tmp_path / "x.html").read_text()
    assert r"**1.08× \[1.08, 1.08\]**" in markdown
    for row in content.table.rows:
        assert all(f">{cell.text}</t" in page for cell in row)
    assert "src=" not in page
    assert 'href="http' not in page


def test_a_file_of_another_format_is_a_usage_error(tmp_path: Path) -> None:
    """It names those that there are; a place that cannot be written is one too."""
    with pytest.raises(UsageError, match=r"\.json, \.md, \.html"):
        files.check(tmp_path / "x.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--output"):
        files.write(tmp_path / "file" / "x.json", [], [])
