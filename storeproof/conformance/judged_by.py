"""Who judged: the files of the project must be those that are known here, and a vendor's own must be in the bundle."""

from __future__ import annotations

from pathlib import Path

from storeproof.conformance.archive import SOURCES, YAML, Archive
from storeproof.conformance.known import Known
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.errors import SpecError
from storeproof.printable import in_one_line
from storeproof.result.model import RunInfo, StoreResult
from storeproof.result.redact import redact_settings
from storeproof.result.sources import MACHINERY, OWN, SUITES
from storeproof.spec import Target
from storeproof.spec.reading.source import plain

_SAME = {MACHINERY: Reason.STOREPROOF, SUITES: Reason.SUITES}
"""What must be the same here; the compiled part is built on each machine, and is another file each time."""


def check_machinery(run: RunInfo, known: Known) -> None:
    """Raises `ClaimRefused`: the run was judged by another storeproof, or by other suites."""
    if run.storeproof != known.storeproof:
        there = in_one_line(run.storeproof, 20)
        raise ClaimRefused(Reason.STOREPROOF, f"it was judged by storeproof {there}, and this is {known.storeproof}; use that one")
    for name, reason in _SAME.items():
        if run.sources.get(name) != known.of_run[name]:
            raise ClaimRefused(reason, f"it was judged by other files than those of `{name}` in storeproof {known.storeproof} here")


def judging_target(store: StoreResult, archive: Archive, known: Known, folder: Path) -> Target:
    """The store's file, as the claim was judged by it.

    Args:
        folder: an empty directory, for a vendor's own files.

    Raises:
        ClaimRefused: a file of the project is not the one that is known here, or a vendor's own is missing or was changed.
    """
    file = own_files(store, archive, folder)
    target = known.target(store.store, store.variant) if file is None else known.own_target(file, store.variant)
    try:
        sources = known.sources(target)
    except OSError as reason:
        raise ClaimRefused(Reason.ADAPTER, f"a file of the adapter is not in the bundle: {reason}") from None
    for name in sorted({*sources} | {*store.sources}):
        if sources.get(name) != store.sources.get(name):
            kind = Reason.STORE_FILE if name.endswith(YAML) else Reason.ADAPTER
            what = "was changed afterwards" if name in store.sources else "did not judge"
            raise ClaimRefused(kind, f"{in_one_line(name, 80)} {what}: it is not the one of storeproof {known.storeproof} here")
    if (target.store.name, target.store.title, target.store.topology) != (store.store, store.title, store.topology):
        raise ClaimRefused(Reason.STORE_FILE, f"the result calls the store {in_one_line(store.title, 40)}, its file {target.store.title}")
    _check_settings(store, target)
    return target


def own_files(store: StoreResult, archive: Archive, folder: Path) -> Path | None:
    """Write a vendor's own files into the folder; the store's file among them, or None where all are of the project.

    Raises:
        ClaimRefused: one is missing, was changed, or excuses failures.
    """
    listed = {f"{SOURCES}{name}": digest for name, digest in store.sources.items() if name.startswith(OWN)}
    held = {name for name in archive.places if name.startswith(SOURCES)}
    for name in sorted(listed.keys() ^ held):
        what = "is not in the bundle" if name in listed else "is in the bundle, and judged nothing"
        raise ClaimRefused(Reason.ADAPTER, f"{in_one_line(name, 80)} {what}")
    for name, digest in listed.items():
        if archive.digest(name) != digest:
            raise ClaimRefused(Reason.ADAPTER, f"{name} is not the file that judged: it was changed afterwards")
        path = folder / name.removeprefix(SOURCES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
        except OSError as reason:  # one name is a file and a folder
            raise ClaimRefused(Reason.ADAPTER, f"{name} cannot be written beside the others: {reason.strerror}") from None
    for name in listed:
        _check_own_file(folder / name.removeprefix(SOURCES))
    first = next(iter(store.sources), "")
    return folder / first if first.startswith(OWN) else None


def _check_own_file(path: Path) -> None:
    """A vendor does not excuse failures of its own store; and its regular expressions may be made to take for ever."""
    try:
        excuses = path.suffix in YAML and "known_failures" in plain(path)
    except SpecError as reason:
        raise ClaimRefused(Reason.STORE_FILE, in_one_line(str(reason))) from None
    if excuses:
        why = "a claim shows failures as they are; leave them out, and run it again"
        raise ClaimRefused(Reason.STORE_FILE, f"{path.name} has known_failures: {why}")


def _check_settings(store: StoreResult, target: Target) -> None:
    """A run that did not verify its settings, or of another variant, is no claim of this one."""
    wanted = redact_settings({**target.stated_settings, **target.options})
    for name, value in wanted.items():
        if store.settings.get(name) != value:
            found = in_one_line(str(store.settings.get(name)), 40)
            raise ClaimRefused(Reason.SETTINGS, f"{target.id} states {name} = {value}, and the server had {found}")
