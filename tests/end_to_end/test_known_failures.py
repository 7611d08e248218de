"""What the store's file names as failing: it stays in sight and does not end the run with an error, until its day has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.running import Run, lying_store, start

_CASE = "capabilities.key_access.put-get/002"
_DATES = {"known": "2999-12-31", "overdue": "2026-01-01"}


_FINDING = '".*get.* expected: .*"'


def run(folder: Path, mutant: str, until: str, *words: str, sometimes: bool = False, finding: str = _FINDING) -> Run:
    """The one case, tried on a mutant whose file knows that it fails."""
    written = (
        f"known_failures:\n  {_CASE}:\n    variants: [wal-full]\n    finding: {finding}\n    issue: it answers what was there before\n"
        f"    sometimes: {str(sometimes).lower()}\n    until: {until}\nclaims:"
    )
    store = lying_store(folder, mutant, ("\nclaims:", f"\n{written}"))
    return start(
        folder / "run", store, "--no-verify-settings", "-q", "-k", "put-get/002", *words, suites="correctness/test_capabilities.py"
    )


def test_a_known_failure_is_shown_with_its_reason_and_is_no_error(tmp_path: Path) -> None:
    """It is `known_fail` with its reason, and the run succeeds."""
    done = run(tmp_path, "stale_get", _DATES["known"])
    assert done.code == 0, done.said
    found = done.outcomes[_CASE]
    assert found["outcome"] == "known_fail"
    assert found["detail"].startswith("known until 2999-12-31: it answers what was there before\n")
    assert "expected:" in found["detail"]
    assert "1 known_fail" in done.said


def test_what_is_claimed_can_be_required(tmp_path: Path) -> None:
    """Then a known failure of what is claimed ends the run with exit code 1, and so does what was not tried; each is named."""
    done = run(tmp_path, "stale_get", _DATES["known"], "--require=claimed")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert done.outcomes[_CASE]["outcome"] == "known_fail"
    assert "claims power_loss, not tried" in done.said
    assert "more claims that are not proven: see the report" in done.said


def test_one_that_is_overdue_is_a_failure(tmp_path: Path) -> None:
    """After its date it fails."""
    done = run(tmp_path, "stale_get", _DATES["overdue"])
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert done.outcomes[_CASE]["outcome"] == "fail"


def test_one_that_does_not_fail_is_no_pass_as_declared(tmp_path: Path) -> None:
    """A known failure that passes is `undeclared`."""
    done = run(tmp_path, "lost_put", _DATES["known"])  # a mutant of another kind
    assert done.code == 0, done.said
    assert done.outcomes[_CASE]["outcome"] == "undeclared"
    assert "listed in known_failures of the store's file, but did not fail" in done.outcomes[_CASE]["detail"]


def test_one_that_fails_now_and_then_may_pass(tmp_path: Path) -> None:
    """With `sometimes`, a pass is a pass."""
    done = run(tmp_path, "lost_put", _DATES["known"], sometimes=True)
    assert done.code == 0, done.said
    assert done.outcomes[_CASE]["outcome"] == "pass"
    assert done.outcomes[_CASE]["detail"].endswith("but did not fail this time")


def test_one_that_fails_now_and_then_is_known_when_it_does(tmp_path: Path) -> None:
    """With `sometimes`, a failure is `known_fail`."""
    done = run(tmp_path, "stale_get", _DATES["known"], sometimes=True)
    assert done.code == 0, done.said
    assert done.outcomes[_CASE]["outcome"] == "known_fail"


def test_one_that_fails_in_another_way_is_worse_than_known(tmp_path: Path) -> None:
    """A finding that the pattern does not match fails."""
    done = run(tmp_path, "stale_get", _DATES["known"], finding='"the store refused: .*"')
    assert done.code == pytest.ExitCode.TESTS_FAILED
    found = done.outcomes[_CASE]
    assert found["outcome"] == "fail"
    first, second, *_ = found["detail"].splitlines()
    assert first.startswith("worse than the known failure: put(")
    assert second.endswith("it answers what was there before; known_failures covers only findings like the store refused: .*")


def test_a_case_that_does_not_exist_is_no_known_failure(tmp_path: Path) -> None:
    """An unknown case id is a usage error that names the most similar."""
    store = lying_store(
        tmp_path,
        "stale_get",
        (
            "\nclaims:",
            "\nknown_failures:\n  durability.powerloss: {variants: [wal-full], finding: lost, issue: lost, until: 2999-12-31}\nclaims:",
        ),
    )
    done = start(tmp_path / "run", store, "-q", suites="correctness")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "known_failures.durability.powerloss: unknown case `durability.powerloss`; allowed: the id of a case" in done.said
    assert "the most similar: durability.power_loss" in done.said
