"""Sheets of devices are data: each says whose figures it has, and whatever is wrong with one is told with file, line and field."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from storeproof.errors import SpecError, UsageError
from storeproof.spec import SPEC_ROOT
from storeproof.spec.questions.read_devices import read_device
from tests.spec.files import replaced

SHEETS = SPEC_ROOT / "devices"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """With a sheet of its own."""
    (tmp_path / "devices").mkdir()
    shutil.copy(SHEETS / "hdd-15k.yaml", tmp_path / "devices")
    return tmp_path


@pytest.mark.parametrize("name", sorted(path.stem for path in SHEETS.glob("*.yaml")))
def test_the_shipped_sheets_are_of_models(name: str) -> None:
    """Never called by a product's name alone; the published sheet and its figures are named."""
    sheet = read_device(name)
    assert sheet.title.startswith("Model of ")
    assert sheet.models not in sheet.title
    assert "Specification" in sheet.source
    for times in (sheet.read, sheet.write):
        assert times.elsewhere_us or times.at_least_us


def test_a_sheet_says_in_words_what_it_answers_by() -> None:
    """A hard disk elsewhere, an SSD anywhere."""
    assert read_device("hdd-15k").figures.endswith("600 GB): a read 4.9 ms elsewhere, 1 at once, a write 5.1 ms elsewhere, 1 at once")
    assert read_device("nvme").figures == "with the figures of Intel SSD DC P3700 (2 TB): a read 20 µs, 9 at once, a write 20 µs, 3 at once"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: Model of a hard disk", "title: A hard disk", ":4: title: "),
        ("device: hdd-15k", "device: hdd", ":3: device: found 'hdd'; allowed: hdd-15k, as the file is called"),
        ("elsewhere_us: 4900", "elsewhere: 4900", ":12: read.elsewhere: "),
        ("elsewhere_us: 4900", "elsewhere_us: -1", ":12: read.elsewhere_us: "),
        ("bytes_per_second: 250_000_000", "bytes_per_second: .inf", ":12: read.bytes_per_second: "),
        ("elsewhere_us: 4900", "elsewhere_us: .nan", ":12: read.elsewhere_us: "),
        ("at_once: 1}\nwrite", "at_once: 0}\nwrite", ":12: read.at_once: "),
        ("models: HGST", "product: HGST", ":2: models: is missing, and must be given"),
    ],
)
def test_what_is_no_sheet(root: Path, old: str, new: str, message: str) -> None:
    """Each error is one line, with file, line and field."""
    path = root / "devices" / "hdd-15k.yaml"
    path.write_text(replaced(path.read_text(), old, new))
    with pytest.raises(SpecError) as breach:
        read_device("hdd-15k", root)
    problems = [line.removeprefix(str(path)) for line in breach.value.problems]
    assert any(line.startswith(message) for line in problems), problems


def test_a_name_that_is_almost_one(root: Path) -> None:
    """The message lists the names, and says which was meant."""
    with pytest.raises(UsageError, match=r"^unknown model of a device `hdd15k`.*hdd-15k"):
        read_device("hdd15k", root)
