"""What every specification file has in common: it is frozen, strict, and says which format it is written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

FORMAT = (1, 0)
"""The newest format this version reads, as (major, minor)."""
_READABLE = " or ".join(f'"{FORMAT[0]}.{minor}"' for minor in range(FORMAT[1] + 1))

_NUMBER = re.compile("[0-9]{1,4}")

NAME_PATTERN = r"^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$"
NUMBER_PATTERN = r"^[0-9]{3}$"

PATTERN_WORDS: Mapping[str, str] = {
    NAME_PATTERN: "lower case letters, digits, `_`, `-` and `.`, with a letter or a digit at both ends",
    NUMBER_PATTERN: 'three digits in quotes, as in "001"',
}
"""The patterns in words, for messages."""

_LONGEST_NAME = 80
"""Characters: names are put together to those of files, tables and processes, which have 255 at most."""


def _short(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"allowed: at most {_LONGEST_NAME} characters")
    return name


Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN), AfterValidator(_short)]
"""Names that appear in ids and on command lines."""


class RuleError(ValueError):
    """A rule about several fields together. `location` is the field to look at, from the part that was checked."""

    def __init__(self, message: str, *location: int | str) -> None:
        super().__init__(message)
        self.location = location


def _readable_format(text: str) -> str:
    """Accept the same major version with a minor not newer than ours; anything else is an error, never a skip."""
    major, _, minor = text.partition(".")
    if not (_NUMBER.fullmatch(major) and _NUMBER.fullmatch(minor)):
        raise ValueError(f'allowed: {_READABLE}, written "MAJOR.MINOR" in quotes')
    if int(major) != FORMAT[0] or int(minor) > FORMAT[1]:
        raise ValueError(f"allowed: {_READABLE}; a newer file needs a newer storeproof")
    return text


Format = Annotated[str, AfterValidator(_readable_format)]


class Frozen(BaseModel):
    """A part of a specification file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class SpecFile(Frozen):
    """A whole specification file."""

    format: Format
    """The version of this notation, in quotes."""
