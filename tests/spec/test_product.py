"""`product.yaml`: names that could be taken for others, or for the words of a badge, are refused in one line that names the character."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec import SPEC_ROOT
from storeproof.spec.questions.product import Product
from storeproof.spec.reading.source import read

FIELDS = {
    "organization": "Example Ltd.",
    "product": "Redis",
    "version": "7.4.1, search 2.10.5",
    "url": "https://example.org/store?a=b#c",
    "contact": "conformance@example.org",
    "mode": "self-managed",
}


def product(folder: Path, **changed: str) -> Product:
    """Read a file with these fields."""
    fields = {"format": "1.0", **FIELDS, **changed}
    file = folder / "product.yaml"
    ascii_only = max("".join(fields.values())) < "\U00010000"  # JSON escapes others as two halves, which YAML does not join
    file.write_text("".join(f"{name}: {json.dumps(value, ensure_ascii=ascii_only)}\n" for name, value in fields.items()), encoding="utf-8")
    return read(file, Product)


@pytest.mark.parametrize(
    "name",
    [
        *("Société Générale", "Łódź & Söhne GmbH", "C++/CLI (beta) #1", "Яндекс", "Ελλάς Α.Ε.", "Ողջույն", "Сбер"),
        *("株式会社ストア", "達夢 DM8", "한국 DB", "データ々", "डेटा", "ฐานข้อมูล", "مخزن", "מאגר"),
    ],
)
def test_names_as_they_are_typed_are_read(tmp_path: Path, name: str) -> None:
    """In any script."""
    assert product(tmp_path, organization=name, contact=name).organization == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Redis · reproduced", "U+00B7 MIDDLE DOT is not allowed"),
        ("Redis • reproduced", "U+2022 BULLET"),
        ("Redis ・ reproduced", "U+30FB KATAKANA MIDDLE DOT"),
        ("Redis\u0387x", "U+0387 GREEK ANO TELEIA is another form"),
        ("Redis\u202e7", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("Redis\u2066x", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("Redis\u061cx", "U+061C ARABIC LETTER MARK"),
        ("Re\u200bdis", "U+200B ZERO WIDTH SPACE"),
        ("Re\u200ddis", "U+200D ZERO WIDTH JOINER"),
        ("Re\u00addis", "U+00AD SOFT HYPHEN"),
        ("Redis\ufeff.", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("Redis\ufe0f", "U+FE0F VARIATION SELECTOR-16"),
        ("Redis\u3164", "U+3164 HANGUL FILLER is another form"),
        ("\ud55c\u115f", "U+115F HANGUL CHOSEONG FILLER"),
        ("Redi\u0336s", "U+0336 COMBINING LONG STROKE OVERLAY"),
        ("Re\u0301dis", "U+0301 COMBINING ACUTE ACCENT is another form of a character; write 'Rédis'"),
        ("R\u0435dis", "U+0052 LATIN CAPITAL LETTER R and U+0435 CYRILLIC SMALL LETTER IE are letters of two scripts"),
        ("\u0435tcd", "U+0435 CYRILLIC SMALL LETTER IE and U+0074"),
        ("Ρostgres", "GREEK CAPITAL LETTER RHO"),
        ("\u0420\u0421 \u0421\u0410", "each of its letters looks like a Latin one, such as U+0420 CYRILLIC CAPITAL LETTER ER"),
        ("\uff32edis", "U+FF32 FULLWIDTH LATIN CAPITAL LETTER R is another form of a character; write 'Redis'"),
        ("\U0001d411edis", "U+1D411 MATHEMATICAL BOLD CAPITAL R"),
        ("Redis\u01c3", "U+01C3 LATIN LETTER RETROFLEX CLICK"),
        ("Redis\u00a07", "U+00A0 NO-BREAK SPACE is another form"),
        ("Redis \u2714", "U+2714 HEAVY CHECK MARK"),
        ("Redis \u0667", "U+0667 ARABIC-INDIC DIGIT SEVEN"),
    ],
)
def test_names_that_look_like_others_are_refused(tmp_path: Path, name: str, says: str) -> None:
    """In every field of free text."""
    for field in ("organization", "product", "version", "contact"):
        with pytest.raises(SpecError) as refused:
            product(tmp_path, **{field: name})
        (problem,) = refused.value.problems
        assert f": {field}: found " in problem
        assert says in problem
        assert problem.endswith("allowed: letters of one script as they are typed, digits, and the punctuation of ASCII")
        assert not re.search("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\n]", problem)


@pytest.mark.parametrize(
    "url", ["https://exаmple.org", "https://example.org/·", 'https://example.org/"', "https://example.org/'", "http://a b"]
)
def test_a_link_is_of_ascii(tmp_path: Path, url: str) -> None:
    """Other letters of a host are written as `xn--`, and others of a path as `%C2%B7`."""
    with pytest.raises(SpecError, match=r"url: found .*; allowed: an address of ASCII characters without quotes"):
        product(tmp_path, url=url)


def test_patterns_of_the_schema_are_those_of_ecmascript() -> None:
    """Which knows no escapes of characters that mean themselves: a validator in an editor refuses the whole schema for one."""
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', (SPEC_ROOT / "schema" / "product.json").read_text())
    assert len(patterns) == 5
    for pattern in patterns:
        assert not re.search(r"""\\[^bBcdDfnrsStuvwWx0-9^$\\.*+?()\[\]{}|/-]""", json.loads(pattern)), pattern
