"""One run of the suites: the stores under test, the order of the cases, and the result."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

import storeproof
from storeproof.cleanup.registry import registry
from storeproof.errors import NotAvailable, UsageError
from storeproof.evidence import evidence_file
from storeproof.load.wire.wire_engine import protocol_of
from storeproof.machine.user_environment import UserEnvironment
from storeproof.outcome import IDLE, Outcome, Stage
from storeproof.plugin.case import SUITES, case_of, is_case, sut_of
from storeproof.plugin.case_of_store import has_case, idle_case, is_claimed
from storeproof.plugin.citations import cite, shown_by, without_proof
from storeproof.plugin.demands import Demands, of_profile
from storeproof.plugin.endpoint_leftovers import Leavings
from storeproof.plugin.limits.time_limits import TimeLimits
from storeproof.plugin.needs import NeedsRun
from storeproof.plugin.options import named
from storeproof.plugin.progress import Progress
from storeproof.plugin.report_dir import ReportDir, without_report_dir
from storeproof.plugin.run_options import run_options
from storeproof.plugin.terminal_safe import TerminalSafe
from storeproof.result.machine import Placement
from storeproof.result.model import CorpusUsed, EditionUsed, Result, RunInfo
from storeproof.result.recorder import StoreRecord
from storeproof.result.redact import redact_command
from storeproof.result.running_case import CaseResult
from storeproof.result.sources import digests, digests_of_run, sources_of
from storeproof.result.unproven import unproven_claims
from storeproof.spec import Profile, Spec
from storeproof.spec.editions.frozen import edition_to_try
from storeproof.stats.ratio import Ratio
from storeproof.store_under_test import StoreUnderTest

if TYPE_CHECKING:
    from storeproof.report.destination import Saved

LEFT_OUT = "left out on the command line"
BEYOND_SCALE = "measured at --scale=standard, or if -k names it"

_KEEP_SECONDS = 60.0
"""So much of a run a kill or a power cut may cost, and the case that it strikes. Writing takes about a second."""


class Run:
    """Made before the collection, finished when the last case is done."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self._config = config
        self._id = secrets.token_hex(6)
        self._started = datetime.datetime.now(datetime.UTC)
        self._clock = time.monotonic()
        self.spec: Spec = edition_to_try(option.edition)
        self.profiles: list[Profile] = [named("profile", name, self.spec.profiles) for name in option.profile or []]
        self.needs = NeedsRun(option.needs, option.store or [], self.spec) if option.needs else None
        if self.needs:
            self.spec = self.needs.spec
        if self.needs and self.profiles:
            raise UsageError("--needs and --profile exclude each other; give one of them")
        wanted = self.needs.stores if self.needs else option.store or ["sqlite"]
        self.options = run_options(option, self.spec, self.needs, wanted)
        self.report_dir = ReportDir(option.report_dir)
        self.progress = Progress(config)
        self.limits = TimeLimits(self.options.scale.scale)
        self.leavings = Leavings(self.report_dir.path)
        self._environment = UserEnvironment()
        self.suts = self._stores_under_test(wanted)
        self.safe = TerminalSafe([secret for sut in self.suts for secret in sut.secrets()])
        """Makes safe what clients and servers say."""
        self._demands = {sut.target.id: self._demands_on(sut.target.id) for sut in self.suts}
        self.candidates = self.needs.under_test(self.suts) if self.needs else ()
        """Candidates whose roles are under load at the same time."""
        cite(option.proof or [], self.suts, self._edition, self.report_dir.path)
        self._sources = digests_of_run()
        self.noise: Ratio | None = None
        """The machine's noise floor, once something was measured on it."""
        self.result: Result | None = None
        self.began = False
        """Whether there was anything to try, and all was there to try it with: only then is there anything to report."""
        self.saved: Saved | None = None
        """Where the report is."""
        self.notices: list[str] = []
        """What became of what an earlier run had found or made that was killed, one line each."""
        self.uncleared = ""
        """Why something of ours may be left in a store that goes on."""
        self.not_reached = 0
        """Cases that were not begun when the run ended."""
        self._beyond_scale: dict[pytest.Item, None] = {}
        """Workloads that the scale leaves out."""
        self._waiting: dict[pytest.Item, None] = {}
        """Cases that were not begun, in their order."""
        self._interleaving = False
        """Whether the cases have begun that are measured on all stores in interleaved rounds."""
        self._kept = 0.0
        """When the unfinished result was written."""
        self._running: CaseResult | None = None
        """The case that was begun last."""
        self._saving = threading.Lock()
        """Taken by the thread that writes the report, and kept."""
        self.over = threading.Event()
        """Set when all is done, and only the process is left to end."""

    def _stores_under_test(self, wanted: Iterable[str]) -> list[StoreUnderTest]:
        targets = [on_disk for target in self.spec.targets(wanted) for on_disk in self.options.on_disks(target)]
        stores = {target.store.name for target in targets}
        servers = {store.name for target in targets for store in target.stores if store.launch.composite is None}
        for flag, given, known in (("--endpoint", self.options.endpoints, stores), ("--image", self.options.images, servers)):
            for name in sorted(set(given) - known):
                raise UsageError(f"{flag} names the store `{name}`, which this run does not try; it tries {', '.join(sorted(known))}")
            meant = flag.removeprefix("--").replace("image", "container")
            if given and self.options.launch not in ("auto", meant):
                raise UsageError(f"{flag} and --launch={self.options.launch} exclude each other; leave out one, or give --launch={meant}")
        suts = [StoreUnderTest(self.spec, target, self.options, self._status_of(target.id)) for target in targets]
        for sut in suts:
            protocol_of(sut.target)
            sut.note = partial(self.leavings.note, sut)
            # A missing client is an outcome, and a wrong adapter a usage error. Some clients read the environment while they are imported.
            with contextlib.suppress(NotAvailable), self._environment.hidden():
                _ = sut.adapter
            sut.record.sources = digests(sources_of(sut.target))
        return suts

    def _status_of(self, target: str) -> Callable[[str], None]:
        return lambda text: self.progress(f"{target} · {text}")

    def arrange(self, items: list[pytest.Item]) -> None:
        """Sort the cases, and leave out what neither a profile nor a need demands, and what a store does not have."""
        ours = [item for item in items if is_case(item) and has_case(item)]
        # One of ours that is no case stands for the roles of no candidates.
        others = [item for item in items if not is_case(item) and SUITES not in item.path.resolve().parents]
        wanted = [item for item in ours if self._is_demanded(item) and not self._is_beyond_scale(item)]
        self._beyond_scale = {item: None for item in ours if self._is_demanded(item) and self._is_beyond_scale(item)}
        chosen = set(wanted)
        left_out = [item for item in ours if item not in chosen]
        wanted.sort(key=self._place(wanted))
        items[:] = others + wanted
        self.exclude(self._beyond_scale)
        left_out = [item for item in left_out if item not in self._beyond_scale]
        if left_out:
            self._config.hook.pytest_deselected(items=left_out)
        self._waiting = dict.fromkeys(wanted)
        self.progress.begin(wanted)

    def _place(self, cases: Iterable[pytest.Item]) -> Callable[[pytest.Item], tuple[int, ...]]:
        """The position of a case: target by target and stage by stage, and at the end, workload by workload, what is measured on all
        targets in interleaved rounds."""
        numbers: dict[str, int] = {}
        for item in cases:
            numbers.setdefault(case_of(item).id, len(numbers))
        stages = list(Stage)

        def place(item: pytest.Item) -> tuple[int, ...]:
            case = case_of(item)
            target, number = self.suts.index(sut_of(item)), numbers[case.id]
            return (1, number, target) if case.interleaved else (0, target, stages.index(case.stage), number)

        return place

    def waiting(self, case: str) -> list[StoreUnderTest]:
        """The stores under test that have a case of that id before them."""
        return [sut_of(item) for item in self._waiting if case_of(item).id == case]

    def check_options(self) -> None:
        """Make sure of the servers and images that the command line names, and of the place for the report; import the dumps.
        Raises `UsageError`: one does not answer, refuses access, or is not there; a dump is damaged; the report cannot be written."""
        self._environment.hide()  # before the first client is made
        self.notices = [self.report_dir.take()]
        with self.leavings.of_killed_runs():
            for sut in self.suts:
                sut.check_options()
        self.progress.hide()
        self.notices += [self.leavings.clear(sut) for sut in self.suts]
        self.notices.append(self.leavings.elsewhere)
        self.progress.hide()
        if any(self._loads_articles(item) for item in self._waiting):
            try:
                most = max(self.options.scale.performance.records, self.needs.most_records if self.needs else 0)
                self.options.corpus.fetch(self.options.records or most, self.progress)
            finally:
                self.progress.hide()
        self.began = True
        self._write_unfinished()

    @property
    def _edition(self) -> EditionUsed:
        return EditionUsed(version=self.spec.edition.version, hash=self.spec.edition.hash)

    def without_proof(self) -> list[StoreUnderTest]:
        """The stores whose numbers will bear no proof; none at smoke scale, whose numbers decide nothing."""
        if self.options.scale.scale == "smoke":
            return []
        return list(without_proof(self.suts, ((sut_of(item), case_of(item)) for item in self._waiting)))

    @property
    def anything_selected(self) -> bool:
        """Whether any case is left after `-k` and the like."""
        return bool(self._waiting)

    def _loads_articles(self, item: pytest.Item) -> bool:
        case = case_of(item)
        workload = self.spec.workloads.get(case.workload or "")
        models = [workload.model] if workload is not None else []
        models += [role.model for each in self.candidates if each.name == case.candidate for role in each.roles.values()]
        return any(self.spec.models[name].text for name in models)

    def begin(self, item: pytest.Item) -> CaseResult:
        sut, case = sut_of(item), case_of(item)
        self._waiting.pop(item, None)
        self.progress.case_begins(item)
        for each in self.suts if case.interleaved else (sut,):  # the first of interleaved cases works on the stores of all
            each.enter(case.stage)
        self.leavings.begin(sut)
        if not case.interleaved:
            self.close_all_but(sut)
        elif not self._interleaving:
            self._interleaving = True
            self.close_all_but(None)  # each is measured on a fresh start, not as the cases before left it
        sut.progress(case.id)
        known = sut.target.known_failure(case.id, self._started.date())
        about = (case.revision, case.model, case.operations)
        claimed, standing = is_claimed(sut, case), self.spec.standing(case.id)
        self._running = CaseResult(sut.record, case.stage, case.id, *about, known, claimed=claimed, standing=standing)
        return self._running

    def time_limit(self, item: pytest.Item, case_result: CaseResult) -> AbstractContextManager[None]:
        """The block in which a case runs, with all its attempts."""
        return self.limits.case(sut_of(item).target.id, case_of(item), case_result)

    def _demands_on(self, target: str) -> list[Demands]:
        """What is demanded of a store; empty where everything is tried."""
        return [self.needs.demands(target)] if self.needs else [of_profile(each) for each in self.profiles]

    def _is_demanded(self, item: pytest.Item) -> bool:
        sut, case = sut_of(item), case_of(item)
        demands = self._demands[sut.target.id]
        if self.needs and shown_by(sut.record.proof, case):
            return False
        return not demands or any(each.include(case) for each in demands)

    def _is_beyond_scale(self, item: pytest.Item) -> bool:
        """Whether the scale leaves a workload or an outage out, and the user named it neither by -k, nor by a node id, nor by a demand."""
        case = case_of(item)
        if not case.beyond_scale or any(each.names(case) for each in self._demands[sut_of(item).target.id]):
            return False
        name = case.id.partition(".")[2].replace("/", "-").lower()
        words = set(re.findall(r"[^\s()]+", self._config.option.keyword.lower())) - {"and", "or", "not"}
        named = [word.replace("/", "-").removeprefix(f"{case.stage}.") for word in words]
        return not any(word in name or name in word for word in named) and not any(item.name in str(each) for each in self._config.args)

    def exclude(self, items: Iterable[pytest.Item]) -> None:
        """Count what the user or the scale left out."""
        for item in items:
            if is_case(item) and has_case(item):
                why = BEYOND_SCALE if item in self._beyond_scale else LEFT_OUT
                sut_of(item).record.add(idle_case(item, Outcome.EXCLUDED, why))

    def close_all_but(self, sut: StoreUnderTest | None) -> None:
        """End the stores that the next case does not need."""
        for other in self.suts:
            if other is not sut:
                other.close_shared()

    @property
    def any_case_ran(self) -> bool:
        """Whether anything was in fact tried."""
        return any(outcome.outcome not in IDLE for sut in self.suts for outcome in sut.record.outcomes)

    @property
    def unmet(self) -> bool:
        """Whether something was asked for that was not shown: a profile, needs, or all that a store claims."""
        verdicts = [each for store in self.result.stores for each in store.profiles] if self.result and self.profiles else []
        return any(each.verdict != "conforms" for each in verdicts) or bool(self.needs and not self.needs.met) or bool(self.unproven)

    @property
    def unproven(self) -> list[str]:
        """What stores claim and were not shown to have, if that was asked for."""
        stores = self.result.stores if self.result and self._config.option.require else []
        return [f"{each.name} · {claim}" for each in stores for claim in unproven_claims(each)]

    def keep(self) -> None:
        """Write what was found so far, now and then."""
        if time.monotonic() - self._kept >= _KEEP_SECONDS:
            self._write_unfinished()

    def _write_unfinished(self) -> None:
        with registry.deferring_signals():
            self.report_dir.keep(self._assemble("it was cut off"))
            self._kept = time.monotonic()

    def finish(self, ended_by: str) -> None:
        """End all stores, put the result together and write the report; a second Ctrl-C waits for that.

        `ended_by`: what ended the run, if cases are left that were not begun.
        """
        with registry.deferring_signals():
            self.close_all_but(None)
            self.uncleared = self.leavings.finish(self.suts) or self.uncleared
            self._saving.acquire()  # where the last resort has it, the process ends while this waits
            self._save(ended_by)

    def finish_without_main_thread(self, where: str) -> bool:
        """As `finish`, for an interrupted run whose main thread stays at `where`; nothing is closed. False: it has come to its end."""
        if not self._saving.acquire(blocking=False):
            return False
        if self._running is not None and not self._running.closed:
            self._running.note(Outcome.INCONCLUSIVE, f"interrupted while the case ran, and did not end: {where}")
            self._running.close()
        self._save("interrupted")
        return True

    def _save(self, ended_by: str) -> None:
        from storeproof.report.destination import save_report  # not at the top: what renders is not loaded while cases are collected

        self._environment.show()
        self.not_reached = len(self._waiting)
        rounds = [part for sut in self.suts for part in sut.record.evidence]
        evidence = evidence_file(self._id, rounds) if rounds else b""
        self.result = self._assemble(ended_by, hashlib.sha256(evidence).hexdigest() if evidence else None)
        self.saved = save_report(self.result, self.report_dir.path, cut_short=self.not_reached > 0, evidence=evidence)
        if self.saved.file is not None:
            self.report_dir.finished()
        if self.needs is not None:
            self.needs.answer(self.result, self.report_dir.path, self._config.option.proof or [])

    def _assemble(self, ended_by: str, evidence: str | None = None) -> Result:
        """The result, with the cases that were not begun. `evidence`: the SHA-256 of its file."""
        from storeproof.machine.limits import limits_us
        from storeproof.report.parts.first_screen import with_first_screen
        from storeproof.result.assemble import assemble
        from storeproof.result.environment import collect_environment

        directory = self.options.directory
        profiles = self.profiles or list(self.spec.profiles.values())
        passwords = [secret for sut in self.suts for secret in sut.secrets()]
        requires = [package for sut in self.suts for store in sut.target.stores for package in store.requires]
        disks = self.options.disks, self.options.models
        found = Result(
            edition=self._edition,
            run=RunInfo(
                id=self._id,
                started=self._started.isoformat(timespec="seconds"),
                seconds=round(time.monotonic() - self._clock, 1),
                command=redact_command(["pytest", *without_report_dir(map(str, self._config.invocation_params.args))], passwords),
                seed=self.options.seed,
                scale=self.options.scale.scale,
                storeproof=storeproof.__version__,
                beyond_scale=list(dict.fromkeys(case_of(item).id for item in self._beyond_scale)),
                sources=self._sources,
                evidence=evidence,
                corpus=[CorpusUsed(**asdict(each)) for each in self.options.corpus.imported],
            ),
            environment=collect_environment(directory, *limits_us(directory), requires, self.noise, self._placement(), *disks),
            stores=[assemble(self._with_waiting(sut, ended_by), profiles, self.spec, passwords) for sut in self.suts],
        )
        return with_first_screen(found)

    def _placement(self) -> Placement:
        """The cores and memory of the stores and of the load generator while speed is measured."""
        options = self.options
        split = options.split
        memory = options.memory
        return Placement(server=list(split.server), generator=list(split.generator), shared=split.shared, memory_bytes=memory)

    def _with_waiting(self, sut: StoreUnderTest, ended_by: str) -> StoreRecord:
        """What is known of a target, and its cases that were not begun."""
        waiting = [
            idle_case(item, Outcome.NOT_RUN, f"the run ended before this case: {ended_by}") for item in self._waiting if sut_of(item) is sut
        ]
        return replace(sut.record, outcomes=[*sut.record.outcomes, *waiting])

    def close(self) -> None:
        self.close_all_but(None)
        self._environment.show()
        self.options.corpus.close()
        if self.options.hosts:
            self.options.hosts.close()
        self.report_dir.leave()
