"""The options that users of pytest know do what they expect, and none of them turns missing evidence into a pass."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.end_to_end.running import Run, leaves_nothing, left_behind, lying_store, run_all

pytestmark = pytest.mark.slow

SUCCESS = int(pytest.ExitCode.OK)
FAILURE = int(pytest.ExitCode.TESTS_FAILED)
NOTHING_TRIED = int(pytest.ExitCode.NO_TESTS_COLLECTED)
FEW = ("-k", "key_access.put-get or key_access.exists or single-put-distinct-100")
"""Some correctness, and one measurement that it allows."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("options")
    mutant = lying_store(folder, "exists_always")
    lines = {
        "document profile": ["--profile=document_store"],
        "cache profile": ["--profile=cache"],
        "plain": [mutant, *FEW],
        "first failure": [mutant, *FEW, "-x"],
        "tracebacks": [mutant, "-vv", "-k", "key_access.exists"],
        "silent": [mutant, "-q", "--tb=no", "-k", "key_access.exists"],
        "verbose": ["-v", "-k", "key_access.exists"],
        "benchmark table": [*FEW, "--benchmark-columns=mean", f"--benchmark-json={folder / 'benchmark.json'}"],
        "benchmarks skipped": [*FEW, "--benchmark-skip"],
        "benchmarks disabled": [*FEW, "--benchmark-disable"],
        "only set up": [*FEW, "--setup-only"],
        "only collected": ["--collect-only", "-q"],
        "kept": ["--keep", "-k", "key_access.exists"],
    }
    return dict(zip(lines, run_all(folder, list(lines.values())), strict=True))


def _excluded(done: Run) -> set[str]:
    return {name for name, each in done.outcomes.items() if each["outcome"] == "excluded"}


def test_a_failure_shows_what_the_store_did_and_none_of_our_code(runs: dict[str, Run]) -> None:
    """A failure is shown as calls and answers, without the suites' source."""
    done = runs["plain"]
    assert done.code == FAILURE
    assert "exists('alpha') -> True\nexpected: False\n" in done.said
    assert "def test_" not in done.said
    assert "AssertionError" not in done.said
    assert done.outcomes["performance.single-put-distinct-100/0i/4c"]["outcome"] == "pass"


def test_tracebacks_are_there_for_who_asks(runs: dict[str, Run]) -> None:
    """`-vv` shows the traceback."""
    assert "def test_capability(" in runs["tracebacks"].said


def test_no_traceback_and_few_words(runs: dict[str, Run]) -> None:
    """`-q --tb=no` leaves the finding to the report."""
    done = runs["silent"]
    assert done.code == FAILURE
    assert "expected: False" not in done.said
    assert "expected: False" in done.outcomes["capabilities.key_access.exists/001"]["detail"]
    assert "1 fail" in done.said


def test_each_case_on_a_line(runs: dict[str, Run]) -> None:
    """`-v` prints one line for each case."""
    assert runs["verbose"].code == SUCCESS
    assert "test_capability[key_access.exists/001-sqlite:wal-full] PASSED" in runs["verbose"].said


def test_what_comes_after_the_first_failure_is_not_run(runs: dict[str, Run]) -> None:
    """With `-x` the remaining cases are `not_run`."""
    done = runs["first failure"]
    assert done.code == FAILURE
    assert done.counted["fail"] == 1
    measured = done.outcomes["performance.single-put-distinct-100/0i/4c"]
    assert measured["outcome"] == "not_run"
    assert measured["detail"] == "the run ended before this case: stopping after 1 failures"
    assert "cases were not started" in done.said


@pytest.mark.parametrize("how", ["benchmarks skipped", "benchmarks disabled"])
def test_a_measurement_that_was_left_out_is_excluded_and_does_not_pass(runs: dict[str, Run], how: str) -> None:
    """`--benchmark-skip` and `--benchmark-disable` make measurements `excluded`."""
    done = runs[how]
    assert done.code == SUCCESS, done.said
    assert done.outcomes["performance.single-put-distinct-100/0i/4c"]["outcome"] == "excluded"
    assert "--benchmark-" in done.outcomes["performance.single-put-distinct-100/0i/4c"]["detail"]
    assert done.outcomes["capabilities.key_access.put-get/001"]["outcome"] == "pass"
    assert done.result["stores"][0]["measurements"] == []


def test_the_table_of_pytest_benchmark_is_for_who_asks_for_it(runs: dict[str, Run]) -> None:
    """The table is printed only with one of its options."""
    assert "Legend:" not in runs["plain"].said
    assert "Legend:" in runs["benchmark table"].said


def test_pytest_benchmark_has_the_rounds_that_the_result_has(runs: dict[str, Run]) -> None:
    """Its JSON and all that it makes of it rest on seconds per operation, round by round; nothing is timed for it."""
    done = runs["benchmark table"]
    (given,) = json.loads((done.folder.parent / "benchmark.json").read_text())["benchmarks"]
    (measured,) = done.result["stores"][0]["measurements"]
    throughputs = [each["throughput"] for each in measured["rounds"]]
    assert given["stats"]["data"] == pytest.approx([1 / each for each in throughputs])
    assert given["stats"]["ops"] == pytest.approx(len(throughputs) / sum(1 / each for each in throughputs))
    assert (given["group"], given["options"]) == ("storeproof", {"timer": "seconds_per_operation"})
    assert given["extra_info"]["latency_us"]["p99"] == measured["latency_us"]["p99"]


def test_a_test_that_was_only_set_up_does_not_pass(runs: dict[str, Run]) -> None:
    """`--setup-only` runs nothing, and that is no success."""
    assert runs["only set up"].code == NOTHING_TRIED
    assert set(runs["only set up"].counted) == {"excluded", "not_run"}


def test_collecting_starts_nothing_and_writes_nothing(runs: dict[str, Run]) -> None:
    """`--collect-only` starts no store and writes no report."""
    done = runs["only collected"]
    assert done.code == SUCCESS
    assert "tests collected in" in done.said
    assert not (done.folder / "report").exists()
    assert not list((done.folder / "data").iterdir())


def test_a_profile_that_is_met(runs: dict[str, Run]) -> None:
    """A run for a profile tries what it demands, and says that the store conforms."""
    done = runs["document profile"]
    assert done.code == SUCCESS, done.said
    assert "roles   meets document_store" in done.said
    assert set(done.counted) == {"pass", "excluded", "not_run"}
    not_run = {name for name, each in done.outcomes.items() if each["outcome"] == "not_run"}
    assert not_run == {"durability.transfers/process_crash"}, "the mini edition has no transactions"
    assert "capabilities.key_access.put-get/001" in _excluded(done), "it demands nothing of single keys"
    assert done.outcomes["durability.process_crash"]["outcome"] == "pass"


def test_a_profile_that_is_not_met_says_what_failed(runs: dict[str, Run]) -> None:
    """A missing capability fails the run though no case failed."""
    done = runs["cache profile"]
    assert done.code == FAILURE, "no case failed, and yet the store is not what was asked for"
    assert "roles   cache lacks " in done.said
    assert "missing cache · sqlite:wal-full · capability expiry.put-expiring/001: unsupported" in " ".join(done.said.split())
    assert "durability.process_crash" in _excluded(done)


def test_what_is_kept_is_named(runs: dict[str, Run]) -> None:
    """`--keep` prints the command that removes the data."""
    done = runs["kept"]
    assert done.code == SUCCESS
    (kept,) = (done.folder / "data").iterdir()
    assert f"rm -r {kept}" in done.said
    assert (kept / "data" / "store.db").is_file()
    shutil.rmtree(kept)
    leaves_nothing(done.folder)


def test_nothing_else_is_left_behind(runs: dict[str, Run]) -> None:
    """No other of these runs leaves a process, mount or file."""
    for name, done in runs.items():
        assert name == "kept" or not left_behind(done.folder), name
