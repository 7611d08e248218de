"""A published picture is small, and shows what the drawing library drew."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from storeproof.report.pictures.answer import compact


def drawn() -> str:
    """A box, a line and words that look like numbers and like markup."""
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.add_patch(Rectangle((0.123456, 0.2), 0.3, 0.4, facecolor="#e3f2e6"))
    axes.plot([0.1, 0.777777], [0.5, 0.5], color="#1c1c1c")
    axes.text(0.1, 0.8, "0.123456 is a number  <of two blanks>")
    axes.text(0.5, 0.5, "upright", rotation=90)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def test_it_is_much_smaller_and_says_the_same() -> None:
    """Words stay to the letter, and what is turned stays turned."""
    before = drawn()
    after = compact(before)
    said, says = (
        ["".join(each.itertext()) for each in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        for text in (before, after)
    )
    assert said == says
    assert "0.123456 is a number  <of two blanks>" in says
    assert "rotate(-90" in after
    assert len(after) < len(before) / 2


def test_every_reference_leads_somewhere_and_every_style_is_kept() -> None:
    """Classes in place of styles, and the ids that are used."""
    before, after = drawn(), compact(drawn())
    ids, used = set(re.findall(r' id="([^"]+)"', after)), set(re.findall(r'(?:url\(|href=")#([^")]+)', after))
    assert used
    assert ids == used
    styles = dict(re.findall(r"\.(s\d+)\{([^}]*)\}", after))
    assert set(styles.values()) == set(re.findall(r' style="([^"]*)"', before))
    assert set(re.findall(r' class="([^"]+)"', after)) == set(styles)
    assert "e3f2e6" in after
