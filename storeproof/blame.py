"""Who is to blame: the outcome of a case, and the party named, for every way in which a case can end.

A `fail` is the store's fault, an `error` is storeproof's or the adapter's, and a case that the machine spoiled is neither. `RULES` is the
table that decides; `judge` reads it. docs/METHOD.md, "Who is to blame", has the same table with the reasons.
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

from storeproof.contract.failures import RAISES, Breach, GaveUp, Refused, Unknown, Unsupported, WrongReply
from storeproof.errors import (
    DISK_FULL,
    NO_MEMORY,
    SHORTAGES,
    TOO_MANY_FILES,
    CutOff,
    FaultMissed,
    Halted,
    MachineFailed,
    NotAdmitted,
    NotAvailable,
    SettingsMismatch,
    StoreDied,
    StoreproofError,
    UsageError,
)
from storeproof.outcome import Outcome


class Party(StrEnum):
    """The party to blame."""

    STORE = "the store"
    ADAPTER = "the adapter"
    STOREPROOF = "storeproof"
    MACHINE = "the machine"
    USER = "the user"
    UNDETERMINED = "undetermined"


class Ending(StrEnum):
    """How a case can end."""

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

RULES: Final[Mapping[Ending, Rule]] = MappingProxyType(
    {
        Ending.RIGHT: Rule(Outcome.PASS, Outcome.UNDECLARED, Party.STORE),
        Ending.WRONG_ANSWER: Rule(_FAIL, _FAIL, Party.STORE, clean_up=_FAIL),
        Ending.BROKEN_PROMISE: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        Ending.MADE_UP: Rule(_FAIL, _FAIL, Party.STORE),
        Ending.REFUSED: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        Ending.UNSUPPORTED: Rule(_FAIL, Outcome.UNSUPPORTED, Party.STORE),
        Ending.NO_ANSWER: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        Ending.NOTHING_AT_RISK: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        Ending.FAULT_MISSED: Rule(_ERROR, _ERROR, Party.USER),
        Ending.NOTHING_SHOWN: Rule(_OPEN, Outcome.UNSUPPORTED, Party.UNDETERMINED),
        Ending.UNDECIDED: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        Ending.ENDLESS: Rule(_OPEN, _OPEN, Party.UNDETERMINED),
        Ending.SERVER_ENDED: Rule(_FAIL, _FAIL, Party.STORE, clean_up=_FAIL),
        Ending.SPOILED: Rule(_OPEN, _OPEN, Party.MACHINE),
        Ending.LACKING: Rule(Outcome.NOT_RUN, Outcome.NOT_RUN, Party.MACHINE),
        Ending.BREACH: Rule(_ERROR, _ERROR, Party.ADAPTER, clean_up=_ERROR),
        Ending.MISCONFIGURED: Rule(_ERROR, _ERROR, Party.USER, clean_up=_ERROR),
        Ending.NOT_ADMITTED: Rule(_ERROR, _ERROR, Party.USER, clean_up=_ERROR),
        Ending.INTERRUPTED: Rule(_OPEN, _OPEN, Party.USER),
        Ending.CUT_OFF: Rule(_OPEN, _OPEN, Party.USER),
        Ending.LEFT_OUT: Rule(Outcome.EXCLUDED, Outcome.EXCLUDED, Party.USER),
        Ending.BUG: Rule(_ERROR, _ERROR, Party.STOREPROOF, clean_up=_ERROR),
    }
)

_SHORT: Final = re.compile(f"{DISK_FULL}|{TOO_MANY_FILES}|{NO_MEMORY}", re.IGNORECASE)

REPEATED: Final = (Ending.SPOILED, Ending.NO_ANSWER)
"""Endings that say nothing about the store: the case or round is repeated, up to a limit, and counted as spoiled."""

_KINDS: Final[tuple[tuple[type[BaseException], Ending], ...]] = (
    (NotAvailable, Ending.LACKING),
    (MachineFailed, Ending.SPOILED),
    (FaultMissed, Ending.FAULT_MISSED),
    (Halted, Ending.ENDLESS),
    (StoreDied, Ending.SERVER_ENDED),
    (SettingsMismatch, Ending.MISCONFIGURED),
    (UsageError, Ending.MISCONFIGURED),
    (NotAdmitted, Ending.NOT_ADMITTED),
    (CutOff, Ending.CUT_OFF),
    (GaveUp, Ending.NO_ANSWER),
    (Refused, Ending.REFUSED),
    (Unsupported, Ending.UNSUPPORTED),
    (WrongReply, Ending.WRONG_ANSWER),
    (Unknown, Ending.NO_ANSWER),
    (TimeoutError, Ending.NO_ANSWER),
    (Breach, Ending.BREACH),
    (AssertionError, Ending.WRONG_ANSWER),
    (KeyboardInterrupt, Ending.INTERRUPTED),
    (MemoryError, Ending.SPOILED),
)
"""The first match decides; anything else is a bug in storeproof."""

_ADAPTERS: Final = ("storeproof.adapters.", "storeproof_adapter_")
"""Prefixes of the names of adapter modules: the project's, and a vendor's own (contract/load_adapter.py)."""

_WORDS: Final[Mapping[Ending, str]] = MappingProxyType(
    {
        Ending.REFUSED: "the store refused: ",
        Ending.NO_ANSWER: "the store is running but did not answer: ",
        Ending.CUT_OFF: "ended by another plugin: ",
        Ending.SPOILED: "spoiled by the machine: ",
        Ending.BREACH: "adapter error: ",
    }
)


_SORTED: Final = (Breach, Refused, Unknown, Unsupported, WrongReply)


@dataclass(frozen=True)
class Judgement:
    """The judgement on a case that ended by an exception."""

    ending: Ending
    outcome: Outcome
    party: Party
    detail: str


def ending_of(error: BaseException) -> Ending:
    """The ending that corresponds to an exception."""
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        return Ending.SPOILED
    # Do not use the log of a store that died: after a power cut it is full of disk errors.
    if _SHORT.search(error.reason if isinstance(error, StoreDied) else str(error) if isinstance(error, Refused) else ""):
        return Ending.SPOILED
    known = next((ending for kind, ending in _KINDS if isinstance(error, kind)), None)
    return known or (Ending.BREACH if _came_through_an_adapter(error) else Ending.BUG)


def decisive(error: BaseException) -> BaseException:
    """The error that decides, if a second one was raised while handling the first: a failing clean-up does not hide a wrong answer.

    An error raised `from` another, or `from None`, replaces it on purpose and decides.
    """
    found = error
    while error.__context__ is not None and not error.__suppress_context__:
        error = error.__context__
        if ending_of(error) is Ending.WRONG_ANSWER:
            found = error
    return found


def judge(error: BaseException, *, claimed: bool) -> Judgement:
    """The outcome of a case that an exception ended, the party to blame, and the detail.

    `claimed`: whether the variant claims what the case tests. For an `Unknown` the server is assumed to be running; callers that have its
    handle check that first (`Handle.check_alive`).
    """
    ending = ending_of(error)
    rule = RULES[ending]
    return Judgement(ending, rule.claimed if claimed else rule.unclaimed, rule.party, _detail(ending, error, claimed=claimed))


def outcome_of(ending: Ending, *, claimed: bool) -> Outcome:
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


def _detail(ending: Ending, error: BaseException, *, claimed: bool) -> str:
    text = str(error)
    if not isinstance(error, (AssertionError, StoreproofError, *_SORTED)):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if ending is Ending.BREACH and not isinstance(error, Breach):  # outside the calls that the guard watches
        line = _lines_of_adapter(error)[-1]
        text = f"{text} ({Path(line.filename).name}, line {line.lineno}: {line.line}); {RAISES}"
    if ending is Ending.WRONG_ANSWER:
        text = text.split("\nassert ")[0].replace("\n  ", "\n")  # without what pytest adds: an indent, and storeproof's own variables
    if ending is Ending.UNSUPPORTED and claimed:
        return f"claimed, but {text}"
    return f"{_WORDS.get(ending, '')}{text}"
