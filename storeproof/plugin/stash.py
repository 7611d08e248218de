"""What the plugin keeps in pytest's stashes: the run in that of the configuration, and a case's result in that of its item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from storeproof.plugin.run import Run
    from storeproof.result.running_case import CaseResult

RUN: pytest.StashKey[Run] = pytest.StashKey()
CASE_RESULT: pytest.StashKey[CaseResult] = pytest.StashKey()
