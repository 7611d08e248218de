"""`storeproof crash-state`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from storeproof import native_support
from storeproof.conformance.archive import RESULT, open_archive
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.result_part import result_of
from storeproof.contract import Refused, Unknown
from storeproof.disk.recording import DiskState, read_recording
from storeproof.errors import StoreDied, UsageError
from storeproof.evidence import EVIDENCE, CrashEvidence, EvidenceDamaged, StateEvidence, StoreEvidence, read_evidence
from storeproof.experiments.crash_states.crash_summary import name_of, number_of
from storeproof.experiments.crash_states.left_files import files_left, in_words
from storeproof.experiments.crash_states.recorded_load import of_all_sizes
from storeproof.experiments.crash_states.state_judge import due, findings_again
from storeproof.experiments.durability.readback import read
from storeproof.experiments.struck_stores import subject_on
from storeproof.experiments.trial_summary import acknowledged, findings_of
from storeproof.history import Operation, Place, Seen, as_of
from storeproof.printable import printable
from storeproof.records.beside.index_entries import indexes_of
from storeproof.regular_file import Unreadable, open_regular
from storeproof.result.json_file import file_in, read_result
from storeproof.spec import load_spec
from storeproof.spec.cases import crash_states_case
from storeproof.store_under_test import Options, StoreUnderTest

if TYPE_CHECKING:
    from storeproof.native import DiskRecording

_LAST: Final = 3
"""Operations, and findings, that are shown."""
_EVENTS: Final = {
    "synced": "nothing was written that was not synced",
    "commit": "the journal was committed",
    "all": "all was written",
    "data": "all pages were written in place, and nothing was committed",
    "page": "one page was written back",
    "missing": "all was written but one page",
    "torn": "one page was written up to a sector",
    "sizes": "all names and sizes were committed, and no page was written",
    "names": "the names of one directory were committed",
}


@dataclass(frozen=True)
class Found:
    """One state of a recording."""

    part: StoreEvidence
    crash: CrashEvidence
    recording: DiskRecording
    state: DiskState
    mark: int

    @property
    def history(self) -> list[Operation]:
        """What had to be there."""
        return as_of(self.crash.load(self.part.operations), self.mark)

    @property
    def tried(self) -> StateEvidence | None:
        """What was seen in the run; None: it was not tried."""
        return next((each for each in self.crash.states if each.name == self.state.name), None)


def crash_state(path: Path, state: str, store: str | None, guarantee: str | None, into: Path | None, *, start: bool) -> int:
    """Print what a state is; 1 if the store that is started on it does not have what it must, else 0.

    Raises:
        UsageError: a file cannot be read, or there is no such state, or several.
        NotAvailable: the compiled part is missing, or the store cannot be started.
    """
    native_support.require("a state of a recording")
    found = _only([each for each in _found(path, state) if _is_of(each, store, guarantee)], path, state)
    for line in _told(found):
        print(printable(line))
    if into is not None:
        try:
            into.mkdir(parents=True, exist_ok=True)
            found.recording.extract(found.state.index, str(into))
        except OSError as reason:
            raise UsageError(f"{into} cannot be written: {reason}; name an empty directory with --into") from None
        print(printable(f"its files are in {into}"))
    return _started(found, store) if start else 0


def _is_of(found: Found, store: str | None, guarantee: str | None) -> bool:
    named = store is None or store.endswith((".yaml", ".yml")) or store in (found.part.target, found.part.target.partition(":")[0])
    return named and (guarantee is None or found.part.case == crash_states_case(guarantee))


def _only(found: list[Found], path: Path, state: str) -> Found:
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{path} has no state {state}; result.json names those that failed, and the case's text")
    several = ", ".join(f"{each.part.target} {each.part.case.rpartition('/')[2]}" for each in found)
    raise UsageError(f"{state} is a state of several recordings: {several}; name one with --store and --guarantee")


def _found(path: Path, name: str) -> Iterator[Found]:
    """All states of this name."""
    with ExitStack() as stack:
        try:
            (run, file), recordings = _evidence(path, stack), Counter[tuple[str, str]]()
            for part in read_evidence(file, run, whole_run=path.suffix != ".tar"):
                crash = part.crash
                if crash is None:
                    continue
                number = recordings[part.target, part.case]
                recordings[part.target, part.case] += 1
                if not crash.recording or number_of(name) != number:
                    continue
                kept, recording, states = read_recording(crash.recording, crash.model)
                yield from (
                    Found(part, crash, kept, each, recording.last_mark(each.until)) for each in states if name_of(each.name, number) == name
                )
        except (Unreadable, ClaimRefused, EvidenceDamaged, ValueError) as reason:
            raise UsageError(f"{path}: {reason}; give the report directory of a run, or its bundle") from None


def _evidence(path: Path, stack: ExitStack) -> tuple[str, BinaryIO]:
    """The run, and its evidence."""
    if path.suffix == ".tar":
        archive = stack.enter_context(open_archive(path))
        if not {RESULT, EVIDENCE} <= archive.places.keys():
            raise UsageError(f"{path} has no evidence")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / EVIDENCE).write_bytes(archive.read(EVIDENCE))
        return result_of(archive).run.id, stack.enter_context(open_regular(folder / EVIDENCE))
    file = file_in(path) if path.is_dir() else path
    return read_result(file).run.id, stack.enter_context(open_regular(file.with_name(EVIDENCE)))


def _told(found: Found) -> Iterator[str]:
    """What it is, what had to be there, and what was seen."""
    changes, _, event = found.state.name.partition("-")
    word, _, where = event.partition(":")
    what = f"after {changes} of {found.crash.changes} changes of the disk {_EVENTS.get(word, word)}"
    yield f"{found.state.name}, {found.part.target}, {found.part.case}, model {found.crash.model}: {what}{f' ({where})' if where else ''}"
    yield f"on the disk, of what was written up to change {found.state.until} and not synced:"
    files = files_left(found.recording, found.state.index)
    yield from (f"  {in_words(each)}" for each in files)
    if not files:
        yield "  all of it"
    history = found.history
    yield f"acknowledged, and so it must be there: {acknowledged(history)} operations, the last ones:"
    yield from (f"  {each}" for each in [each for each in history if each.outcome == "ok"][-_LAST:])
    yield from _seen(found, found.tried)


def _seen(found: Found, tried: StateEvidence | None) -> Iterator[str]:
    if tried is None:
        yield "the run did not try it"
        return
    if tried.seen is not None:
        yield f"read after the crash: {_compared(found.history, [], tried.seen)}"
    if tried.again is not None:
        later = [each for each in found.part.operations if each.client == tried.client]
        yield f"read after the next crash: {_compared(found.history, later, tried.again)}"
    if tried.broken:
        yield f"{'after the crash' if tried.depth == 1 else 'after the next crash'}: {tried.broken}"


def _compared(history: list[Operation], later: list[Operation], seen: Mapping[Place, Seen]) -> str:
    """`later`: what was written between the two crashes."""
    places, wrong = {*due(history), *due(later)}, findings_again(history, later, seen)
    if not wrong:
        return f"all {len(places)} keys as they should be"
    more = f", and {len(wrong) - _LAST} more" if len(wrong) > _LAST else ""
    return f"{len(wrong)} of {len(places)} keys are not: {'; '.join(map(str, wrong[:_LAST]))}{more}"


def _started(found: Found, named: str | None) -> int:
    """Put the state under a start of the store, and read it."""
    spec = load_spec()
    own = named if named is not None and named.partition(":")[0].endswith((".yaml", ".yml")) else found.part.target
    (target,) = spec.targets([own])
    sut = StoreUnderTest(spec, target, Options(spec.scales["smoke"], seed=1), lambda _: None)
    handle = sut.launch("a state of its disk", on_volume=True, recorded=True)
    try:
        disk = handle.recording_disk()
        with tempfile.NamedTemporaryFile(suffix=".recording") as file:
            file.write(found.recording.dump())
            file.flush()
            disk.load_recording(Path(file.name))
        disk.states(found.crash.model)
        handle.kill()
        disk.restore(found.state)
        handle.cut_power()
        layouts = {
            model: replace(of_all_sizes(sut.layout(model, indexes_of(target, model))), name=name)
            for model, name in found.crash.collections.items()
        }
        try:
            handle.start()
            with subject_on(sut, handle, found.part.case, "one state").session() as session:
                seen, _ = read(session, layouts, due(found.history).keys())
        except (StoreDied, Refused, Unknown) as reason:
            print(printable(f"started on it here: {reason}"))
            print(printable(handle.log_tail()))
            return 1
        print(printable(f"started on it here, and read: {_compared(found.history, [], seen)}"))
        return 1 if findings_of(found.history, seen) else 0
    finally:
        handle.close()
        sut.close_shared()
