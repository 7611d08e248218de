"""Packs lines of evidence as a run does, for what is forged in them and not in their notation."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Any


def as_a_run_packs(lines: Sequence[dict[str, Any]]) -> bytes:
    """The first line, and then one member for each store."""
    members: list[list[dict[str, Any]]] = []
    for line in lines:
        if len(members) < 2 or line.get("line") == "store":
            members.append([])
        members[-1].append(line)
    return b"".join(map(packed, members))


def packed(lines: Sequence[dict[str, Any]]) -> bytes:
    """One member."""
    return gzip.compress("".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in lines).encode(), mtime=0)
