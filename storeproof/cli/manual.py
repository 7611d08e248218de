"""`storeproof manual`: the installed copies of CONTRIBUTING, and of the pages on the store's file, requests and conformance claims."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from storeproof.errors import UsageError
from storeproof.spec.reading.explain import unknown

_FOLDER = Path(__file__).with_name("pages")
_PAGES: Final = {"store file": "STORE_FILE.md", "query": "QUERY.md", "conformance": "CONFORMANCE.md"}
"""Topics that are pages of their own, and their files."""


def topics() -> dict[str, str]:
    """The texts by topic (in lower case): the sections of CONTRIBUTING, and the pages."""
    sections = re.split(r"^## (.+)\n", (_FOLDER / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {title.lower(): f"## {title}\n{text}" for title, text in zip(sections[1::2], sections[2::2], strict=True)}
    return found | {topic: (_FOLDER / file).read_text(encoding="utf-8") for topic, file in _PAGES.items()}


def manual(wanted: str) -> str:
    """The text of a topic; without a topic, the list of topics. Raises `UsageError`: there is no such topic."""
    known = topics()
    if not wanted:
        return "\n".join(["storeproof manual TOPIC", *(f"  {topic}" for topic in known), "storeproof manual all"])
    if wanted == "all":
        return "\n".join(text.rstrip() + "\n" for text in known.values())
    named = [topic for topic in known if topic == wanted.lower()] or [topic for topic in known if topic.startswith(wanted.lower())]
    if len(named) != 1:
        raise UsageError(unknown("topic", wanted, known, extra="or `all`"))
    return known[named[0]].rstrip()
