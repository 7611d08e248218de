"""The order of words in a language, in the collations of MySQL and MariaDB: those of Unicode's algorithm that tell case and marks.

A language without a name here has the order of Unicode itself, or none that the server knows.
"""

from __future__ import annotations

from typing import Final

from storeproof.adapters.mysql.json import Dialect, MySql, Sql, sql
from storeproof.contract import Unsupported
from storeproof.spec.query import SortKey

_LIKE_UNICODE: Final = frozenset({"de", "en", "fr", "it", "nl", "pt"})
"""Languages without letters of their own: in CLDR they have the root's order."""

_NAMES: Final = {
    "cs": "czech",
    "da": "danish",
    "es": "spanish",
    "et": "estonian",
    "hr": "croatian",
    "hu": "hungarian",
    "lt": "lithuanian",
    "lv": "latvian",
    "pl": "polish",
    "ro": "romanian",
    "sk": "slovak",
    "sl": "slovenian",
    "sv": "swedish",
    "tr": "turkish",
}
"""By tag, which is MySQL's name of a language: what MariaDB calls it (since 10.10)."""


def in_language(dialect: Dialect, value: Sql, key: SortKey) -> Sql:
    """What to sort by; NULL where the value is no text."""
    language = key.collation or ""
    if language not in _NAMES and language not in _LIKE_UNICODE:
        raise Unsupported(f"there is no collation for the language {language}")
    text = dialect.text(value)
    text = sql("LOWER({})", text) if key.case == "ignored" else sql("({})", text)
    if isinstance(dialect, MySql):
        collation = f"utf8mb4_{language}_0900_as_cs" if language in _NAMES else "utf8mb4_0900_as_cs"
        return sql(f"{{}} COLLATE {collation}", text)
    # A text of any length, as of JSON, MariaDB sorts by its letters alone: marks and case have no room in max_sort_length behind them.
    collation = f"utf8mb4_uca1400_{_NAMES[language]}_nopad_as_cs" if language in _NAMES else "utf8mb4_uca1400_nopad_as_cs"
    return sql(f"WEIGHT_STRING({{}} COLLATE {collation})", text)
