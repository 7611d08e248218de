"""Published claims are data: each says one thing, names what there is, and demands nothing."""

# ruff: noqa: E501 - a message is one line

from __future__ import annotations

from math import inf, log
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.questions.claim import ClaimsFile, PublishedClaim
from storeproof.spec.questions.read_claims import read_claims
from tests.shipped import SHIPPED
from tests.spec.files import STORE, problems, replaced, specification

CLAIMS = """\
format: "1.0"
source: "000"
title: A text
year: 2015
conditions: {clients: 50, network: remote}
claims:
  - claim: cost
    title: Syncing costs
    about: [durability]
    figure: {a: 40, b: 100}
    a: {store: mine, variant: plain, workload: put}
    b: {store: mine, variant: other, workload: put}
  - claim: kept
    title: All is kept
    keeps: {store: mine, variant: plain, guarantee: process_crash}
  - claim: unmeasured
    title: No workload has it
    no_workload: there is none
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "claims").mkdir()
    return specification(tmp_path)


def claims_of(root: Path, text: str, name: str = "000") -> tuple[ClaimsFile, ...]:
    """Read one file of claims in the small specification."""
    (root / "claims" / f"{name}.yaml").write_text(text)
    return read_claims(load_spec(root))


def refused(root: Path, text: str) -> list[str]:
    with pytest.raises(SpecError) as breach:
        claims_of(root, text)
    return [line.replace(f"{root}/", "") for line in breach.value.problems]


def test_the_small_file_of_claims_is_valid(root: Path) -> None:
    """The base of the tests in this file has no error."""
    (file,) = claims_of(root, CLAIMS)
    assert [each.claim for each in file.claims] == ["cost", "kept", "unmeasured"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("store: mine, variant: plain, workload", "store: mien, variant: plain, workload", "claims/000.yaml:11: claims.0.a.store: unknown store `mien` (did you mean `mine`?); allowed: mine"),
        ("variant: other", "variant: othr", "claims/000.yaml:12: claims.0.b.variant: unknown variant of mine `othr` (did you mean `other`?); allowed: other, plain"),
        ("variant: plain, guarantee", "variant: plan, guarantee", "claims/000.yaml:15: claims.1.keeps.variant: unknown variant of mine `plan` (did you mean `plain`?); allowed: other, plain"),
        ("plain, workload: put}", "plain, workload: put, instead: ['mine:no']}", "claims/000.yaml:11: claims.0.a.instead.0: unknown variant of mine `no`; allowed: other, plain"),
        ("figure: {a: 40, b: 100}\n    a: {store: mine, variant: plain, workload: put}\n    b: {store: mine, variant: other, workload: put}",
         "figure: {a: 40, b: 100}\n    for_each: [putt]\n    a: {store: mine, variant: plain}\n    b: {store: mine, variant: other}",
         "claims/000.yaml:11: claims.0.for_each.0: unknown workload `putt` (did you mean `put`?); allowed: put"),
        ("variant: other", "variant: plain", "claims/000.yaml:9: claims.0.about: found durability; allowed: where the variants promise unlike guarantees, and both promise process_crash"),
        ("about: [durability]", "about: [durability, topology]", "claims/000.yaml:9: claims.0.about: found topology; allowed: where the variants have unlike topologies, and both are single"),
        ("claim: kept", "claim: cost", "claims/000.yaml:13: claims.1.claim: the claim `cost` is already defined in claims/000.yaml:7; names are unique"),
        ('source: "000"', 'source: "001"', "claims/000.yaml:2: source: found '001'; allowed: 000, as the file is called"),
    ],
    ids=["store", "variant", "kept-variant", "instead", "for-each", "like-durability", "like-topology", "twice", "source"],
)  # fmt: skip
def test_what_a_claim_names_must_exist(root: Path, old: str, new: str, line: str) -> None:
    """With file, line, field and what is allowed."""
    assert refused(root, replaced(CLAIMS, old, new)) == [line]


@pytest.mark.parametrize(("field", "found"), [("indexes: 2", "found 2; allowed: 0"), ("record: size-5", "found size-5; allowed: none")])
def test_a_side_names_what_its_workload_is_measured_with(root: Path, field: str, found: str) -> None:
    """An index count, record or pipeline that is never measured would be unmeasured for ever."""
    text = CLAIMS.replace("workload: put}", f"workload: put, {field}}}")
    assert [line.partition(f".{field.partition(':')[0]}: ")[2] for line in refused(root, text)] == [
        f"{found}, with which put is measured"
    ] * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    no_workload: there is none\n", "", "allowed: `a` and `b`, or `keeps`, or `no_workload`"),
        ("    b: {store: mine, variant: other, workload: put}\n", "", "allowed: `a` and `b`, or `keeps`, or `no_workload`"),
        ("    no_workload: there is none\n", "    no_workload: there is none\n    about: [durability]\n", "are for claims with `a` and `b`"),
        ("    figure: {a: 40, b: 100}\n", "", "says of no ratio that it reproduces the claim"),
        ("{a: 40, b: 100}", "{a: 40}", "allowed: both `a` and `b`, or `ratio` alone"),
        ("{a: 40, b: 100}", "{a: 40, b: 100, ratio: 2}", "allowed: both `a` and `b`, or `ratio` alone"),
        ("{a: 40, b: 100}", "{ratio: 1}", "a ratio of 1 has no effect"),
        ("{a: 40, b: 100}", "{ratio: 2}\n    reproduced: {}", "allowed: `above`, `below`, or both"),
        ("{a: 40, b: 100}", "{ratio: 2}\n    reproduced: {above: 3, below: 2}", "allowed: `above` less than `below`"),
        ("plain, workload: put}", "plain, workload: put, indexes: 1}", "different ones if, and only if, `about` has `indexes`"),
        ("about: [durability]", "about: [durability, clients]", "different ones if, and only if, `about` has `clients`"),
        ("plain, workload: put}", "plain}", "needs one `workload`, or the claim `for_each`"),
    ],
)  # fmt: skip
def test_a_claim_says_one_thing(tmp_path: Path, old: str, new: str, message: str) -> None:
    """And its sides differ in what it is about, and in nothing else."""
    (line,) = problems(tmp_path, ClaimsFile, replaced(CLAIMS, old, new))
    assert message in line


@pytest.mark.parametrize("ratio", [0.02, 0.39, 0.83, 1.2, 5.1])
def test_a_figure_is_reproduced_by_a_quarter_more_or_less_of_its_effect(ratio: float) -> None:
    """On a logarithmic scale, so that A/B and B/A are the same statement; no effect at all is never a reproduction."""

    def bounds(value: float) -> tuple[float, float]:
        side = {"store": "x", "workload": "w"}
        sides = {"a": {**side, "variant": "one"}, "b": {**side, "variant": "two"}}
        return PublishedClaim.model_validate({"claim": "c", "title": "t", "figure": {"ratio": value}, **sides}).bounds

    low, high = bounds(ratio)
    assert low < ratio < high
    assert (low < 1) == (high < 1)
    assert sorted([log(low) / log(ratio), log(high) / log(ratio)]) == pytest.approx([0.8, 1.25])
    assert bounds(1 / ratio) == pytest.approx((1 / high, 1 / low))


def test_bounds_of_its_own_come_before_the_figure() -> None:
    """An order, or two rates that are equal, have no effect to be a quarter of."""
    side = {"store": "x", "variant": "one", "workload": "w"}
    claim = {"claim": "c", "title": "t", "figure": {"ratio": 3}, "reproduced": {"above": 1}, "a": side, "b": {**side, "store": "y"}}
    assert PublishedClaim.model_validate(claim).bounds == (1, inf)


def test_conditions_of_a_claim_replace_those_of_its_file(root: Path) -> None:
    """Also by nothing, where the text does not say for this claim what it says for the others."""
    text = replaced(CLAIMS, "    title: All is kept\n", "    title: All is kept\n    conditions: {clients: null, cores: 4}\n")
    (file,) = claims_of(root, text)
    assert file.conditions_of(file.claims[0]).clients == 50
    found = file.conditions_of(file.claims[1])
    assert (found.clients, found.cores, found.network) == (None, 4, "remote")


def test_errors_of_all_files_are_reported_together(root: Path) -> None:
    """A file that cannot be read hides none of the others."""
    (root / "claims" / "001.yaml").write_text("format: '1.0'\n")
    lines = refused(root, replaced(CLAIMS, "variant: other", "variant: no"))
    assert {line.partition(":")[0] for line in lines} == {"claims/000.yaml", "claims/001.yaml"}


def test_a_store_file_with_errors_is_no_error_of_a_claim(root: Path) -> None:
    """Its variants are unknown, so the claim is refused, not the reading ended by a traceback."""
    (root / "stores" / "mine.yaml").write_text(replaced(STORE, "adapter: ./mine.py\n", ""))
    with pytest.raises(SpecError):
        claims_of(root, CLAIMS)


@pytest.mark.slow
def test_the_shipped_claims_are_valid() -> None:
    """Every text has its file, and every reference leads somewhere."""
    files = read_claims(SHIPPED)
    assert [file.source for file in files] == [path.stem for path in sorted((SPEC_ROOT / "claims").glob("*.yaml"))]
    assert sum(len(file.claims) for file in files) > 30


@pytest.mark.slow
def test_every_shipped_figure_is_within_its_bounds() -> None:
    """A claim that its own figure would refute is written down wrongly."""
    for file in read_claims(SHIPPED):
        for claim in map(file.with_figure, file.claims):
            if claim.a is not None and claim.figure is not None:
                low, high = claim.bounds
                assert low <= claim.figure.value <= high, claim.claim
