"""The table of cases has every case that is collected, and known failures are held against it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from storeproof.check import ANOMALIES
from storeproof.errors import SpecError
from storeproof.result.running_case import WrongAnswer
from storeproof.spec import load_spec
from storeproof.spec.cases import CaseIds
from storeproof.spec.known_failure import BROKEN, CaseFinding, HarmKind, KnownFailure
from tests.shipped import SHIPPED
from tests.spec.files import STORE, replaced, specification

SPEC = SHIPPED
CASES = CaseIds(SPEC.capabilities, SPEC.models, SPEC.workloads, SPEC.scaling, SPEC.mixes)
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


def cost(load: str, *kinds: str, shape: str | None = None, models: Sequence[str] = ("row",), said: str = "") -> CaseFinding:
    """What one fault cost."""
    return CaseFinding(f"fault 1, {load}: it cost something", frozenset(kinds), load, frozenset(models), shape, said)


LATE = {"kinds": ["lost", "reverted"], "shape": "suffix", "loads": ["burst", "stream"]}
RARE = {"kinds": ["lost"], "shape": "suffix", "loads": ["compaction"], "at_most": 1}
SPLIT = {"kinds": ["split", "torn"], "models": ["nested"]}
DEAD = {"kinds": ["unstartable"], "said": "File exists .* again"}
WIDE = {"kinds": ["wrong_answer"], "operations": ["get"], "expected": "b'2'", "said": "^None$"}


def of_faults(*findings: Mapping[str, Any]) -> KnownFailure:
    """Known by what faults cost."""
    told = {"variants": ["plain"], "findings": findings, "issue": "lost", "until": "2999-12-31"}
    return KnownFailure.model_validate(told)


@pytest.mark.parametrize(
    ("known_one", "finding", "covered"),
    [
        (LATE, cost("burst", "lost", shape="suffix"), True),
        (LATE, cost("stream", "lost", "reverted", shape="suffix"), True),
        (LATE, cost("burst", "lost", "torn", shape="suffix"), False),
        (LATE, cost("burst", "lost", shape="holes"), False),
        (LATE, cost("burst", "lost"), False),
        (LATE, cost("bulk", "lost", shape="suffix"), False),
        (LATE, cost("burst", shape="suffix"), False),
        (SPLIT, cost("bulk", "split", models=["row", "nested"]), True),
        (SPLIT, cost("bulk", "split", models=["row"]), False),
        (SPLIT, cost("bulk", "split", models=["nested"], shape="suffix"), False),
        (DEAD, cost("bulk", "unstartable", said="it ended; its log: a\nFile exists\nb again"), True),
        (DEAD, cost("bulk", "unusable", said="File exists b again"), False),
        (DEAD, cost("bulk", "unstartable", said="it ended"), False),
        (DEAD, "fault 1, bulk: unstartable: File exists b again", False),
        (WIDE, WrongAnswer(["get(1) -> None"], "get", None, "b'2'").finding, True),
        (WIDE, WrongAnswer(["get(1) -> None"], "exists", None, "b'2'").finding, False),
        (WIDE, WrongAnswer(["get(1) -> None"], "get", None, "b'3'").finding, False),
        (WIDE, WrongAnswer(["get(1) -> b'None'"], "get", b"None", "b'2'").finding, False),
        (WIDE, "get -> None, expected: b'2'", False),
        ({"kinds": ["wrong_answer"]}, "the sum is 3", True),
        ({"kinds": ["wrong_answer"]}, cost("bulk", "lost"), False),
    ],
)
def test_a_known_failure_names_kind_place_and_bounds(known_one: Mapping[str, Any], finding: CaseFinding | str, *, covered: bool) -> None:
    """Another kind beside it, another load, other records, another shape, other words of the store: each is worse than known."""
    assert of_faults(known_one).worse([finding]) == ([] if covered else [" ".join(str(finding).split())])


def test_more_of_a_kind_than_are_known_are_worse() -> None:
    """However many of another kind there are."""
    late, rare = cost("stream", "lost", shape="suffix"), cost("compaction", "lost", shape="suffix")
    both = of_faults(LATE, RARE)
    assert both.worse([*[late] * 9, rare]) == []
    worse = both.worse([*[late] * 9, rare, rare])
    assert worse == ["2 findings like lost, suffix, under compaction, where at most 1 are known", str(rare), str(rare)]


def test_nothing_is_known_by_a_pattern_on_our_words() -> None:
    """A pattern is found in the store's own words; vendors' files may still have others."""
    files = [SHIPPED.store(str(file))[0] for file in SHIPPED.store_files.values()]
    assert [case for file in files for case, found in file.known_failures.items() if found.finding is not None] == []
    refused: list[dict[str, Any]] = [
        {"kinds": ["unstartable"]},
        {"kinds": ["lost"], "said": "it ended"},
        {"kinds": []},
        {**DEAD, "said": ".*"},
    ]
    for wrong in refused:
        with pytest.raises(ValidationError):
            of_faults(wrong)
    assert set(get_args(HarmKind)) == {*ANOMALIES, *BROKEN}


def test_more_findings_than_at_most_are_worse() -> None:
    """`at_most` limits how many findings of one run are known."""
    assert known("fault .* lost", at_most=2).worse(["fault 1, 1 lost", "fault 2, 1 lost"]) == []
    assert known("fault .* lost", at_most=1).worse(["fault 1, 1 lost", "fault 2, 1 lost"])[0] == "2 findings, where at most 1 are known"
