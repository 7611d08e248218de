"""The pytest plugin: options, the run, and how outcomes are shown. Cheap to import, and inert unless the suites are collected."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from storeproof.errors import StoreproofError, UsageError
from storeproof.machine.garbage import keep_all, without_garbage
from storeproof.outcome import Outcome, is_failure
from storeproof.plugin.case import MARKER, PACKAGE, SUITES, is_case, sut_of
from storeproof.plugin.options import add_options
from storeproof.plugin.other_checkout import refuse_another
from storeproof.plugin.rewriting import keep_as_written
from storeproof.plugin.stash import CASE_RESULT, RUN
from storeproof.printable import printable

if TYPE_CHECKING:
    from storeproof.plugin.run import Run
    from storeproof.result.running_case import CaseResult

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
    keep_as_written(pluginmanager)
    config = pluginmanager.get_plugin("pytestconfig")
    if config is not None and _may_name_suites(config.invocation_params):
        from storeproof.plugin.signals import early_signals

        early_signals.arm()
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that links a test to the specification."""
    config.addinivalue_line("markers", MARKER)
    if any(_is_in_package(each) for each in map(str, config.args)):  # as the ids of tests are printed, whose paths name no file
        config.option.pyargs = True
    # Here, before pytest-xdist starts its workers: each of them would start a run.
    if (getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None)) and _name_suites(
        map(str, config.args), config.invocation_params.dir
    ):
        raise pytest.UsageError("the suites measure performance, so they cannot run in parallel; leave out -n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """If the suites are to run: read the specification and the options before anything is collected."""
    config = session.config
    try:
        refuse_another(map(str, config.args), config.invocation_params.dir)
    except UsageError as problem:
        raise pytest.UsageError(str(problem)) from None
    if not _name_suites(map(str, config.args), config.invocation_params.dir):
        return (yield)
    with without_garbage():
        _make_run(config)
        return (yield)


def _make_run(config: pytest.Config) -> None:
    """Read the specification and the options. Raises `pytest.UsageError`."""
    from storeproof.plugin.limits.other_timeouts import OtherTimeouts
    from storeproof.plugin.repeat import Repeat
    from storeproof.plugin.run import Run
    from storeproof.plugin.signals import early_signals
    from storeproof.plugin.suite import SuiteFixtures

    early_signals.arm()
    _leave_out_table(config)
    _leave_out_letters(config)
    try:
        config.stash[RUN] = Run(config)
        config.pluginmanager.register(config.stash[RUN].safe, "storeproof-safe")
        config.pluginmanager.register(Repeat(), "storeproof-repeat")
        config.pluginmanager.register(OtherTimeouts(), "storeproof-other-timeouts")
        config.pluginmanager.register(SuiteFixtures(config.stash[RUN].suts), "storeproof-suites")
    except UsageError as problem:
        raise pytest.UsageError(printable(str(problem))) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the cases of each target by stage (correctness, durability, performance); keep those that the profiles demand."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.arrange(items)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the cases that the command line leaves out as `excluded`."""
    run = items[0].config.stash.get(RUN, None) if items else None
    if run is not None:
        run.exclude(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Before the first case, check what the user named on the command line. If it is missing, no case runs and no report is written."""
    config = session.config
    run = config.stash.get(RUN, None)
    if run is None or config.option.collectonly or session.testsfailed or not run.anything_selected:
        return (yield)
    from storeproof.cleanup.registry import registry
    from storeproof.plugin.signals import early_signals
    from storeproof.plugin.signals.last_resort import watch_signals

    early_signals.disarm()
    registry.take_signals()
    if not config.option.usepdb:  # in the debugger Ctrl-C is for what is debugged
        watch_signals(run, config.pluginmanager.get_plugin("terminalreporter"))
    try:
        run.check_options()
        _begin(config, run)
        keep_all()
        return (yield)
    except UsageError as problem:
        run.close()
        del config.stash[RUN]
        raise pytest.UsageError(run.safe.text(str(problem))) from None
    except (KeyboardInterrupt, pytest.exit.Exception) as interrupt:
        if config.option.fulltrace:
            raise
        # Without storeproof's frames: pytest would print the arguments of each. It would also crash, without a report, on a frame that has
        # no line number: a signal may arrive in the code that CPython adds at the end of a `with`.
        raise interrupt.with_traceback(None) from None


def pytest_keyboard_interrupt() -> None:
    """Ignore further signals while the run ends."""
    from storeproof.cleanup.registry import registry

    if registry.interrupt is not None:
        registry.ignore_signals()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Every case that starts has one outcome, however it ends."""
    run = item.config.stash.get(RUN, None)
    if run is None or not is_case(item):
        return (yield)
    case_result = item.stash[CASE_RESULT] = run.begin(item)
    try:
        with run.time_limit(item, case_result):
            done = yield
    except (KeyboardInterrupt, pytest.exit.Exception):
        if not case_result.settled:
            case_result.note(Outcome.INCONCLUSIVE, "interrupted while the case ran")
        raise
    finally:
        case_result.close()
        run.progress.case_done(item, bad=case_result.is_failure)
    run.keep()
    return done


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where a stage has had its time, its cases send nothing."""
    if item.stash.get(CASE_RESULT, None) is not None:
        from storeproof.halt import halt

        halt.check("this case")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Derive the outcome of a case from what happened in its test."""
    case_result = item.stash.get(CASE_RESULT, None)
    if case_result is None:
        return (yield)
    from storeproof.blame import CaseEnding, ending_of
    from storeproof.cleanup.registry import registry
    from storeproof.contract.failures import Refused, Unknown, WrongReply
    from storeproof.result.running_case import EndCase

    found = call.excinfo
    error = found.value if found else None
    ours = error is not None and (
        isinstance(error, (AssertionError, StoreproofError, EndCase, Unknown, Refused, WrongReply)) or ending_of(error) is CaseEnding.BREACH
    )
    # The message of these is the finding. Their traceback is storeproof's own; only -vv shows it. Formatting it takes pytest as long as
    # the case itself, and when a server is missing it would do so for eight hundred cases.
    brief = ours and item.config.get_verbosity() < 2
    if found is not None and brief:
        call.excinfo = _without_frames(found, pytest.fail.Exception(str(error), pytrace=False))
    try:
        report = yield
    finally:
        call.excinfo = found
    if found is not None and isinstance(error, EndCase) and not is_failure(error.outcome, decides=case_result.standing is None):
        call.excinfo = _without_frames(found, pytest.skip.Exception(str(error)))  # not a failure, so that --pdb does not stop at it
    item.config.stash[RUN].progress.hide()

    if registry.interrupt is not None:  # it was swallowed on its way here
        raise registry.interrupt
    if error is not None:
        clean_up = report.when == "teardown"
        if not case_result.settled or clean_up:
            _judge(item, case_result, error, clean_up=clean_up)
        if report.failed and not case_result.is_failure:
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, case_result.detail)
        elif report.failed and brief:
            report.longrepr = case_result.detail + (f"\nreproduce: {case_result.again}" if case_result.again else "")
    elif report.when == "call":
        case_result.finished()
    item.config.stash[RUN].safe.report(report)
    _bill(report, case_result)
    if report.when == "call" or report.outcome != "passed":
        report.storeproof = case_result.outcome, case_result.standing  # type: ignore[attr-defined]
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, Any] | None:
    """Every outcome has its own name and letter: none is counted as `passed` or `skipped`."""
    outcome, standing = getattr(report, "storeproof", (None, None))
    if outcome is None:
        return None
    letter = "" if _shows_progress(config) else _LETTERS[outcome]
    if outcome is Outcome.PASS:
        return "passed", letter, "PASSED"
    if outcome is Outcome.FAIL and standing is not None:
        return f"{standing} {outcome}", letter, (f"{standing} {outcome}".upper(), {"yellow": True})
    category = {Outcome.FAIL: "failed", Outcome.ERROR: "error"}.get(outcome, outcome.value)
    colour = {"red": True} if outcome in (Outcome.FAIL, Outcome.ERROR) else {"yellow": True}
    return category, letter, (outcome.value.upper(), colour)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Write the report, also after failures and Ctrl-C. The exit status is 0 only if at least one case ran."""
    run = session.config.stash.get(RUN, None)
    if run is None or not run.began:
        return (yield)
    from storeproof.cleanup.registry import registry

    registry.ignore_signals()
    try:
        # Here the fixtures of an interrupted case remove what it wrote: before the stores stop, and also from servers that keep running.
        return (yield)
    except Exception as reason:  # noqa: BLE001 - shown at the end; the report is still written
        run.uncleared = f"data of the last case may still be in its store: {reason}"
        return None
    finally:
        _finish(session, run)


def _begin(config: pytest.Config, run: Run) -> None:
    from storeproof.plugin.note import print_beginning

    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        print_beginning(run, reporter)


def _finish(session: pytest.Session, run: Run) -> None:
    run.finish(str(session.shouldfail or session.shouldstop or "interrupted"))
    keep_all()
    if session.exitstatus != pytest.ExitCode.OK:
        return
    if not run.any_case_ran:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    elif run.unmet or run.uncleared or (run.saved and run.saved.complaint):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
    """Show failures with the same cause once, then one screen: the results and the path of the report."""
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
    """Stop what still runs, and remove temporary files."""
    run = config.stash.get(RUN, None)
    if run is not None:
        run.close()
        run.over.set()


def _bill(report: pytest.TestReport, case_result: CaseResult) -> None:
    """Each case its own seconds, wherever they passed; and its outcome, which pytest's own junitxml writes."""
    if report.when == "call":
        report.duration = max(0.0, report.duration + case_result.elsewhere)
    elif report.when == "teardown":
        report.user_properties.append(("outcome", str(case_result.outcome)))
    case_result.seconds += report.duration


def _without_frames(found: pytest.ExceptionInfo[BaseException], shown: BaseException) -> pytest.ExceptionInfo[Any]:
    """`shown` as if raised where `found` was, with the last frame only, since pytest formats every frame."""
    last = found.tb
    while last.tb_next is not None:
        last = last.tb_next
    return pytest.ExceptionInfo.from_exc_info((type(shown), shown, last))


def _judge(item: pytest.Item, case_result: CaseResult, error: BaseException, *, clean_up: bool) -> None:
    """Record what ended a test, as storeproof.blame decides. A failed clean-up is mentioned, and rarely changes the outcome."""
    from storeproof.blame import decisive, in_clean_up
    from storeproof.contract.failures import Refused, Unknown
    from storeproof.errors import CutOff
    from storeproof.result.running_case import EndCase

    if isinstance(error, Unknown):
        error = sut_of(item).explain(error)
    elif isinstance(error, pytest.fail.Exception):  # by another plugin or a conftest, since the suites fail by assertions
        cut_off = CutOff(str(error))
        cut_off.__context__ = error.__context__
        error = cut_off
    if clean_up:
        outcome = in_clean_up(error)
        if outcome is None or case_result.outcome in (Outcome.FAIL, Outcome.ERROR):
            case_result.add(f"during clean-up: {error}")
            return
    if isinstance(error, EndCase):
        case_result.note(error.outcome, str(error))
        case_result.lacked = error.lacked
    elif isinstance(error, pytest.skip.Exception):
        case_result.note(Outcome.EXCLUDED, f"skipped: {error}")  # not by the suites, but by an option, another plugin or a conftest
    else:
        first = decisive(error)
        case_result.note_error(first)
        if first is not error:
            case_result.add(f"during clean-up: {error}")
            return
    earlier = error.__context__  # an error during clean-up must not hide the one before it
    while earlier is not None:
        if isinstance(earlier, (Refused, Unknown)) and str(earlier) not in case_result.detail:
            case_result.add(f"before that: {earlier}")
        earlier = earlier.__context__


def _leave_out_table(config: pytest.Config) -> None:
    """Hide pytest-benchmark's table unless one of its options is given: it compares a put of 32 bytes with a get of 10 kB."""
    asking = ("verbose", "compare", "columns", "sort", "group-by", "name", "histogram", "cprofile")
    given = [str(each) for each in config.invocation_params.args]
    session = getattr(config, "_benchmarksession", None)
    if session is not None and not any(each.startswith(tuple(f"--benchmark-{option}" for option in asking)) for each in given):
        session.quiet = True


def _shows_progress(config: pytest.Config) -> bool:
    """Whether the progress line replaces pytest's letters: if neither -q nor -v is given."""
    return config.get_verbosity() == 0


def _leave_out_letters(config: pytest.Config) -> None:
    """Hide file names and percentages too: one line with counts says more than eight hundred letters."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _shows_progress(config):
        reporter.showfspath = False
        reporter._show_progress_info = False


def _may_name_suites(invocation: pytest.Config.InvocationParams) -> bool:
    """A guess before pytest has parsed its command line: the value of an option may be mistaken for an argument."""
    return _name_suites([each for each in map(str, invocation.args) if not each.startswith("-")], invocation.dir)


def _is_in_package(argument: str) -> bool:
    """Whether it names the suites by their package, or what is in it."""
    return f"{argument.partition('::')[0]}.".startswith(f"{PACKAGE}.")


def _name_suites(arguments: Iterable[str], directory: Path) -> bool:
    """Whether an argument is the folder of the suites or their package, or is inside it, or contains it."""
    for argument in arguments:
        if _is_in_package(argument):
            return True
        path = Path(directory, argument.partition("::")[0]).resolve()
        if path == SUITES or SUITES in path.parents or (path in SUITES.parents and path.is_dir() and sys.prefix not in str(path)):
            return True
    return False
