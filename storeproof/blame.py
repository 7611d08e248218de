"""Who is to blame: the outcome of a case, and the party named, for every way in which a case can end.

A `fail` is the store's fault, an `error` is storeproof's or the adapter's, and a case that the machine spoiled is neither. `RULES` is the
table that decides; `judge_error` reads it. docs/METHOD.md, "Who is to blame", has the same table with the reasons.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Final

from storeproof import errors
from storeproof.contract.failures import RAISES, Breach, GaveUp, Refused, Unknown, Unsupported, WrongReply
from storeproof.outcome import Outcome


class Party(StrEnum):
    """The party to blame."""

    STORE = "the store"
    ADAPTER = "the adapter"
    STOREPROOF = "storeproof"
    MACHINE = "the machine"
    USER = "the user"
    UNDETERMINED = "undetermined"


class CaseEnding(StrEnum):
    RIGHT = "every answer correct"
    WRONG_ANSWER = "a wrong answer"
    BROKEN_PROMISE = "an acknowledged write lost, or a store that is unusable after a fault"
    MADE_UP = "data served that no client wrote"
    REFUSED = "a clear refusal"
    UNSUPPORTED = "an operation that is not supported"
    NO_ANSWER = "a timeout or a lost connection while the server runs"
    NOTHING_AT_RISK = "a fault before enough writes were acknowledged"
    FAULT_MISSED = "a fault that did not strike the files of what clients wrote"
    NOTHING_SHOWN = "a full disk or a damaged file that the store never encountered"
    UNDECIDED = "a history that could not be checked in time"
    UNCONTENDED = "too few transactions that met others"
    ENDLESS = "not at its end within the time that a case may take"
    SERVER_ENDED = "the server ended by itself, or does not start"
    SPOILED = "the machine failed, or killed the server"
    LACKING = "the machine lacks what the case needs"
    BREACH = "the adapter broke the contract"
    MISCONFIGURED = "live settings that are not the variant's, or wrong input"
    NOT_ADMITTED = "a server that does not serve the first client: other credentials, or no protocol in common"
    INTERRUPTED = "an interrupt by the user"
    CUT_OFF = "an end by another plugin, such as its time limit"
    LEFT_OUT = "a skip by an option or another plugin"
    BUG = "an error in storeproof"


@dataclass(frozen=True)
class Rule:
    """The meaning of one ending."""

    claimed: Outcome
    """The outcome if the variant claims what the case tests."""
    unclaimed: Outcome
    """The outcome if it does not."""
    party: Party
    clean_up: Outcome | None = None
    """The outcome if it happens during a case's clean-up; None: the case keeps its outcome, and the detail says what happened."""


_FAIL, _ERROR, _OPEN = Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE

RULES: Final[Mapping[CaseEnding, Rule]] = MappingProxyType(
    {
        CaseEnding.RIGHT: Rule(Outcome.PASS, Outcome.UNDECLARED, Party.STORE),
        CaseEnding.WRONG_ANSWER: Rule(_FAIL, _FAIL, Party.STORE, clean_up=_FAIL),
        CaseEnding.BROKEN_PROMISE: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        CaseEnding.MADE_UP: Rule(_FAIL, _FAIL, Party.STORE),
        CaseEnding.REFUSED: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        CaseEnding.UNSUPPORTED: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        CaseEnding.NO_ANSWER: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        CaseEnding.NOTHING_AT_RISK: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        CaseEnding.FAULT_MISSED: Rule(_ERROR, _ERROR, Party.USER),
        CaseEnding.NOTHING_SHOWN: Rule(_OPEN, Outcome.UNSUPPORTED, Party.UNDETERMINED),
        CaseEnding.UNDECIDED: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        CaseEnding.UNCONTENDED: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        CaseEnding.ENDLESS: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        CaseEnding.SERVER_ENDED: Rule(_FAIL, _FAIL, Party.STORE, clean_up=_FAIL),
        CaseEnding.SPOILED: Rule(_OPEN, _OPEN, Party.MACHINE),
        CaseEnding.LACKING: Rule(Outcome.NOT_RUN, Outcome.NOT_RUN, Party.MACHINE),
        CaseEnding.BREACH: Rule(_ERROR, _ERROR, Party.ADAPTER, clean_up=_ERROR),
        CaseEnding.MISCONFIGURED: Rule(_ERROR, _ERROR, Party.USER, clean_up=_ERROR),
        CaseEnding.NOT_ADMITTED: Rule(_ERROR, _ERROR, Party.USER, clean_up=_ERROR),
        CaseEnding.INTERRUPTED: Rule(_OPEN, _OPEN, Party.USER),
        CaseEnding.CUT_OFF: Rule(_OPEN, _OPEN, Party.USER),
        CaseEnding.LEFT_OUT: Rule(Outcome.EXCLUDED, Outcome.EXCLUDED, Party.USER),
        CaseEnding.BUG: Rule(_ERROR, _ERROR, Party.STOREPROOF, clean_up=_ERROR),
    }
)

_SHORT: Final = re.compile(f"{errors.DISK_FULL}|{errors.TOO_MANY_FILES}|{errors.NO_MEMORY}", re.IGNORECASE)

REPEATED: Final = (CaseEnding.SPOILED, CaseEnding.NO_ANSWER)
"""Endings that say nothing about the store: the case or round is repeated, up to a limit, and counted as spoiled."""

_KINDS: Final[tuple[tuple[type[BaseException], CaseEnding], ...]] = (
    (errors.NotAvailable, CaseEnding.LACKING),
    (errors.MachineFailed, CaseEnding.SPOILED),
    (errors.FaultMissed, CaseEnding.FAULT_MISSED),
    (errors.Halted, CaseEnding.ENDLESS),
    (errors.Unusable, CaseEnding.BROKEN_PROMISE),
    (errors.StoreDied, CaseEnding.SERVER_ENDED),
    (errors.SettingsMismatch, CaseEnding.MISCONFIGURED),
    (errors.UsageError, CaseEnding.MISCONFIGURED),
    (errors.NotAdmitted, CaseEnding.NOT_ADMITTED),
    (errors.CutOff, CaseEnding.CUT_OFF),
    (GaveUp, CaseEnding.NO_ANSWER),
    (Refused, CaseEnding.REFUSED),
    (Unsupported, CaseEnding.UNSUPPORTED),
    (WrongReply, CaseEnding.WRONG_ANSWER),
    (Unknown, CaseEnding.NO_ANSWER),
    (TimeoutError, CaseEnding.NO_ANSWER),
    (Breach, CaseEnding.BREACH),
    (AssertionError, CaseEnding.WRONG_ANSWER),
    (KeyboardInterrupt, CaseEnding.INTERRUPTED),
    (MemoryError, CaseEnding.SPOILED),
)
"""The first match decides; anything else is a bug in storeproof."""

_ADAPTERS: Final = ("storeproof.adapters.", "storeproof_adapter_")
"""Prefixes of the names of adapter modules: the project's, and a vendor's own (contract/load_adapter.py)."""

_WORDS: Final[Mapping[CaseEnding, str]] = MappingProxyType(
    {
        CaseEnding.REFUSED: "the store refused: ",
        CaseEnding.NO_ANSWER: "the store is running but did not answer: ",
        CaseEnding.CUT_OFF: "ended by another plugin: ",
        CaseEnding.SPOILED: "spoiled by the machine: ",
        CaseEnding.BREACH: "adapter error: ",
    }
)


_SORTED: Final = (Breach, Refused, Unknown, Unsupported, WrongReply)


@dataclass(frozen=True)
class Judgement:
    """The judgement on a case that ended by an exception."""

    ending: CaseEnding
    outcome: Outcome
    party: Party
    detail: str


def ending_of(error: BaseException) -> CaseEnding:
    """The ending that corresponds to an exception."""
    if isinstance(error, OSError) and error.errno in errors.SHORTAGES:
        return CaseEnding.SPOILED
    # Do not use the log of a store that died: after a power cut it is full of disk errors.
    if _SHORT.search(error.reason if isinstance(error, errors.StoreDied) else str(error) if isinstance(error, Refused) else ""):
        return CaseEnding.SPOILED
    known = next((ending for kind, ending in _KINDS if isinstance(error, kind)), None)
    return known or (CaseEnding.BREACH if _came_through_an_adapter(error) else CaseEnding.BUG)


def decisive(error: BaseException) -> BaseException:
    """The error that decides, if a second one was raised while handling the first: a failing clean-up does not hide a wrong answer.

    An error raised `from` another, or `from None`, replaces it on purpose and decides.
    """
    found = error
    while error.__context__ is not None and not error.__suppress_context__:
        error = error.__context__
        if ending_of(error) is CaseEnding.WRONG_ANSWER:
            found = error
    return found


def judge_error(error: BaseException, *, claimed: bool) -> Judgement:
    """The outcome of a case that an exception ended, the party to blame, and the detail.

    `claimed`: whether the variant claims what the case tests. For an `Unknown` the server is assumed to be running; callers that have its
    handle check that first (`Handle.check_alive`).
    """
    ending = ending_of(error)
    rule = RULES[ending]
    return Judgement(ending, rule.claimed if claimed else rule.unclaimed, rule.party, _detail(ending, error, claimed=claimed))


def outcome_of(ending: CaseEnding, *, claimed: bool) -> Outcome:
    """The outcome of a case with this ending."""
    return RULES[ending].claimed if claimed else RULES[ending].unclaimed


def in_clean_up(error: BaseException) -> Outcome | None:
    """The outcome of a case whose clean-up fails, or None if the case keeps its own."""
    return RULES[ending_of(error)].clean_up


def _came_through_an_adapter(error: BaseException) -> bool:
    return bool(_lines_of_adapter(error))


def _lines_of_adapter(error: BaseException) -> list[traceback.FrameSummary]:
    """The lines of an adapter that an exception came through, the one where it was raised last."""
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_of_adapter(frame)]
    return list(traceback.StackSummary.extract(iter(frames)))


def _is_of_adapter(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(_ADAPTERS)


def _detail(ending: CaseEnding, error: BaseException, *, claimed: bool) -> str:
    text = str(error)
    if isinstance(error, AssertionError) and not text:  # of the machinery: pytest writes down what those of the suites compared
        lines = traceback.extract_tb(error.__traceback__)
        text = f"{Path(lines[-1].filename).name}, line {lines[-1].lineno}: {lines[-1].line}" if lines else ""
    if not isinstance(error, (AssertionError, errors.StoreproofError, *_SORTED)):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if ending is CaseEnding.BREACH and not isinstance(error, Breach):  # outside the calls that the guard watches
        line = _lines_of_adapter(error)[-1]
        text = f"{text} ({Path(line.filename).name}, line {line.lineno}: {line.line}); {RAISES}"
    if ending is CaseEnding.WRONG_ANSWER:
        text = text.split("\nassert ")[0].replace("\n  ", "\n")  # without what pytest adds: an indent, and storeproof's own variables
    if ending is CaseEnding.UNSUPPORTED and claimed:
        return f"claimed, but {text}"
    return f"{_WORDS.get(ending, '')}{text}"
