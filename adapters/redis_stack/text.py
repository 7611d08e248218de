"""Text search in RediSearch's words; and places in polygons, which an index is asked for too.

The index parts words at spaces and marks and stems them as English ones; beside a stem it keeps the word as it is written, so words of
other languages are found too. Chinese alone needs more, since nothing is between its words: records in Chinese or Japanese name it in
`l`, and what asks for Han is asked in Chinese. The dictionary takes traditional and simplified characters for the same, which the query
language does not: what it finds must also have the word as it is written. Of Japanese words it knows only those in Han.

Of shapes RediSearch's index knows those in WKT alone, which a GeoJSON point is not: it is stored beside the record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from storeproof.adapters.redis_stack.path import in_a_row, inside, matched
from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.place import ring
from storeproof.spec.query import And, Condition, Filter, Not, Or

_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_OTHERS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
"""Thai, Lao, Burmese, Khmer and Kana: nothing is between their words, and RediSearch has no dictionary of them."""
_PARTED: Final = re.compile(r"[^\w]+")
_CHINESE: Final = ("zh", "ja")


def beside(layout: Layout, record: Mapping[str, Any]) -> dict[str, str]:
    """What is stored beside a record for the index alone: the language of its texts by RediSearch's name, and its places in WKT."""
    made = {}
    if layout.model.language:
        language = record.get(layout.model.language[0])
        made["l"] = "chinese" if isinstance(language, str) and language.startswith(_CHINESE) else "english"
    for number, path in enumerate(layout.model.places):
        place: Any = record
        for part in path:
            place = place.get(part) if isinstance(place, dict) else None
        if isinstance(place, dict):
            made[f"g{number}"] = f"POINT ({_degrees(place['coordinates'])})"
    return made


def derived(layout: Layout, path: Path) -> bool:
    """Whether something beside a record is made of the part at the path, or of what it is in, or of what is in it."""
    sources = [*layout.model.places, *([layout.model.language] if layout.model.language else [])]
    return any(path[: len(source)] == source[: len(path)] for source in sources)


def _degrees(place: Sequence[float]) -> str:
    return " ".join(format(Decimal(repr(float(each))), "f") for each in place)


class Texts:
    def __init__(self, layout: Layout) -> None:
        self._paths = layout.model.text
        self._places = layout.model.places
        self.language = ""
        """That of the query, where it is not English."""
        self.parameters: list[str] = []
        """Names and values that the query speaks of."""
        self.searched = False

    def clause(self, node: Filter) -> str:
        match node:
            case Not(part=part):
                return f"-({self.clause(part)})"
            case And(parts=parts):
                return " ".join(f"({self.clause(part)})" for part in parts)
            case Or(parts=parts):
                return " | ".join(f"({self.clause(part)})" for part in parts)
        assert isinstance(node, Condition)
        if node.operator == "within_polygon":
            return self._polygon(node)
        words, fields = self._words(node), self._fields(node.path)
        if node.operator == "phrase":  # one field at a time: of several, a phrase would go on from one in the next
            return " | ".join(f'(@{field}:"{" ".join(words)}")' for field in fields)
        if node.operator in ("word_prefix", "fuzzy") and len(words) != 1:
            raise Unsupported(f"RediSearch allows only one word for `{node.operator}`")
        if node.operator == "word_prefix" and len(words[0]) < 2:
            raise Unsupported("RediSearch needs a word prefix of at least two letters")
        terms = {"word_prefix": f"{words[0]}*", "fuzzy": f"%{words[0]}%"}.get(node.operator)
        terms = terms or (" | " if node.operator == "any_word" else " ").join(words)
        return f"@{'|'.join(fields)}:({terms})"

    def as_written(self, node: Filter) -> list[str]:
        """The tests that what was found must pass beside: Han as it is written, and phrases that no field ends in.

        Of a text that several fields have, the index does not keep apart in which of them a word stands: a phrase goes on from one
        field in the next.
        """
        if not isinstance(node, Condition) or node.operator == "within_polygon":
            return []
        words = self._words(node)
        paths = (node.path,) if node.path else self._paths
        if node.operator == "phrase" and len(words) > 1:
            return ["||".join(in_a_row(inside(path), words) for path in paths)]
        if not all(map(_HAN.search, words)):
            return []
        tests = ["||".join(matched(inside(path), "contains", word) for path in paths) for word in words]
        return ["||".join(tests)] if node.operator == "any_word" else tests

    def _polygon(self, condition: Condition) -> str:
        if condition.path not in self._places:
            raise Unsupported("the path has no geospatial index")
        name = f"p{len(self.parameters) // 2}"
        self.parameters += [name, f"POLYGON (({', '.join(map(_degrees, ring(condition.value)))}))"]
        return f"@g{self._places.index(tuple(map(str, condition.path)))}:[WITHIN ${name}]"

    def _fields(self, path: Path) -> list[str]:
        if not self._paths:
            raise Unsupported("the model has no texts, so there is no text index")
        if path and path not in self._paths:
            raise Unsupported("the path has no text index")
        return [f"w{number}" for number, each in enumerate(self._paths) if not path or each == path]

    def _words(self, condition: Condition) -> list[str]:
        text = condition.value
        self.searched = True
        if _OTHERS.search(text):
            raise Unsupported("this script has no spaces between words, and RediSearch has no dictionary for it")
        if _HAN.search(text):
            if condition.operator in ("word_prefix", "fuzzy"):
                raise Unsupported("RediSearch supports word prefixes and fuzzy matching only for words separated by spaces")
            self.language = "chinese"
        words = [word for word in _PARTED.split(text.replace("_", " ")) if word]
        if not words:
            raise Unsupported("RediSearch needs at least one word")
        return words


def polygons(node: Filter | None) -> int:
    """How many polygons a record must be in at once to be found, at most; what is to be in none of them does not count.

    RediSearch 2.10.5 answers that nothing is in two, whatever is.
    """
    match node:
        case And(parts=parts):
            return sum(map(polygons, parts))
        case Or(parts=parts):
            return max(map(polygons, parts), default=0)
        case Condition(operator="within_polygon"):
            return 1
    return 0
