"""Repeats the run of a claim on this machine, and says what agrees: verdicts must, speeds within the noise floor of their kind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from storeproof.conformance.archive import SOURCES, Archive, open_archive
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verify import Verified
from storeproof.errors import UsageError
from storeproof.outcome import REFUTED, SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.compare import Side
from storeproof.result.json_file import read_result
from storeproof.result.model import Result, StoreResult
from storeproof.result.ratios.agreement import Agreement, agreement
from storeproof.result.sources import MACHINERY, OWN, SUITES
from storeproof.spec.guarantee import LADDER


@dataclass(frozen=True)
class Repeated:
    """A claim, and the run that repeated it."""

    contradicted: tuple[str, ...]
    """What the claim shows and this run refutes."""
    open: tuple[str, ...]
    """What the claim shows and this run could not try or decide."""
    agreeing: int
    """Cases that both show."""
    unlike: tuple[str, ...]
    """In what the two stores or those who judged differ, such as the store's program."""
    speeds: Agreement

    @property
    def reproduced(self) -> bool:
        """Whether every verdict of the claim was reached again."""
        return not self.contradicted and not self.open


def command_of(found: Verified, bundle: Path, report_dir: Path, more: Sequence[str]) -> list[str]:
    """The command that repeats the run, with the same seed, scale, store and variant.

    A vendor's own files are written into `report_dir`, and are code that the run will execute.

    Args:
        more: further arguments of pytest.

    Raises:
        ClaimRefused: it was tried at an endpoint, and `more` names none.
        OSError: the directory cannot be written.
    """
    store, run = found.store, found.result.run
    if store.launch == "endpoint" and not any(each.startswith("--endpoint") for each in more):
        raise ClaimRefused(Reason.RUN, f"it was tried at an endpoint; name yours: -- --endpoint={store.store}=URL")
    named = store.store
    first = next(iter(store.sources), "")
    if first.startswith(OWN):
        with open_archive(bundle) as archive:
            _write_own_files(archive, report_dir)
        named = str(report_dir / first)
    launch = [] if store.launch is None or store.launch not in ("container", "process", "endpoint") else [f"--launch={store.launch}"]
    return [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "storeproof.suites"),
        *(f"--store={named}:{store.variant}", f"--edition={found.result.edition.version}"),
        *(f"--scale={run.scale}", f"--seed={run.seed}", *launch),
        *(f"--report-dir={report_dir}", *more),
    ]


def _write_own_files(archive: Archive, folder: Path) -> None:
    """Write a vendor's files into a folder, as they were when the bundle was made."""
    for name in archive.places:
        inner = name.removeprefix(SOURCES)
        if inner.startswith(OWN):
            path = folder / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))


def repeat(command: Sequence[str], found: Verified, report_dir: Path) -> Repeated:
    """Run the command, and compare. Raises `UsageError`: it wrote no result, or one of other stores."""
    child = subprocess.Popen(command)
    try:
        child.wait()  # its exit code is not the answer: the claim may itself have failures
    except KeyboardInterrupt:
        child.terminate()  # it removes what it has made; a second signal, after that of the terminal, does not disturb it
        child.wait()
        raise
    here = read_result(report_dir)
    if [each.store for each in here.stores] != [found.store.store]:
        raise UsageError(f"the run tried other stores than {found.store.store}; give no --store after `--`")
    return compared(found.result, here)


def compared(claim: Result, here: Result) -> Repeated:
    """What agrees between a claim and a run that repeats it. Both have one store."""
    (one,), (other,) = claim.stores, here.stores
    contradicted, still_open, agreeing = list[str](), list[str](), 0
    cases = {each.id: each.outcome for each in other.outcomes}
    for each in one.outcomes:
        if each.outcome not in SHOWN or not each.decides:
            continue
        found = cases.get(each.id, Outcome.NOT_RUN)
        if found in SHOWN:
            agreeing += 1
        else:
            (contradicted if found in REFUTED else still_open).append(f"{each.id} is {each.outcome} in the claim, and {found} here")
    for text, refuted in _verdicts(one, other):
        (contradicted if refuted else still_open).append(text)
    speeds = agreement([(Side(claim, one), Side(here, other))])
    judges = (f"`{name}` are other files here" for name in (MACHINERY, SUITES) if claim.run.sources.get(name) != here.run.sources.get(name))
    return Repeated(tuple(contradicted), tuple(still_open), agreeing, (*_unlike(one, other), *judges), speeds)


def _verdicts(one: StoreResult, other: StoreResult) -> list[tuple[str, bool]]:
    """Guarantees and profiles that the claim shows and this run does not; with whether it refutes them."""
    found = []
    proven, here = (each.durability.proven for each in (one, other))
    if _rung(here) < _rung(proven):
        struck = any(each.outcome in REFUTED for each in other.durability.guarantees if _rung(each.guarantee) <= _rung(proven))
        found.append((f"{proven} is proven in the claim, and {other.durability.shown} here", struck))
    verdicts = {each.profile: each.verdict for each in other.profiles}
    for each in one.profiles:
        if each.verdict == "conforms" and verdicts.get(each.profile) != "conforms":
            verdict = verdicts.get(each.profile, "not judged")
            found.append((f"{each.profile} conforms in the claim, and is {verdict} here", verdict == "does_not_conform"))
    return found


def _unlike(one: StoreResult, other: StoreResult) -> list[str]:
    pairs = {"version": (one.version, other.version), "image": (one.image_digest, other.image_digest)}
    pairs["program"] = (one.binary_digest, other.binary_digest)
    return [f"{what} is {in_one_line(str(a), 80)} in the claim, and {b} here" for what, (a, b) in pairs.items() if a != b]


def _rung(guarantee: str | None) -> int:
    return next((place for place, name in enumerate(LADDER) if name == guarantee), -1)
