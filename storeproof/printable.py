"""Makes text safe to show: on a terminal, in a report, in XML.

Text from a server, a file or another run's result may contain NUL, ESC, lone surrogates, or marks of writing direction: terminals obey
some of them, XML forbids others, and the last make a text look like another.
"""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls of ASCII and Latin-1, but for tab and line end
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # marks of direction, and line ends that most programs do not know
    "\ud800-\udfff\ufffe\uffff]"  # lone surrogates and non-characters
)


def printable(text: str) -> str:
    r"""The text with unprintable characters written as `\x1b` or `\u202e`; line ends and tabs stay."""
    return _UNPRINTABLE.sub(_escape, text.replace("\r\n", "\n"))


def in_one_line(text: str, most: int = 300) -> str:
    """The same in one line of at most `most` characters, so that a server cannot fill the screen."""
    line = " ".join(printable(text[: most + 1]).split())
    return line if len(text) <= most and len(line) <= most else f"{line[:most]}... ({len(text):,} characters)"


def shortened(text: str, most: int) -> str:
    """The beginning of a text, with `…` in place of what is beyond `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
