"""`product.yaml`: whose product a conformance claim is about."""

from __future__ import annotations

import string
import unicodedata
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, StringConstraints

from storeproof.spec.base import LINK_PATTERN, SpecFile

_MARKS: Final = frozenset(string.digits + string.punctuation + " ")
"""What may stand between letters: all of it is on every keyboard. The dot that parts the words of a badge is not."""
_EAST_ASIAN: Final = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
"""Scripts of one text, beside which Latin letters are usual and are not mistaken for theirs."""
_LENGTHENING: Final = "ー々"
"""Signs of these scripts that are no letters, and without which few Japanese names can be written."""
_LIKE_LATIN: Final = frozenset(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝүҮᴦг"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχ"  # Greek
    "ՍՕօոսհցԼ"  # Armenian
)
"""Letters that many typefaces draw as Latin ones; after the table of confusables of Unicode's technical standard 39."""
_ALLOWED: Final = "allowed: letters of one script as they are typed, digits, and the punctuation of ASCII"


def readable_name(text: str) -> str:
    """The text itself, in one line.
    Raises `ValueError`: a character is invisible, changes the direction or another character, or looks like one that is usual there."""
    if (usual := unicodedata.normalize("NFKC", text)) != text:
        odd = next((each for each in text if unicodedata.normalize("NFKC", each) != each or unicodedata.combining(each)), text[0])
        raise ValueError(f"{_named(odd)} is another form of a character; write {usual!r}; {_ALLOWED}")
    letters = [each for each in text if each not in _MARKS]
    for each in letters:
        if not _is_letter(each):
            raise ValueError(f"{_named(each)} is not allowed; {_ALLOWED}")
    scripts = {_script(each): each for each in reversed(letters)}  # each with the first of its letters
    if len(scripts.keys() - ({"LATIN"} if "CJK" in scripts else set())) > 1:
        one, other, *_ = sorted(scripts.values(), key=text.index)
        raise ValueError(f"{_named(one)} and {_named(other)} are letters of two scripts; {_ALLOWED}")
    if letters and _LIKE_LATIN.issuperset(letters):
        raise ValueError(f"each of its letters looks like a Latin one, such as {_named(letters[0])}; {_ALLOWED}")
    return text


def _is_letter(each: str) -> bool:
    """Whether it is a letter, or a sign on letters of its own script: those for all scripts change the look of any letter."""
    kind, script = unicodedata.category(each), _script(each)
    if script == "LATIN":
        return kind in ("Lu", "Ll")  # not the clicks, which look like `!` and `|`
    if kind in ("Mn", "Mc"):
        return script not in ("COMBINING", "VARIATION")
    return each in _LENGTHENING or (kind in ("Lu", "Ll", "Lo") and "FILLER" not in unicodedata.name(each))


def _script(each: str) -> str:
    """By the first word of its name, such as LATIN; those of East Asia as one."""
    word = unicodedata.name(each, "UNKNOWN").split()[0]
    return "CJK" if word in _EAST_ASIAN or each in _LENGTHENING else word


def _named(each: str) -> str:
    return f"U+{ord(each):04X} {unicodedata.name(each, '(without a name)')}"


Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$"),
    AfterValidator(readable_name),
]
Link = Annotated[str, StringConstraints(max_length=300, pattern=LINK_PATTERN)]


class Product(SpecFile):
    """The identity of a product."""

    organization: Line
    """Who makes the claim."""
    product: Line
    """The product's name, as its server reports it."""
    version: Line
    """Its version, as its server reports it."""
    url: Link
    """Where it is described."""
    contact: Line
    """Whom to ask about the claim: an address or a URL."""
    mode: Literal["self-managed", "managed-service", "embedded"]
    """How it is operated: by its user, as a service of its vendor, or as a library in the user's process."""
