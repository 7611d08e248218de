"""The proof that a run cites: correctness and durability of the same store, shown by another run.

It is of the same store where all that makes a store what it is agrees: name, variant, the version that it reports, the settings read back
from it, the digest of its binary or image, and the edition that says what was asked of it. Machine and scale may be others: a reader sees
them in the cited file, which its SHA-256 identifies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.errors import UsageError
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, Stage
from storeproof.printable import in_one_line
from storeproof.regular_file import exists
from storeproof.result.json_file import NAME, UNFINISHED, digest_of, file_in, read_result
from storeproof.result.model import Citation, EditionUsed, OutcomeRecord, Result, StoreResult
from storeproof.spec.guarantee import LADDER


@dataclass(frozen=True)
class Identity:
    """What a live store was seen to be."""

    version: str | None
    settings: Mapping[str, str]
    """Read back, with credentials masked as in a result."""
    image_digest: str | None
    binary_digest: str | None


@dataclass(frozen=True)
class Proof:
    """What a result shows of one store."""

    file: Path
    store: StoreResult
    citation: Citation

    @property
    def proven(self) -> str | None:
        """The highest guarantee that held there."""
        return self.store.durability.proven

    def outcome(self, model: str, operation: str) -> Outcome | None:
        """The worst of the correctness cases there that use an operation on a model; None where there was none."""
        return self.store.operations.get(model, {}).get(operation)

    def outcomes(self) -> Iterator[OutcomeRecord]:
        return (each for each in self.store.outcomes if each.stage is Stage.CORRECTNESS and each.outcome not in IDLE)

    def check(self, live: Identity) -> None:
        """Compare the cited store with the one that runs here.
        Raises `UsageError`: they are not the same; with all that differs, in one line."""
        there = self.store
        differing = []
        if there.version != live.version:
            differing.append(f"version is {there.version} there and {live.version} here")
        settings = [(name, there.settings.get(name), live.settings.get(name)) for name in sorted({*there.settings, *live.settings})]
        differing += [f"setting {name} is {one!r} there and {other!r} here" for name, one, other in settings if one != other]
        advice = "prove this one at the same scale, or leave out --proof"
        if (live.image_digest, live.binary_digest) == (None, None):
            advice = "leave out --proof, and have this run try correctness and durability too"
            differing.append("the server here has no digest, as always at an endpoint: nothing tells that it is the same program")
        elif (there.image_digest, there.binary_digest) != (live.image_digest, live.binary_digest):
            differing.append(f"the program is {_program(there)} there and {_program(live)} here")
        if differing:
            raise UsageError(f"--proof {self.file} is not of this {there.name}: {'; '.join(differing)}; {advice}")


@dataclass(frozen=True)
class CitedResult:
    """A result that the command line cites."""

    file: Path
    result: Result
    sha256: str

    @property
    def stores(self) -> Mapping[str, StoreResult]:
        return {store.name: store for store in self.result.stores}

    def proof_of(self, target: str) -> Proof | None:
        """What it shows of a store, by `store:variant`; None where it does not hold that store. Of `store:variant@disk` what it shows of it
        there, else where no disk is named.
        Raises `UsageError`: it holds the store, and nothing that could be cited of it."""
        store = self.stores.get(target) or self.stores.get(target.partition("@")[0])
        if store is None:
            return None
        where, run = f"--proof {self.file}", self.result.run
        begun = (Stage.CORRECTNESS, Stage.DURABILITY)
        if missed := sum(each.stage in begun and not each.is_begun for each in store.outcomes):
            raise UsageError(
                f"{where} was cut short: {missed} cases of correctness and durability of {target} were not begun; run it again"
            )
        if store.cites is not None:
            raise UsageError(f"{where}: {target} is not proven there but cited from run {store.cites.run}; give the result of that run")
        correct = any(outcome in SHOWN for operations in store.operations.values() for outcome in operations.values())
        if not correct and store.durability.proven in (None, LADDER[0]):
            raise UsageError(f"{where} proves nothing of {target}: neither an operation was correct there, nor did a guarantee hold")
        cited = Citation(run=run.id, started=run.started, scale=run.scale, seed=run.seed, sha256=self.sha256, defect=defect_of(store))
        return Proof(self.file, store, cited)


def read_cited(path: Path, edition: EditionUsed) -> CitedResult:
    """A result to cite, given as its file or as the directory that holds it.
    Raises `UsageError`: it is not there, is not whole, or is of another edition."""
    file = file_in(path) if exists(path) and path.is_dir() else path
    if file.name == UNFINISHED or (file.name == NAME and not exists(file) and exists(file.with_name(UNFINISHED))):
        raise UsageError(
            f"--proof {path} is of a run that did not end: it has {UNFINISHED}, which is no proof; let a run end, and cite that"
        )
    try:
        result = read_result(file)
    except UsageError as reason:
        raise UsageError(f"--proof {reason}") from None
    if result.edition != edition:
        there, here = (f"{each.version} ({each.hash})" for each in (result.edition, edition))
        raise UsageError(
            f"--proof {path} is of edition {there}, and this run of {here}, which may ask for more; prove it with this edition"
        )
    return CitedResult(path, result, digest_of(file))


def proofs_of(cited: Iterable[CitedResult], targets: Iterable[str]) -> dict[str, Proof]:
    """The proof of each target that has one, by `store:variant`.
    Raises `UsageError`: a cited result holds none of the targets or nothing of one, or two hold the same."""
    wanted, found = list(targets), dict[str, Proof]()
    for each in cited:
        proofs = {target: proof for target in wanted if (proof := each.proof_of(target)) is not None}
        if not proofs:
            holds = ", ".join(each.stores) or "no store"
            raise UsageError(
                f"--proof {each.file} holds {holds}, and this run tries {', '.join(wanted)}; give a result of the same store and variant"
            )
        for target in proofs.keys() & found.keys():
            raise UsageError(f"--proof {found[target].file} and --proof {each.file} both hold {target}; give one of them")
        found |= proofs
    return found


def _program(seen: StoreResult | Identity) -> str:
    """Its digest in a few digits, with what it is of; of a store of several servers, that of each."""
    digest = seen.image_digest or seen.binary_digest
    if digest is None:
        return "without a digest"
    kind = "an image" if seen.image_digest is not None else "binaries" if " " in digest else "a binary"
    return f"{kind}, {re.sub('(?<=:[0-9a-f]{12})[0-9a-f]+', '', digest)}"


_LONGEST: Final = 600
"""Characters; the longest issue of the shipped stores has 430."""


def defect_of(store: StoreResult) -> str:
    """What was found of the lowest claimed guarantee that was not proven, in one line: of a known failure its issue, as the store's file
    has it. Empty where nothing was found against the store: all it claims was proven, or the next guarantee was not tried."""
    durability = store.durability
    if durability.cited is not None:
        return durability.cited.defect
    names = [str(name) for name in LADDER]
    if durability.proven not in names or durability.claimed not in names:
        return ""
    for rung in names[names.index(durability.proven) + 1 : names.index(durability.claimed) + 1][:1]:
        for each in store.outcomes:
            if each.id == f"durability.{rung}" and each.outcome in REFUTED:
                return in_one_line(f"{rung} is claimed and not kept: {each.detail.partition(chr(10))[0]}", _LONGEST)
    return ""
