"""Lines of a picture are as long as their place is, also with the letters of another machine."""

from __future__ import annotations

import pytest

from storeproof.report.pictures.lettering import width_of, wrapped


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("Redis 8.2.3", 200, ["Redis 8.2.3"]),
        ("Memcached 1.6.45 over PostgreSQL 18.6", 200, ["Memcached 1.6.45 over", "PostgreSQL 18.6"]),
        ("three-members-majority-reads", 130, ["three-members-", "majority-reads"]),
        ("46 % lost\n(not promised)", 200, ["46 % lost", "(not promised)"]),
        ("a inconclusive", 10, ["a", "inconclusive"]),
    ],
)
def test_a_line_ends_at_a_space_and_a_long_word_at_a_hyphen(text: str, room: float, lines: list[str]) -> None:
    """Nothing is left out, and no word is broken elsewhere, although it is too long."""
    assert wrapped(text, room, 9.5) == lines


def test_bold_and_larger_letters_are_wider() -> None:
    """In pixels, with some to spare."""
    assert width_of("cache", 9.5) < width_of("cache", 9.5, bold=True) < width_of("cache", 12, bold=True)
    assert 38 < width_of("cache", 9.5) < 46
