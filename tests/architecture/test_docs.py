"""The pages for maintainers stay short enough to be read, and name what exists."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.architecture.installed import CHECKOUT

LONGEST = {"docs/DECISIONS.md": 4000, "docs/CLUSTERS.md": 4000, "CONTRIBUTING.md": 2500}
"""Words. What is more is a reference or an observation, and has a page of its own."""

LONGEST_ENTRY = 35


@pytest.mark.parametrize("page", LONGEST)
def test_a_page_is_short(page: str) -> None:
    """Old decisions and observations leave it when new ones come."""
    assert len((CHECKOUT / page).read_text().split()) <= LONGEST[page]


def test_an_entry_of_the_changelog_is_one_sentence() -> None:
    """For users; reasons and measurements have pages of their own. Releases before 0.3.0 are as they were."""
    newest = (CHECKOUT / "CHANGELOG.md").read_text().partition("\n## [0.2.0]")[0]
    entries = re.findall(r"^- (.+)$", newest, flags=re.MULTILINE)
    assert entries
    assert [each for each in entries if len(each.split()) > LONGEST_ENTRY or re.search(r"[.!?] [A-Z`]", each)] == []


def missing(text: str) -> list[str]:
    """What is in backticks and is gone: files and folders in neither the checkout nor the package, and classes of neither."""
    paths = set(re.findall(r"`((?:[\w.]+/)+(?:[\w.]+)?|\w+\.py)`", text))
    names = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b", text))
    gone = [path for path in paths if not any((root / path).exists() for root in (CHECKOUT, CHECKOUT / "storeproof"))]
    return sorted([*gone, *(names - classes())])


@cache
def classes() -> set[str]:
    """Of the whole package."""
    sources = (path.read_text() for path in (CHECKOUT / "storeproof").rglob("*.py"))
    return {name for source in sources for name in re.findall(r"^class (\w+)", source, flags=re.MULTILINE)}


def test_what_the_architecture_names_exists() -> None:
    """A file or a class that was moved or renamed is so there too."""
    assert missing((CHECKOUT / "docs" / "ARCHITECTURE.md").read_text()) == []


def test_the_check_sees_what_is_gone() -> None:
    """Files in either root, with and without a folder, and classes."""
    text = "`blame.py` `load/` `spec/stores/redis.yaml` `load/gone.py` `gone/` `gone.py` `RoundJudge` `RoundGone.run`"
    assert missing(text) == ["RoundGone", "gone.py", "gone/", "load/gone.py"]
