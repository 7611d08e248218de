"""Collections that a killed run may have left on an endpoint; a run lists each before it creates it."""

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
"""As `StoreUnderTest.layout` names collections."""


@dataclass(frozen=True)
class Left:
    """A collection that may be left."""

    store: str
    server: str
    """Host, port and database of the endpoint, without credentials."""
    name: str
    model: dict[str, Any]
    indexes: int

    @property
    def layout(self) -> Layout:
        return Layout(self.name, Model.model_validate(self.model), self.indexes)


def read_left(directory: Path) -> list[Left]:
    """The collections that a killed run listed in its report directory; none if there is no valid list.

    The next run removes them, so only names that a run generates are accepted.
    """
    try:
        found = [Left(**each) for each in json.loads(read_text(directory / NAME, _LONGEST))]
    except (Unreadable, ValueError, TypeError, RecursionError):
        return []
    return [each for each in found if isinstance(each.name, str) and _OURS.fullmatch(each.name)]


def words_for(left: list[Left]) -> str:
    """The leftover collections and how to remove them, in one line; empty if there are none."""
    servers: dict[tuple[str, str], list[str]] = {}
    for each in left:
        servers.setdefault((each.store, each.server), []).append(each.name)
    return "; ".join(
        f"collections of a killed run may be left at {store} {server}: {', '.join(names)}; "
        f"the next run in this report directory with --endpoint {store}=URL of that server removes them"
        for (store, server), names in servers.items()
    )
