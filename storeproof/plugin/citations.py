"""What proves the numbers of a run: its own cases, or other results that the command line cites with `--proof`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.outcome import TELLING, Stage
from storeproof.plugin.case import SuiteCase
from storeproof.result.model import EditionUsed
from storeproof.result.proof import Proof, proofs_of, read_cited
from storeproof.spec import LADDER
from storeproof.store_under_test import StoreUnderTest


def cite(given: Sequence[str], suts: Sequence[StoreUnderTest], edition: EditionUsed, report_dir: Path) -> None:
    """Give each store under test what is cited of it.
    Raises `UsageError`: a result cannot be cited, is about none of the stores, or would be written over by this run."""
    ours = report_dir.resolve()
    for each in given:
        if ours in (Path(each).resolve(), Path(each).resolve().parent):
            raise UsageError(
                f"--proof {each} is in --report-dir {report_dir}, where this run writes its own result; give another --report-dir"
            )
    proofs = proofs_of([read_cited(Path(each), edition) for each in given], [sut.target.id for sut in suts])
    for sut in suts:
        sut.record.proof = proofs.get(sut.target.id)


def shown_by(proof: Proof | None, case: SuiteCase) -> bool:
    """Whether a result that is cited says of a case what this run would say."""
    if proof is None:
        return False
    if case.stage is Stage.CORRECTNESS:
        return any((each.id, each.revision) == (case.id, case.revision) and each.outcome in TELLING for each in proof.outcomes())
    if case.stage is Stage.DURABILITY:
        struck = {each.guarantee for each in proof.store.durability.guarantees if each.rounds and each.outcome in TELLING}
        return case.guarantee in struck and case.id == f"durability.{case.guarantee}"
    return any(each.fault == case.fault and each.outcome in TELLING for each in proof.store.outages)


def without_proof(suts: Iterable[StoreUnderTest], chosen: Iterable[tuple[StoreUnderTest, SuiteCase]]) -> Iterator[StoreUnderTest]:
    """The stores that are to be measured, while the run neither tries what they claim nor cites it: correct answers, and all guarantees
    up to the one that is claimed. A store that claims `volatile` promises nothing that a fault could refute."""
    cases = list(chosen)
    for sut in suts:
        own = [case for each, case in cases if each is sut]
        if not any(case.stage is Stage.PERFORMANCE for case in own):
            continue
        proof, claimed = sut.record.proof, LADDER.index(sut.target.configuration.guarantee)
        correct = proof is not None or any(case.stage is Stage.CORRECTNESS for case in own)
        kept = set(LADDER[1 : claimed + 1]) <= {case.guarantee for case in own if case.id == f"durability.{case.guarantee}"}
        if not correct or not (kept or (proof is not None and proof.proven is not None)):
            yield sut
