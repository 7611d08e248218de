"""A known failure excuses what it names, and no more often than it says.

Tarantool loses what it writes to a log file that it has reopened without rows, as after a clean restart, until it begins its next file, as
a snapshot makes it do. In how many faults that is depends on the machine: where no snapshot is finished between two faults, in all of
them. But a snapshot syncs that file before anything else, so a fault during one loses nothing, unless it strikes before the snapshot has
begun. The one whose syncs do nothing loses something there too.
"""

from __future__ import annotations

import re
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
    """The true store's loss is `known_fail`; that of the one without syncs is worse, by the store's own file."""
    seen = trials.found((), tmp_path, to_the_end=(TRUE, EATEN))
    true, eaten = seen[TRUE.name], seen[EATEN.name]
    assert true.outcome == "known_fail", true.detail
    assert "fault 1, burst: " in true.detail
    assert eaten.outcome == "fail", eaten.detail
    assert re.match(
        r"worse than the known failure: [45] findings like lost or .*, suffix, under compaction, where at most 3 are known", eaten.detail
    ), eaten.detail
