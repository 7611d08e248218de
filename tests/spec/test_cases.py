"""The table of cases has every case that is collected, and known failures are held against it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec import load_spec
from storeproof.spec.cases import CaseIds
from storeproof.spec.known_failure import KnownFailure
from tests.shipped import SHIPPED
from tests.spec.files import STORE, replaced, specification

SPEC = SHIPPED
CASES = CaseIds(SPEC.capabilities, SPEC.models, SPEC.workloads, SPEC.scaling)
LISTING = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for marker in filter(None, (item.get_closest_marker("case") for item in items)):  # without a needs file some have none
        print("case", marker.kwargs["id"])
"""


def known(finding: str, at_most: int | None = None) -> KnownFailure:
    """Of a case that does not matter."""
    return KnownFailure.model_validate(
        {"variants": ["plain"], "finding": finding, "at_most": at_most, "issue": "lost", "until": "2999-12-31"}
    )


@pytest.mark.slow
def test_every_collected_case_id_is_valid(tmp_path: Path) -> None:
    """Ids that the suites collect and the table of ids agree, in both directions."""
    (tmp_path / "listing.py").write_text(LISTING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(Path(__file__).parents[2] / "suites"), "-p", "listing", "--collect-only", "-q"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    ids = {line.removeprefix("case ") for line in done.stdout.splitlines() if line.startswith("case ")}
    assert len(ids) > 800, done.stdout + done.stderr
    assert [name for name in sorted(ids) if CASES.wrong(name)] == []
    assert [name for name in sorted(ids) if CASES.wrong(name.partition("/")[0])] == []
    closed = {name for name in CASES.ids if not name.startswith(("concurrency.whole/", "stateful."))}
    assert closed <= ids, f"in the table alone: {sorted(closed - ids)}"


def test_an_unknown_case_name_is_refused_with_similar_ones() -> None:
    """Unknown ids are refused, and the message has the most similar valid ones."""
    for name in (
        "durability.powerloss",
        "durability.bootstrap/reset",
        "capabilities.filter.eq-string/999",
        "performance.fast",
        "power_loss",
    ):
        assert CASES.wrong(name), name
    assert "; the most similar: durability.power_loss, " in str(CASES.wrong("durability.powerloss"))


def test_a_known_failure_of_an_unknown_case_is_refused(tmp_path: Path) -> None:
    """With its line, for our files and a vendor's."""
    root = specification(tmp_path)
    written = "known_failures: {durability.powerloss: {variants: [plain], finding: lost, issue: lost, until: 2027-05-31}}\nclaims:"
    (root / "stores" / "mine.yaml").write_text(replaced(STORE, "claims:", written))
    with pytest.raises(SpecError) as breach:
        load_spec(root).store("mine")
    (line,) = breach.value.problems
    assert "stores/mine.yaml:18: known_failures.durability.powerloss: unknown case `durability.powerloss`; allowed: " in line


def test_every_finding_must_match_as_a_whole() -> None:
    """A second anomaly in a finding, or a second finding that does not match, is worse than known."""
    late = known("fault [0-9]+, [a-z]+: [0-9]+ lost of .*, suffix")
    assert late.worse(["fault 1, burst: 50 lost of row; 51 operations within 3 ms, suffix"]) == []
    torn = "fault 2, burst: 50 lost, 1 torn of row; 51 operations within 3 ms, suffix"
    assert late.worse(["fault 1, burst: 50 lost of row; 51 operations within 3 ms, suffix", torn]) == [torn]
    assert late.worse(["fault 1, burst: 50 lost of row; 51 operations within 3 ms, holes"]) != []


def test_line_breaks_in_a_finding_match_a_space() -> None:
    """A finding with several lines of a log is matched as one line."""
    assert (
        known("fault .*: unstartable: .*File exists .*").worse(["fault 1, bulk: unstartable: it ended; its log: a\nFile exists\nb"]) == []
    )


def test_more_findings_than_at_most_like_are_worse() -> None:
    """`at_most_like` limits those of one kind, whatever the others are."""
    rare = known("fault .* lost").model_copy(update={"at_most_like": {"fault [0-9]+, compaction: .*": 1}})
    streams = [f"fault {number}, stream: 1 lost" for number in range(9)]
    assert rare.worse([*streams, "fault 9, compaction: 1 lost"]) == []
    worse = rare.worse([*streams, "fault 9, compaction: 1 lost", "fault 10, compaction: 2 lost"])
    assert worse[0] == "2 findings like fault [0-9]+, compaction: .*, where at most 1 are known"
    assert worse[1:] == ["fault 9, compaction: 1 lost", "fault 10, compaction: 2 lost"]


def test_more_findings_than_at_most_are_worse() -> None:
    """`at_most` limits how many findings of one run are known."""
    assert known("fault .* lost", at_most=2).worse(["fault 1, 1 lost", "fault 2, 1 lost"]) == []
    assert known("fault .* lost", at_most=1).worse(["fault 1, 1 lost", "fault 2, 1 lost"])[0] == "2 findings, where at most 1 are known"
