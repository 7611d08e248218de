"""First starts that are struck, against a store in this process."""

from __future__ import annotations

import time

import pytest

from storeproof.contract import Layout
from storeproof.errors import StoreDied
from storeproof.experiments.durability.bootstrap import Bootstrap, BootstrapSummary, set_up_by_others
from storeproof.faults import find
from storeproof.outcome import Outcome
from storeproof.spec.store import ContainerLaunch, Launch, ProcessLaunch
from tests.experiments.durability.memory import Handle, Store, subject
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
SECONDS = 0.02


class Newborn(Handle):
    """Its first start takes a while: commands that make its directory, then the server's own."""

    initialised: bool | None = False

    def __init__(self, store: Store, commands: bool = False) -> None:
        super().__init__(store)
        store.alive = False
        self.commands = commands
        self.half = False
        """Whether it was ended in the middle."""
        self._kills = 0

    def start_nowait(self) -> None:
        self.deeds.append("start")
        kills = self._kills
        if not self.initialised:
            if self.commands and self.half:
                raise StoreDied("the directory is not empty", "the log's last line")
            self.half = True
            time.sleep(SECONDS / 2)
            if kills != self._kills:
                raise StoreDied("was killed while it was started", "")
        self.initialised = True
        self.refuses()
        self.store.begin()

    def refuses(self) -> None:
        """What a start that comes after a half one may say."""

    def kill(self) -> None:
        self._kills += 1
        super().kill()

    def empty(self) -> None:
        self.deeds.append("empty")
        self.half, self.initialised = False, False


def strike(handle: type[Newborn] = Newborn, *, commands: bool = False, rounds: int = 6) -> tuple[BootstrapSummary, list[Newborn]]:
    """All rounds."""
    made: list[Newborn] = []
    summary = BootstrapSummary(longest=SECONDS)
    layouts = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "counter")}
    for _ in range(rounds):
        made.append(handle(Store(), commands))
        Bootstrap(subject(made[-1], seed=len(made)), find("process_kill"), layouts, by_commands=commands, summary=summary).run()
    return summary, made


def test_a_store_that_starts_on_what_is_there_passes() -> None:
    """Each first start is struck on a store of its own, every second one twice; a store that starts again passes."""
    found, made = strike()
    assert found.outcome(claimed=True) is Outcome.PASS, found.detail()
    assert found.outcome(claimed=False) is Outcome.UNDECLARED
    assert (found.struck, sum(each.struck_again for each in found.rounds), sum(each.went_on for each in found.rounds)) == (6, 3, 6)
    assert len(made) == 6, "each on a directory of its own"
    assert all("kill" in each.deeds for each in made)
    assert "no failure in 6 faults" in found.detail()


def test_where_commands_make_the_directory_it_may_be_emptied() -> None:
    """As an administrator does whose initdb was interrupted; and it is said how often."""
    found, _ = strike(commands=True)
    assert found.outcome(claimed=True) is Outcome.PASS, found.detail()
    emptied = sum(each.emptied for each in found.rounds)
    assert emptied > 0
    assert f"{emptied} times its directory was emptied" in found.detail()


class Confused(Newborn):
    """The server itself does not start on what its own first start left."""

    def refuses(self) -> None:
        if len([deed for deed in self.deeds if deed == "start"]) > 1:
            raise StoreDied("can't initialize storage: unexpected end of file", "the log's last line")


@pytest.mark.parametrize(("claimed", "outcome"), [(True, Outcome.FAIL), (False, Outcome.UNSUPPORTED)])
def test_a_store_that_stays_away_fails_where_it_promised(claimed: bool, outcome: Outcome) -> None:
    """A store that does not start after it was struck fails if it claims to survive the fault."""
    found, made = strike(Confused)
    assert found.outcome(claimed=claimed) is outcome
    assert len(found.failures) == 6
    assert "does not start again on what its first start left: can't initialize storage" in found.detail()
    assert not any("empty" in each.deeds for each in made), "what its server cannot read is not thrown away for it"


class Hollow(Store):
    """Starts, and drops what is written."""

    def flush(self, name: str, key: object) -> None:
        self.memory[name].clear()


def test_a_store_that_starts_and_does_not_keep_a_write_fails() -> None:
    """To start is not enough: writes must be served."""

    class Handled(Newborn):
        def __init__(self, store: Store, commands: bool = False) -> None:
            super().__init__(Hollow(), commands)

    found, _ = strike(Handled)
    assert "it does not return what was written" in found.detail()
    assert found.outcome(claimed=True) is Outcome.FAIL


def test_an_image_that_sets_up_the_directory_is_told_from_the_server() -> None:
    """What a struck set-up of an image leaves is not blamed on the server; in a process the server does it all, if it has no commands."""
    image = ContainerLaunch(image="x", port=1, data="/data", set_up="/data/SET_UP")
    commands = ProcessLaunch(binary="x", install="x", command=(), initialise=(("x",),))
    server = ProcessLaunch(binary="x", install="x", command=())
    assert set_up_by_others(Launch(container=image, process=server), "container")
    assert not set_up_by_others(Launch(container=image, process=server), "process")
    assert set_up_by_others(Launch(process=commands), "process")
    assert set_up_by_others(Launch(container=image), "composite")
    assert not set_up_by_others(Launch(container=image.model_copy(update={"set_up": None})), "container")
