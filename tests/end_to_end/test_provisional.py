"""A provisional case of the edition: it is tried and shown, and its failure is no failure of the run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.running import lying_store, start
from tests.mini_edition.edition import mini_edition

CASE = "capabilities.key_access.put-get/002"


@pytest.mark.parametrize("provisional", [False, True])
def test_a_wrong_answer_to_it_ends_no_run_with_an_error(provisional: bool, tmp_path: Path) -> None:
    """The screen names it, and counts it as what it is; where the case decides, the same answer is a failure."""
    edition = tmp_path / "edition"
    shutil.copytree(mini_edition(), edition)
    file = edition / "capabilities" / "key_access.yaml"
    before, found, after = file.read_text().partition("  - id: '002'\n")
    assert found
    file.write_text(before + found + "    provisional: true\n" * provisional + after)
    store = lying_store(tmp_path, "stale_get")
    arguments = ("--no-verify-settings", "-k", "put-get/002")
    done = start(tmp_path / "run", store, *arguments, suites="correctness/test_capabilities.py", edition=edition)
    assert done.code == (0 if provisional else pytest.ExitCode.TESTS_FAILED), done.said
    assert done.outcomes[CASE]["outcome"] == "fail"
    assert done.outcomes[CASE]["standing"] == ("provisional" if provisional else None)
    assert ("1 provisional fail" in done.said) is provisional
    assert (f"provisional, decides nothing: {CASE}" in done.said) is provisional
