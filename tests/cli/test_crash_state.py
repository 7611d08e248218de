"""`storeproof crash-state`: what is on the disk in a state, what must be there, and what was read."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from storeproof.cli.crash_state import crash_state
from storeproof.conformance.archive import MANIFEST, RESULT, archive_of
from storeproof.errors import UsageError
from storeproof.evidence import EVIDENCE, evidence_file, member_of, read_evidence
from storeproof.history import ABSENT
from storeproof.result.json_file import written
from tests.conformance.crash_states.recorded_log import CASE, TARGET, Claim, made
from tests.conformance.published import published
from tests.end_to_end.running import run


@dataclass(frozen=True)
class Run:
    """A report directory, and the state on which its log fails."""

    folder: Path
    claim: Claim

    @property
    def state(self) -> str:
        """The first one that fails."""
        return self.claim.counts.failed[0].state


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of a log that syncs every other line."""
    return kept(made(tmp_path_factory.mktemp("disk"), synced=False), tmp_path_factory.mktemp("report"))


def kept(claim: Claim, folder: Path) -> Run:
    """Written into a report directory."""
    (folder / RESULT).write_bytes(written(published()))
    (folder / EVIDENCE).write_bytes(evidence_file(published().run.id, [member_of(claim.evidence)]))
    return Run(folder, claim)


def shown(done: Run, state: str, capsys: pytest.CaptureFixture[str], path: Path | None = None, into: Path | None = None) -> list[str]:
    """The lines that are printed."""
    assert crash_state(path or done.folder, state, None, None, into, start=False) == 0
    return capsys.readouterr().out.splitlines()


def test_a_state_is_told_in_words(done: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Its writes page by page, the last acknowledged operations, and the record that was lost."""
    lines = shown(done, done.state, capsys)
    assert lines[0].startswith(f"{done.state}, {TARGET.id}, {CASE}, model ext4: after ")
    (page,) = [line for line in lines if line.startswith("  log: ")]
    assert "page 0 missing" in page
    assert any(line.startswith("acknowledged, and so it must be there: ") for line in lines)
    assert "1 of " in lines[-1]
    assert " lost: found absent" in lines[-1]


def test_one_that_was_not_tried_or_holds_is_told_too(done: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Any state of the recording has a name."""
    good = next(each.name for each in done.claim.crash.states if each.again is not None)
    assert shown(done, good, capsys)[-1].startswith("read after the next crash: all ")


def test_what_was_written_between_two_crashes_and_lost_is_told(done: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It is read after the second one alone."""
    claim = deepcopy(done.claim)
    states = claim.crash.states
    place, good = next((number, each) for number, each in enumerate(states) if each.again is not None)
    assert good.again is not None
    later = next(each.place for each in claim.evidence.operations if each.client == good.client)
    states[place] = replace(good, again={**good.again, later: ABSENT})
    lines = shown(kept(claim, tmp_path), good.name, capsys)
    assert lines[-2].startswith("read after the crash: all ")
    assert lines[-1].startswith(f"read after the next crash: 1 of {len(good.again)} keys are not: {later[0]}['{later[1]}'] lost")


def test_its_files_are_written_and_a_bundle_is_read(done: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Into an empty directory alone."""
    parts = {MANIFEST: b"{}", **{name: (done.folder / name).read_bytes() for name in (RESULT, EVIDENCE)}}
    bundle, into = tmp_path / "claim.tar", tmp_path / "files"
    bundle.write_bytes(archive_of(parts))
    assert shown(done, done.state, capsys, bundle, into)[:-1] == shown(done, done.state, capsys)
    assert [each.name for each in into.iterdir()] == ["log"]
    assert (into / "log").read_bytes().startswith(b"k0 0:0\n")
    with pytest.raises(UsageError, match="name an empty directory with --into"):
        shown(done, done.state, capsys, into=into)


@pytest.mark.parametrize(("state", "store", "guarantee"), [("7-nothing", None, None), ("", "redis", None), ("", None, "process_crash")])
def test_what_there_is_not_is_named(done: Run, state: str, store: str | None, guarantee: str | None) -> None:
    """A state, a store, and a case."""
    with pytest.raises(UsageError, match=f"has no state {state or done.state}"):
        crash_state(done.folder, state or done.state, store, guarantee, None, start=False)


@pytest.mark.slow
@pytest.mark.usefixtures("done")
def test_the_store_is_started_on_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the case does, and reads the same."""
    ran = run(tmp_path / "run", "--store=sqlite:wal-full", cases={"sqlite:wal-full": (CASE,)})
    report = ran.folder / "report"
    with (report / EVIDENCE).open("rb") as file:
        (part,) = read_evidence(file, ran.result["run"]["id"])
    assert part.crash is not None
    first = part.crash.states[0].name
    assert crash_state(report, first, "sqlite", "power_loss", None, start=True) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("started on it here, and read: all ")
