"""What all specification files have in common: they are frozen, strict, and name the format they are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, field_validator

_NUMBER = re.compile("[0-9]{1,4}")

NAME_PATTERN = r"^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$"
NUMBER_PATTERN = r"^[0-9]{3}$"
RELEASE_PATTERN = r"^[0-9]+(\.[0-9]+)*$"
LINK_PATTERN = r"^https?://[!#-&(-;=?-~]+$"

PATTERN_WORDS: Mapping[str, str] = {
    NAME_PATTERN: "lower case letters, digits, `_`, `-` and `.`, with a letter or a digit at both ends",
    NUMBER_PATTERN: 'three digits in quotes, as in "001"',
    RELEASE_PATTERN: 'numbers in quotes, as in "6.0"',
    LINK_PATTERN: "an address of ASCII characters without quotes, such as https://example.org/store",
}
"""The patterns in plain words, for messages."""

_LONGEST_NAME = 80
"""Characters: names become parts of file, table and process names, which are limited to 255."""


def _short(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"allowed: at most {_LONGEST_NAME} characters")
    return name


Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN), AfterValidator(_short)]
"""Names that appear in ids and on command lines."""


class RuleError(ValueError):
    """A broken rule about several fields. `location` is the field to report, relative to the part that was checked."""

    def __init__(self, message: str, *location: int | str) -> None:
        super().__init__(message)
        self.location = location


class Frozen(BaseModel):
    """A part of a specification file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)  # built where it is read: a sixth of a command


class SpecFile(Frozen):
    """A whole specification file. Each kind of file has a format version of its own, which a renamed field raises by a major."""

    FORMAT: ClassVar[tuple[int, int]] = (1, 0)
    """The newest format that this version reads, as (major, minor)."""
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Fields that the major version before this one called otherwise, as {old name: new name}: for error messages."""

    format: str
    """The version of this notation, in quotes."""

    @field_validator("format")
    @classmethod
    def _is_readable(cls, text: str) -> str:
        """Accept the same major version with a minor not newer than ours; anything else is an error, never a skip."""
        newest_major, newest_minor = cls.FORMAT
        readable = " or ".join(f'"{newest_major}.{minor}"' for minor in range(newest_minor + 1))
        major, _, minor = text.partition(".")
        if not (_NUMBER.fullmatch(major) and _NUMBER.fullmatch(minor)):
            raise ValueError(f'allowed: {readable}, written "MAJOR.MINOR" in quotes')
        if (int(major), int(minor)) > cls.FORMAT:
            raise ValueError(f"allowed: {readable}; a newer file needs a newer storeproof")
        if int(major) < newest_major:
            renamed = ", ".join(f"`{old}` is now `{new}`" for old, new in cls.RENAMED.items())
            raise ValueError(f"allowed: {readable}" + (f"; some fields have new names: {renamed}" if renamed else ""))
        return text
