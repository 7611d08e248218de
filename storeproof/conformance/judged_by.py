"""Who judged: the files of the project must be those of a known judge, and the store's own files must be in the bundle."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from storeproof.conformance.archive import SOURCES, YAML, Archive
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.errors import SpecError
from storeproof.printable import in_one_line
from storeproof.result.model import RunInfo, StoreResult
from storeproof.result.redact import redact_settings
from storeproof.result.sources import CARRIED, MACHINERY, OWN, SPEC_STORES, SUITES, adapters_imported, by_file, chain
from storeproof.spec import Target
from storeproof.spec.editions.records import Judge
from storeproof.spec.reading.reader import reader
from storeproof.spec.reading.source import plain

_SHORT = 12
"""Digits of a digest in a message."""


def judge_of(run: RunInfo, store: StoreResult, known: KnownJudges) -> Judge:
    """The judge of a store: this installation, or another one that is known. Of those with the same machinery and suites it is the one with
    the store's files. The compiled part is built on each machine, and is another file each time.

    Raises:
        ClaimRefused: it was judged by machinery or suites that are not known, or by those of two judges.
    """
    machinery, suites = run.sources.get(MACHINERY), run.sources.get(SUITES)
    of_machinery = [each for each in (known.installation, *known.judges) if each.machinery == machinery]
    if not of_machinery:
        names = ", ".join(each.judge for each in known.judges) or "none"
        there = f"storeproof {in_one_line(run.storeproof, 20)} with the digest {in_one_line(str(machinery)[:_SHORT])}"
        here = f"this is {known.installation.storeproof} with {known.installation.machinery[:_SHORT]}; other judges known here: {names}"
        raise ClaimRefused(
            Reason.STOREPROOF,
            f"it was judged by other files than those of `{MACHINERY}` here: {there}, and {here}; take that storeproof, or repeat the run",
        )
    judges = [each for each in of_machinery if each.suites == suites]
    if not judges:
        raise ClaimRefused(
            Reason.SUITES, f"it was judged by other files than those of `{SUITES}` of {of_machinery[0].judge}, whose machinery it was"
        )
    asked = by_file(store.sources).items()
    judge = next((each for each in judges if asked <= each.files.items()), judges[0])
    if run.storeproof != judge.storeproof:
        there = in_one_line(run.storeproof, 20)
        raise ClaimRefused(Reason.STOREPROOF, f"it names storeproof {there}, and its files are those of {judge.storeproof}")
    return judge


def judging_target(store: StoreResult, judge: Judge, archive: Archive, known: KnownJudges) -> Target:
    """The store's file, as the claim was judged by it. The files in the bundle are those to read from: see `KnownJudges.reading`.

    Raises:
        ClaimRefused: a file of the project is not the judge's, or one that belongs into the bundle is missing or was changed.
    """
    _check_carried(store, archive)
    for name in store.sources:
        if name.startswith(OWN):
            _check_own_file(Path(name))
    first = next(iter(store.sources), "")
    here = judge is known.installation
    if not here:
        _check_known(store, judge)
        known = known.with_stores(Path(SPEC_STORES))
    target = known.own_target(Path(first), store.variant) if first.startswith(OWN) else known.target(store.store, store.variant)
    if here:
        _check_same(store, target, known)
    else:
        _check_extended(store, target)
        _check_adapters(store, target, judge)
    check_named(store, target)
    _check_settings(store, target)
    return target


def check_named(store: StoreResult, target: Target) -> None:
    """Raises `ClaimRefused`: the result names the store, or the cluster that it ran as, otherwise than its file."""
    if (target.store.name, target.store.title, target.topology) != (store.store, store.title, store.topology):
        says, shows = (f"{each.title} as {topology}" for each, topology in ((store, store.topology), (target.store, target.topology)))
        raise ClaimRefused(Reason.STORE_FILE, f"the result calls the store {in_one_line(says, 80)}, its file {shows}")


def _check_carried(store: StoreResult, archive: Archive) -> None:
    """Raises `ClaimRefused`: a file that judged is not in the bundle, was changed, or has the name of a folder; or one judged nothing."""
    listed = {f"{SOURCES}{name}": digest for name, digest in store.sources.items() if name.startswith(CARRIED)}
    held = {name for name in archive.places if name.startswith(SOURCES)}
    for name in sorted(listed.keys() ^ held):
        what = "is not in the bundle" if name in listed else "is in the bundle, and judged nothing"
        raise ClaimRefused(_kind(name), f"{in_one_line(name, 80)} {what}")
    folders = {str(folder) for name in listed for folder in PurePosixPath(name).parents}
    for name, digest in listed.items():
        if name in folders:
            raise ClaimRefused(Reason.ADAPTER, f"{name} is a file and a folder; no run has both")
        if archive.digest(name) != digest:
            raise ClaimRefused(_kind(name), f"{name} is not the file that judged: it was changed afterwards")


def _kind(name: str) -> Reason:
    return Reason.STORE_FILE if name.startswith(f"{SOURCES}{SPEC_STORES}") else Reason.ADAPTER


def _check_same(store: StoreResult, target: Target, known: KnownJudges) -> None:
    """Raises `ClaimRefused`: a file is not the one of this installation, or of the bundle."""
    try:
        sources = known.sources(target)
    except OSError as reason:
        raise ClaimRefused(Reason.ADAPTER, f"a file of the adapter is not in the bundle: {reason}") from None
    for name in sorted({*sources} | {*store.sources}):
        if sources.get(name) != store.sources.get(name):
            kind = Reason.STORE_FILE if name.endswith(YAML) else Reason.ADAPTER
            what = "was changed afterwards" if name in store.sources else "did not judge"
            version = known.installation.storeproof
            raise ClaimRefused(kind, f"{in_one_line(name, 80)} {what}: it is not the one of storeproof {version} here")


def _check_known(store: StoreResult, judge: Judge) -> None:
    """Raises `ClaimRefused`: a file of the project is not the one of the judge."""
    for name, digest in by_file(store.sources).items():
        if judge.files.get(name) != digest:
            kind = Reason.STORE_FILE if name.startswith(SPEC_STORES) else Reason.ADAPTER
            raise ClaimRefused(kind, f"{in_one_line(name, 80)} was changed afterwards: it is not the one of the judge {judge.judge}")


def _check_extended(store: StoreResult, target: Target) -> None:
    """Raises `ClaimRefused`: a store's file extends one that did not judge, or one is in the bundle that no store's file extends."""
    shown = {name for name in store.sources if name.startswith(CARRIED) and name.endswith(YAML)}
    extended = {path.as_posix() for each in (target, *target.parts.values()) for path in chain(each.file, Path(SPEC_STORES))}
    for name in sorted(shown ^ extended):
        what = "is in the bundle, and no store's file extends it" if name in shown else f"which {target.file.name} extends, did not judge"
        raise ClaimRefused(Reason.STORE_FILE, f"{in_one_line(name, 80)} {what}")


def _check_adapters(store: StoreResult, target: Target, judge: Judge) -> None:
    """Raises `ClaimRefused`: an adapter that a store's file names, or that a vendor's own one builds on, is not among what judged; or the
    bundle shows another one in its place."""
    own = {Path(name): name for name in store.sources if name.startswith(OWN) and not name.endswith(YAML)}
    wanted: set[str] = set()
    for each in (target, *target.parts.values()):
        if not each.store.adapter.endswith(".py"):
            wanted.add(each.store.adapter)
            continue
        file = reader().settled(each.file.parent / each.store.adapter)
        if own.pop(file, None) is None:
            named = in_one_line(each.store.adapter, 60)
            raise ClaimRefused(Reason.ADAPTER, f"{named}, which {each.file.name} names as its adapter, is not in the bundle")
        wanted |= {*adapters_imported([file])}
    if own:
        unused = in_one_line(next(iter(own.values())), 60)
        raise ClaimRefused(Reason.ADAPTER, f"{unused} is in the bundle, and no store's file names it as its adapter")
    named_by = by_file(store.sources)
    for name in sorted(wanted):
        if not {f"adapters/{name}", f"adapters/{name}.py"} & named_by.keys():
            raise ClaimRefused(Reason.ADAPTER, f"adapters/{in_one_line(name, 60)} of the judge {judge.judge} did not judge")


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
