"""The file of a store whose variants are lies of `wholesale`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from storeproof.spec import SPEC_ROOT
from tests.mutants.endless import wholesale


def mutant_file(path: Path, lies: Sequence[str]) -> Path:
    """Write it: the embedded store's own, which claims all that SQLite does."""
    file = yaml.safe_load((SPEC_ROOT / "stores" / "sqlite.yaml").read_text())
    file |= {"store": "mutant", "adapter": str(wholesale.__file__)}
    honest = {"settings": file["variants"]["wal-full"]["settings"], "guarantee": "power_loss"}
    for known in file["known_failures"].values():
        known["variants"] = [*lies]
    file["variants"] = {lie: {**honest, "options": {"lie": lie}, "default": number == 0} for number, lie in enumerate(lies)}
    path.write_text(yaml.safe_dump(file))
    return path
