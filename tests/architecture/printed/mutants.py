"""How many deliberately wrong stores the tests have, as README.md says it."""

from __future__ import annotations

from tests.mutants.durability import cluster_lies, forgotten_metadata, host_lies, server_lies
from tests.mutants.endless.test_endless import CASES as ENDLESS
from tests.mutants.test_lies import LIARS
from tests.mutants.test_mutants import MUTANTS
from tests.mutants.test_orders import MEANT
from tests.mutants.values.value_lies import LIES as ABOUT_VALUES


def more_than() -> int:
    """The tens below their number; a store that lies in two tables is one."""
    lies = (host_lies.LIES, server_lies.LIES, cluster_lies.LIES, forgotten_metadata.LIES, ABOUT_VALUES, ENDLESS)
    found = sum(map(len, lies)) + sum(len(module.LIES) for module in LIARS.values()) + len({each.name for each in MUTANTS} | MEANT.keys())
    return (found - 1) // 10 * 10
