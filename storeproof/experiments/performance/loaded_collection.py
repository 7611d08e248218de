"""The collection of one store with one number of indexes, which is loaded once, and on which rounds with any clients and rates are run."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from storeproof.cleanup.registry import registry
from storeproof.contract import Collection, Layout, Unknown, Unsupported, call, supports
from storeproof.contract.notation import arguments_from
from storeproof.errors import MachineFailed
from storeproof.experiments.case_collections import Workspace
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.load.engine import EngineName, Plan, RunResult, label, operation_name
from storeproof.load.quality.audit import Audit, audit
from storeproof.outcome import Lack, Outcome
from storeproof.result.measured.case_records import Lacked
from storeproof.result.running_case import EndCase
from storeproof.spec import Workload
from storeproof.spec.workload import fill_in
from storeproof.store_under_test import StoreUnderTest


class LoadedCollection:
    """In one lap. It is removed when the last of its users has left it."""

    def __init__(self, sut: StoreUnderTest, config: BenchmarkConfig, clients: int = 0) -> None:
        """
        Args:
            config: of any of its users, which differ in clients and rate.
            clients: the most that any of them has; 0: those of the configuration.
        """
        self.clients = clients or config.clients
        self.every: list[RunResult] = []
        """All rounds of its life, warm-up included: the audit must know what they wrote."""
        self.filled_for: EngineName | None = None
        """The load engine that its records are for; None: they are not there yet."""
        self.broken_by: object = None
        """The user whose load ended in an error: what it has written is not known, and so no other can be audited."""
        self._sut = sut
        self._config = config
        self._open = ExitStack()
        self._opened: tuple[Collection, Layout] | None = None
        self._users: set[object] = set()
        self._audit: Audit | None = None

    def enter(self, user: object) -> Layout:
        """Prepare it, if no user did before. It has to be left again, whatever comes of this.

        Raises:
            EndCase: the store cannot have it, or not what is asked of it, or that is unproven.
            StoreDied, MachineFailed, NotAvailable, Unknown, Refused: no connection, or no collection.
        """
        self._users.add(user)
        if self._opened is None:
            try:
                self._opened = self._prepare()
            except Exception:
                self._close()  # the next user tries for itself
                raise
        return self._opened[1]

    def fill_for(self, engine: EngineName) -> None:
        """Note that the records are there, for this engine. Raises `MachineFailed`: they are for another one, which makes other records."""
        if self.filled_for not in (None, engine):
            raise MachineFailed(
                f"the engine `{self.filled_for}` loaded the records, and with more clients it would be `{engine}`", f"--engine={engine}"
            )
        self.filled_for = engine

    def leave(self, user: object) -> None:
        """Remove it, unless another still uses it. Raises `StoreDied` or `Unknown` where the store does not answer."""
        self._users.discard(user)
        if not self._users:
            self._close()

    def audit(self, plan: Plan, seed: int) -> Audit:
        """Read the data back, once. The rounds of all users are over. Raises as `audit`."""
        assert self._opened is not None
        if self._audit is None:
            self._audit = audit(self._opened[0], plan, self.every, seed)
        return self._audit

    def _close(self) -> None:
        with registry.deferring_signals():  # also where Ctrl-C is pressed again
            self._open.close()

    def _prepare(self) -> tuple[Collection, Layout]:
        sut, workload, indexes = self._sut, self._config.workload, self._config.indexes
        refuse_without_indexes(sut, indexes)
        handle = sut.shared()
        try:
            session = sut.connect(handle)
        except Unknown as reason:
            raise sut.explain(reason) from None
        self._open.callback(session.close)
        workspace = Workspace(sut, session)
        self._open.callback(workspace.clear)
        collection, layout = workspace.fresh(workload.model, indexes, self._config.record)
        # First what the store cannot do: where it is all of an operation, nothing of it was verified either.
        _refuse_unsupported(collection, layout, workload)
        _refuse_unproven(sut, collection, workload)
        kept = collection.describe().get("indexes", "0")
        if kept != str(indexes):
            raise EndCase(Outcome.FAIL, f"{indexes} secondary indexes were asked for, and the store says it has {kept}")
        return collection, layout


def _refuse_unproven(sut: StoreUnderTest, collection: Collection, workload: Workload) -> None:
    """No speed without proof: what was not correct, in this run or in the one that is cited, is not measured."""
    operations = list(dict.fromkeys(operation_name(mix) for mix in workload.mix))
    for operation in operations:
        if not supports(collection, operation):
            raise EndCase(Outcome.UNSUPPORTED, f"{operation} on {workload.model}: the store's adapter does not offer it")
    require_proof(sut, workload.model, operations)


def _refuse_unsupported(collection: Collection, layout: Layout, workload: Workload) -> None:
    """A store may answer requests, and still not those of this workload: each is asked once, with a fixed word."""
    for mix in workload.mix:
        if mix.request is None:
            continue
        asked = arguments_from(layout.model, mix.operation, (fill_in(mix.request, lambda _name: "word"),))
        try:
            call(collection, layout, mix.operation, *asked)
        except Unsupported as reason:
            raise EndCase(Outcome.UNSUPPORTED, f"{label(mix)}: {reason}") from None


def refuse_without_indexes(sut: StoreUnderTest, indexes: int) -> None:
    """What has indexes of its own from the beginning has no figures without them. Raises `EndCase`."""
    if not indexes and sut.target.configuration.auto_indexed:
        raise EndCase(Outcome.UNSUPPORTED, "the variant indexes every collection by itself: there is nothing to measure without indexes")


def require_proof(sut: StoreUnderTest, model: str, operations: Iterable[str]) -> None:
    """Raises `EndCase` unless the store claims the model, and every answer of these operations on it was correct."""
    if model not in sut.target.store.claims.models:  # random histories try what is claimed
        raise EndCase(Outcome.UNSUPPORTED, f"the store does not claim {model}, and it is not measured")
    for operation in operations:
        if reason := sut.record.unproven(model, operation):
            lacked = Lacked(what=Lack.VERIFIED_OPERATION, model=model, operation=operation)
            raise EndCase(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it, or cite a run that did (--proof)", lacked)
