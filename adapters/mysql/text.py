"""Full-text search of MySQL and MariaDB: columns of the texts with FULLTEXT indexes, asked in boolean mode.

An index has one parser. The server's own takes what stands between spaces and marks for words; MySQL's ngram parser is for
languages that write no spaces, and for Korean, whose words carry endings. So in MySQL the texts of these languages are in columns
of their own too, and words in their letters are looked for there.

Words shorter than the server's limit are in no index: a search for one is `Unsupported`, as its answer would be wrong. InnoDB finds
what was written once it is committed, also in the transaction that wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storeproof.adapters.mysql.json import DOC, Dialect, Sql, extract, joined, sql
from storeproof.contract import Layout, Path, Unsupported

LIMITS = ("innodb_ft_min_token_size", "ft_min_word_len", "ngram_token_size")
"""The server's variables for the shortest words: of InnoDB, of the other engines, of the ngram parser."""

_ENGINES = ("InnoDB", "MyISAM", "Aria")
_BY_NGRAMS = ("ja", "ko", "zh")
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_KANA_AND_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_KANA_AND_HAN}]")
_IN_NGRAMS = re.compile(f"[{_HANGUL}{_KANA_AND_HAN}]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class _Parser:
    """The indexes of one parser: the texts at number 0, 1 ... are in its columns `PREFIX0`, `PREFIX1` ..."""

    prefix: str
    clause: str
    limit: str
    shortest: int


class Texts:
    """The text indexes of one collection."""

    def __init__(self, layout: Layout, dialect: Dialect, engine: str, limits: Mapping[str, str]) -> None:
        self._engine = engine
        self._paths: Sequence[Path] = layout.model.text if engine in _ENGINES else ()
        self._language = layout.model.language
        self._dialect = dialect
        limit = "innodb_ft_min_token_size" if engine == "InnoDB" else "ft_min_word_len"
        self._words = _Parser("t", "", limit, int(limits[limit]))
        # MariaDB has neither the parser nor its variable.
        has_ngrams = "ngram_token_size" in limits and bool(self._language)
        size = int(limits.get("ngram_token_size", 0))
        self._ngrams = _Parser("n", " WITH PARSER ngram", "ngram_token_size", size) if has_ngrams else None

    def definitions(self) -> Iterator[Sql]:
        """The parts of CREATE TABLE: columns, an index on each, and one on all of them."""
        kept = f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {self._dialect.of_words}"
        for parser in [self._words, self._ngrams] if self._ngrams else [self._words]:
            names = [f"{parser.prefix}{number}" for number in range(len(self._paths))]
            for name, path in zip(names, self._paths, strict=True):
                text = self._dialect.text(extract(DOC, path))
                if parser is self._ngrams:
                    language = sql("SUBSTRING_INDEX({}, '-', 1)", self._dialect.text(extract(DOC, self._language)))
                    text = sql(f"IF({{}} IN ({', '.join(map(repr, _BY_NGRAMS))}), {{}}, NULL)", language, text)
                yield sql(f"{name} {kept} AS ({{}}) STORED, FULLTEXT KEY f{name} ({name}){parser.clause}", text)
            if len(names) > 1:
                yield Sql(f"FULLTEXT KEY f{parser.prefix} ({', '.join(names)}){parser.clause}")

    def search(self, path: Path, operator: str, wanted: str) -> Sql:
        """What a WHERE says of a search."""
        words = self._checked(wanted, any_length=operator == "word_prefix")
        match operator:
            case "words":
                return joined(" AND ", [self._match(parser, path, " ".join(f"+{word}" for word in some)) for parser, some in words])
            case "any_word":
                return sql("({})", joined(" OR ", [self._match(parser, path, " ".join(some)) for parser, some in words]))
            case "phrase" | "word_prefix" if len(words) > 1:
                raise Unsupported("no index contains both of these words, since they are in different scripts")
            case "phrase":
                return self._match(words[0][0], path, f'"{" ".join(words[0][1])}"')
            case "word_prefix" if words[0][0] is self._words and len(words[0][1]) == 1:
                return self._match(self._words, path, f"+{words[0][1][0]}*")
        raise Unsupported(f"the full-text index does not support {operator} {wanted!r}")

    def relevance(self, path: Path, wanted: str) -> Sql:
        """How well a record matches: by how often the words are in it, and in others."""
        found = [self._match(parser, path, " ".join(some), "NATURAL LANGUAGE") for parser, some in self._checked(wanted)]
        return joined(" + ", found)

    def _match(self, parser: _Parser, path: Path, wanted: str, mode: str = "BOOLEAN") -> Sql:
        numbers = [self._paths.index(path)] if path else range(len(self._paths))
        names = ", ".join(f"{parser.prefix}{number}" for number in numbers)
        return sql(f"MATCH ({names}) AGAINST ({{}} IN {mode} MODE)", wanted)

    def _checked(self, wanted: str, any_length: bool = False) -> list[tuple[_Parser, list[str]]]:
        """The words, by the parser that knows them."""
        if self._engine not in _ENGINES:
            raise Unsupported(f"{self._engine} has no full-text index")
        by_parser: dict[_Parser, list[str]] = {}
        for word in _WORD.findall(wanted):
            parser = self._ngrams if self._ngrams and _IN_NGRAMS.search(word) else self._words
            if parser is self._words and _UNSPACED.search(word):
                raise Unsupported("the full-text index has no parser for texts without spaces between words")
            if len(word) < parser.shortest and not any_length:
                raise Unsupported(f"{word!r} is shorter than the words in the full-text index ({parser.limit} = {parser.shortest})")
            by_parser.setdefault(parser, []).append(word)
        if not by_parser:
            raise Unsupported(f"there is no word in {wanted!r}")
        return list(by_parser.items())
