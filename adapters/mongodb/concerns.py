"""What a variant's options ask of writes and reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern

_MEMBERS: Final[Mapping[str, int | str]] = {"1": 1, "majority": "majority"}

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "journal": ("true", "false"),
    "w": tuple(_MEMBERS),
    "reads": ("local", "majority", "linearizable"),
    "causal": ("true", "false"),
}
"""`journal`, "true" for a write concern with `j: true`; `w`, how many members of a replica set must have a write; `reads`, the read
concern; `causal`, "true" for causally consistent sessions."""


@dataclass(frozen=True)
class Concerns:
    """They go with every request, since the server keeps none. What the options do not say is the server's own default."""

    write: WriteConcern = field(default_factory=WriteConcern)
    read: ReadConcern = field(default_factory=ReadConcern)
    causal: bool = False
    """Whether each request says what the client has seen before."""

    def live(self) -> dict[str, str]:
        written = self.write.document
        return {
            "journal": "true" if written.get("j") else "false",
            "w": str(written.get("w", "(the default)")),
            "reads": self.read.level or "(the default)",
            "causal": "true" if self.causal else "false",
        }


def concerns_of(options: Mapping[str, str]) -> Concerns:
    members = _MEMBERS.get(options.get("w", ""))
    read = ReadConcern(options.get("reads"))
    causal = options.get("causal") == "true"
    if options.get("journal") == "true":
        return Concerns(WriteConcern(w=members or 1, j=True), read, causal)
    return Concerns(WriteConcern(w=members) if members is not None else WriteConcern(), read, causal)
