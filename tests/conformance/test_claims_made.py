"""Bundles are made of whole runs only, and told in one line; badges and repeated runs say what they show."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storeproof.cli import conformance as command
from storeproof.cli import main
from storeproof.conformance.answer import MAKERS_WORD, Level, answer_lines, badge_of, contradicted_badge, refused_badge
from storeproof.conformance.bundle import make_bundle
from storeproof.conformance.expected_cases import expected_cases
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.rerun import command_of, compared
from storeproof.conformance.verify import Verified, verify
from storeproof.errors import UsageError
from storeproof.evidence import EVIDENCE
from storeproof.outcome import Outcome, Stage
from storeproof.result.json_file import read_result
from storeproof.result.model import EditionUsed, Result, StoreResult
from storeproof.spec import Edition
from storeproof.spec.cases import OF_COMPOSITES
from tests.conformance.true_bundle import CASES, EDITION, LATER, TrueBundle, frozen_root, known, own_file, product_of
from tests.shipped import SHIPPED

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def verified(true_bundle: TrueBundle) -> Verified:
    """What the verification of the true bundle says."""
    return verify(true_bundle.file, known())


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of a command."""
    monkeypatch.setattr(sys, "argv", ["storeproof", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_cases_that_must_be_there_are_those_that_are_collected(true_bundle: TrueBundle) -> None:
    """Of a run of all suites: each id, with its stage and its revision; and not the case that the suites got after the edition."""
    result = read_result(true_bundle.report)
    spec = known().in_edition(result.edition).spec
    cases = expected_cases(spec, spec.scales["smoke"], composite=False)
    assert LATER not in cases
    assert LATER in known().spec.suite_cases
    found = {each.id: (each.stage, each.revision) for each in result.stores[0].outcomes}
    assert found == {name: (case.stage, case.revision) for name, case in cases.items()}
    assert {case.stage for case in cases.values()} == {*Stage}


def test_composite_stores_must_have_more_cases() -> None:
    """Those that no other store has, each in its stage; a quick run leaves two of them out."""
    one, more = (expected_cases(SHIPPED, SHIPPED.scales["smoke"], composite=each) for each in (False, True))
    own = {name: more[name] for name in more.keys() - one.keys()}
    assert own.keys() == OF_COMPOSITES
    assert all(each.stage is (Stage.PERFORMANCE if name.startswith("cache.") else Stage.DURABILITY) for name, each in own.items())
    assert {name for name, each in own.items() if each.beyond_scale} == {"cache.hit_rate/all", "cache.hit_rate/quarter"}
    assert not any(each.beyond_scale for each in expected_cases(SHIPPED, SHIPPED.scales["standard"], composite=True).values())


def test_a_run_keeps_its_evidence_beside_its_result(true_bundle: TrueBundle) -> None:
    """A small file, of the guarantees that were struck."""
    file = true_bundle.report / EVIDENCE
    assert file.read_bytes() == true_bundle.parts[EVIDENCE]
    assert 1_000 < file.stat().st_size < 2_000_000


def test_the_same_run_makes_the_same_bundle(true_bundle: TrueBundle) -> None:
    """So that a signature of one is a signature of the other."""
    product = true_bundle.file.with_name("product.yaml")
    content, _ = make_bundle(true_bundle.report, product, own_file(), known())
    assert content == true_bundle.file.read_bytes()


def test_a_run_that_left_cases_out_makes_no_bundle(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """Where they are part of the edition; with the first one, and what to do."""
    every = KnownJudges(known().spec, known().installation, root=frozen_root())
    (tmp_path / "product.yaml").write_text(product_of("1"))
    with pytest.raises(ClaimRefused, match=r"product: product.yaml is about SQLite 1"):
        make_bundle(true_bundle.report, tmp_path / "product.yaml", own_file(), every)
    with pytest.raises(ClaimRefused, match=r"cases: .* was left out; a claim is made of a whole run, without -k and --profile"):
        make_bundle(true_bundle.report, true_bundle.file.with_name("product.yaml"), own_file(), every)


def test_a_vendors_own_file_must_be_named(true_bundle: TrueBundle) -> None:
    """The run was given one; the bundle holds it."""
    with pytest.raises(UsageError, match=r"belongs into the bundle; name it: --store FILE\.yaml"):
        make_bundle(true_bundle.report, true_bundle.file.with_name("product.yaml"), None, known())


def test_the_answer_is_the_first_line(verified: Verified) -> None:
    """Product, edition, what is proven, profiles, level; then what was computed again, and what was not."""
    first, *others = answer_lines(verified)
    assert first.startswith(f"verified: SQLite {verified.product.version}, edition ")
    assert "claims power_loss, process_crash is proven; conforms to no profile (recomputed)" in first
    assert any(line.startswith("computed again: 10 faults of 2 cases from ") for line in others)
    word = [line.removeprefix("the maker's word, ") for line in others if line.startswith("the maker's word, ")]
    assert word[0].startswith(f"which no file can show: {MAKERS_WORD}; ")
    assert word[1].startswith("which is not computed again: the answers of each case, ")
    repeated = list(answer_lines(verified, Level.REPRODUCED))
    assert repeated[-1] == "repeated here, on the same version and binary; the maker's word is still that this binary is the product"
    assert not any(MAKERS_WORD in line for line in repeated)


def test_a_claim_in_a_draft_says_that_it_does_not_last(verified: Verified) -> None:
    """And how to make one that does."""
    drafted = verified.result.model_copy(update={"edition": EditionUsed(version="2020.01.3", hash="0" * 16)})
    told = "made in a draft, which no later release verifies; a run with --edition=NAME is judged by a frozen edition"
    assert told in answer_lines(replace(verified, result=drafted))
    assert told not in answer_lines(verified)


def test_what_was_not_shown_is_listed(verified: Verified) -> None:
    """Each case that was not run or not decided, by its reason, and what the machine spoiled."""
    assert not [line for line in answer_lines(verified) if line.startswith(("not_run: ", "inconclusive: ", "spoiled: "))]
    outcomes = list(verified.store.outcomes)
    for number, outcome, detail in (
        (0, Outcome.NOT_RUN, "no disk"),
        (1, Outcome.NOT_RUN, "no disk"),
        (2, Outcome.INCONCLUSIVE, "no answer"),
    ):
        outcomes[number] = outcomes[number].model_copy(update={"outcome": outcome, "detail": detail})
    guarantees = [each.model_copy(update={"spoiled": 2}) for each in verified.store.durability.guarantees[:1]]
    durability = verified.store.durability.model_copy(update={"guarantees": guarantees})
    store = verified.store.model_copy(update={"outcomes": outcomes, "durability": durability})
    lines = list(answer_lines(replace(verified, store=store)))
    assert f"not_run: {outcomes[0].id}, {outcomes[1].id}: no disk" in lines
    assert f"inconclusive: {outcomes[2].id}: no answer" in lines
    assert f"spoiled: 2 attempts of {guarantees[0].guarantee}, which say nothing about the store" in lines


def test_a_claim_says_who_chose_its_seed(verified: Verified) -> None:
    """A frozen edition has one of its own; a run by it takes that unless its maker names another."""
    edition = Edition(EDITION, verified.result.edition.hash)
    own = verified.result.run.model_copy(update={"seed": edition.seed})
    draft = EditionUsed(version="2020.01.3", hash="0" * 16)
    assert "seed 1, chosen by its maker" in answer_lines(verified)
    changed = replace(verified, result=verified.result.model_copy(update={"run": own}))
    assert f"seed {edition.seed}, the edition's own" in answer_lines(changed)
    drafted = replace(verified, result=verified.result.model_copy(update={"edition": draft}))
    assert "seed 1, drawn or chosen: a draft has none of its own" in answer_lines(drafted)


def test_a_badge_says_what_is_shown(verified: Verified) -> None:
    """As shields.io reads it, with the scale and whether it was repeated; of a claim that is refused it says that."""
    badge = json.loads(badge_of(verified).endpoint)
    assert (badge["schemaVersion"], badge["label"], badge["color"]) == (1, "storeproof", "brightgreen")
    named = f"SQLite {verified.product.version} · survives kill -9, claims power_loss"
    whole = f"{named} · 0 of 2 profiles · {verified.result.edition.version} · smoke scale"
    assert badge["message"] == f"{whole} · recomputed, not repeated"
    assert f"<title>storeproof: {whole} · recomputed, not repeated; the maker's word: {MAKERS_WORD}</title>" in badge_of(verified).svg
    assert badge_of(verified, Level.REPRODUCED).message == f"{whole} · reproduced"
    assert MAKERS_WORD not in badge_of(verified, Level.REPRODUCED).svg
    refused = json.loads(refused_badge(ClaimRefused(Reason.HASH, "changed")).endpoint)
    assert (refused["message"], refused["color"]) == ("refused: hash", "red")
    contradicted = contradicted_badge(verified)
    assert (contradicted.message, contradicted.colour) == (f"SQLite {verified.product.version} · contradicted by a repetition", "red")


def test_a_badge_names_the_makers_own_adapter_and_known_failures(verified: Verified) -> None:
    """With an adapter of its own a maker asks its own product; and a failure that is known is one."""
    for names, shown in ((["own/a.yaml"], False), (["own/a.yaml", "own/a.py"], True), (["spec/stores/a.yaml", "adapters/a.py"], False)):
        found = replace(verified, store=verified.store.model_copy(update={"sources": dict.fromkeys(names, "0")}))
        assert (" · by the maker's own adapter · " in badge_of(found).message) is shown
        assert badge_of(found).colour == "brightgreen"
    counts = {**verified.store.counts, Outcome.KNOWN_FAIL: 2}
    failing = badge_of(replace(verified, store=verified.store.model_copy(update={"counts": counts})))
    assert (" · 2 known failures · " in failing.message, failing.colour) == (True, "orange")


def test_a_claim_that_is_not_proven_says_so(verified: Verified) -> None:
    """With the cases that failed, the capabilities that are lacking, and a badge that is not green."""
    failed = with_outcome(verified.store, "durability.clean_restart", Outcome.FAIL)["outcomes"]
    lacking = [each.model_copy(update={"outcome": Outcome.FAIL}) for each in verified.store.capabilities if each.claimed]
    durability = verified.store.durability.model_copy(update={"proven": None})
    fields = {"outcomes": failed, "capabilities": lacking, "durability": durability}
    found = replace(verified, store=verified.store.model_copy(update=fields))
    first, *others = answer_lines(found)
    assert ": claims power_loss, not proven; " in first
    assert any(line.startswith("fail: durability.clean_restart: ") for line in others)
    said = f"capabilities: {len(lacking)} of {len(lacking)} claimed, 0 of these proven; not proven: {lacking[0].capability}, "
    assert any(line.startswith(said) for line in others)
    assert (badge_of(found).colour, "durability not shown, claims power_loss" in badge_of(found).message) == ("orange", True)


def test_the_command_refuses_in_one_line(
    true_bundle: TrueBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bundle is of the mini-edition, which this installation does not know; the badge is written too."""
    badge = tmp_path / "badge.json"
    assert called(monkeypatch, "verify", str(true_bundle.file), f"--badge={badge}") == 1
    said = capsys.readouterr().out
    assert said.startswith("refused: edition: it is of edition ")
    assert said.count("\n") == 1
    assert json.loads(badge.read_text())["message"] == "refused: edition"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.tar", "give the file that `storeproof bundle` wrote"),
        (".", "has no claims; each is a folder EDITION/ORGANIZATION-PRODUCT/"),
    ],
)
def test_what_is_no_claim_is_a_usage_error(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to give."""
    assert called(monkeypatch, "verify", str(tmp_path / name)) == 4
    assert message in capsys.readouterr().err


def test_a_run_is_repeated_with_its_seed_and_scale(verified: Verified, true_bundle: TrueBundle, tmp_path: Path) -> None:
    """And with the vendor's own files, out of the bundle."""
    words = command_of(verified, true_bundle.file, tmp_path, ["-x"])
    assert words[1:6] == ["-m", "pytest", "-p", "no:cacheprovider", "suites/"]
    assert words[6:9] == [f"--store={tmp_path / 'own' / 'sqlite.yaml'}:wal-full", "--scale=smoke", f"--edition={EDITION}"]
    assert words[9:] == ["--launch=process", "--seed=1", f"--report-dir={tmp_path}", "-x"]
    assert (tmp_path / "own" / "sqlite.yaml").read_bytes() == true_bundle.parts["sources/own/sqlite.yaml"]


def changed(result: Result, **fields: Any) -> Result:
    """The result with other fields of its store."""
    return result.model_copy(update={"stores": [result.stores[0].model_copy(update=fields)]})


def with_outcome(store: StoreResult, case: str, outcome: Outcome) -> dict[str, Any]:
    """The outcomes of a store with another one for a case."""
    return {"outcomes": [each.model_copy(update={"outcome": outcome}) if each.id == case else each for each in store.outcomes]}


def test_the_same_verdicts_reproduce_a_claim(verified: Verified) -> None:
    """Here with itself: every case that it shows, and every number."""
    found = compared(verified.result, verified.result)
    assert found.reproduced
    assert found.agreeing == len(CASES)
    assert [each.agrees for each in found.speeds.numbers] == [True] * (2 - found.speeds.drifting - found.speeds.not_valid)


def test_a_verdict_that_is_not_reached_again_contradicts_or_stays_open(verified: Verified) -> None:
    """A failure contradicts; what could not be run decides nothing; neither reproduces."""
    claim, store = verified.result, verified.store
    failed = compared(claim, changed(claim, **with_outcome(store, CASES[1], Outcome.FAIL)))
    assert failed.contradicted == (f"{CASES[1]} is pass in the claim, and fail here",)
    assert not failed.open
    lacking = compared(claim, changed(claim, **with_outcome(store, CASES[1], Outcome.NOT_RUN)))
    assert lacking.open == (f"{CASES[1]} is pass in the claim, and not_run here",)
    durability = store.durability.model_copy(update={"proven": "clean_restart"})
    less = compared(claim, changed(claim, durability=durability, binary_digest="sha256:0"))
    assert less.open == ("process_crash is proven in the claim, and clean_restart here",)
    assert less.another == (f"another binary: {store.binary_digest} in the claim, and sha256:0 here",)
    assert [each.reproduced for each in (failed, lacking, less)] == [False] * 3


def test_a_claim_of_the_level_reproduced_says_so(verified: Verified) -> None:
    """The three levels are words of one line."""
    assert [next(iter(answer_lines(verified, level))).endswith(f"({level})") for level in Level] == [True] * 3


@pytest.mark.parametrize("claimed", [Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.INCONCLUSIVE, Outcome.ERROR, Outcome.UNSUPPORTED])
def test_what_the_claim_does_not_show_is_compared_too(verified: Verified, claimed: Outcome) -> None:
    """A case that fails here, and of which the claim says that it was not run, was hidden: the claim is not reproduced."""
    claim = changed(verified.result, **with_outcome(verified.store, CASES[1], claimed))
    for found in (Outcome.FAIL, Outcome.KNOWN_FAIL):
        worse = compared(claim, changed(claim, **with_outcome(verified.store, CASES[1], found)))
        assert worse.contradicted == (f"{CASES[1]} is {claimed} in the claim, and {found} here",)
        assert not worse.reproduced
    refused = compared(claim, changed(claim, **with_outcome(verified.store, CASES[1], Outcome.UNSUPPORTED)))
    assert refused.reproduced is (claimed is Outcome.UNSUPPORTED)
    for found in (claimed, Outcome.NOT_RUN, Outcome.PASS):
        assert compared(claim, changed(claim, **with_outcome(verified.store, CASES[1], found))).reproduced


def test_a_profile_that_the_claim_leaves_open_is_compared_too(verified: Verified) -> None:
    """It is refuted here, whatever the claim did not try."""
    first = verified.store.profiles[0]
    one, other = (
        changed(verified.result, profiles=[first.model_copy(update={"verdict": verdict})]) for verdict in ("incomplete", "does_not_conform")
    )
    assert compared(one, one).reproduced
    assert compared(one, other).contradicted == (f"{first.profile} is incomplete in the claim, and is does_not_conform here",)
    assert compared(other, one).reproduced


def test_another_version_or_binary_is_no_repetition(verified: Verified) -> None:
    """Nor is another seed, scale, variant or setting: the same verdicts of something else say nothing about the claim."""
    claim = verified.result
    binary, settings = verified.store.binary_digest, verified.store.settings
    named = next(iter(settings))
    for fields, said in (
        ({"version": "SQLite 9.9.9"}, f"another version: {verified.store.version} in the claim, and SQLite 9.9.9 here"),
        ({"binary_digest": "sha256:1"}, f"another binary: {binary} in the claim, and sha256:1 here"),
        ({"binary_digest": None, "image_digest": "sha256:2"}, f"another binary: {binary} in the claim, and sha256:2 here"),
        ({"binary_digest": None}, f"another binary: {binary} in the claim, and None here"),
        ({"variant": "wal-off"}, "another variant: wal-full in the claim, and wal-off here"),
        ({"settings": {**settings, named: "x"}}, f"another setting {named}: {settings[named]} in the claim, and x here"),
    ):
        found = compared(claim, changed(claim, **fields))
        assert (found.another, found.contradicted, found.open, found.reproduced) == ((said,), (), (), False)
    for run, said in (
        ({"seed": 2}, "another seed: 1 in the claim, and 2 here"),
        ({"scale": "full"}, "another scale: smoke in the claim, and full here"),
    ):
        assert compared(claim, claim.model_copy(update={"run": claim.run.model_copy(update=run)})).another == (said,)


def test_where_no_program_was_seen_that_is_said(verified: Verified) -> None:
    """At an endpoint: the version is what its server says."""
    at_endpoint = changed(verified.result, binary_digest=None)
    found = compared(at_endpoint, at_endpoint)
    assert found.reproduced
    assert found.unlike == ("the server's program was not seen in either run: that it is the same one is its operator's word",)


@pytest.mark.parametrize(
    ("fields", "code", "first", "badge"),
    [
        ({}, 0, "reproduced: the same version and binary came to the same verdicts", " · reproduced"),
        (
            {"version": "SQLite 9.9.9"},
            1,
            "not reproduced: this run is no repetition: another version: ",
            " · recomputed, not repeated",
        ),
        ({"outcomes": "fail"}, 1, "not reproduced: 1 verdict contradicted, 0 not decided here", " · contradicted by a repetition"),
        ({"outcomes": "not_run"}, 1, "not reproduced: 0 verdicts contradicted, 1 not decided here", " · recomputed, not repeated"),
    ],
)
def test_the_command_says_first_whether_it_was_reproduced(
    true_bundle: TrueBundle,
    verified: Verified,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fields: dict[str, str],
    code: int,
    first: str,
    badge: str,
) -> None:
    """And the badge says it too. The run is the claim's own, changed."""
    made = with_outcome(verified.store, CASES[1], Outcome(fields["outcomes"])) if "outcomes" in fields else fields
    monkeypatch.setattr(command, "_verified", lambda _: verified)
    monkeypatch.setattr(command, "repeat", lambda *_: compared(verified.result, changed(verified.result, **made)))
    assert command.rerun(true_bundle.file, tmp_path / "report", [], tmp_path / "badge.json") == code
    said = capsys.readouterr().out.partition("\n\n")[2]
    assert said.startswith(first)
    assert json.loads((tmp_path / "badge.json").read_text())["message"].endswith(badge)
