"""Whose server it was, in words."""

from __future__ import annotations

from datetime import date

import pytest

from storeproof.report import tables
from storeproof.report.parts.origin import NOT_RECORDED, origin_told
from storeproof.result.measured.origin import OriginRecord, ProgramRecord, SupportRecord
from tests.report.sample import sample_result

STARTED = "2026-11-21T10:00:00Z"


def told(origin: OriginRecord | None) -> str:
    """What is said of a store with that origin."""
    return origin_told(sample_result().stores[0].model_copy(update={"origin": origin}), STARTED)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            ProgramRecord(program="mined", kind="deb", package="mined-core", version="1-2", packager="Anna", makers=False),
            "mined: deb package mined-core 1-2, packaged by Anna; not the maker's build",
        ),
        (
            ProgramRecord(role="front", program="mined", kind="rpm", package="mined", version="1", makers=True),
            "front: mined: RPM package mined 1; the maker's build",
        ),
        (
            ProgramRecord(program="mined", kind="wheel", package="mine-bin", version="1"),
            "mined: Python wheel mine-bin 1; whether the maker built it is not known",
        ),
        (
            ProgramRecord(kind="image", package="mine:1", packager="Mine", source="https://example.org"),
            "image mine:1, packaged by Mine, source https://example.org; whether the maker built it is not known",
        ),
        (ProgramRecord(kind="interpreter", package="CPython", version="3.11.7"), "run by the Python of the suites, CPython 3.11.7"),
        (ProgramRecord(program="mined", kind=None), "mined: where it is from is not known"),
    ],
)
def test_a_program_is_told_with_its_package_and_whose_build_it_is(program: ProgramRecord, words: str) -> None:
    """As far as it is known."""
    assert told(OriginRecord(programs=[program])) == words


def test_a_result_that_does_not_say_differs_from_a_server_of_the_user() -> None:
    """Of an endpoint nothing can be found out."""
    assert told(None) == NOT_RECORDED
    assert told(OriginRecord()) == "not known: the user ran the server"


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (date(2026, 11, 20), "Mine 6.0: out of its maker's support since 2026-11-20"),
        (date(2026, 11, 21), "Mine 6.0: supported by its maker until 2026-11-21"),
    ],
)
def test_the_end_of_support_is_told_as_of_the_run(ends: date, words: str) -> None:
    """Not as of the day on which the report is read."""
    support = SupportRecord(title="Mine", release="6.0", ends=ends, source="https://example.org")
    assert told(OriginRecord(support=[support])).endswith(f" · {words}")


def test_it_stands_beside_the_settings() -> None:
    """In the table of what ran."""
    sample = sample_result()
    origin = OriginRecord(programs=[ProgramRecord(program="mined", kind=None)])
    first = sample.stores[0].model_copy(update={"origin": origin})
    table = tables.settings(sample.model_copy(update={"stores": [first, sample.stores[1]]}))
    column = table.header.index("whose build")
    assert [(row[column].text, row[column].tone) for row in table.rows] == [
        ("mined: where it is from is not known", ""),
        (NOT_RECORDED, "dim"),
    ]
