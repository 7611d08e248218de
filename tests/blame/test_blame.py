"""Who is to blame: every row of the table, by the exceptions that lead to it, and the page that explains it."""

from __future__ import annotations

import errno
import importlib.util
import re
from pathlib import Path

import pytest

from storeproof.blame import REPEATED, RULES, CaseEnding, Party, decisive, ending_of, in_clean_up, judge_error, outcome_of
from storeproof.contract import Breach, GaveUp, Refused, Unknown, Unsupported, WrongReply
from storeproof.errors import (
    CutOff,
    FaultMissed,
    Halted,
    MachineFailed,
    NotAdmitted,
    NotAvailable,
    SettingsMismatch,
    StoreDied,
    StoreproofError,
    Unusable,
    UsageError,
)
from storeproof.outcome import Outcome
from tests.architecture.installed import CHECKOUT

FAIL, ERROR, OPEN, NOT_RUN, UNSUPPORTED = Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.UNSUPPORTED

BY_EXCEPTION: list[tuple[BaseException, Outcome, Outcome, Party, Outcome | None]] = [
    (AssertionError("expected: 1"), FAIL, FAIL, Party.STORE, FAIL),
    (WrongReply("get: a record is bytes; found str 'x'"), FAIL, FAIL, Party.STORE, FAIL),
    (Refused("READONLY"), FAIL, UNSUPPORTED, Party.STORE, None),
    (Refused("53100: could not extend file: No space left on device"), OPEN, OPEN, Party.MACHINE, None),
    (Refused("SQLITE_FULL: database or disk is full"), OPEN, OPEN, Party.MACHINE, None),
    (StoreDied("initdb: could not write: No space left on device"), OPEN, OPEN, Party.MACHINE, None),
    (StoreDied("ended with exit status 1", "write: No space left on device"), FAIL, FAIL, Party.STORE, FAIL),
    (Unsupported("unknown command"), FAIL, UNSUPPORTED, Party.STORE, None),
    (Unknown("timed out after 5 s"), OPEN, OPEN, Party.UNDETERMINED, None),
    (GaveUp("1205: Lock wait timeout exceeded"), OPEN, OPEN, Party.UNDETERMINED, None),
    (TimeoutError("not done after 60 s"), OPEN, OPEN, Party.UNDETERMINED, None),
    (Halted("the case has taken 5 min 0 s; next would have been get"), OPEN, OPEN, Party.UNDETERMINED, None),
    (StoreDied("it ended with exit status 1"), FAIL, FAIL, Party.STORE, FAIL),
    (Unusable("after the power cut it does not start"), FAIL, UNSUPPORTED, Party.STORE, None),
    (FaultMissed("it writes to /elsewhere.db, outside its data directory"), ERROR, ERROR, Party.USER, None),
    (MachineFailed("killed from outside by SIGKILL"), OPEN, OPEN, Party.MACHINE, None),
    (OSError(errno.EMFILE, "Too many open files"), OPEN, OPEN, Party.MACHINE, None),
    (OSError(errno.ENOSPC, "No space left on device"), OPEN, OPEN, Party.MACHINE, None),
    (OSError(errno.EAGAIN, "Resource temporarily unavailable"), OPEN, OPEN, Party.MACHINE, None),
    (MemoryError(), OPEN, OPEN, Party.MACHINE, None),
    (NotAvailable("no container engine answers", "apt-get install docker.io"), NOT_RUN, NOT_RUN, Party.MACHINE, None),
    (Breach("put raised AttributeError"), ERROR, ERROR, Party.ADAPTER, ERROR),
    (SettingsMismatch("appendfsync: expected 'always', found 'no'"), ERROR, ERROR, Party.USER, ERROR),
    (UsageError("the endpoint does not answer"), ERROR, ERROR, Party.USER, ERROR),
    (NotAdmitted("it refuses access: WRONGPASS"), ERROR, ERROR, Party.USER, ERROR),
    (CutOff("Timeout >1.0s"), OPEN, OPEN, Party.USER, None),
    (KeyboardInterrupt(), OPEN, OPEN, Party.USER, None),
    (PermissionError(errno.EACCES, "Permission denied"), ERROR, ERROR, Party.STOREPROOF, ERROR),
    (KeyError("x"), ERROR, ERROR, Party.STOREPROOF, ERROR),
]

WITHOUT_EXCEPTION = {
    *(
        CaseEnding.RIGHT,
        CaseEnding.MADE_UP,
        CaseEnding.NOTHING_AT_RISK,
        CaseEnding.NOTHING_SHOWN,
        CaseEnding.UNDECIDED,
        CaseEnding.UNCONTENDED,
        CaseEnding.LEFT_OUT,
    )
}
"""Ways to end that no exception stands for: the suites and the plugin name them."""


@pytest.mark.parametrize(("error", "claimed", "unclaimed", "party", "clean_up"), BY_EXCEPTION, ids=lambda each: type(each).__name__)
def test_an_exception_has_one_outcome_and_names_one_party(
    error: BaseException, claimed: Outcome, unclaimed: Outcome, party: Party, clean_up: Outcome | None
) -> None:
    """Outcome, party and clean-up outcome of each exception."""
    assert judge_error(error, claimed=True).outcome is claimed
    assert judge_error(error, claimed=False).outcome is unclaimed
    assert judge_error(error, claimed=True).party is party
    assert in_clean_up(error) is clean_up


def test_every_way_to_end_has_a_row_and_every_row_is_reached() -> None:
    """Each `CaseEnding` has a rule, and a way to reach it."""
    assert set(RULES) == set(CaseEnding)
    assert {ending_of(error) for error, *_ in BY_EXCEPTION} | WITHOUT_EXCEPTION == set(CaseEnding)
    assert not {ending_of(error) for error, *_ in BY_EXCEPTION} & WITHOUT_EXCEPTION


def test_every_error_that_people_see_is_judged_by_a_rule_of_its_own() -> None:
    """A new kind of error must not become a bug of ours by being forgotten."""
    kinds = [kind for kind in _subclasses(StoreproofError) if kind.__module__.startswith("storeproof.errors")]
    assert {kind.__name__ for kind in kinds} == {
        *("UsageError", "SpecError", "NotAvailable", "NotAdmitted", "MachineFailed", "FaultMissed", "Halted", "StoreDied"),
        *("Unusable", "SettingsMismatch", "CutOff"),
    }


def test_only_the_store_fails_and_only_we_err() -> None:
    """`fail` is always the store's, `error` never."""
    for rule in RULES.values():
        for outcome in (rule.claimed, rule.unclaimed, rule.clean_up):
            assert outcome is not FAIL or rule.party is Party.STORE
            assert outcome is not ERROR or rule.party in (Party.ADAPTER, Party.STOREPROOF, Party.USER)
    assert all(RULES[ending].claimed is OPEN for ending in REPEATED), "what is repeated is neither a pass nor a failure"


def test_a_bug_in_an_adapter_is_the_adapters(tmp_path: Path) -> None:
    """Also outside the calls that the guard watches: while it connects, prepares or describes."""
    file = tmp_path / "vendor.py"
    file.write_text("def connect(address, options):\n    return address.hots\n")
    described = importlib.util.spec_from_file_location("storeproof_adapter_vendor_1", file)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    with pytest.raises(AttributeError) as raised:
        module.connect(object(), {})
    judged = judge_error(raised.value, claimed=True)
    assert (judged.outcome, judged.party) == (ERROR, Party.ADAPTER)
    assert judged.detail.startswith("adapter error: AttributeError: ")
    assert "(vendor.py, line 2: return address.hots); an adapter may raise Refused, " in judged.detail


def test_an_assertion_without_words_says_where_it_is() -> None:
    """pytest writes down what those of the suites compared, and of the machinery nothing: a verdict without a reason helps no one."""
    namespace: dict[str, object] = {}
    exec(compile("def narrow(x):\n    assert x is not None", "narrowing.py", "exec"), namespace)
    with pytest.raises(AssertionError) as found:
        namespace["narrow"](None)  # type: ignore[operator]
    assert judge_error(found.value, claimed=True).detail.startswith("narrowing.py, line 2")


def test_a_wrong_answer_is_not_hidden_by_a_clean_up_that_fails() -> None:
    """A failing clean-up does not replace a wrong answer."""

    def clear() -> None:
        raise Refused("READONLY")

    with pytest.raises(Refused) as raised:
        try:
            raise AssertionError("expected: 2")
        finally:
            clear()
    assert judge_error(decisive(raised.value), claimed=False).outcome is FAIL


def test_an_error_that_replaces_another_on_purpose_stands_for_itself() -> None:
    """An error raised `from None` decides itself."""
    with pytest.raises(MachineFailed) as raised:
        try:
            raise AssertionError("expected: 2")
        except AssertionError:
            raise MachineFailed("the machine's clock was set by +3600.0 s") from None
    assert decisive(raised.value) is raised.value


def test_the_page_has_the_same_table() -> None:
    """docs/METHOD.md has the same table as `RULES`."""
    text = (CHECKOUT / "docs" / "METHOD.md").read_text()
    rows = re.findall(r"^\| (?!how|-)(.+?) \| (\w+) \| (\w+) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    wanted = [
        (ending.value, rule.claimed.value, rule.unclaimed.value, rule.party.value, rule.clean_up.value if rule.clean_up else "–")
        for ending, rule in RULES.items()
    ]
    assert rows == wanted


def test_what_was_lost_without_a_promise_is_no_failure() -> None:
    """Loss without a promise is unsupported; made-up data always fails."""
    assert outcome_of(CaseEnding.BROKEN_PROMISE, claimed=False) is UNSUPPORTED
    assert outcome_of(CaseEnding.MADE_UP, claimed=False) is FAIL


def _subclasses(kind: type) -> list[type]:
    return [each for direct in kind.__subclasses__() for each in (direct, *_subclasses(direct))]
