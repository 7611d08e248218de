"""A text's table of devices is data: its rows add up, and the figures of claims on waits are taken from it."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean, median
from typing import Any, get_args

import pytest

from storeproof.errors import SpecError
from storeproof.result.ratios.across_disks import KINDS
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.questions.claim import ClaimsFile
from storeproof.spec.questions.devices import DeviceRow, WaitKind
from storeproof.spec.questions.read_claims import read_claims
from storeproof.spec.reading.source import read
from tests.spec.files import problems, replaced, specification

SIDES = """\
    a: {store: mine, variant: plain, workload: put, disk: slow, device: one}
    b: {store: mine, variant: plain, workload: put, disk: fast, medium: pcie-ssd}
"""
CLAIMS = f"""\
format: "1.1"
source: "000"
title: A text
devices:
  one: {{device: One, arrangement: alone, medium: hdd-15k, overall: 40, save: 30, journal: 70, merge_read: 50, merge_write: 10}}
  two: {{device: Two, arrangement: alone, medium: pcie-ssd, overall: 3, save: 2, journal: 7, merge_read: 2, merge_write: 1}}
  three: {{device: Three, arrangement: "RAID0, twice", medium: pcie-ssd, overall: 2, save: 2, journal: 3, merge_read: 2, merge_write: 1}}
claims:
  - claim: waits
    title: One waits longer
    about: [disk]
    wait: journal
{SIDES}"""

SHIPPED_TABLE = read(SPEC_ROOT / "claims" / "001.yaml", ClaimsFile)


def _rows() -> list[DeviceRow]:
    return list(SHIPPED_TABLE.devices.values())


def test_a_figure_is_that_of_the_device_or_the_median_of_its_medium(tmp_path: Path) -> None:
    """Of the kind of wait that the claim is on."""
    (tmp_path / "000.yaml").write_text(CLAIMS)
    file = read(tmp_path / "000.yaml", ClaimsFile)
    figure = file.with_figure(file.claims[0]).figure
    assert figure is not None
    assert (figure.a, figure.b, figure.value) == (70, 5, 14)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("journal: 70, ", "", "devices.one.journal: is missing"),
        ("journal: 70", "journal: 0", "devices.one.journal: found 0; allowed: more than 0"),
        ("medium: hdd-15k", "medium: hdd-7k", "devices.one.medium: found 'hdd-7k'"),
        ("overall: 40", "overall: 40, class: hdd", "devices.one.class: unknown field"),
        (", device: one", "", "claims.0.a: a side of a `wait` needs `disk`, and either `device` or `medium`"),
        (", device: one", ", device: one, medium: hdd-15k", "claims.0.a: a side of a `wait` needs `disk`, and either `device` or `medium`"),
        (SIDES, SIDES.replace(", disk: slow", ""), "claims.0.a: a side of a `wait` needs `disk`"),
        (
            "disk: fast",
            "disk: slow",
            "claims.0.about: found disk slow and slow; allowed: different ones if, and only if, `about` has `disk`",
        ),
        ("variant: plain, workload: put, disk: fast", "variant: other, workload: put, disk: fast", "claims.0.b: found two stores"),
        ("    wait: journal\n", "    wait: journal\n    figure: {a: 70, b: 5}\n", "claims.0.figure: leave it out"),
        ("    wait: journal\n", "    reproduced: {above: 1}\n", "claims.0.a: `disk`, `device` and `medium` are for claims with `wait`"),
        (SIDES, "    no_workload: none\n", "`withdrawn` and `wait` are for claims with `a` and `b`"),
    ],
)
def test_a_table_and_what_claims_take_from_it_are_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    """With the place, and what is allowed."""
    text = replaced(CLAIMS, old, new).replace("    about: [disk]\n", "" if "no_workload" in new else "    about: [disk]\n")
    (line,) = problems(tmp_path, ClaimsFile, text)
    assert message in line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("device: one}", "device: onee}", "claims.0.a.device: unknown device `onee` (did you mean `one`?); allowed: one, three, two"),
        ("disk: fast, medium: pcie-ssd", "disk: fast, medium: sas-ssd", "claims.0.b.medium: unknown medium `sas-ssd`"),
    ],
)
def test_a_side_stands_for_what_the_table_has(tmp_path: Path, old: str, new: str, message: str) -> None:
    """A figure of no row would be of nothing."""
    (tmp_path / "claims").mkdir()
    root = specification(tmp_path)
    (root / "claims" / "000.yaml").write_text(replaced(CLAIMS, old, new))
    with pytest.raises(SpecError, match=re.escape(message)):
        read_claims(load_spec(root))


def test_waits_are_of_the_kinds_that_a_result_has() -> None:
    """By the same names."""
    assert set(get_args(WaitKind)) == set(KINDS)


@pytest.mark.parametrize("name", SHIPPED_TABLE.devices)
def test_overall_is_the_mean_of_the_four_kinds(name: str) -> None:
    """As printed: all five numbers are rounded to a hundredth, so they agree to within one."""
    row = SHIPPED_TABLE.devices[name]
    assert abs(fmean((row.save, row.journal, row.merge_read, row.merge_write)) - row.overall) < 0.0101


def test_all_rows_of_the_text_are_there_in_its_order() -> None:
    """Each device in each arrangement once, the fastest first."""
    rows = _rows()
    assert len({(each.device, each.arrangement) for each in rows}) == 28
    assert [each.overall for each in rows] == sorted(each.overall for each in rows)


def test_the_media_are_ordered_as_the_claims_say() -> None:
    """By their medians; and of one medium no row is on another."""

    def middle(**of: Any) -> float:
        return median(each.overall for each in _rows() if all(getattr(each, key) == of[key] for key in of))

    assert middle(medium="pcie-ssd") < middle(medium="sas-ssd") < middle(medium="sata-ssd") < middle(medium="hdd-15k")
    assert all(("SLC" in each.arrangement or "MLC" in each.arrangement) == each.medium.endswith("ssd") for each in _rows())
    assert all((f"{each.medium[4:].upper()} " in each.device) for each in _rows() if each.medium.startswith("hdd"))


def test_what_titles_say_is_what_the_table_gives() -> None:
    """A title that says how many times has it rounded to the digits that it prints."""
    said = {}
    for claim in map(SHIPPED_TABLE.with_figure, SHIPPED_TABLE.claims):
        if claim.figure is not None and (times := re.search(r"(?:takes?|waits|text) ([\d.]+) times", claim.title)):
            digits = times[1]
            said[claim.claim] = (digits, f"{claim.figure.value:.{len(digits.partition('.')[2])}f}")
    assert said == {name: (digits, digits) for name, (digits, _) in said.items()}
    assert set(said) == {"journal-by-disk", "slower-rotation", "raid-by-software"}
