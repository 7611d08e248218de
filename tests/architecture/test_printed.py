"""Every number in README.md, reports/README.md and docs/findings/ is computed again from the published results, or of a kind that is said.

`printed/` has the sentences. A digit that is changed on a page, and one that is new and that nothing explains, fail.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import pytest

from storeproof.result.json_file import file_in
from storeproof.result.product import short_product
from tests.architecture.installed import CHECKOUT
from tests.architecture.printed.given import GIVEN, UNPUBLISHED
from tests.architecture.printed.published import REPORTS, run
from tests.architecture.printed.reports import counts, reports
from tests.architecture.printed.says import README, TARANTOOL, Says

PAGES: dict[str, Sequence[Says]] = {
    "README.md": README,
    "reports/README.md": reports(),
    "docs/findings/tarantool-fsync.md": TARANTOOL,
}
KINDS = {
    "a block of commands or of what they printed": r"^```.*?^```",
    "code, as options and values are": r"`[^`\n]*`",
    "where a link leads": r"\]\([^)\n]*\)",
    "a tag": r"<[^>\n]+>",
    "a date": r"\b20\d\d-\d\d-\d\d(?: and \d\d)?\b",
    "an edition": r"\bedition 20\d\d(?:\.\d+)+",
    "a signal": r"kill -9",
    "a level of confidence": r"95 %",
    "a table or a sentence that test_reports.py draws again": r"^\| \*\*.*$|^Of \d+ ratios of two stores \d+ agree \(\d+ %\)",
    "noise floors that test_reports.py computes again": r"Differences below \d+ % are noise.*$",
}
"""Numbers that say nothing which was measured, or that another test computes again."""
COUNTED = r"\d+ numbers: .+?(?: invalid(?: \([^)]*\))?|(?=\.))"
NUMBER = r"\d[\d,.]*\d|\d"


def _blank(text: str, spans: Iterator[tuple[int, int]]) -> str:
    """Without what is explained; all else keeps its place."""
    letters = list(text)
    for begin, end in spans:
        letters[begin:end] = [each if each == "\n" else " " for each in letters[begin:end]]
    return "".join(letters)


def _matches(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    return (each.span() for each in re.finditer(pattern, text, flags=re.MULTILINE | re.DOTALL if "```" in pattern else re.MULTILINE))


def _numbers(text: str) -> list[str]:
    """That are left, each with what stands around it."""
    return [text[max(0, each.start() - 40) : each.end() + 30].replace("\n", " ").strip() for each in re.finditer(NUMBER, text)]


def _versions() -> str:
    """Of all servers of the published results."""
    found = {short_product(store.title, store.version) for folder in _folders() for store in run(folder).stores}
    return "|".join(rf"{re.escape(each)}(?![\d.]*\d)" for each in sorted(found, key=len, reverse=True))


def _folders() -> list[str]:
    return sorted(each.name for each in REPORTS.iterdir() if file_in(each).is_file())


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.slow
def test_every_number_is_computed_again_from_the_results(page: str) -> None:
    """What a sentence says is what the results say, and no number is without a sentence."""
    text = left = (CHECKOUT / page).read_text()
    for says in PAGES[page]:
        said = says.text.format(*says.values())
        assert text.count(said) == 1, f"{page} says it {text.count(said)} times, and the results say: {said}"
        left = _blank(left, iter([(text.index(said), text.index(said) + len(said))]))
    for paragraph in re.finditer(r"^.*\d+ numbers: .*$", text, flags=re.MULTILINE):
        of = counts(re.findall(r"\]\(([\w-]+)/\)", paragraph[0]))
        wrong = set(re.findall(COUNTED, paragraph[0])) - of
        assert not wrong, f"{page} says {wrong}, and the results that it cites there say {of}"
    for pattern in (*KINDS.values(), COUNTED, _versions()):
        left = _blank(left, _matches(pattern, left))
    for kind, phrases in GIVEN.get(page, {}).items():
        for phrase in phrases:
            assert phrase in text, f"{page} no longer says: {phrase} ({kind})"
            left = _blank(left, _matches(re.escape(phrase), text))
    assert _numbers(left) == [], "numbers that nothing computes: add the sentence to tests/architecture/printed/"


def test_every_page_is_here() -> None:
    """And those of which no result is published are known by their numbers: a change needs a look at where it is from."""
    pages = {"README.md", "reports/README.md", *(f"docs/findings/{each.name}" for each in (CHECKOUT / "docs" / "findings").glob("*.md"))}
    assert pages == PAGES.keys() | UNPUBLISHED.keys()
    for page, known in UNPUBLISHED.items():
        found = hashlib.sha256("\n".join(re.findall(NUMBER, (CHECKOUT / page).read_text())).encode()).hexdigest()[:16]
        assert found == known, f"{page}: a number of runs that are not published has changed; if it was looked at, write {found}"
