"""Damaged files under a store in this process that keeps a log of lines, with a checksum in each or without."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from storeproof.contract import Key, Layout
from storeproof.outcome import Outcome
from storeproof.spec import load_spec
from storeproof.suites.durability.corruption import Corrupted, Corruption
from storeproof.suites.durability.damage import Kind
from tests.durability.memory import Handle, Session, Store

MODELS = load_spec().models


class Log(Store):
    """A line for each write: what is wrong with one is noticed by its checksum, or not at all."""

    def __init__(self, file: Path, checksums: bool) -> None:
        super().__init__()
        self.file = file
        self.checksums = checksums

    def flush(self, name: str, key: Key) -> None:
        text = repr((name, key, self.memory[name].get(key))).encode()
        with self.file.open("ab") as log:
            log.write(b"%08x %s\n" % (crc32(text) if self.checksums else 0, text))

    def recover(self) -> None:
        """Up to the first line that is not right."""
        self.memory = {}
        for line in self.file.read_bytes().splitlines():
            total, _, text = line.partition(b" ")
            try:
                if self.checksums and int(total, 16) != crc32(text):
                    return
                name, key, record = ast.literal_eval(text.decode("latin-1"))
            except (ValueError, SyntaxError, TypeError, MemoryError):
                return
            self.memory.setdefault(name, {})[key] = record
            if record is None:
                del self.memory[name][key]


class Strict(Log):
    """Does not start where a line is not right."""

    def recover(self) -> None:
        super().recover()
        lines = self.file.read_bytes().splitlines()
        bad = any(int(line[:8], 16) != crc32(line[9:]) for line in lines if all(byte in b"0123456789abcdef" for byte in line[:8]))
        self.bad = bad

    def begin(self) -> None:
        super().begin()
        self.alive = not self.bad


def damaged(tmp_path: Path, kind: Kind, *, checksums: bool, store: type[Log] = Log, rounds: int = 12) -> Corruption:
    """All rounds."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "log").touch()
    handle = Handle(store(data / "log", checksums))
    handle.data = data
    return Corrupted(
        handle,  # type: ignore[arg-type]
        {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "hash10")},
        connect=lambda where: Session(where.store),  # type: ignore[attr-defined, arg-type, return-value]
        rng=random.Random(5),
    ).run(kind, rounds)


def test_a_store_without_checksums_serves_what_nobody_wrote(tmp_path: Path) -> None:
    found = damaged(tmp_path, "flip", checksums=False)
    assert found.served, found.detail()
    assert found.outcome(claimed=True) is Outcome.FAIL
    assert found.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert "log: changed the bytes" in found.served[0]
    assert "was torn: " in found.detail() or "was invented: " in found.detail() or "which nobody wrote" in found.detail()


@pytest.mark.parametrize("kind", ["flip", "truncate"])
def test_a_store_with_checksums_loses_and_never_invents(tmp_path: Path, kind: Kind) -> None:
    """To lose is allowed; the log goes to the first line that is not right."""
    found = damaged(tmp_path, kind, checksums=True)
    assert not found.served, found.detail()
    assert found.lost + found.refused > 6
    assert found.outcome(claimed=True) is Outcome.PASS
    assert found.outcome(claimed=False) is Outcome.UNDECLARED
    assert not (tmp_path / "copy").exists(), "nothing is left beside the data"


def test_a_store_that_does_not_start_refuses(tmp_path: Path) -> None:
    found = damaged(tmp_path, "flip", checksums=True, store=Strict)
    assert found.would_not_start > 6, found.detail()
    assert found.outcome(claimed=True) is Outcome.PASS


@pytest.mark.parametrize(
    ("found", "claimed", "unclaimed"),
    [
        (Corruption("flip", rounds=5, would_not_start=5), Outcome.PASS, Outcome.UNDECLARED),
        (Corruption("flip", rounds=5, lost=1, whole=4), Outcome.PASS, Outcome.UNDECLARED),
        (Corruption("flip", rounds=5, served=["x"], lost=4), Outcome.FAIL, Outcome.UNSUPPORTED),
        (Corruption("flip", rounds=5, whole=5), Outcome.INCONCLUSIVE, Outcome.UNSUPPORTED),
        (Corruption("flip", nothing="it wrote nothing"), Outcome.INCONCLUSIVE, Outcome.UNSUPPORTED),
    ],
)
def test_the_outcome_follows_from_claim_and_rounds(found: Corruption, claimed: Outcome, unclaimed: Outcome) -> None:
    """Damage that met nothing is no evidence of anything."""
    assert (found.outcome(claimed=True), found.outcome(claimed=False)) == (claimed, unclaimed)


def test_keys_that_nobody_wrote_are_found(tmp_path: Path) -> None:
    """A changed key serves a record where there never was one, and every key that was written reads as lost."""
    from tests.durability import memory

    class Walked(memory.Records):
        def walk(self, cursor: Any, count: int) -> tuple[None, list[Key]]:
            return None, [*self._open(), "zz"]

    class Walking(Session):
        def collection(self, layout: Layout) -> memory.Records:
            return Walked(self, layout)

    data = tmp_path / "data"
    data.mkdir()
    (data / "log").touch()
    handle = Handle(Log(data / "log", True))
    handle.data = data
    found = Corrupted(
        handle,  # type: ignore[arg-type]
        {"single_key": Layout("c_single_key", MODELS["single_key"])},
        connect=lambda where: Walking(where.store),  # type: ignore[attr-defined, arg-type, return-value]
        rng=random.Random(5),
    ).run("flip", 2)
    assert "single_key['zz'] was there, which nobody wrote" in found.detail()


def test_damage_that_meets_nothing_is_done_more_often(tmp_path: Path) -> None:
    """Up to three times as many rounds; then nothing was shown."""

    class Immune(Log):
        def recover(self) -> None:
            """Its files are never read again."""

    found = damaged(tmp_path, "flip", checksums=False, store=Immune, rounds=2)
    assert (found.rounds, found.whole) == (6, 6)
    assert found.outcome(claimed=True) is Outcome.INCONCLUSIVE
