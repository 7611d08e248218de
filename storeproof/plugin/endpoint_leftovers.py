"""Collections that a run creates on a server it did not start. They are recorded first, so that after a kill the next run removes them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from storeproof.contract import Layout
from storeproof.contract.address import parse_endpoint
from storeproof.outcome import Outcome
from storeproof.result.json_file import write_whole
from storeproof.result.leftovers import NAME, Left, read_left, words_for
from storeproof.store_under_test import StoreUnderTest

_UNSURE = (Outcome.ERROR, Outcome.FAIL, Outcome.INCONCLUSIVE)
"""After a case with one of these outcomes its collections may still exist."""


class Leavings:
    """The collections of all runs that used one report directory; of this run, those of its last cases."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / NAME
        self._noted: list[tuple[int, Left]] = []
        """Each with the number of its case, counted per store."""
        self._cases: dict[str, int] = {}

    def begin(self, sut: StoreUnderTest) -> None:
        """A case of a store starts: forget the collections of its cases before the last one, unless the last two had a bad outcome."""
        store = sut.target.store.name
        number = self._cases[store] = self._cases.get(store, 0) + 1
        if server_of(sut) and not any(each.outcome in _UNSURE for each in sut.record.outcomes[-2:]):
            self._keep([(when, each) for when, each in self._noted if each.store != store or when >= number - 1])

    def note(self, sut: StoreUnderTest, layout: Layout) -> None:
        """Record a collection that is about to be created."""
        store = sut.target.store.name
        if server := server_of(sut):
            left = Left(store, server, layout.name, json.loads(layout.model.model_dump_json()), layout.indexes)
            self._keep([*self._noted, (self._cases.get(store, 0), left)])

    @contextlib.contextmanager
    def of_killed_runs(self) -> Iterator[None]:
        """Take over what killed runs recorded here. What is recorded within the block is forgotten at its end: the first visit to a server
        removes the collections that it creates."""
        self._noted = earlier = [(0, each) for each in read_left(self._file.parent)]
        try:
            yield
        finally:
            self._keep(earlier)

    def clear(self, sut: StoreUnderTest) -> str:
        """Remove the recorded collections from the server of a store under test. Returns one line about them, or "" if there were none."""
        noted = self._noted  # without what a visit to the server creates and removes meanwhile
        here = [each for _, each in noted if (each.store, each.server) == (sut.target.store.name, server_of(sut))]
        if not here:
            return ""
        gone, reason = set(), ""
        try:
            with contextlib.closing(sut.connect(sut.make("removing the collections of a killed run"))) as session:
                for each in here:
                    session.collection(each.layout).clear()
                    gone.add(each.name)
        except Exception as refused:  # noqa: BLE001 - whatever it is, name what is left and continue the run
            reason = str(refused)
        self._keep([(when, each) for when, each in noted if each.name not in gone])
        if reason:
            return f"{words_for([each for each in here if each.name not in gone])}, and they could not be removed: {reason}"
        return f"removed at {here[0].server}, where a run was killed: {', '.join(sorted(gone))}"

    def finish(self, suts: list[StoreUnderTest]) -> str:
        """At the end of the run: one line about collections left on its servers, or ""."""
        found = [self.clear(sut) for sut in suts]
        return "; ".join(line for line in found if "could not be removed" in line)

    @property
    def elsewhere(self) -> str:
        """One line about collections of killed runs on other servers, or ""."""
        return words_for([each for _, each in self._noted])

    def _keep(self, noted: list[tuple[int, Left]]) -> None:
        if noted == self._noted:
            return
        self._noted = noted
        with contextlib.suppress(OSError):  # a directory that cannot be written to is reported at the end of the run
            if noted:
                write_whole(self._file, json.dumps([asdict(each) for _, each in noted], indent=1) + "\n")
            else:
                self._file.unlink(missing_ok=True)


def server_of(sut: StoreUnderTest) -> str:
    """Host, port and database of the endpoint that was given for a store; empty if none was."""
    url, launch = sut.options.endpoints.get(sut.target.store.name), sut.target.store.launch.endpoint
    if url is None or launch is None:
        return ""
    address = parse_endpoint(url, launch.url)
    return f"{address}/{address.database or ''}"
