"""Repeats the run of a claim on this machine, and says what agrees: verdicts must, speeds within the noise floor of their kind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
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
from storeproof.run_command import RunCommand
from storeproof.spec.guarantee import rank


@dataclass(frozen=True)
class Repeated:
    """A claim, and the run that repeated it."""

    another: tuple[str, ...]
    """Why this run is no repetition of the claim's: it is of another version or binary, or was asked for something else."""
    contradicted: tuple[str, ...]
    """Verdicts of this run that are worse than the claim's: of what the claim shows, and of what it leaves open."""
    open: tuple[str, ...]
    """What the claim shows and this run could not try or decide."""
    agreeing: int
    """Cases that both show."""
    unlike: tuple[str, ...]
    """In what those who judged differ; and what cannot be seen to be alike."""
    speeds: Agreement

    @property
    def reproduced(self) -> bool:
        """Whether this is the same run once more, and every verdict of the claim was reached again."""
        return not self.another and not self.contradicted and not self.open


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
    command = RunCommand(
        store=[f"{named}:{store.variant}"],
        launch=store.launch,
        scale=run.scale,
        edition=found.result.edition.version,
        seed=run.seed,
        report_dir=str(report_dir),
    )
    return [*command.process(), *more]


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
        if not each.decides:
            continue
        found = cases.get(each.id, Outcome.NOT_RUN)
        text = f"{each.id} is {each.outcome} in the claim, and {found} here"
        if each.outcome in SHOWN and found in SHOWN:
            agreeing += 1
        elif _is_worse(found, each.outcome):
            contradicted.append(text)
        elif each.outcome in SHOWN:
            still_open.append(text)
    for text, refuted in _verdicts(one, other):
        (contradicted if refuted else still_open).append(text)
    speeds = agreement([(Side(claim, one), Side(here, other))])
    return Repeated(tuple(_another(claim, here)), tuple(contradicted), tuple(still_open), agreeing, tuple(_unlike(claim, here)), speeds)


def _is_worse(found: Outcome, claimed: Outcome) -> bool:
    """Whether a case is refuted here and is not so in the claim: a clear refusal is better than a wrong answer, and no verdict shows
    neither."""
    return found in REFUTED and (claimed not in REFUTED or (claimed is Outcome.UNSUPPORTED and found is not Outcome.UNSUPPORTED))


def _verdicts(one: StoreResult, other: StoreResult) -> list[tuple[str, bool]]:
    """Guarantees and profiles of which the claim says more than this run; with whether it refutes them."""
    found = []
    proven, here = (each.durability.proven for each in (one, other))
    if rank(here) < rank(proven):
        struck = any(each.outcome in REFUTED for each in other.durability.guarantees if rank(each.guarantee) <= rank(proven))
        found.append((f"{proven} is proven in the claim, and {other.durability.shown} here", struck))
    verdicts = {each.profile: each.verdict for each in other.profiles}
    for each in one.profiles:
        verdict = verdicts.get(each.profile, "not judged")
        refuted = verdict == "does_not_conform"
        if each.verdict == "conforms" and verdict != "conforms":
            found.append((f"{each.profile} conforms in the claim, and is {verdict} here", refuted))
        elif each.verdict == "incomplete" and refuted:
            found.append((f"{each.profile} is incomplete in the claim, and is {verdict} here", refuted))
    return found


def _another(claim: Result, here: Result) -> Iterator[str]:
    """In what the two runs differ that a repetition has alike."""
    (one,), (other,) = claim.stores, here.stores
    binary = [each.image_digest or each.binary_digest for each in (one, other)]
    pairs: dict[str, tuple[object, object]] = {
        "version": (one.version, other.version),
        "binary": (binary[0], binary[1]),
        "variant": (one.variant, other.variant),
        "edition": (claim.edition.version, here.edition.version),
        "scale": (claim.run.scale, here.run.scale),
        "seed": (claim.run.seed, here.run.seed),
    }
    pairs |= {f"setting {name}": (one.settings.get(name), other.settings.get(name)) for name in {**one.settings, **other.settings}}
    for what, (there, now) in pairs.items():
        if there != now:
            yield f"another {what}: {in_one_line(str(there), 80)} in the claim, and {in_one_line(str(now), 80)} here"


def _unlike(claim: Result, here: Result) -> Iterator[str]:
    for name in (MACHINERY, SUITES):
        if claim.run.sources.get(name) != here.run.sources.get(name):
            yield f"`{name}` are other files here"
    if not any(each.image_digest or each.binary_digest for each in (*claim.stores, *here.stores)):
        yield "the server's program was not seen in either run: that it is the same one is its operator's word"
