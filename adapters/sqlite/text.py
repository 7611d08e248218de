"""A text index beside a table of documents: FTS5, kept in step by triggers.

FTS5 takes what stands between spaces and marks for a word, in capitals or not, with marks on its letters or without. Han and kana are
written without spaces: there a word is a phrase of signs. So a space of no width is put around every such sign before it is indexed or
looked for, and one index serves all languages. The index keeps no texts of its own, but reads those of the documents, through a view.

A word with one letter wrong is looked for among the words of the index.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from storeproof.adapters.sqlite.query_filter import at, within
from storeproof.contract import Path, Unsupported
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Or

_TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
"""Marks that are no diacritics, as the vowels of Indian scripts, belong to the word."""
_FIRST_AND_LAST = (("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
"""Kana and Han."""
_SIGN = f"[{''.join(f'{first}-{last}' for first, last in _FIRST_AND_LAST)}]"
"""One of them, as GLOB writes it."""
_NO_WIDTH = "\u200b"
_SPACE = f"char({ord(_NO_WIDTH)})"
_DIACRITICS = frozenset(map(chr, range(0x300, 0x370)))

Bind = Callable[[str], str]
"""What a statement has in place of an argument."""


class TextIndex:
    """The index of one table, which has the columns `id` (its rowid), `k` and `doc`."""

    def __init__(self, table: str, paths: Sequence[Path]) -> None:
        self._table = table
        self._paths = [tuple(path) for path in paths]
        self._columns = [f"t{number}" for number in range(len(paths))]
        self._quoted = f'"{table}"'
        self.words = f'"{table}_words"'
        """The FTS5 table."""
        self._texts = f'"{table}_texts"'
        self._terms = f'"{table}_terms"'

    def create(self) -> list[str]:
        """The statements that make it, beside a table that is there."""
        columns = ", ".join(self._columns)
        texts = [spaced(at(path).only("text")) for path in self._paths]
        named = ", ".join(f"{text} AS {column}" for text, column in zip(texts, self._columns, strict=True))
        new, old = (
            f"{row}.id, {', '.join(spaced(within(f'{row}.doc', path).only('text')) for path in self._paths)}" for row in ("new", "old")
        )
        insert = f"INSERT INTO {self.words} (rowid, {columns}) VALUES ({new});"
        delete = f"INSERT INTO {self.words} ({self.words}, rowid, {columns}) VALUES ('delete', {old});"
        triggers = {"INSERT": insert, "DELETE": delete, "UPDATE OF doc": f"{delete} {insert}"}
        content = f"content='{self._table}_texts', content_rowid='id'"
        return [
            f"CREATE VIEW IF NOT EXISTS {self._texts} AS SELECT id, {named} FROM {self._quoted}",
            f'CREATE VIRTUAL TABLE IF NOT EXISTS {self.words} USING fts5({columns}, {content}, tokenize="{_TOKENIZER}")',
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {self._terms} USING fts5vocab({self.words}, row)",
            *(
                f'CREATE TRIGGER IF NOT EXISTS "{self._table}_{event[:6].lower()}" AFTER {event} ON {self._quoted} BEGIN {done} END'
                for event, done in triggers.items()
            ),
        ]

    def another(self, table: str) -> str:
        """The statement that makes an FTS5 table like that of the index, which keeps its texts itself."""
        return f'CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5({", ".join(self._columns)}, tokenize="{_TOKENIZER}")'

    def drop(self) -> list[str]:
        """The statements that remove it, where its table is removed before."""
        tables = [f"DROP TABLE IF EXISTS {name}" for name in (self._terms, self.words)]
        return [*tables, f"DROP VIEW IF EXISTS {self._texts}"]

    def column(self, path: Path) -> int:
        """The number of a path's column."""
        if path not in self._paths:
            raise Unsupported(f"there is no text index on {'.'.join(map(str, path))}")
        return self._paths.index(path)

    def highlighted(self, path: Path) -> str:
        """An expression for the text at a path with what was found marked, where the FTS5 table is asked."""
        return f"replace(highlight({self.words}, {self.column(path)}, '<b>', '</b>'), {_SPACE}, '')"

    def matches(self, condition: Condition, bind: Bind) -> str:
        """Whether a record of the table is found by a search."""
        return f"id IN (SELECT rowid FROM {self.words} WHERE {self.words} MATCH {self.sought(condition, bind)})"

    def leading(self, wanted: Filter | None, bind: Bind) -> tuple[str, Filter | None]:
        """A filter in two: the searches that must all hold, as one query of FTS5, and what else must hold."""
        parts = wanted.parts if isinstance(wanted, And) else () if wanted is None else (wanted,)
        queries = [(part, self._query(part, bind)) for part in parts]
        searches = [query for _, query in queries if query]
        if not searches:
            raise Unsupported("`ranked` and `highlight` need a text condition that every result matches")
        rest = tuple(part for part, query in queries if not query)
        return " || ' AND ' || ".join(searches), And.model_construct(parts=rest) if rest else None

    def sought(self, condition: Condition, bind: Bind) -> str:
        """An expression for the FTS5 query of one search."""
        columns = f"t{self.column(condition.path)} : " if condition.path else ""
        if condition.operator == "fuzzy":
            return self._nearly(condition.value, columns, bind)
        words = [f'"{_apart(word)}"' for word in condition.value.replace('"', " ").split() if any(map(str.isalnum, word))]
        if not words:
            raise Unsupported("a search needs at least one word")
        if condition.operator == "word_prefix":
            words[-1] += " *"
        if condition.operator == "phrase":
            return bind(f"{columns}({' + '.join(words)})")
        return bind(f"{columns}({(' OR ' if condition.operator == 'any_word' else ' AND ').join(words)})")

    def _query(self, part: Filter, bind: Bind) -> str | None:
        """The FTS5 query of a filter that is searches alone, without `not`."""
        match part:
            case Condition(operator=operator) if operator in SEARCHES:
                return f"'(' || {self.sought(part, bind)} || ')'"
            case And(parts=parts) | Or(parts=parts):
                queries = [self._query(inner, bind) for inner in parts]
                if parts and all(queries):
                    joined = f" || '{' AND ' if isinstance(part, And) else ' OR '}' || ".join(map(str, queries))
                    return f"'(' || {joined} || ')'"
        return None

    def _nearly(self, word: str, columns: str, bind: Bind) -> str:
        """The words of the index that differ in one letter, or in none; it has them in small letters without diacritics."""
        letters = [letter for letter in unicodedata.normalize("NFD", word.casefold()) if letter not in _DIACRITICS]
        plain = unicodedata.normalize("NFC", "".join(letters))
        if not plain.isalnum():
            raise Unsupported("`fuzzy` is for one word")
        cuts = [(plain[:place], plain[place:]) for place in range(len(plain) + 1)]
        patterns = {f"{left}?{right}" for left, right in cuts}  # one letter more
        patterns |= {f"{left}{put}{right[1:]}" for left, right in cuts if right for put in ("?", "")}  # another one, or one less
        near = " OR ".join(f"term GLOB {bind(pattern)}" for pattern in sorted(patterns))
        return (
            f"(SELECT {bind(columns)} || '(' || coalesce(group_concat('\"' || term || '\"', ' OR '), '\"\"') || ')' FROM {self._terms} "
            f"WHERE length(term) BETWEEN {len(plain) - 1} AND {len(plain) + 1} AND ({near}))"
        )


def spaced(text: str) -> str:
    """An expression for a text with spaces of no width around the signs that are written without.

    SQL takes a text apart from its beginning, and copies the rest each time: so first into pieces, and these into signs.
    """
    sign = f"CASE WHEN one GLOB '{_SIGN}' THEN {_SPACE} || one || {_SPACE} ELSE one END"
    return _in_parts(text, "piece", 128, _in_parts("piece", "one", 1, sign))


def _in_parts(text: str, part: str, length: int, changed: str) -> str:
    """An expression for a text with each part of a length changed, if there is a sign in the text."""
    begin, go_on = (f"SELECT substr({source}, 1, {length}), substr({source}, {length + 1})" for source in (text, "rest"))
    parts = f"WITH RECURSIVE parts({part}, rest) AS ({begin} UNION ALL {go_on} FROM parts WHERE rest <> '')"
    return f"CASE WHEN {text} GLOB '*{_SIGN}*' THEN ({parts} SELECT group_concat({changed}, '') FROM parts) ELSE {text} END"


def _apart(word: str) -> str:
    """A word as `spaced` would have it."""
    return "".join(f"{_NO_WIDTH}{letter}{_NO_WIDTH}" if any(a <= letter <= z for a, z in _FIRST_AND_LAST) else letter for letter in word)
