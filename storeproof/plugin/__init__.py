"""The pytest plugin: options, the run, and how outcomes show. Light to import, and inert unless the suites are collected."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from storeproof.errors import StoreproofError, UsageError
from storeproof.outcome import Outcome
from storeproof.plugin.case import MARKER, SUITES, is_case, sut_of
from storeproof.plugin.options import add_options
from storeproof.plugin.stash import CASE_RESULT, RUN
from storeproof.printable import printable

if TYPE_CHECKING:
    from storeproof.plugin.run import Run
    from storeproof.result.case_result import CaseResult

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


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """The options of the suites."""
    config = pluginmanager.get_plugin("pytestconfig")
    if config is not None and _may_name_suites(config.invocation_params):
        from storeproof.plugin import early_signals

        early_signals.arm()
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that ties a test to the specification."""
    config.addinivalue_line("markers", MARKER)
    # Here, before pytest-xdist starts its workers: they would each begin a run.
    if (getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None)) and _name_suites(
        map(str, config.args), config.invocation_params.dir, pyargs=config.option.pyargs
    ):
        raise pytest.UsageError("the suites measure, so they do not run in parallel; leave out -n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Where the suites are asked for: read the specification and the options before anything is collected."""
    config = session.config
    if not _name_suites(map(str, config.args), config.invocation_params.dir, pyargs=config.option.pyargs):
        return
    from storeproof.plugin import early_signals
    from storeproof.plugin.repeat import Repeat
    from storeproof.plugin.run import Run
    from storeproof.plugin.suite import SuiteFixtures

    early_signals.arm()
    _leave_out_table(config)
    _leave_out_letters(config)
    try:
        config.stash[RUN] = Run(config)
        config.pluginmanager.register(Repeat(), "storeproof-repeat")
        config.pluginmanager.register(SuiteFixtures(config.stash[RUN].suts), "storeproof-suites")
    except UsageError as problem:
        raise pytest.UsageError(printable(str(problem))) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the cases: per target, first correct, then durable, then fast; keep what the profiles demand."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.arrange(items)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """What the command line leaves out is counted as `excluded`."""
    run = items[0].config.stash.get(RUN, None) if items else None
    if run is not None:
        run.exclude(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Before the first case: what the user named by hand must be there. Otherwise nothing is tried, and no report is written."""
    config = session.config
    run = config.stash.get(RUN, None)
    if run is None or config.option.collectonly or session.testsfailed or not run.anything_selected:
        return (yield)
    from storeproof.cleanup.registry import registry
    from storeproof.plugin import early_signals

    early_signals.disarm()
    registry.take_signals()
    try:
        run.check_options()
        _begin(config, run)
        return (yield)
    except UsageError as problem:
        run.close()
        del config.stash[RUN]
        raise pytest.UsageError(printable(str(problem))) from None
    except (KeyboardInterrupt, pytest.exit.Exception) as interrupt:
        if config.option.fulltrace:
            raise
        # Without our frames: pytest would print the arguments of each, and break down, without a report, on one that has no line
        # number: a signal may strike in the code that CPython adds at the end of a `with`.
        raise interrupt.with_traceback(None) from None


def pytest_keyboard_interrupt() -> None:
    """The run ends."""
    from storeproof.cleanup.registry import registry

    if registry.interrupt is not None:
        registry.ignore_signals()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Every case that is begun leaves one outcome, however it ends."""
    run = item.config.stash.get(RUN, None)
    if run is None or not is_case(item):
        return (yield)
    case_result = item.stash[CASE_RESULT] = run.begin(item)
    try:
        done = yield
    except (KeyboardInterrupt, pytest.exit.Exception):
        if not case_result.settled:
            case_result.note(Outcome.INCONCLUSIVE, "interrupted while it ran")
        raise
    finally:
        case_result.close()
        run.progress.case_done(item, bad=case_result.outcome in (Outcome.FAIL, Outcome.ERROR))
    run.keep()
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what happened in a test into an outcome."""
    case_result = item.stash.get(CASE_RESULT, None)
    if case_result is None:
        return (yield)
    from storeproof.cleanup.registry import registry
    from storeproof.contract.failures import Breach, Refused, Unknown, WrongReply
    from storeproof.plugin.terminal_safe import made_safe
    from storeproof.result.case_result import EndCase

    found = call.excinfo
    error = found.value if found else None
    ours = isinstance(error, (AssertionError, StoreproofError, EndCase, Unknown, Refused, WrongReply, Breach))
    # The message of these is the finding. Their traceback is ours, and -vv shows it: to print all of its sources costs pytest as long as
    # a case takes, where there is no server at hand eight hundred times.
    brief = ours and item.config.get_verbosity() < 2
    if found is not None and brief:
        call.excinfo = _without_frames(found, pytest.fail.Exception(str(error), pytrace=False))
    try:
        report = yield
    finally:
        call.excinfo = found
    if found is not None and isinstance(error, EndCase) and error.outcome not in (Outcome.FAIL, Outcome.ERROR):
        call.excinfo = _without_frames(found, pytest.skip.Exception(str(error)))  # no failure: --pdb does not stop at it
    item.config.stash[RUN].progress.hide()

    if registry.interrupt is not None:  # it was swallowed on its way here
        raise registry.interrupt
    if error is not None:
        clean_up = report.when == "teardown"
        if not case_result.settled or clean_up:
            _judge(item, case_result, error, clean_up=clean_up)
        if report.failed and case_result.outcome not in (Outcome.FAIL, Outcome.ERROR):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, case_result.detail)
        elif report.failed and brief:
            report.longrepr = case_result.detail
    elif report.when == "call":
        case_result.finished()
    made_safe(report)
    case_result.seconds += call.duration
    if report.when == "call" or report.outcome != "passed":
        report.storeproof = case_result.outcome  # type: ignore[attr-defined]
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, Any] | None:
    """Every outcome has its own name and letter: none hides behind `passed` or `skipped`."""
    outcome = getattr(report, "storeproof", None)
    if outcome is None:
        return None
    letter = "" if _shows_progress(config) else _LETTERS[outcome]
    if outcome is Outcome.PASS:
        return "passed", letter, "PASSED"
    category = {Outcome.FAIL: "failed", Outcome.ERROR: "error"}.get(outcome, outcome.value)
    colour = {"red": True} if outcome in (Outcome.FAIL, Outcome.ERROR) else {"yellow": True}
    return category, letter, (outcome.value.upper(), colour)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Write the report, also after failures and Ctrl-C; and no success without evidence."""
    run = session.config.stash.get(RUN, None)
    if run is None or not run.began:
        return (yield)
    from storeproof.cleanup.registry import registry

    registry.ignore_signals()
    try:
        # What an interrupted case wrote is removed here, by its fixtures: before the stores end, and from those that go on.
        return (yield)
    except Exception as reason:  # noqa: BLE001 - told at the end: the report is written all the same
        run.uncleared = f"what the last case wrote may still be in its store: {reason}"
        return None
    finally:
        _finish(session, run)


def _begin(config: pytest.Config, run: Run) -> None:
    from storeproof.plugin.run_start import print_beginning

    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        print_beginning(run, reporter)


def _finish(session: pytest.Session, run: Run) -> None:
    stopped = session.shouldfail or session.shouldstop
    run.finish(str(stopped) if stopped else "interrupted")
    if session.exitstatus != pytest.ExitCode.OK:
        return
    if not run.any_case_ran:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    elif run.unmet_profiles or run.uncleared or (run.saved and run.saved.complaint):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
    """Failures of one cause once; and end with one screen: what was found, and where the report is."""
    run = terminalreporter.config.stash.get(RUN, None)
    if run is None:
        return (yield)
    from storeproof.plugin.causes import once_each
    from storeproof.plugin.run_end import print_ending

    try:
        with once_each(terminalreporter):
            return (yield)
    finally:
        print_ending(run, terminalreporter)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.close()


def _without_frames(found: pytest.ExceptionInfo[BaseException], shown: BaseException) -> pytest.ExceptionInfo[Any]:
    """`shown` as if raised where `found` was: with its last frame only, since pytest looks at every frame that it is given."""
    last = found.tb
    while last.tb_next is not None:
        last = last.tb_next
    return pytest.ExceptionInfo.from_exc_info((type(shown), shown, last))


def _judge(item: pytest.Item, case_result: CaseResult, error: BaseException, *, clean_up: bool) -> None:
    """Note what ended a test: storeproof.blame decides. A clean-up that fails is told, and only seldom changes the outcome."""
    from storeproof.blame import decisive, in_clean_up
    from storeproof.contract.failures import Refused, Unknown
    from storeproof.result.case_result import EndCase

    if isinstance(error, Unknown):
        error = sut_of(item).explain(error)
    if clean_up:
        outcome = in_clean_up(error)
        if outcome is None or case_result.outcome in (Outcome.FAIL, Outcome.ERROR):
            case_result.add(f"while it was cleared up: {error}")
            return
    if isinstance(error, EndCase):
        case_result.note(error.outcome, str(error))
    elif isinstance(error, pytest.skip.Exception):
        case_result.note(Outcome.EXCLUDED, f"skipped: {error}")  # not by the suites, which settle: by an option, another plugin, a conftest
    else:
        first = decisive(error)
        case_result.note_error(first)
        if first is not error:
            case_result.add(f"while it was cleared up: {error}")
            return
    earlier = error.__context__  # what came while it was cleared up must not hide what had come before
    while earlier is not None:
        if isinstance(earlier, (Refused, Unknown)) and str(earlier) not in case_result.detail:
            case_result.add(f"before that: {earlier}")
        earlier = earlier.__context__


def _leave_out_table(config: pytest.Config) -> None:
    """pytest-benchmark's table sets the put of 32 bytes against the get of 10 kB: it is for who asks for it by one of its options."""
    asking = ("verbose", "compare", "columns", "sort", "group-by", "name", "histogram", "cprofile")
    given = [str(each) for each in config.invocation_params.args]
    session = getattr(config, "_benchmarksession", None)
    if session is not None and not any(each.startswith(tuple(f"--benchmark-{option}" for option in asking)) for each in given):
        session.quiet = True


def _shows_progress(config: pytest.Config) -> bool:
    """Whether the progress line stands for pytest's letters: unless -q or -v says how pytest is to write."""
    return config.get_verbosity() == 0


def _leave_out_letters(config: pytest.Config) -> None:
    """Nor the names of files and percentages: eight hundred letters say less than one line that counts."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _shows_progress(config):
        reporter.showfspath = False
        reporter._show_progress_info = False


def _may_name_suites(invocation: pytest.Config.InvocationParams) -> bool:
    """Before pytest has read its command line: the value of an option may be taken for an argument."""
    given = [str(each) for each in invocation.args]
    return _name_suites([each for each in given if not each.startswith("-")], invocation.dir, pyargs="--pyargs" in given)


def _name_suites(arguments: Iterable[str], directory: Path, *, pyargs: bool) -> bool:
    """Whether an argument is the suites, lies in them, or contains them."""
    for argument in arguments:
        name = argument.split("::")[0]
        if pyargs and name.startswith("storeproof.suites"):
            return True
        path = Path(directory, name).resolve()
        if path == SUITES or SUITES in path.parents or (path in SUITES.parents and path.is_dir() and sys.prefix not in str(path)):
            return True
    return False
