"""A full disk under a store in this process: what it may do, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.check import Anomaly, Finding, Losses, Shape
from storeproof.contract import Key, Layout, Record, Refused, Unknown
from storeproof.experiments.durability import full_disk
from storeproof.experiments.durability.full_disk import FullDisk, FullDiskSummary
from storeproof.outcome import Outcome
from tests.experiments.durability.memory import Handle, Store, subject
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
PROMISES = ("clean_restart", "process_crash")


class Disk(Store):
    """Refuses what it has no space for, as it should."""

    full = False

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        if self.full:
            self.without_space()
        super().stored(name, key, record)

    def without_space(self) -> None:
        raise Refused("disk full")


class Ending(Disk):
    """Ends rather than go on."""

    def without_space(self) -> None:
        self.alive = False
        raise Unknown("connection lost")


class Lying(Disk):
    """Answers, and writes nothing."""

    def without_space(self) -> None:
        pass

    def flush(self, name: str, key: Key) -> None:
        if not self.full:
            super().flush(name, key)


class Sulking(Disk):
    """Refuses until it is started again."""

    sulks = False

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        self.sulks = self.sulks or self.full
        if self.sulks:
            raise Refused("read only")
        Store.stored(self, name, key, record)

    def begin(self) -> None:
        super().begin()
        self.sulks = False


class Ruined(Sulking):
    """Refuses for ever."""

    def begin(self) -> None:
        super().begin()
        self.sulks = True


class Generous(Disk):
    """Had the space before."""

    def without_space(self) -> None:
        pass


@pytest.fixture(autouse=True)
def a_small_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ballast fills the store, and no disk of this machine."""

    class Switch:
        def __init__(self, at: Path) -> None:
            pass

        def fill(self) -> None:
            Disk.full = True

        def remove(self) -> None:
            Disk.full = False

    monkeypatch.setattr(full_disk, "Ballast", Switch)
    monkeypatch.setattr(full_disk, "_BEFORE_SECONDS", 0.05)
    monkeypatch.setattr(full_disk, "_FULL_SECONDS", 0.3)
    monkeypatch.setattr(full_disk, "_BACK_SECONDS", 0.3)


def fill(store: Disk) -> FullDiskSummary:
    handle = Handle(store)
    handle.data = Path("nowhere")
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "counter")}
    experiment = FullDisk(subject(handle), layouts, clients=2, restarts=True)
    experiment.run()
    return experiment.summary


def outcome(found: FullDiskSummary, *promises: str) -> Outcome:
    """Of a variant that makes these promises."""
    return found.outcome(claimed=found.claimed(promises.__contains__))


def test_a_store_that_refuses_passes() -> None:
    """A clear error on a full disk is right, and what was acknowledged stays."""
    found = fill(Disk())
    assert outcome(found, *PROMISES) is Outcome.PASS, found.detail()
    assert "errors to clients: disk full" in found.detail()
    assert "without a restart" in found.detail()


def test_a_store_that_ends_and_starts_again_passes() -> None:
    """A store may end on a full disk if it starts again with all that it acknowledged."""
    found = fill(Ending())
    assert found.ended
    assert outcome(found, *PROMISES) is Outcome.PASS, found.detail()
    assert "it ended by itself" in found.detail()
    assert "after a restart" in found.detail()


def test_a_store_that_wants_a_restart_passes_and_that_is_said() -> None:
    """A store may need a restart to take writes again; the detail names it."""
    found = fill(Sulking())
    assert outcome(found, *PROMISES) is Outcome.PASS, found.detail()
    assert "it accepted writes again after a restart" in found.detail()


def test_a_store_that_answers_what_it_did_not_write_fails() -> None:
    """Its memory hides it; the restart shows it."""
    found = fill(Lying())
    assert found.durability.anomalies[Anomaly.LOST] > 0, found.detail()
    assert outcome(found, *PROMISES) is Outcome.FAIL
    assert outcome(found) is Outcome.UNSUPPORTED


def test_a_store_that_never_works_again_fails() -> None:
    """With space again a store must take writes, whatever it claims."""
    found = fill(Ruined())
    assert outcome(found, *PROMISES) is Outcome.FAIL
    assert outcome(found) is Outcome.FAIL
    assert "it does not work after space was freed: read only" in found.detail()


def test_a_store_that_needed_no_space_showed_nothing() -> None:
    """A store that never met the full disk is inconclusive."""
    found = fill(Generous())
    assert outcome(found, *PROMISES) is Outcome.INCONCLUSIVE, found.detail()
    assert "it had allocated its disk space before" in found.detail()


def test_who_ends_by_itself_is_judged_as_after_a_crash() -> None:
    """What a clean stop would have kept, it may lose then, unless it promised more."""
    found = FullDiskSummary(ended=True)
    found.durability.add([Finding("single_key", "k", Anomaly.LOST, "absent")], Losses(Shape.SUFFIX, 1, 1.0))
    assert outcome(found, "clean_restart") is Outcome.UNSUPPORTED
    assert outcome(found, *PROMISES) is Outcome.FAIL


def test_who_cuts_clients_off_and_goes_on_is_judged_as_after_a_crash_too() -> None:
    """PostgreSQL's postmaster lives on when one of its processes panics, and recovers as after a kill."""
    found = FullDiskSummary(noticed=["connection lost"], cut_short=True)
    found.durability.add([Finding("single_key", "k", Anomaly.LOST, "absent")], Losses(Shape.SUFFIX, 1, 1.0))
    assert outcome(found, "clean_restart") is Outcome.UNSUPPORTED
    assert outcome(found, *PROMISES) is Outcome.FAIL
    assert "it dropped client connections, as in a crash" in found.detail()


def test_what_nobody_wrote_is_a_failure_in_any_case() -> None:
    """A refused write that is there too."""
    found = FullDiskSummary(noticed=["disk full"])
    found.durability.add([Finding("single_key", "k", Anomaly.INVENTED, "7:1")], Losses(Shape.NOTHING, 0, 0.0))
    assert outcome(found) is Outcome.FAIL
