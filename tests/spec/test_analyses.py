"""What analyses report is data: each anomaly says where it is tried here, or why it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.questions.analysis import Analysis
from storeproof.spec.questions.read_analyses import read_analyses
from tests.shipped import SHIPPED
from tests.spec.files import problems, replaced, specification

ANALYSIS = """\
format: "1.0"
analysis: mine-1.0
title: Mine 1.0
source: https://jepsen.io/analyses/mine-1.0
year: 2020
store: mine
versions: ["1.0"]
reported:
  - kind: isolation
    level: serializable
    seen: [G2-item]
    nodes: one
    expected: serializable
    tried_on: ["mine:plain"]
  - kind: durability
    nodes: several
    faults: [partitions]
    expected: all is kept
    after: [partition]
    tried_on: ["mine:other"]
  - kind: other
    what: Two clients hold one lock
    nodes: several
    expected: mutual exclusion
    untried: no case takes locks
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "analyses").mkdir()
    return specification(tmp_path)


def read_in(root: Path, text: str, name: str = "mine-1.0") -> tuple[Analysis, ...]:
    """Read one analysis in the small specification."""
    (root / "analyses" / f"{name}.yaml").write_text(text)
    return read_analyses(load_spec(root))


def test_an_analysis_reports_anomalies_of_three_kinds(root: Path) -> None:
    """The base of the tests in this file has no error."""
    (analysis,) = read_in(root, ANALYSIS)
    assert [each.kind for each in analysis.reported] == ["isolation", "durability", "other"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("jepsen.io/analyses/mine-1.0", "jepsen.io/analyses/mine", "allowed: https://jepsen.io/analyses/mine-1.0, the address"),
        ("    untried: no case takes locks\n", "    tried_on: ['mine:plain']\n", "allowed: none, since no case tries"),
        ('    tried_on: ["mine:plain"]\n', '    tried_on: ["mine:plain"]\n    untried: why\n', "allowed: `tried_on`, or `untried`"),
        ("    after: [partition]\n", "", "after: is missing, and must be given where `tried_on` is"),
        ("G2-item", "G2-items", "found 'G2-items' (did you mean `G2-item`?)"),
        ("kind: other", "kind: another", "found 'another' (did you mean `other`?); allowed: isolation, durability, other"),
    ],
)
def test_an_anomaly_is_tried_or_says_why_not(tmp_path: Path, old: str, new: str, message: str) -> None:
    """And what is tried names what it is tried by."""
    (line,) = problems(tmp_path, Analysis, replaced(ANALYSIS, old, new))
    assert message in line


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("analysis: mine-1.0", "analysis: mine-1.0", ""),
        ('"mine:plain"', '"mine:plan"', "analyses/mine-1.0.yaml:14: reported.0.tried_on.0: unknown variant of mine `plan` (did you mean"),
        ('"mine:other"', '"mien:other"', "analyses/mine-1.0.yaml:20: reported.1.tried_on.0: unknown store `mien` (did you mean `mine`?)"),
        ("    untried: no case takes locks\n", "", "analyses/mine-1.0.yaml:21: reported.2: mine has a file now: say where it is tried"),
    ],
)
def test_what_an_analysis_names_must_exist(root: Path, old: str, new: str, line: str) -> None:
    """With file, line, field and what is allowed. A store that gets a file is not said to have none."""
    if not line:
        with pytest.raises(SpecError, match="allowed: other-name, as the file is called"):
            read_in(root, ANALYSIS, "other-name")
        return
    with pytest.raises(SpecError) as breach:
        read_in(root, replaced(ANALYSIS, old, new))
    (found,) = (each.replace(f"{root}/", "") for each in breach.value.problems)
    assert found.startswith(line)


def test_a_store_without_a_file_needs_no_reason(root: Path) -> None:
    """It is known why nothing tries it."""
    text = replaced(replaced(ANALYSIS, "store: mine", "store: theirs"), "    untried: no case takes locks\n", "")
    assert len(read_in(root, text)) == 1


def test_errors_of_all_analyses_are_reported_together(root: Path) -> None:
    """A file that cannot be read hides none of the others."""
    (root / "analyses" / "a.yaml").write_text("format: '1.0'\n")
    with pytest.raises(SpecError) as breach:
        read_in(root, replaced(ANALYSIS, '"mine:plain"', '"mine:no"'))
    assert {Path(each.partition(":")[0]).name for each in breach.value.problems} == {"a.yaml", "mine-1.0.yaml"}


def test_the_shipped_analyses_are_valid() -> None:
    """Each has its file, and every reference leads somewhere."""
    found = read_analyses(SHIPPED)
    assert [each.analysis for each in found] == [path.stem for path in sorted((SPEC_ROOT / "analyses").glob("*.yaml"))]
    assert len(found) > 10
