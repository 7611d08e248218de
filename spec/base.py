"""What every specification file has in common: it is frozen, strict, and says which format it is written in."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

FORMAT = (1, 0)
"""The newest format this version reads, as (major, minor)."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$")]
"""Names that appear in ids and on command lines: lower case letters, digits, `_`, `-` and `.`."""


def _readable_format(text: str) -> str:
    """Accept the same major version with a minor not newer than ours; anything else is an error, never a skip."""
    major, _, minor = text.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        raise ValueError('a format is written "MAJOR.MINOR" in quotes')
    if int(major) != FORMAT[0] or int(minor) > FORMAT[1]:
        raise ValueError(f"this version of storeproof reads {FORMAT[0]}.0 to {FORMAT[0]}.{FORMAT[1]}; upgrade storeproof, or rewrite the file")
    return text


Format = Annotated[str, AfterValidator(_readable_format)]


class Frozen(BaseModel):
    """A part of a specification file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SpecFile(Frozen):
    """A whole specification file."""

    format: Format
