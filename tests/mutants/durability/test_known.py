"""A known failure excuses what it names and nothing more: Tarantool on a disk whose syncs do nothing fails, though the true one's is known.

The true one loses what it writes to a log file that it has reopened without rows, as after a clean restart, until it begins its next file,
as a snapshot makes it do: so in some faults of twenty. The other loses something at every fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.durability import server_lies, trials
from tests.mutants.durability.lie import LATE, Lie

ALL = ("burst", "stream", "bulk", "compaction")

TRUE = Lie("tarantool", "The store itself", "power_loss", "tarantool:memtx-tree-fsync", LATE, load=ALL)
EATEN = Lie(
    "tarantool-eaten",
    server_lies.EATEN,
    "power_loss",
    {**server_lies.preloaded("tarantool", "memtx-tree-fsync"), "known_failures": server_lies.known_failures("tarantool", "lying")},
    LATE,
    load=ALL,
)


@pytest.mark.slow
@pytest.mark.servers
def test_what_is_worse_than_known_fails(tmp_path: Path) -> None:
    """The true store's loss is `known_fail`; that of the one without syncs fails."""
    seen = trials.found((), tmp_path, to_the_end=(TRUE, EATEN))
    true, eaten = seen[TRUE.name], seen[EATEN.name]
    assert true.outcome == "known_fail", true.detail
    assert "fault 1, burst: " in true.detail
    assert eaten.outcome == "fail", eaten.detail
    assert eaten.detail.startswith("worse than the known failure: 20 findings, where at most 16 are known"), eaten.detail
