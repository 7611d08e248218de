"""Whose server it was, on the pages of a store, of a variant and of a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest
from markupsafe import escape

from storeproof.outcome import Outcome
from storeproof.report.parts.origin import NOT_RECORDED, programs_told
from storeproof.result.measured.origin import OriginRecord, ProgramRecord, SupportRecord
from storeproof.site import build_site
from storeproof.site.names import run_page, store_page, variant_page
from tests.site.made import content, result, tried
from tests.site.pages import broken_links, read_pages

ANSWERED = ("key_access.put-get", Outcome.PASS)
HOSTILE = '"><script>alert(1)</script> {{ 7 * 7 }}'
ORIGIN = OriginRecord(
    programs=[ProgramRecord(program="mongod", kind="wheel", package=HOSTILE, version="1", makers=False)],
    support=[SupportRecord(title="MongoDB", release="6.0", ends=date(2025, 7, 31), source="https://example.org/ends")],
)
KNOWN = tried("mongodb:journaled", ANSWERED).model_copy(update={"origin": ORIGIN})
PAGES = (store_page("mongodb"), variant_page("mongodb", "journaled"), run_page("r1"))


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    """The files of a site of one run that says whose servers it had, for one of its two stores."""
    return build_site(content(result(KNOWN, tried("sqlite:wal-full", ANSWERED), run="r1", started="2026-12-01T00:00:00Z")))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_whose_server_it_was_and_that_its_support_has_ended(files: Mapping[str, str], page: str) -> None:
    """As text, with the address where the end of support is said."""
    (words,) = programs_told(KNOWN)
    assert f"<li>{escape(words)}</li>" in files[page]
    ended = "MongoDB 6.0: out of its maker&#39;s support since 2025-07-31"
    assert f'<li class="near">{ended} (<a href="https://example.org/ends"' in files[page]
    assert "<script>alert" not in files[page]


def test_a_result_that_does_not_say_is_shown_as_such(files: Mapping[str, str]) -> None:
    """Those of before are not."""
    for page in (store_page("sqlite"), variant_page("sqlite", "wal-full"), run_page("r1")):
        assert f"<li>{NOT_RECORDED}</li>" in files[page]
    assert NOT_RECORDED not in files[store_page("mongodb")]


def test_every_link_arrives(files: Mapping[str, str]) -> None:
    """Also that to the part of a page."""
    assert broken_links(read_pages(files), files) == []
