"""Frozen editions: they are kept as they were, read by later releases, and refused where they were edited or cannot be tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from storeproof.errors import SpecError, UsageError
from storeproof.spec import SPEC_ROOT, load_spec, loader, shipped
from storeproof.spec.cases import CaseIds
from storeproof.spec.edition import VERSION, edition_of
from storeproof.spec.editions.dispute import Dispute, disputes_page, read_disputes, withdrawn_cases
from storeproof.spec.editions.freeze import freeze, write_record
from storeproof.spec.editions.frozen import edition_to_try, frozen_editions, known_judges, load_edition
from storeproof.spec.editions.records import Judge
from tests.shipped import SHIPPED
from tests.spec.files import CAPABILITIES, STORE, replaced, specification

RECORDED = Path(__file__).with_name("frozen_editions.txt")
NAME = "2020.01"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small specification that is frozen, as the one of this installation."""
    made = specification(tmp_path)
    freeze(load_spec(made), NAME, "0.1.9")
    monkeypatch.setattr(loader, "SPEC_ROOT", made)
    monkeypatch.setattr(load_spec, "__defaults__", (made,))
    return made


def record_with(root: Path, **changed: object) -> None:
    """Change fields of the record, and keep its hash right."""
    file = root / "editions" / f"{NAME}.yaml"
    record = yaml.safe_load(file.read_text()) | changed
    record["hash"] = edition_of(root / "editions" / NAME, NAME, record["suite_cases"]).hash
    file.write_text(yaml.safe_dump(record))


def change(root: Path, old: str, new: str) -> None:
    """Change a text of the frozen edition."""
    (file,) = [path for path in (root / "editions" / NAME).rglob("*.yaml") if old in path.read_text()]
    file.write_text(replaced(file.read_text(), old, new))


def test_every_frozen_edition_is_as_it_was_frozen() -> None:
    """Its hash stands in its record and once more beside this test, so that no edit goes unseen; and this release reads it."""
    wanted = dict(line.split() for line in RECORDED.read_text().splitlines())
    found = {name: record.hash for name, record in frozen_editions().items()}
    assert found == wanted, f"a frozen edition stays as it is; a new one is added to {RECORDED.name} as NAME HASH"
    for name in found:
        assert load_edition(name).edition.hash == wanted[name]


def test_freezing_keeps_the_demands_of_the_draft(root: Path) -> None:
    """All of them, with the cases of the suites; a later change of the draft does not reach it."""
    draft, frozen = load_spec(root), load_edition(NAME, root)
    assert (frozen.edition.version, frozen.edition.frozen, draft.edition.frozen) == (NAME, True, False)
    for what in ("models", "guarantees", "capabilities", "workloads", "profiles", "scales", "suite_cases"):
        assert getattr(frozen, what) == getattr(draft, what), what
    assert frozen.store("mine")[1] == (root / "stores" / "mine.yaml").resolve()
    (root / "capabilities" / "access.yaml").write_text(replaced(CAPABILITIES, "it comes back", "it is there again"))
    assert load_edition(NAME, root) == frozen != load_spec(root)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (NAME, f"edition {NAME} is frozen, and {NAME} is not later"),
        ("2019.12", f"edition {NAME} is frozen, and 2019.12 is not later"),
        (VERSION, f"invalid name of an edition: '{VERSION}'; allowed: YEAR.MONTH"),
        ("2026.13", "invalid name of an edition: '2026.13'"),
        ("2026.12", "2026.12 exists already, and would be overwritten"),
    ],
)
def test_freezing_overwrites_nothing(root: Path, name: str, message: str) -> None:
    """A name that is taken, older or none is refused, and so is a folder that has something in it."""
    (root / "editions" / "2026.12").mkdir()
    before = sorted(root.rglob("*"))
    with pytest.raises(UsageError, match=message):
        freeze(load_spec(root), name, "0.2.0")
    assert sorted(root.rglob("*")) == before


def test_an_edited_edition_is_refused(root: Path) -> None:
    """Whether a demand was changed, a file added, or a case of the suites left out."""
    change(root, "it comes back", "it came back")
    with pytest.raises(UsageError, match=f"edition {NAME} was changed after it was frozen: .* has the hash .* and its record"):
        load_edition(NAME, root)
    change(root, "it came back", "it comes back")
    load_edition(NAME, root)
    record = root / "editions" / f"{NAME}.yaml"
    record.write_text(replaced(record.read_text(), "- settings.readback\n", ""))
    with pytest.raises(UsageError, match="was changed after it was frozen"):
        load_edition(NAME, root)


def test_an_unknown_edition_is_refused_with_the_known_ones(root: Path) -> None:
    """And the draft, which has a name too."""
    with pytest.raises(UsageError, match=f"^unknown edition `2020.02`; known: {NAME}; the draft of this installation is {VERSION}"):
        edition_to_try("2020.02")
    assert edition_to_try(VERSION) == edition_to_try(None) == load_spec(root)
    assert edition_to_try(None) is shipped()  # reading it takes a quarter of a second, and the report needs it too
    assert edition_to_try(NAME).edition.version == NAME


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda root: change(root, "do: put", "do: shelve"), "1 of its demands cannot be read, such as .*: found 'shelve'"),
        (
            lambda root: change(root, "title: it comes back", "title: it\n        note: it"),
            "1 of its demands cannot be read, such as .*note",
        ),
        (lambda _: None, "the suites no longer have 1 of its cases, such as walk.all_tables;"),
    ],
    ids=["operation", "field", "case"],
)
def test_an_edition_that_cannot_be_tried_is_refused_with_the_release_that_can(
    root: Path, spoil: Callable[[Path], None], message: str
) -> None:
    """As a whole, and before any case: an operation, a field or a case of it does not exist any more."""
    spoil(root)
    cases = frozen_editions(root)[NAME].suite_cases
    record_with(root, suite_cases=[*cases, "walk.all_tables"])
    with pytest.raises(UsageError, match=f"storeproof cannot try edition {NAME}: .*{message}") as refused:
        edition_to_try(NAME)
    assert "use storeproof 0.1.9, which froze it, or a later edition" in str(refused.value)


def test_cases_that_the_suites_got_later_are_not_of_the_edition(root: Path) -> None:
    """They are known, so that a run leaves them out."""
    cases = frozen_editions(root)[NAME].suite_cases
    assert edition_to_try(NAME).later_cases == frozenset()
    record_with(root, suite_cases=[each for each in cases if each != "walk.single_key"])
    assert edition_to_try(NAME).later_cases == {"walk.single_key"}
    assert load_spec(root).later_cases == frozenset()


def test_a_store_may_claim_what_came_after_the_edition(root: Path) -> None:
    """The claim is left out; one that no edition knows is a mistake, as ever: in the project's own files by the draft, which costs a frozen
    edition nothing then, and in a vendor's by either."""
    (root / "capabilities" / "more.yaml").write_text(replaced(CAPABILITIES, "group: access", "group: more"))
    mine = root / "stores" / "mine.yaml"
    mine.write_text(f"{STORE}    more.put-get: true\n")
    assert load_spec(root).store("mine")[0].claims.capabilities["more.put-get"]
    assert "more.put-get" not in load_edition(NAME, root).store("mine")[0].claims.capabilities
    mine.write_text(f"{STORE}    mre.put-get: true\n")
    for spec, name in ((load_spec(root), "mine"), (load_spec(root), str(mine)), (load_edition(NAME, root), str(mine))):
        with pytest.raises(SpecError, match=r"unknown capability `mre\.put-get`"):
            spec.store(name)


def test_records_are_called_as_what_they_record(root: Path) -> None:
    """A judge under another name would be another judge."""
    judge = Judge(format="1.0", judge="0.1.9", storeproof="0.1.9", machinery="1" * 64, suites="2" * 64, files={"adapters/x": "3" * 64})
    write_record(judge, root / "judges" / "0.1.9.yaml")
    assert list(known_judges(root)) == [judge]
    write_record(judge, root / "judges" / "other.yaml")
    with pytest.raises(SpecError, match=r"found '0\.1\.9'; allowed: other, as the file is called"):
        known_judges(root)


def disputed(**changed: object) -> Dispute:
    """A dispute with these fields."""
    fields = {"format": "1.0", "dispute": "ttl", "case": "capabilities.access.put-get/001", "affected": "Shelf | Rack", "reason": "r"}
    return Dispute.model_validate({**fields, "state": "open", **changed})


def test_a_withdrawn_case_decides_nothing(root: Path) -> None:
    """In the editions that the dispute names; an open dispute changes nothing."""
    case = "capabilities.access.put-get/001"
    write_record(disputed(), root / "disputes" / "ttl.yaml")
    assert load_spec(root).decides(case)
    (root / "disputes" / "ttl.yaml").unlink()
    write_record(disputed(state="withdrawn", decision="d", editions=[NAME]), root / "disputes" / "ttl.yaml")
    assert load_spec(root).decides(case)
    assert load_edition(NAME, root).standing(case) == "withdrawn"
    assert load_edition(NAME, root).decides("capabilities.access.put-get/002")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decision": "d"}, "no decision while it is open"),
        ({"state": "upheld"}, "the decision by which it is upheld"),
        ({"state": "withdrawn", "decision": "d", "case": "durability.power_loss"}, "what is proven rests on such cases"),
        ({"state": "won", "decision": "d"}, "'open', 'upheld' or 'withdrawn'"),
        ({"case": None}, "found none; allowed: one of `case`, `setting`, `adapter`, `statement`"),
        ({"setting": "always: appendfsync"}, "found `case` and `setting`; allowed: one of"),
        ({"case": None, "adapter": "it sends one record at a time"}, "must be given where `adapter` is"),
        ({"reply": {"by": "Shelf", "on": "2026-11-30", "said": "yes", "source": "a letter"}}, "reply.source"),
    ],
)
def test_a_dispute_is_open_or_decided(changed: dict[str, object], message: str) -> None:
    """With a decision if, and only if, it is decided; what is proven does not change by a withdrawal."""
    with pytest.raises(ValueError, match=message):
        disputed(**changed)


def test_the_page_of_the_disputes_is_made_from_their_files() -> None:
    """And each is about a case that exists."""
    disputes = read_disputes(SPEC_ROOT)
    assert (SPEC_ROOT.parent / "DISPUTES.md").read_text() == disputes_page(disputes), "storeproof disputes > DISPUTES.md"
    cases = CaseIds(SHIPPED.capabilities, SHIPPED.models, SHIPPED.workloads, SHIPPED.scaling, SHIPPED.mixes)
    assert [each.case for each in disputes if each.case and cases.wrong(each.case)] == []
    assert "| ttl | `capabilities.access.put-get/001` | all | Shelf \\| Rack | r |  | open |  |\n" in disputes_page([disputed()])


def test_the_reply_of_a_maker_is_beside_what_is_disputed() -> None:
    """Of a setting, an adapter or a statement too, which concern no case and so no verdict."""
    reply = {"by": "Shelf Inc., A. Maker", "on": "2026-11-30", "said": "we sync by default", "source": "https://example.org/issues/1"}
    about = {"case": None, "setting": "default: sync", "store": "shelf", "reply": reply}
    dispute = disputed(**about, state="withdrawn", decision="mended")
    assert "| `setting of shelf: default: sync` |" in disputes_page([dispute])
    assert "| Shelf Inc., A. Maker, 2026-11-30: we sync by default (https://example.org/issues/1) | withdrawn |" in disputes_page([dispute])
    assert not withdrawn_cases([dispute], NAME)
