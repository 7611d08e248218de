"""The pytest plugin: options, the run, and how outcomes show. Light to import, and inert unless the suites are collected."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from storeproof.errors import StoreproofError, UsageError
from storeproof.outcome import Outcome

if TYPE_CHECKING:
    from storeproof.plugin.run import Run
    from storeproof.plugin.verdict import Verdict

SUITES = Path(__file__).resolve().parent.parent.parent / "suites"
RUN: pytest.StashKey[Run] = pytest.StashKey()
VERDICT: pytest.StashKey[Verdict] = pytest.StashKey()

_LETTERS = {
    Outcome.PASS: ".",
    Outcome.FAIL: "F",
    Outcome.ERROR: "E",
    Outcome.UNSUPPORTED: "u",
    Outcome.UNDECLARED: "+",
    Outcome.NOT_RUN: "n",
    Outcome.INCONCLUSIVE: "?",
    Outcome.KNOWN_FAIL: "k",
    Outcome.EXCLUDED: "x",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suites."""
    group = parser.getgroup("storeproof", "storeproof: conformance, durability and speed of data stores")
    group.addoption(
        "--store",
        action="append",
        metavar="STORE[:VARIANT]",
        help="store to try: NAME (its default variant), NAME:VARIANT, NAME:all, a file X.yaml, or all; may be repeated (default: sqlite)",
    )
    group.addoption(
        "--scale", default="smoke", choices=("smoke", "standard", "full"), help="how much is tried and measured (default: smoke)"
    )
    group.addoption(
        "--profile",
        action="append",
        metavar="NAME",
        help="run what the profile demands and say whether the store conforms; may be repeated",
    )
    group.addoption(
        "--launch",
        default="auto",
        choices=("auto", "container", "process", "endpoint"),
        help="how stores are started (default: endpoint if given, else container, else local binary)",
    )
    group.addoption(
        "--endpoint", action="append", metavar="STORE=URL", help="a running server; only what the run itself wrote is ever removed there"
    )
    group.addoption("--image", action="append", metavar="STORE=IMAGE", help="container image in place of the one in the store's file")
    group.addoption(
        "--data-dir", metavar="DIR", help="where data directories are made, so that disks can be compared (default: a temporary directory)"
    )
    group.addoption(
        "--power-cut",
        default="auto",
        choices=("auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"),
        help="how the power is cut: ext4 on a loop device (root), or a file system in memory (fuse); strace only looks at what is synced "
        "(default: ext4 if it can be had, else fuse)",
    )
    group.addoption(
        "--corpus",
        action="append",
        metavar="FILE",
        help="a MediaWiki dump (.xml, .xml.bz2, .xml.gz) whose articles are loaded; may be repeated (default: texts are generated)",
    )
    group.addoption(
        "--engine",
        default="auto",
        choices=("auto", "wire", "wire-py", "driver"),
        help="what puts the load on: a pump that sends what a store's client would, compiled (wire) or in Python (wire-py), or the client "
        "itself (driver) (default: wire if it was built, else wire-py, and driver for what neither can do)",
    )
    group.addoption("--keep", action="store_true", help="keep data directories and containers after the run")
    group.addoption("--report-dir", default="reports/latest", metavar="DIR", help="where the report is written (default: reports/latest)")
    group.addoption(
        "--no-verify-settings",
        dest="verify_settings",
        action="store_false",
        help="do not stop when the live settings differ; for lying stores on purpose",
    )
    group.addoption("--seed", type=int, metavar="N", help="seed of all random choices (default: drawn, and printed)")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that ties a test to the specification."""
    config.addinivalue_line(
        "markers",
        "case(id, revision=1, model='', operations=(), capability=None, guarantee=None, workload=None, fault=None): "
        "what of the spec a test tries",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Where the suites are asked for: read the specification and the options before anything is collected."""
    config = session.config
    if not _suites_wanted(config):
        return
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("the suites measure, so they do not run in parallel; leave out -n")
    from storeproof.plugin.repeat import Repeat
    from storeproof.plugin.run import Run

    try:
        config.stash[RUN] = Run(config)
        config.pluginmanager.register(Repeat(), "storeproof-repeat")
    except UsageError as problem:
        raise pytest.UsageError(str(problem)) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the trial: per target, first correct, then durable, then fast; keep what the profiles demand."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.arrange(items)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """What the command line leaves out is counted as `excluded`."""
    run = items[0].config.stash.get(RUN, None) if items else None
    if run is not None:
        run.exclude(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before the first case: what the user named by hand must be there. Otherwise nothing is tried, and no report is written."""
    config = session.config
    run = config.stash.get(RUN, None)
    if run is None or config.option.collectonly or session.testsfailed:
        return
    try:
        run.check_given()
    except UsageError as problem:
        del config.stash[RUN]
        raise pytest.UsageError(str(problem)) from None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Every case that is begun leaves one outcome, however it ends."""
    run = item.config.stash.get(RUN, None)
    if run is None or item.get_closest_marker("case") is None:
        return (yield)
    verdict = item.stash[VERDICT] = run.begin(item)
    try:
        done = yield
    except (KeyboardInterrupt, pytest.exit.Exception) as interrupt:
        if not verdict.settled:
            verdict.note(Outcome.INCONCLUSIVE, "interrupted while it ran")
        if item.config.option.fulltrace:
            raise
        # Without our frames: pytest would print the arguments of each, and break down, without a report, on one that has no line
        # number: a signal may strike in the code that CPython adds at the end of a `with`.
        raise interrupt.with_traceback(None) from None
    finally:
        verdict.close()
        run.progress.case_done(item)
    run.keep()
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what happened in a test into an outcome."""
    verdict = item.stash.get(VERDICT, None)
    if verdict is None:
        return (yield)
    from storeproof.contract.failures import (  # not at the top: who does not run the suites does not pay
        Breach,
        Refused,
        Unknown,
        WrongReply,
    )
    from storeproof.launch.cleanup import registry
    from storeproof.plugin.verdict import Settlement

    found = call.excinfo
    ours = found is not None and isinstance(
        found.value, (AssertionError, StoreproofError, Settlement, Unknown, Refused, WrongReply, Breach)
    )
    # The message of these is the finding. Their traceback is ours, and -vv shows it: to print all of its sources costs pytest as long as
    # a case takes, where there is no server at hand eight hundred times.
    brief = ours and item.config.get_verbosity() < 2
    if found is not None and brief:
        finding = pytest.fail.Exception(str(found.value), pytrace=False)
        call.excinfo = pytest.ExceptionInfo.from_exc_info((type(finding), finding, found.tb))
    try:
        report = yield
    finally:
        call.excinfo = found
    item.config.stash[RUN].progress.hide()

    if registry.interrupt is not None:  # it was swallowed on its way here
        raise registry.interrupt
    if call.excinfo is not None:
        error = call.excinfo.value
        clean_up = report.when == "teardown"
        if not verdict.settled or clean_up:
            _judge(item, verdict, error, clean_up=clean_up)
        if report.failed and verdict.outcome not in (Outcome.FAIL, Outcome.ERROR):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, verdict.detail)
        elif report.failed and brief:
            report.longrepr = verdict.detail
    elif report.when == "call":
        verdict.finished()
    verdict.seconds += call.duration
    if report.when == "call" or report.outcome != "passed":
        report.storeproof = verdict.outcome  # type: ignore[attr-defined]
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """Every outcome has its own name and letter: none hides behind `passed` or `skipped`."""
    outcome = getattr(report, "storeproof", None)
    if outcome is None or outcome is Outcome.PASS:
        return None
    category = {Outcome.FAIL: "failed", Outcome.ERROR: "error"}.get(outcome, outcome.value)
    colour = {"red": True} if outcome in (Outcome.FAIL, Outcome.ERROR) else {"yellow": True}
    return category, _LETTERS[outcome], (outcome.value.upper(), colour)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Write the report, also after failures and Ctrl-C; and no success without evidence."""
    run = session.config.stash.get(RUN, None)
    if run is None or session.config.option.collectonly:
        return (yield)
    from storeproof.launch.cleanup import registry

    if registry.interrupt is not None:
        registry.ignore_signals()
    try:
        # What an interrupted case wrote is removed here, by its fixtures: before the stores end, and from those that go on.
        return (yield)
    except Exception as reason:  # noqa: BLE001 - told at the end: the report is written all the same
        run.uncleared = f"what the last case wrote may still be in its store: {reason}"
        return None
    finally:
        _finish(session, run)


def _finish(session: pytest.Session, run: Run) -> None:
    stopped = session.shouldfail or session.shouldstop
    run.finish(str(stopped) if stopped else "interrupted")
    if session.exitstatus != pytest.ExitCode.OK:
        return
    if not run.any_case_ran:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    elif run.unmet_profiles or run.unwritten or run.uncleared:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with one screen: what was found, and where the report is."""
    run = terminalreporter.config.stash.get(RUN, None)
    if run is not None and run.result is not None:
        from storeproof.plugin.ending import print_ending

        print_ending(run, run.result, terminalreporter)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.close()


def _judge(item: pytest.Item, verdict: Verdict, error: BaseException, *, clean_up: bool) -> None:
    """Note what ended a test: storeproof.blame decides. A clean-up that fails is told, and only seldom changes the outcome."""
    from storeproof.blame import decisive, in_clean_up
    from storeproof.contract.failures import Refused, Unknown
    from storeproof.plugin.verdict import Settlement

    if isinstance(error, Unknown):
        error = item.callspec.params["trial"].explain(error)  # type: ignore[attr-defined]
    if clean_up:
        outcome = in_clean_up(error)
        if outcome is None or verdict.outcome in (Outcome.FAIL, Outcome.ERROR):
            verdict.add(f"while it was cleared up: {error}")
            return
    if isinstance(error, Settlement):
        verdict.note(error.outcome, str(error))
    elif isinstance(error, pytest.skip.Exception):
        verdict.note(Outcome.EXCLUDED, f"skipped: {error}")  # not by the suites, which settle: by an option, another plugin, a conftest
    else:
        first = decisive(error)
        verdict.note_error(first)
        if first is not error:
            verdict.add(f"while it was cleared up: {error}")
            return
    earlier = error.__context__  # what came while it was cleared up must not hide what had come before
    while earlier is not None:
        if isinstance(earlier, (Refused, Unknown)) and str(earlier) not in verdict.detail:
            verdict.add(f"before that: {earlier}")
        earlier = earlier.__context__


def _suites_wanted(config: pytest.Config) -> bool:
    """Whether an argument is the suites, lies in them, or contains them."""
    suites = SUITES.resolve()
    for argument in config.args:
        name = str(argument).split("::")[0]
        if config.option.pyargs and name.startswith("storeproof.suites"):
            return True
        path = Path(config.invocation_params.dir, name).resolve()
        if path == suites or suites in path.parents or (path in suites.parents and path.is_dir() and sys.prefix not in str(path)):
            return True
    return False
