"""Lies of the embedded kind: one store that keeps a file, and each way in which the file lies (`keeper_lies.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.mutants.durability import keeper_lies
from tests.mutants.durability.lie import LATE, Kind, Lie

_CHECKOUT = Path(__file__).parents[3]
MODELS = ("single_key", "hash10", "nested", "row", "counter")


def keeping(lie: str, models: Sequence[str] = MODELS, **claims: object) -> Mapping[str, Any]:
    """The file of the store that keeps, telling one lie; `Keeper` and `Unsynced` are honest."""
    start = f"import sys; sys.path.append({str(_CHECKOUT)!r}); from tests.mutants.durability.keeper_lies import main; main()"
    command = ["-c", start, "--data", "${data}", "--port", "${port}", "--lie", lie]
    return {
        "title": f"A store that keeps: {lie}",
        "product": "SQLite",
        "adapter": "sqlite",
        "launch": {"process": {"binary": "${python}", "install": "python3 is the interpreter that runs the suites", "command": command}},
        "claims": {"models": list(models), "capabilities": {}, **claims},
    }


def _lie(
    name: str,
    guarantee: str,
    *by: Kind,
    beside: frozenset[Kind] = frozenset(),
    load: tuple[str, ...] = ("burst", "stream"),
    models: Sequence[str] = MODELS,
) -> Lie:
    told = keeper_lies.LIES[name]
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix("-")
    store = keeping(name, models, atomic_batches="split" in by)
    return Lie(words, str(told.__doc__).rstrip("."), guarantee, store, frozenset(by), beside, load)


LIES = (
    _lie("MemoryOnly", "clean_restart", "lost", beside=LATE),
    _lie("Dropped", "clean_restart", "lost", beside=LATE),
    _lie("Queue", "process_crash", "lost", beside=LATE),
    _lie("LastHeldBack", "process_crash", *LATE, load=("burst",)),
    _lie("Contended", "process_crash", "lost", beside=LATE),
    _lie("OneInAThousand", "process_crash", "lost", beside=LATE, load=("stream", "compaction")),
    # Where a put and the delete overlap, an older put that is there again counts as a put undone, and not as a delete.
    _lie("DeletesUnlogged", "process_crash", "resurrected", beside=frozenset({"reverted"})),
    # A half that is written to a record for the first time overwrites the record, and is lost.
    _lie("UpdatesUnlogged", "process_crash", "reverted", beside=frozenset({"lost"})),
    _lie("FieldByField", "process_crash", "torn", models=("hash10",)),
    _lie("DocumentInTwo", "process_crash", "torn", models=("nested",)),
    _lie("BatchInParts", "process_crash", "split"),
    _lie("CountedTwice", "process_crash", "miscounted"),
    _lie("Inventing", "process_crash", "invented"),
    _lie("ReadOnly", "process_crash", "accepts no writes"),
    _lie("Unclean", "process_crash", "unstartable"),
    _lie("Afresh", "process_crash", "lost", beside=LATE),
    _lie("Rewriting", "process_crash", "lost", beside=LATE, load=("stream",)),
    _lie("RewritingInPlace", "process_crash", "lost", beside=LATE, load=("compaction",)),
    _lie("SyncedAtFirst", "power_loss", "lost", beside=LATE),
    _lie("CountersUnsynced", "power_loss", "miscounted"),
)

HONEST = (
    Lie("keeper", "The same store, without a lie", "power_loss", keeping("Keeper")),
    Lie("unsynced", "The same store, which claims no more than it keeps", "process_crash", keeping("Unsynced")),
    Lie("compacting", "The same store, told to compact", "process_crash", keeping("Unsynced"), load=("compaction",)),
    Lie("batching", "The same store, whose batches are atomic", "process_crash", keeping("Unsynced", atomic_batches=True)),
    Lie("alone", "`contended`, written to by one client at a time", "process_crash", keeping("Contended"), load=("burst",)),
    Lie("restarted", "The same store, asked to stop", "clean_restart", keeping("Unsynced")),
)
