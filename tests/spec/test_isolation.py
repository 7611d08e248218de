"""Levels of isolation, and what cases of transactions may have beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec import load_spec
from storeproof.spec.capability import CapabilityGroup
from storeproof.spec.editions.frozen import load_edition
from storeproof.spec.interleaving import LEVELS
from storeproof.spec.reading.source import read
from tests.shipped import SHIPPED
from tests.spec.files import CAPABILITIES, problems, replaced, specification

TURNS = """\
        interleaved:
          turns:
            - {session: a, do: begin, args: [snapshot]}
            - {session: a, do: commit}
"""


def levels(group: CapabilityGroup) -> list[str]:
    """Those at which its transactions begin."""
    cases = [case.interleaved for each in group.capabilities for case in each.cases if case.interleaved]
    return [turn.args[0] for case in cases for turn in case.turns if turn.do == "begin"]


@pytest.mark.parametrize(("written", "meant"), [("2.0", "repeatable_read"), ("2.1", "repeatable_read"), ("2.2", "snapshot")])
def test_a_level_means_what_it_meant_in_the_format_of_its_file(written: str, meant: str, tmp_path: Path) -> None:
    """Before 2.2 `snapshot` was the name of SQL's REPEATABLE READ."""
    (tmp_path / "x.yaml").write_text(replaced(CAPABILITIES, '"2.0"', f'"{written}"') + TURNS)
    assert levels(read(tmp_path / "x.yaml", CapabilityGroup)) == [meant]


@pytest.mark.slow
def test_the_frozen_edition_knows_no_snapshot_isolation() -> None:
    """Its cases are tried at the level that they were written for, also where a store has no stronger one."""
    cases = [case for each in load_edition("2026.12").capabilities.values() for case in each.cases if case.interleaved]
    begun = {turn.args[0] for case in cases for turn in case.interleaved.turns if turn.do == "begin"}  # type: ignore[union-attr]
    assert begun == {"read_committed", "repeatable_read", "serializable"}


def test_the_control_is_the_same_load_at_the_primary() -> None:
    """In all but its name, and where its readers are."""
    across, control = SHIPPED.mixes["across-nodes"], SHIPPED.mixes["at-the-primary"]
    assert (across.across_nodes, control.across_nodes) == (True, False)
    assert control.model_copy(update={"mix": across.mix, "title": across.title, "readers_at": "nodes"}) == across


def test_readers_read_all_records_in_use_and_are_held_to_what_holds_across_nodes() -> None:
    """The others of a mix without readers are held to the level itself, and so is the control, where something holds across nodes."""
    across, alone, control = (SHIPPED.mixes[name] for name in ("across-nodes", "list-append", "at-the-primary"))
    assert (across.reading.reads, across.reading.reads_only, across.reading.rolled_back) == ((across.keys, across.keys), 1.0, 0.0)
    (target,) = SHIPPED.targets(["postgresql:standbys-local"])
    promises = {level: [target.promise(level, mix) for mix in (alone, across, control)] for level in LEVELS}
    found = {level: [promise and promise.guarantees for promise in there] for level, there in promises.items()}
    assert found == {
        "read_committed": ["read_committed", "read_committed", "read_committed"],
        "repeatable_read": ["snapshot_isolation", "parallel_snapshot_isolation", "snapshot_isolation"],
        "snapshot": [None, None, None],
        "serializable": ["serializable", None, None],
    }


@pytest.mark.parametrize("args", ["[strict]", "[]", "[snapshot, serializable]"])
def test_a_transaction_begins_at_one_level(args: str, tmp_path: Path) -> None:
    """Anything else is one message."""
    (line,) = problems(tmp_path, CapabilityGroup, CAPABILITIES + replaced(TURNS, "[snapshot]", args))
    assert "interleaved.turns.0.args: found [" in line
    assert line.endswith("allowed: one level: read_committed, repeatable_read, snapshot, serializable")


def test_other_records_are_values_under_text_keys(tmp_path: Path) -> None:
    """Of any other model the file is refused."""
    root = specification(tmp_path)
    path = root / "capabilities" / "access.yaml"
    path.write_text(replaced(CAPABILITIES, '      - id: "001"\n', '      - id: "001"\n        beside: 9\n'))
    load_spec(root)
    path.write_text(replaced(path.read_text(), "model: single_key", "model: nested"))
    with pytest.raises(SpecError) as breach:
        load_spec(root)
    assert breach.value.problems[0].endswith("cases.0.beside: found 9 of nested; allowed: values under text keys")
