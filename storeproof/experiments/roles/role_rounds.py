"""The load of one role: rounds that are on at the same time as those of the other roles."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.performance.store_rounds import StoreRounds
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.load.engine import RunningRound
from storeproof.load.quality.gates import GateJudgement, OneOfSeveral
from storeproof.result.measurement import Measurement
from storeproof.spec import Workload

_MIXED = "the loads of all roles were on at the same time"


class RoleRounds(StoreRounds):
    """`begin` and `end` in place of `run_round`. What goes wrong is kept, and is the store's own."""

    _run: RunningRound | None = None
    """The round that is under way."""
    _begins_ns: tuple[int, ...] = ()
    """When each measured round began."""

    @property
    def wrong(self) -> Exception | None:
        return self._wrong

    @property
    def runner(self) -> WorkloadRunner:
        """Runs the workload; it is there once it was prepared."""
        assert self._runner is not None, "it was prepared"
        return self._runner

    @property
    def workload(self) -> Workload:
        return self.config.workload

    @property
    def record(self) -> str:
        return self.config.record.name

    @property
    def clients(self) -> int:
        return self.config.clients

    @property
    def rate(self) -> int:
        """Requests per second that are due."""
        return self.config.rate

    @property
    def requests(self) -> int:
        """Answered in the measured rounds."""
        return sum(operation.requests for each in self.runner.rounds for operation in each.operations.values())

    def prepare(self) -> None:
        """Load the records and warm up, alone."""
        super().prepare()
        if self._runner is not None:
            self._runner.cost = CostMeter(reason=_MIXED)

    def begin(self, seconds: float, start_ns: int) -> None:
        """Begin a round at the rate of the role, at a time of the monotonic clock."""

        def step() -> None:
            self._run = self.runner.start(seconds, self.config.rate, start_ns)

        self._try(step)

    def stop(self) -> None:
        """End the round that is under way before its time; `end` still waits for it."""
        if self._run is not None:
            self._run.stop()

    def end(self, *, measured: bool) -> None:
        """Wait for the end of the round, if one is under way."""
        run, self._run = self._run, None
        if run is None:
            return

        def step() -> None:
            found = self.runner.end(run)
            if measured:
                self.runner.keep(found)
                self._begins_ns += (run.begins_ns,)

        self._try(step)

    def one_of_several(self) -> OneOfSeveral:
        """What the gates on all loads together need to know."""
        runner = self.runner
        return OneOfSeveral(runner.rounds, self._begins_ns, runner.threads, runner.ceiling.rate if runner.ceiling else None)

    def measurement(self, together: Mapping[str, GateJudgement]) -> tuple[Measurement, tuple[str, ...]]:
        """Read the data back. Returns what the result keeps, and what was wrong with the data. Raises as `audit`.
        `together`: the gates on all loads together."""
        number, audited = self.result()
        return number.measurement(audited, (), together), tuple(map(str, audited.problems))
