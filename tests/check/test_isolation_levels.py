"""What the levels forbid, as spec/isolation/README.md has it in words."""

from __future__ import annotations

import re

from storeproof.check import FORBIDS
from storeproof.spec.isolation import ANOMALIES, AnomalyKind
from storeproof.spec.loader import SPEC_ROOT

_NAMES = {name: kind for kind, name in ANOMALIES.items()}


def test_the_page_says_what_each_level_forbids() -> None:
    """Each row goes on from the one before, or from the one that it names."""
    page = (SPEC_ROOT / "isolation" / "README.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in page.splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == list(FORBIDS)
    said: dict[str, set[AnomalyKind]] = {}
    before: set[AnomalyKind] = set()
    for level, words, by_client, by_time in rows:
        named = re.search(r"the same as `(\w+)`", words)
        listed = re.sub(r"the same( as `\w+`)?(, and )?", "", words)
        before = (said[named[1]] if named else before) | {_NAMES[each] for each in listed.split(", ") if each}
        said[level.strip("`")] = before
        orders = ["item", *["process"] * (by_client == "yes"), *["realtime"] * (by_time == "yes")]
        assert {(kind, order) for kind in before for order in orders} == FORBIDS[level.strip("`")], level  # type: ignore[index]
