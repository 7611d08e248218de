"""What all plots share: how numbers are written on them, where their labels stand, and which line is whose."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from storeproof import units
from storeproof.report.pictures.drawing import TIME, Lines, logarithmic


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.9996, "1 s"),
        (0.9994, "999 ms"),
        (0.0009996, "1 ms"),
        (119.6, "120 s"),
        (1.5, "1.5 s"),
        (0.0000123, "12.3 µs"),
        (121, "2 min 1 s"),
    ],
)
def test_a_time_is_rounded_before_its_unit_is_chosen(value: float, written: str) -> None:
    """999.6 µs is 1 ms, not 1000 µs."""
    assert units.seconds(value) == written


@pytest.mark.parametrize(("value", "written"), [(999.6, "1k"), (999_600, "1M"), (999.4, "999"), (12_345, "12.3k"), (0, "0")])
def test_a_number_too(value: float, written: str) -> None:
    """999.6 is 1k, not 1000."""
    assert units.short(value) == written


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (60.0, 160_000.0, ["100 µs", "1 ms", "10 ms", "100 ms"]),
        (60.0, 2300.0, ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms"]),
        (25.0, 100.0, ["30 µs", "50 µs", "70 µs", "100 µs"]),
        (31.0, 125.0, ["50 µs", "70 µs", "100 µs"]),
    ],
)
def test_an_axis_has_several_labels_however_short_it_is(low: float, high: float, labels: list[str]) -> None:
    """A logarithmic axis of less than a decade has several labels."""
    axes = Figure().add_axes((0, 0, 1, 1))
    logarithmic(axes, TIME)
    axes.set_ylim(low, high)
    shown = [TIME(place) for place in axes.yaxis.get_majorticklocs() if low <= place <= high]
    assert shown == labels


@pytest.mark.parametrize(("values", "ends"), [((1000.0, 1020.0), (505.0, 2020.0)), ((100.0, 900.0), (100.0, 900.0))])
def test_a_small_difference_looks_small(values: tuple[float, float], ends: tuple[float, float]) -> None:
    """The axis spans a factor of four at least, so that 2 % do not fill the plot."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.plot([1, 2], values)
    axes.margins(y=0)
    logarithmic(axes, TIME)
    assert axes.get_ylim() == pytest.approx(ends, rel=0.01)


def test_a_store_has_one_colour_in_all_plots() -> None:
    """Colour and marker of a store are the same in every plot, and its own."""
    lines = Lines(["a", "b", "c", "a"])
    of_all = {name: (colour, sign) for colour, sign, name in lines.legend()}
    ((colour, sign, _),) = lines.legend(["c"])
    assert (colour, sign) == of_all["c"]
    assert len(set(of_all.values())) == len(of_all) == 3
    assert lines.style("c")["color"] not in {lines.style(name)["color"] for name in "ab"}


def test_where_the_colours_begin_anew_the_dash_is_another() -> None:
    """With more stores than colours the line style differs."""
    lines = Lines(map(str, range(20)))
    assert len({(lines.style(name)["color"], str(lines.style(name)["linestyle"])) for name in map(str, range(20))}) == 20
