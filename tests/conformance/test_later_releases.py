"""Claims outlive a release: a later one computes the verdicts again by the frozen edition, and says what has changed since."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from storeproof.cli import conformance as command
from storeproof.conformance.answer import MAKERS_WORD, answer_lines, badge_of
from storeproof.conformance.archive import RESULT
from storeproof.conformance.known import HERE, KnownJudges
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.submitted import misplaced
from storeproof.conformance.verify import verify
from storeproof.conformance.withdrawal import judged_without
from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.report.parts.first_screen import first_screen
from storeproof.result.model import FORMAT, EditionUsed, StoreResult
from storeproof.spec.editions.dispute import Dispute
from storeproof.spec.editions.freeze import record_path, write_record
from storeproof.spec.editions.frozen import load_edition
from tests.conformance.forgeries.forged_evidence import CRASH, lose
from tests.conformance.forgeries.forged_judges import own_adapter
from tests.conformance.forgeries.forged_results import CAPABILITY, capability_of, move
from tests.conformance.forging import Json, result_in, sealed, with_store, with_stores
from tests.conformance.true_bundle import EDITION, ROUNDS, WITHDRAWN, TrueBundle, frozen_root, known, own_file

pytestmark = pytest.mark.slow

OWN = "own/sqlite.yaml"
OF_PROJECT = "spec/stores/sqlite.yaml"


def later() -> KnownJudges:
    """A later release, to which this one is a known judge."""
    here = known().installation
    then = here.model_copy(update={"judge": "then"})
    now = here.model_copy(update={"storeproof": "9.9", "machinery": "3" * 64, "suites": "4" * 64, "files": {}})
    return replace(known(), installation=now, judges=(then,), disputes=())


def test_a_later_release_verifies_what_a_known_judge_judged(true_bundle: TrueBundle) -> None:
    """With its own code; the answer says who judged. A judge that it does not know is refused, with those that it knows."""
    found = verify(true_bundle.file, later())
    assert (found.judge.judge, found.durability.rounds, found.numbers) == ("then", 2 * ROUNDS, 2)
    assert any(line.startswith("judged by storeproof ") and "(`then`)" in line for line in answer_lines(found))
    with pytest.raises(
        ClaimRefused,
        match=r"^storeproof: .* and this is 9\.9 with 333333333333; other judges known here: none; take that ",
    ):
        verify(true_bundle.file, replace(later(), judges=()))


def as_of_project(bundle: TrueBundle, file: Path) -> str:
    """The true bundle as that of a store of the project; with the SHA-256 of its file."""
    result, parts = bundle.result, dict(bundle.parts)
    sources = result["stores"][0]["sources"]
    digest: str = sources[OWN]
    result["stores"][0]["sources"] = {OF_PROJECT if name == OWN else name: each for name, each in sources.items()}
    parts[f"sources/{OF_PROJECT}"] = parts.pop(f"sources/{OWN}")
    file.write_bytes(sealed({**parts, RESULT: result_in(result)}))
    return digest


def test_the_file_of_a_store_of_the_project_is_the_one_that_judged(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """It is in the bundle, and the judge's: the later release may have another one, or none."""
    digest = as_of_project(true_bundle, tmp_path / "x.tar")
    (then,) = later().judges
    known_file = then.model_copy(update={"files": {**then.files, OF_PROJECT: digest}})
    found = verify(tmp_path / "x.tar", replace(later(), judges=(known_file,)))
    assert found.store.durability.proven == "process_crash"
    only_files = replace(later(), installation=then.model_copy(update={"judge": HERE}), judges=(known_file,))
    assert verify(tmp_path / "x.tar", only_files).judge == known_file, "a later commit that changed nothing but store files"
    with pytest.raises(ClaimRefused, match=f"^store-file: {OF_PROJECT} was changed afterwards: it is not the one of the judge then"):
        verify(tmp_path / "x.tar", later())


def test_an_adapter_of_the_makers_own_is_told(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """By a known judge too: the file that asked is in the bundle, and the answer names it."""
    own_adapter("./mine.py", "mine.py")(true_bundle, tmp_path / "x.tar")
    found = verify(tmp_path / "x.tar", known())
    assert found.judge.judge == "another"
    assert any(line.startswith("asked through ") and "mine.py" in line for line in answer_lines(found))


def test_an_older_format_is_verified_in_its_one_notation(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """A result of 2.2 has no `standing` and no `origin`; it is read, and a second value under one key is found in it as in a new one."""
    newest = f'"format": "{FORMAT}"'.encode()
    content = re.sub(rb',\s+"standing": null', b"", true_bundle.parts[RESULT]).replace(newest, b'"format": "2.2"', 1)
    content, found = re.subn(rb'"origin": \{.*?\},\s+(?="settings")', b"", content, flags=re.DOTALL)
    assert found == 1
    assert b'"kind": "interpreter"' in true_bundle.parts[RESULT]
    assert len(content) < len(true_bundle.parts[RESULT])
    file = tmp_path / "x.tar"
    file.write_bytes(sealed({**true_bundle.parts, RESULT: content}))
    verified = verify(file, known())
    assert (verified.result.format, verified.store.origin) == ("2.2", None)
    twice = content.replace(b'"outcome": "pass"', b'"outcome": "fail", "outcome": "pass"', 1)
    file.write_bytes(sealed({**true_bundle.parts, RESULT: twice}))
    with pytest.raises(ClaimRefused, match=r"^result: result\.json is not written as a run writes it"):
        verify(file, known())


@pytest.fixture
def with_editions(tmp_path: Path) -> Callable[..., KnownJudges]:
    """What is known where further editions were frozen."""

    def made(*names: str) -> KnownJudges:
        root = tmp_path / "spec"
        (root / "editions").mkdir(parents=True, exist_ok=True)
        (root / "editions" / EDITION).symlink_to(frozen_root() / "editions" / EDITION)
        (root / "stores").symlink_to(frozen_root() / "stores")
        record = known().frozen[EDITION]
        for name in (EDITION, *names):
            write_record(record.model_copy(update={"edition": name}), record_path(root, name))
        return replace(known(), root=root)

    return made


def test_a_claim_expires_with_the_second_edition_after_its_own(
    true_bundle: TrueBundle,
    with_editions: Callable[..., KnownJudges],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first line and the exit code say so, and the badge; everything else is still computed. The draft does not count."""
    expiring = with_editions("2020.07", "2021.01")
    monkeypatch.setattr(KnownJudges, "here", lambda: expiring)
    assert command.check(true_bundle.file, tmp_path / "badge.svg", proven=False) == command.EXPIRED == 3
    first, second, *_ = capsys.readouterr().out.splitlines()
    version = true_bundle.result["stores"][0]["version"]
    assert first == f"expired: {version}, edition {EDITION}, with edition 2021.01; newer ones: 2020.07, 2021.01"
    assert second.startswith("verified: SQLite ")
    assert f"expired with 2021.01 · {version} · survives kill -9, claims power_loss · 0 of 2 prof" in (tmp_path / "badge.svg").read_text()
    with pytest.raises(UsageError, match=r"--badge .*x\.png ends in \.png; allowed: \.json, \.svg"):
        command.check(true_bundle.file, tmp_path / "x.png", proven=False)


def test_what_is_verified_need_not_be_proven(true_bundle: TrueBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--require claimed` that has an exit code of its own; a folder of claims has none."""
    monkeypatch.setattr(KnownJudges, "here", known)
    assert command.check(true_bundle.file, None, proven=False) == 0
    assert command.check(true_bundle.file, None, proven=True) == command.UNPROVEN == 5
    with pytest.raises(UsageError, match="--require is of one bundle"):
        command.check(true_bundle.file.parent, None, proven=True)


def test_one_edition_later_a_claim_stands(true_bundle: TrueBundle, with_editions: Callable[..., KnownJudges]) -> None:
    """And claims in the draft are not older than it."""
    found = with_editions("2020.07").in_edition(EditionUsed(**true_bundle.result["edition"]))
    assert (found.expired_by, found.later) == (None, ["2020.07"])
    draft = known().in_edition(known().edition)
    assert (draft.spec.edition.frozen, draft.expired_by, draft.later) == (False, None, [])


def failing(bundle: TrueBundle, file: Path) -> None:
    """A run in which a case failed that was withdrawn afterwards: the result is as such a run writes it."""

    def change(store: Json) -> None:
        move(store, WITHDRAWN, "fail")
        capability_of(store, CAPABILITY).update(outcome="fail", passed=3)
        store["operations"]["single_key"] |= dict.fromkeys(("get", "put"), "fail")
        target, spec = known().own_target(own_file(), store["variant"]), load_edition(EDITION, frozen_root())
        judged = judged_without(StoreResult.model_validate(store), target, spec)
        store |= judged.model_copy(update={"first_screen": first_screen(judged, ())}).model_dump(mode="json")

    with_store(change)(bundle, file)


def test_a_withdrawn_case_does_not_decide(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """The claim is shown without it, and the answer says so; without the dispute the same case decides."""
    failing(true_bundle, tmp_path / "x.tar")
    found = verify(tmp_path / "x.tar", known())
    capability = next(each for each in found.store.capabilities if each.capability == CAPABILITY)
    assert (capability.outcome, capability.passed, capability.cases) == (Outcome.PASS, 3, 3)
    assert f"withdrawn: {WITHDRAWN} (fail) decides nothing: for these tests" in answer_lines(found)
    assert badge_of(found).colour == "brightgreen"
    without = verify(tmp_path / "x.tar", replace(known(), disputes=()))
    assert next(each for each in without.store.capabilities if each.capability == CAPABILITY).outcome is Outcome.FAIL
    assert badge_of(without).colour == "orange"


def test_where_a_case_is_disputed_another_verdict_is_told(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """And not refused, since the dispute may be about today's verdict; of any other case it is refused."""
    dispute = Dispute(format="1.0", dispute="x", case=CRASH, affected="SQLite", reason="made up", state="open")
    with_stores(lambda stores: lose(stores))(true_bundle, tmp_path / "x.tar")
    with pytest.raises(ClaimRefused, match=r"^durability: process_crash: faults_with_loss is 0 in the result, and 1 by the histories"):
        verify(tmp_path / "x.tar", known())
    lines = list(answer_lines(verify(tmp_path / "x.tar", replace(known(), disputes=(dispute,)))))
    assert f"disputed: {CRASH} (pass) decides until the dispute is decided: made up" in lines
    assert "disputed: process_crash: faults_with_loss is 0 in the result, and 1 by the histories" in lines


def test_a_submitted_claim_has_its_place(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """A folder of its edition, organization and product, with one bundle, and how it is reproduced."""
    found = verify(true_bundle.file, known())
    for folder, readme, wrong in (
        (f"{EDITION}/the-sqlite-project-sqlite", "# x\n## Reproduce\n", ""),
        (f"{EDITION}/the-sqlite-project-sqlite-wal-full", "## Reproduce\n", ""),
        (f"{EDITION}/the-sqlite-project-sqlite-x", "# x\n", "it has no README.md with a section `Reproduce`"),
        (f"{EDITION}/someone-else", "## Reproduce\n", f"it belongs into {EDITION}/the-sqlite-project-sqlite/"),
        ("2020.07/the-sqlite-project-sqlite", "## Reproduce\n", f"it belongs into {EDITION}/"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "README.md").write_text(readme)
        said = misplaced(tmp_path / folder, found, known())
        assert said.startswith(wrong)
        assert bool(said) is bool(wrong), folder
    readme = tmp_path / EDITION / "the-sqlite-project-sqlite" / "README.md"
    readme.unlink()
    assert misplaced(readme.parent, found, known()) == "its README.md does not exist; it needs one with a section `Reproduce`"
    os.mkfifo(readme)
    assert misplaced(readme.parent, found, known()).startswith("its README.md is a pipe"), "which would be waited for"
    draft = replace(known(), root=tmp_path)
    assert misplaced(tmp_path, found, draft).startswith(f"it is of the draft {EDITION}; claims are submitted in a frozen edition")


def test_the_folder_of_submitted_claims_is_checked_as_a_whole(
    true_bundle: TrueBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each, and 1 where one is refused; a folder without claims is a mistake."""
    monkeypatch.setattr(KnownJudges, "here", known)
    with pytest.raises(UsageError, match="has no claims; each is a folder EDITION/ORGANIZATION-PRODUCT/"):
        command.check(tmp_path, None, proven=False)
    for name, content in (("the-sqlite-project-sqlite", true_bundle.file.read_bytes()), ("the-sqlite-project-sqlite-b", b"x")):
        (tmp_path / EDITION / name).mkdir(parents=True)
        (tmp_path / EDITION / name / "x.tar").write_bytes(content)
        (tmp_path / EDITION / name / "README.md").write_text("## Reproduce\n")
    assert command.check(tmp_path, None, proven=False) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{EDITION}/the-sqlite-project-sqlite: verified: SQLite ")
    assert second.startswith(f"{EDITION}/the-sqlite-project-sqlite-b: refused: x.tar is refused: archive: ")
    assert last == f"1 of 2 claims in {tmp_path} verified; of each, the maker's word: {MAKERS_WORD}"
