"""RedisJSON's JSONPath: where a document's parts are, and what it compares them with.

A record is stored as `{"r": {"d": DOCUMENT, "k": 1, "e": []}}`. A filter of JSONPath asks the members of an object, so a document can be
asked as a whole only as one of them: `$[?(@["d"]["color"]=="red")]`. `k` is what such a path answers, being short, and `e` is an empty
list to compare others with, since JSONPath knows no literal of one.

What is between the quotes of a literal is taken as it is, but for two backslashes, which are one. In a regular expression neither these
nor quotes mean what they say: there, such signs are written as sets of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from storeproof.contract import Json, Path, Unsupported
from storeproof.spec.query import And, Condition, Filter, Or

DOCUMENT: Final = '$["r"]["d"]'
"""The document inside of what is stored."""

_SIGNS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_BITS: Final = 1 << 63
_UNWRITABLE: Final = re.compile(r"""[\\"']""")
_NO_SET: Final = re.compile(r"[\\[]")
_SETS: Final = {
    **{sign: f"[{sign}]" for sign in ".+*?()|{}$]"},
    '"': "[!-#&&[^!#]]",
    "'": "[&-(&&[^&(]]",
    "^": "[_^&&[^_]]",
}
"""Signs that mean something else in a regular expression, or in the text of one: as sets that have nothing but them."""


def stored(path: Path) -> str:
    """The path of a part of the document."""
    return DOCUMENT + steps(path)


def asked(test: str) -> str:
    """The path that leads to a 1 where the document, which is `@["d"]`, meets the test, and nowhere else."""
    return f'$[?({test})]["k"]'


def inside(path: Path) -> str:
    """The part of the document, as a test names it."""
    return f'@["d"]{steps(path)}'


def steps(path: Path) -> str:
    """What follows on the root."""
    return "".join(f"[{_position(part)}]" if isinstance(part, int) else f"[{_quoted(part)}]" for part in path)


def there(value: str) -> str:
    """That there is a value, null or whatever: nothing is not equal to itself."""
    return f"{value}=={value}"


def of_type(value: str, kind: str) -> str:
    """That it is of a type; lists and objects are told apart outside of JSONPath."""
    return {
        "null": f"{value}==null",
        "boolean": f"({value}==true||{value}==false)",
        "number": f"({value}>=0||{value}<0)",
        "text": f'{value}>=""',
    }[kind]


def compared(value: str, operator: str, wanted: Json) -> str:
    """That a scalar is equal to it, smaller or larger. Values of other types are neither."""
    if operator == "eq":
        return equal(value, wanted)
    if isinstance(wanted, str):
        return f"{value}{_SIGNS[operator]}{_literal(wanted)}"
    return f"{value}{_SIGNS[operator]}{_number(wanted)}"


def equal(value: str, wanted: Json) -> str:
    if wanted is None or isinstance(wanted, bool):
        return f"{value}=={ {None: 'null', True: 'true', False: 'false'}[wanted] }"
    if isinstance(wanted, str):
        return f'{value}=~"^{_escaped(wanted)}$"' if _has_both_quotes(wanted) else f"{value}=={_literal(wanted)}"
    if isinstance(wanted, (list, dict)):
        raise Unsupported("JSONPath has no literals of lists and objects")
    return f"{value}=={_number(wanted)}"


def matched(value: str, operator: str, wanted: str) -> str:
    """That a text has the text in it, somewhere or at its place; JSONPath's only means is the regular expression."""
    if operator == "regex":
        if _UNWRITABLE.search(wanted):
            raise Unsupported("a backslash or a quote in a regular expression cannot be written in JSONPath")
        return f'{value}=~"{wanted}"'
    escaped = _escaped(wanted)
    written = {"prefix": f"^{escaped}", "contains": escaped, "ieq": f"(?i)^{escaped}$", "icontains": f"(?i){escaped}"}[operator]
    return f'{value}=~"{written}"'


def in_a_row(value: str, words: Sequence[str]) -> str:
    """That a text has the words one behind the other, with nothing but signs between them."""
    between = "[^0-9A-Za-z]+"
    return f'{value}=~"(?i){between.join(map(_escaped, words))}"'


def item_test(node: Filter, root: str = "@") -> str:
    """A filter on the items of a list, all of it in one test. Raises `Unsupported`: it is not made of plain comparisons. JSONPath has no
    negation, and to its `!=` what is no object at all is different."""
    if isinstance(node, (And, Or)) and node.parts:
        sign = "&&" if isinstance(node, And) else "||"
        return "(" + sign.join(item_test(part, root) for part in node.parts) + ")"
    if not isinstance(node, Condition):
        raise Unsupported("JSONPath has no negation within list items")
    value, wanted = root + steps(node.path), node.value
    match node.operator:
        case "eq" | "lt" | "lte" | "gt" | "gte":
            return compared(value, node.operator, wanted)
        case "in" if wanted:
            return "(" + "||".join(equal(value, each) for each in wanted) + ")"
        case "prefix" | "contains" | "regex" | "ieq" | "icontains":
            return matched(value, node.operator, wanted)
        case "exists" if wanted:
            return there(value)
        case "type" if wanted not in ("list", "object"):
            return of_type(value, wanted)
    raise Unsupported(f"JSONPath cannot apply `{node.operator}` to list items")


def _position(part: int) -> int:
    if part < 0:
        raise Unsupported("in JSONPath a negative position counts from the end")
    return part


def _quoted(name: str) -> str:
    if "\\" in name or _has_both_quotes(name):
        raise Unsupported("a name with a backslash, or with both kinds of quotes, cannot be written in JSONPath")
    return _literal(name)


def _has_both_quotes(text: str) -> bool:
    return '"' in text and "'" in text


def _literal(text: str) -> str:
    if _has_both_quotes(text):
        raise Unsupported("a text with both kinds of quotes cannot be written in JSONPath")
    quote = "'" if '"' in text else '"'
    return quote + text.replace("\\", "\\\\") + quote


def _escaped(text: str) -> str:
    """For a regular expression."""
    if _NO_SET.search(text):
        raise Unsupported("a backslash, or an opening bracket, cannot be written in a regular expression of JSONPath")
    return "".join(_SETS.get(char, char) for char in text)


def _number(value: Any) -> str:
    """Without an exponent, which JSONPath does not know."""
    if isinstance(value, Decimal):
        raise Unsupported("RedisJSON has 64-bit integers and doubles, but no exact decimals")
    if isinstance(value, int) and -_BITS <= value < _BITS:
        return str(value)
    written = format(Decimal(repr(float(value))), "f")
    return written if "." in written else f"{written}.0"


def whole(path: Path, value: Sequence[Json]) -> list[str]:
    """The tests that together say that a list has these items, in order, and no more before them; that it ends there is for `size`."""
    return [equal(inside((*path, place)), item) for place, item in enumerate(value)]
