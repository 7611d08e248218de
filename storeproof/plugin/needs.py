"""A run for a needs file: its candidates, the stores that they consist of, and the answer at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from storeproof.errors import UsageError
from storeproof.experiments.roles.joint_loads import CandidateUnderTest
from storeproof.plugin.demands import Demands, of_roles
from storeproof.result.json_file import NAME
from storeproof.spec import Spec, Target
from storeproof.spec.questions.read_needs import read_needs
from storeproof.store_under_test import StoreUnderTest

if TYPE_CHECKING:
    from storeproof.result.model import Result
    from storeproof.result.needs.decision import Decision

_MIB: Final = 1 << 20
_SHOWN: Final = 6
"""Candidates that a message names."""


class NeedsRun:
    """The needs, and which candidates are tried."""

    def __init__(self, file: str, stores: Sequence[str], spec: Spec) -> None:
        """
        Args:
            file: the needs file.
            stores: what `--store` names; empty: no candidate is left out for its store.

        Raises:
            UsageError: no candidate is left, or nothing says which stores may be candidates.
            SpecError: the file has errors.
        """
        self.file = file
        self.needs = read_needs(Path(file), spec)
        self.spec = spec = spec.with_models(self.needs.own_models)
        """With the models of the file."""
        self.decision: Decision | None = None
        """The answer, once there is one."""
        self.undecided = ""
        """Why there is none at the end: no store was reached, or a cited result does not agree with itself."""
        given = {target.id: self._text(target) for target in spec.targets(stores)}
        named = self.needs.candidates
        if isinstance(named, str):
            self._texts = given or {target: target for target in self._not_refuted()}
            self.candidates: Mapping[str, Mapping[str, str]] = {name: dict.fromkeys(self.needs.roles, name) for name in self._texts}
            """By name the store of each role, as `store:variant`."""
            return
        found = {text: spec.targets([text])[0] for targets in named.values() for text in targets.values()}
        every = {name: {role: found[text].id for role, text in targets.items()} for name, targets in named.items()}
        self.candidates = {name: targets for name, targets in every.items() if not given or given.keys() >= set(targets.values())}
        self._texts = {target.id: given.get(target.id, self._text(target)) for target in found.values()}
        if not self.candidates:
            first = "; ".join(f"{name}: {', '.join(dict.fromkeys(targets.values()))}" for name, targets in [*every.items()][:_SHOWN])
            raise UsageError(
                f"--needs {file}: no candidate has its stores among {', '.join(given)}; its candidates have {first}; "
                "give --store for each store of one of them, or leave it out"
            )

    @property
    def stores(self) -> list[str]:
        """What `--store` would be given for all stores of the candidates."""
        used = {target for targets in self.candidates.values() for target in targets.values()}
        return [text for target, text in self._texts.items() if target in used]

    @property
    def resources(self) -> tuple[int, str] | None:
        """What the file's machine has, as `--cores` and `--memory` are given it; None where it names none."""
        machine = self.needs.machine
        return None if machine is None else (machine.cores, f"{machine.memory // _MIB}MiB")

    @property
    def most_records(self) -> int:
        """The most records of any role; 0 where none says how many it has."""
        return max(role.records or 0 for role in self.needs.roles.values())

    def demands(self, target: str) -> Demands:
        """What is demanded of a store, by `store:variant`."""
        own = {name: [role for role, store in targets.items() if store == target] for name, targets in self.candidates.items()}
        roles = dict.fromkeys(role for its in own.values() for role in its)
        return of_roles((self.needs.roles[role] for role in roles), (name for name, its in own.items() if its), self.spec)

    def under_test(self, suts: Sequence[StoreUnderTest]) -> tuple[CandidateUnderTest, ...]:
        """The candidates whose roles have a load, with their stores."""
        if all(role.load is None for role in self.needs.roles.values()):
            return ()
        by_id = {sut.target.id: sut for sut in suts}
        return tuple(
            CandidateUnderTest(name, self.needs.roles, {role: by_id[target] for role, target in targets.items()})
            for name, targets in self.candidates.items()
        )

    def answer(self, result: Result, report_dir: Path, cited: Sequence[str]) -> None:
        """Decide by this run and the results that it cites."""
        from storeproof.result.needs.decision import decide
        from storeproof.result.needs.joined_results import ReadResult
        from storeproof.result.needs.published import read_agreeing

        tried = self.needs.model_copy(update={"candidates": {name: dict(targets) for name, targets in self.candidates.items()}})
        try:
            proofs = [read_agreeing(Path(each)) for each in cited]
            self.decision = decide(tried, [ReadResult(report_dir / NAME, result), *proofs], self.spec, self.file)
        except UsageError as reason:
            self.undecided = str(reason)

    @property
    def met(self) -> bool:
        """Whether a candidate was shown to meet all needs."""
        return self.decision is not None and bool(self.decision.meeting)

    def _not_refuted(self) -> list[str]:
        """Of `candidates: all`, and no store on the command line, those that miss no need in the published results.
        Raises `UsageError`: there are no published results, or each misses one."""
        from storeproof.result.needs.decision import decide
        from storeproof.result.needs.published import published_evidence, published_results

        try:
            published_results()
        except UsageError:
            raise UsageError(f"--needs {self.file} names no candidates; give --store for each store that may be one") from None
        decision = decide(self.needs, published_evidence(), self.spec, self.file)
        found = [each.name for each in decision.candidates if not each.missed and each.name.partition(":")[0] in self.spec.store_files]
        if not found:
            raise UsageError(
                f"--needs {self.file}: each candidate misses a need in the published results (storeproof decide {self.file}); "
                "give --store for those that are to be tried all the same"
            )
        return found

    def _text(self, target: Target) -> str:
        shipped = self.spec.store_files.get(target.store.name)
        ours = shipped is not None and shipped.resolve() == target.file
        return target.id if ours else f"{target.file}:{target.variant}"
