"""What a result says in two places: each must say the same."""

from __future__ import annotations

import re
import shlex
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import Result, StoreResult
from storeproof.run_command import RunCommand

_DIGEST: Final = re.compile("sha256:[0-9a-f]{64}( (and|over) sha256:[0-9a-f]{64})*")
"""Of one program, of several, or of a front over a home."""
_CHOOSING: Final = ("-k", "-m", "--profile", "--proof", "--deselect", "--last-failed", "--lf", "--stepwise", "--sw")
"""Options with which a run is not whole, or rests on another one."""
_OUTAGE: Final = "performance.outage/"


def check_said_twice(result: Result, store: StoreResult) -> None:
    """Raises `ClaimRefused`: the command, the program, or a record of a case says otherwise than the rest of the result."""
    _check_command(result)
    _check_program(store)
    _check_seeds(result, store)
    outcomes = {each.id: each.outcome for each in store.outcomes}
    for name in result.run.beyond_scale:
        if (outcome := outcomes.get(name)) is not Outcome.EXCLUDED:
            found = outcome or "no case of the edition"
            raise ClaimRefused(Reason.CASES, f"{in_one_line(name, 80)} is listed as one that the scale leaves out, and is {found}")
    for history in store.histories:
        if outcomes.get(history.case) in SHOWN:
            raise ClaimRefused(Reason.CASES, f"{history.case} is {outcomes[history.case]}, and has a history that no order explains")
    struck = {f"{_OUTAGE}{each.fault}": each.outcome for each in store.outages}
    for name, outcome in outcomes.items():
        if name.startswith(_OUTAGE) and outcome in SHOWN and struck.get(name) is not outcome:
            raise ClaimRefused(Reason.CASES, f"{name} is {outcome} as a case, and {struck.get(name, 'not there')} as an outage")


def _check_command(result: Result) -> None:
    """The command is what others repeat."""
    run = result.run
    try:
        words = shlex.split(run.command)
    except ValueError:
        raise ClaimRefused(Reason.RUN, f"its command is none: {in_one_line(run.command, 60)}") from None
    given: dict[str, str] = {}
    for word, next_word in zip(words, [*words[1:], ""], strict=True):
        option, is_set, value = word.partition("=")
        if option in _CHOOSING or re.match("-[km].", word):
            raise ClaimRefused(Reason.RUN, f"its command has {in_one_line(word, 40)}; a claim is made of a whole run by itself")
        given[option] = value if is_set else next_word  # the last one counts
    wanted = {
        "--seed": (str(run.seed), Reason.SEED),
        "--scale": (run.scale, Reason.RUN),
        "--edition": (result.edition.version, Reason.EDITION),
    }
    for option, (found, reason) in wanted.items():
        if given.get(option, found) != found:
            said = in_one_line(given[option], 20)
            raise ClaimRefused(reason, f"its command has the {option.removeprefix('--')} {said}, and its result {found}")


def _check_seeds(result: Result, store: StoreResult) -> None:
    """The commands that repeat its cases."""
    for each in store.outcomes:
        seed = RunCommand.read(each.again).seed
        if seed not in (None, str(result.run.seed)):
            said = in_one_line(str(seed), 20)
            raise ClaimRefused(Reason.SEED, f"{each.id} is repeated with the seed {said}, and the run had {result.run.seed}")


def _check_program(store: StoreResult) -> None:
    """What was tried is known by its digest, but behind an endpoint."""
    digest = {"process": store.binary_digest, "container": store.image_digest}.get(str(store.launch))
    if store.launch in ("process", "container") and (digest is None or not _DIGEST.fullmatch(digest)):
        raise ClaimRefused(Reason.RUN, f"it ran as a {store.launch}, and {in_one_line(str(digest), 40)} is no digest of its program")
