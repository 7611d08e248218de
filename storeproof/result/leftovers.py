"""What a killed run may have left at a server that goes on: the collections that it had noted before it made them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from storeproof.contract import Layout
from storeproof.regular_file import Unreadable, read_text
from storeproof.spec.model import Model

NAME: Final = "endpoints.json"
_LONGEST: Final = 16 << 20
_OURS: Final = re.compile(r"sp_[0-9a-f]{6}_[0-9]+")
"""As `Trial.layout` names collections."""


@dataclass(frozen=True)
class Left:
    """One collection."""

    store: str
    server: str
    """Host, port and database, as the endpoint named them; no credentials."""
    name: str
    model: dict[str, Any]
    indexes: int

    @property
    def layout(self) -> Layout:
        """As it was made."""
        return Layout(self.name, Model.model_validate(self.model), self.indexes)


def read_left(directory: Path) -> list[Left]:
    """What a killed run has noted in its report's directory; nothing, where there is no such file or it is none of ours.

    The next run removes what is named here: so nothing counts whose name is not one that only a run of ours gives.
    """
    try:
        found = [Left(**each) for each in json.loads(read_text(directory / NAME, _LONGEST))]
    except (Unreadable, ValueError, TypeError, RecursionError):
        return []
    return [each for each in found if isinstance(each.name, str) and _OURS.fullmatch(each.name)]


def words_for(left: list[Left]) -> str:
    """What is left and what removes it, in one line, or ""."""
    servers: dict[tuple[str, str], list[str]] = {}
    for each in left:
        servers.setdefault((each.store, each.server), []).append(each.name)
    return "; ".join(
        f"collections of a killed run may be left at {store} {server}: {', '.join(names)}; "
        f"the next run in this report directory with --endpoint {store}=URL of that server removes them"
        for (store, server), names in servers.items()
    )
