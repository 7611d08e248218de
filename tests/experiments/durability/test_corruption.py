"""Damaged files under a store in this process that keeps a log of lines, with a checksum in each or without."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from storeproof.contract import Breach, Key, Layout, WrongReply
from storeproof.experiments.durability.corruption import CorruptionExperiment
from storeproof.experiments.durability.corruption_summary import CorruptionSummary
from storeproof.experiments.durability.file_damage import DamageKind
from storeproof.outcome import Outcome
from tests.experiments.durability import memory
from tests.experiments.durability.memory import Handle, Session, Store, subject
from tests.shipped import SHIPPED

MODELS = SHIPPED.models


class Log(Store):
    """A line for each write: what is wrong with one is noticed by its checksum, or not at all."""

    def __init__(self, file: Path, checksums: bool) -> None:
        super().__init__()
        self.file = file
        self.checksums = checksums
        self.said = ["began 1"]
        self.says = ""
        """What it writes to its log when a line is wrong, or at every start."""
        self.always = False

    @property
    def bad(self) -> bool:
        """Whether any line is wrong."""
        lines = self.file.read_bytes().splitlines()
        return any(not right(line) for line in lines)

    def flush(self, name: str, key: Key) -> None:
        text = repr((name, key, self.memory[name].get(key))).encode()
        with self.file.open("ab") as log:
            log.write(b"%08x %s\n" % (crc32(text) if self.checksums else 0, text))

    def recover(self) -> None:
        """Up to the first line that is not right."""
        self.said.append(f"began {len(self.said) + 1}")
        if self.says and (self.always or self.bad):
            self.said.append(self.says)
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

    def begin(self) -> None:
        super().begin()
        self.alive = not self.bad


class Passing(Log):
    """Passes over lines that are not right, and says nothing."""

    def recover(self) -> None:
        self.memory = {}
        for line in filter(right, self.file.read_bytes().splitlines()):
            name, key, record = ast.literal_eval(line[9:].decode("latin-1"))
            self.memory.setdefault(name, {})[key] = record
            if record is None:
                del self.memory[name][key]


class Logging(Handle):
    """Shows what the store said."""

    store: Log

    def log_tail(self) -> str:
        return "\n".join(self.store.said[-25:])


def right(line: bytes) -> bool:
    """Whether a line is as it was written."""
    return line[:8] == b"%08x" % crc32(line[9:])


def damaged(
    tmp_path: Path,
    kind: DamageKind,
    *,
    checksums: bool,
    store: type[Log] = Log,
    session: type[Session] = Session,
    rounds: int = 6,
    says: str = "",
    always: bool = False,
) -> CorruptionSummary:
    """All rounds."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "log").touch()
    log = store(data / "log", checksums)
    log.says, log.always = says, always
    handle = Logging(log)
    handle.data = data
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "hash10")}
    experiment = CorruptionExperiment(subject(handle, session, seed=5), layouts, kind, rounds)
    experiment.run()
    return experiment.summary


def test_store_without_checksums_serves_data_that_no_client_wrote(tmp_path: Path) -> None:
    """A changed record that is served refutes the claim to detect corruption."""
    found = damaged(tmp_path, "flip", checksums=False)
    assert found.served, found.detail()
    assert found.outcome(claimed=True) is Outcome.FAIL
    assert found.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert "log: changed the bytes" in found.served[0]
    assert "was torn: " in found.detail() or "was invented: " in found.detail() or "no client wrote it" in found.detail()


@pytest.mark.parametrize("kind", ["flip", "truncate"])
def test_a_log_that_ends_at_the_first_bad_line_goes_back_in_time(tmp_path: Path, kind: DamageKind) -> None:
    """It looks like a log of which no more was written: that is recovery, and shows neither that the damage was noticed nor missed."""
    found = damaged(tmp_path, kind, checksums=True)
    assert not found.findings, found.detail()
    assert found.back > 8, found.detail()
    assert found.outcome(claimed=True) is Outcome.INCONCLUSIVE
    assert found.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert [each.name for each in tmp_path.iterdir()] == ["data"], "nothing is left beside the data"


def test_a_log_that_ends_early_and_says_so_was_noticed(tmp_path: Path) -> None:
    """Missing records are detected damage where the log reports it."""
    found = damaged(tmp_path, "flip", checksums=True, says="bad checksum in line 17: what follows is left out")
    assert found.told > 8, found.detail()
    assert found.outcome(claimed=True) is Outcome.PASS
    assert found.outcome(claimed=False) is Outcome.UNDECLARED


def test_what_every_start_says_tells_nothing(tmp_path: Path) -> None:
    """PostgreSQL names an invalid record at the end of its log after every crash."""
    found = damaged(tmp_path, "flip", checksums=True, says="invalid record length at 0/15A", always=True)
    assert found.told == 0
    assert found.back > 8, found.detail()


def test_records_left_out_in_silence_are_not_noticed(tmp_path: Path) -> None:
    """The others are served as if they were all: that refutes the claim, though nothing was invented."""
    found = damaged(tmp_path, "flip", checksums=True, store=Passing)
    assert found.silent, found.detail()
    assert not found.served
    assert found.outcome(claimed=True) is Outcome.FAIL
    assert found.outcome(claimed=False) is Outcome.UNSUPPORTED
    assert "records were missing, and nothing was reported" in found.detail()
    assert "log: changed the bytes" in found.silent[0]


@pytest.mark.parametrize("failure", [Breach("of another type"), WrongReply("of another type")], ids=type)
def test_what_is_no_key_was_served(tmp_path: Path, failure: Exception) -> None:
    """A damaged key may be nothing that the contract lets through: the store served it all the same."""

    class Walked(memory.Records):
        def walk(self, cursor: Any, count: int) -> tuple[None, list[Key]]:
            if self._store.bad:  # type: ignore[attr-defined]
                raise failure
            return None, [*self._open()]

    class Walking(Session):
        def collection(self, layout: Layout) -> memory.Records:
            return Walked(self, layout)

    found = damaged(tmp_path, "flip", checksums=True, session=Walking)
    assert "returned something that is not a key" in found.detail()
    assert found.outcome(claimed=True) is Outcome.FAIL


def test_a_store_that_does_not_start_refuses(tmp_path: Path) -> None:
    """A store that refuses to start has detected the damage."""
    found = damaged(tmp_path, "flip", checksums=True, store=Strict)
    assert found.would_not_start == found.rounds == 12, found.detail()
    assert found.outcome(claimed=True) is Outcome.PASS


@pytest.mark.parametrize(
    ("found", "claimed", "unclaimed"),
    [
        (CorruptionSummary(kind="flip", rounds=5, would_not_start=5), Outcome.PASS, Outcome.UNDECLARED),
        (CorruptionSummary(kind="flip", rounds=5, told=1, back=1, whole=3), Outcome.PASS, Outcome.UNDECLARED),
        (CorruptionSummary(kind="flip", rounds=5, back=1, whole=4), Outcome.INCONCLUSIVE, Outcome.UNSUPPORTED),
        (CorruptionSummary(kind="flip", rounds=5, silent=["x"], refused=4), Outcome.FAIL, Outcome.UNSUPPORTED),
        (CorruptionSummary(kind="flip", rounds=5, served=["x"], told=4), Outcome.FAIL, Outcome.UNSUPPORTED),
        (CorruptionSummary(kind="flip", rounds=5, whole=5), Outcome.INCONCLUSIVE, Outcome.UNSUPPORTED),
        (CorruptionSummary(kind="flip", nothing="it wrote nothing"), Outcome.INCONCLUSIVE, Outcome.UNSUPPORTED),
    ],
)
def test_the_outcome_follows_from_claim_and_rounds(found: CorruptionSummary, claimed: Outcome, unclaimed: Outcome) -> None:
    """Damage that met nothing is no evidence of anything."""
    assert (found.outcome(claimed=True), found.outcome(claimed=False)) == (claimed, unclaimed)


def test_keys_that_no_client_wrote_are_found(tmp_path: Path) -> None:
    """A changed key serves a record where there never was one, and every key that was written reads as lost."""

    class Walked(memory.Records):
        def walk(self, cursor: Any, count: int) -> tuple[None, list[Key]]:
            return None, [*self._open(), *(["zz"] if self._store.bad else [])]  # type: ignore[attr-defined]

    class Walking(Session):
        def collection(self, layout: Layout) -> memory.Records:
            return Walked(self, layout)

    found = damaged(tmp_path, "flip", checksums=True, session=Walking, rounds=2)
    assert "single_key['zz'] was present, and no client wrote it" in found.detail()


def test_a_state_that_is_of_no_use_without_damage_is_left_out(tmp_path: Path) -> None:
    """What fails after every kill says nothing about damage."""

    class Unclean(Strict):
        def begin(self) -> None:
            super().begin()
            self.alive = self.alive and b"p2:" not in self.file.read_bytes()  # written after the clean stop

    found = damaged(tmp_path, "flip", checksums=True, store=Unclean)
    assert found.would_not_start == found.rounds == 6
    assert "after a kill it does not start even without damage" in found.detail()


def test_damage_that_meets_nothing_is_done_more_often(tmp_path: Path) -> None:
    """Up to three times as many rounds; then nothing was shown."""

    class Immune(Log):
        def recover(self) -> None:
            """Its files are never read again."""

    found = damaged(tmp_path, "flip", checksums=False, store=Immune, rounds=2)
    assert (found.rounds, found.whole) == (12, 12)
    assert found.outcome(claimed=True) is Outcome.INCONCLUSIVE
