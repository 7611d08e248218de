"""What the maker of a store publishes, and until when it supports a release: so that results can say whose server it was."""

from __future__ import annotations

import datetime
import re
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import Field, Strict, StringConstraints, model_validator

from storeproof.spec.base import LINK_PATTERN, RELEASE_PATTERN, Frozen, RuleError

PackageKind = Literal["deb", "rpm", "wheel", "image"]
"""What a program was packaged as: a package of dpkg or of RPM, a Python wheel, or an image."""

_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_Link = Annotated[str, StringConstraints(pattern=LINK_PATTERN)]


class MakersPackage(Frozen):
    """Packages of one kind that the maker publishes: those that match all that is given."""

    package: str = "*"
    """A shell pattern of the package's name, or of the image's reference."""
    version: str = "*"
    """A shell pattern of the package's version."""
    source: _Link
    """Where the maker says so."""

    @model_validator(mode="after")
    def _names_some(self) -> Self:
        if (self.package, self.version) == ("*", "*"):
            raise RuleError("allowed: a pattern of `package`, of `version`, or of both; any package would be the maker's")
        return self

    def matches(self, package: str, version: str) -> bool:
        return fnmatchcase(package, self.package) and fnmatchcase(version, self.version)


class SupportPeriods(Frozen):
    """Until when the maker supports its releases."""

    source: _Link
    """Where the maker says so, or a list of such dates."""
    ends: dict[Annotated[str, StringConstraints(pattern=RELEASE_PATTERN)], Annotated[datetime.date, Strict(False)]] = Field(min_length=1)
    """The last day of support, of security fixes at least, by release: `"6.0"` is that of 6.0.5."""

    def release_of(self, version: str) -> str | None:
        """The release in `ends` that a version belongs to, the most specific one; None if it is none of them.
        `version`: as the server reports it, such as `15.18 (Debian 15.18-0+deb12u1)`."""
        found = _NUMBER.search(version)
        parts = found[0].split(".") if found else []
        return next((name for length in range(len(parts), 0, -1) if (name := ".".join(parts[:length])) in self.ends), None)
