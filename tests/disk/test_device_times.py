"""When a model answers is computed from its sheet, by a clock that the test gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storeproof import native_support
from storeproof.spec.questions.read_devices import read_device

if TYPE_CHECKING:
    from storeproof.native import DeviceTimes

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part is not installed")

BLOCK = 4096
ROUNDED = 0.01
"""Microseconds by which a time may be short: the model counts nanoseconds."""


@dataclass(frozen=True)
class Figures:
    """Of requests of one direction."""

    elsewhere_us: float = 0.0
    at_least_us: float = 0.0
    bytes_per_second: float = 4096e6
    at_once: int = 1


@dataclass(frozen=True)
class Sheet:
    """A device of which a block moves in a microsecond."""

    read: Figures = field(default_factory=Figures)
    write: Figures = field(default_factory=Figures)
    rotation_us: float = 0.0
    flush_us: float = 0.0


HARD_DISK = Sheet(Figures(elsewhere_us=500), Figures(elsewhere_us=600), rotation_us=400)
FLASH = Sheet(Figures(at_least_us=50, at_once=4), Figures(at_least_us=60, at_once=2))


def device(sheet: Sheet) -> DeviceTimes:
    from storeproof import native

    return native.DeviceTimes(sheet)


def test_a_hard_disk_moves_its_head() -> None:
    """A request at another place takes the time until it is there, and one that follows the last at once only that of its bytes."""
    made = device(HARD_DISK)
    assert made.read(0, 10 * BLOCK, BLOCK) == pytest.approx(501)
    assert made.read(501, 11 * BLOCK, 3 * BLOCK) == pytest.approx(504)
    assert made.write(504, 0, BLOCK) == pytest.approx(504 + 601)


def test_a_hard_disk_serves_one_request_after_the_other() -> None:
    """In the order in which they come: eight at once take the time of eight."""
    made = device(HARD_DISK)
    answers = [made.read(0, place * 10 * BLOCK, BLOCK) for place in range(8, 0, -1)]
    assert answers == pytest.approx([501 * number for number in range(1, 9)])


@pytest.mark.parametrize(("late", "waits"), [(0, 0), (1, 399), (399, 1), (400, 400), (500, 300)])
def test_a_write_that_comes_too_late_waits_for_the_platter(late: float, waits: float) -> None:
    """Without a write cache a log that is written block by block takes a rotation for each, less what passed between them."""
    made = device(HARD_DISK)
    end = made.write(0, 0, BLOCK)
    assert made.write(end + late, BLOCK, BLOCK) - (end + late) == pytest.approx(waits + 1)


def test_flash_serves_several_at_once() -> None:
    """Of reads as many as it says, and the next begins when the first of them is answered; of writes another number."""
    made = device(FLASH)
    assert [made.read(0, place * 10 * BLOCK, BLOCK) for place in range(9)] == pytest.approx([50] * 4 + [100] * 4 + [150])
    made = device(FLASH)
    assert [made.write(0, place * 10 * BLOCK, BLOCK) for place in range(5)] == pytest.approx([60] * 2 + [120] * 2 + [180])


def test_requests_that_are_served_at_once_share_the_rate() -> None:
    """Their bytes move one after the other."""
    made = device(FLASH)
    assert [made.read(0, 0, 1000 * BLOCK) for _ in range(3)] == pytest.approx([1000, 2000, 3000])


def test_a_flush_comes_after_all_that_came_before() -> None:
    """It takes what the sheet says beyond that, and nothing where it says nothing."""
    made = device(Sheet(FLASH.read, FLASH.write, flush_us=7))
    last = max(made.write(0, place * 10 * BLOCK, BLOCK) for place in range(5))
    assert made.flush(1) == pytest.approx(last + 7)
    assert device(FLASH).flush(3) == 3


@given(
    st.sampled_from([HARD_DISK, FLASH]),
    st.lists(st.tuples(st.booleans(), st.integers(0, 300), st.integers(0, 20), st.integers(1, 8)), min_size=1, max_size=60),
)
def test_it_is_never_faster_than_its_sheet(sheet: Sheet, asked: list[tuple[bool, int, int, int]]) -> None:
    """No request is answered before its own time, none begins while as many are served as may be, and all bytes together move no faster
    than in sequence."""
    made, now, place, ends = device(sheet), 0.0, 0, list[float]()
    for reads, pause, where, blocks in asked:
        now += pause
        figures = sheet.read if reads else sheet.write
        least = max((figures.elsewhere_us if where * BLOCK != place else 0) + blocks, figures.at_least_us)
        end = (made.read if reads else made.write)(now, where * BLOCK, blocks * BLOCK)
        assert end >= now + least - ROUNDED
        still_served = [other for other in ends if other > end - least + ROUNDED]
        assert len(still_served) < figures.at_once
        ends.append(end)
        place = (where + blocks) * BLOCK
    assert sum(blocks for *_, blocks in asked) <= max(ends) - asked[0][1] + ROUNDED


@pytest.mark.parametrize("name", ["hdd-15k", "sata-ssd", "nvme"])
def test_the_shipped_models_are_no_faster_than_they_were_published(name: str) -> None:
    """A thousand requests of 4 KiB at once, each elsewhere, take at least as long as at the published rate of requests: of the hard disk
    one in a seek and half a rotation."""
    from storeproof import native

    published = {"hdd-15k": (1e6 / 4900, 1e6 / 5100), "sata-ssd": (75_000, 36_000), "nvme": (460_000, 175_000)}[name]
    for direction, rate in zip(("read", "write"), published, strict=True):
        made = native.DeviceTimes(read_device(name))
        last = max(getattr(made, direction)(0.0, place * 10 * BLOCK, BLOCK) for place in range(1, 1001))
        assert last >= 1000 / rate * 1e6
        assert last <= 1000 / rate * 1e6 * 1.5, "and not much slower"
