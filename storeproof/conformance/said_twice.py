"""What a result says in two places: each must say the same."""

from __future__ import annotations

import re
import shlex
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import Result, StoreResult

_DIGEST: Final = re.compile("sha256:[0-9a-f]{64}( (and|over) sha256:[0-9a-f]{64})*")
"""Of one program, of several, or of a front over a home."""
_CHOOSING: Final = ("-k", "-m", "--profile", "--proof", "--deselect", "--last-failed", "--lf", "--stepwise", "--sw")
"""Options with which a run is not whole, or rests on another one."""
_REPEATED: Final = re.compile(r"--seed=([0-9]+)(?=\s)")
"""In the command that repeats a case, where it is not cut off."""
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
    """What is said of a case tells how it is repeated."""
    for name, detail in (*((each.id, each.detail) for each in store.outcomes), *((each.fault, each.detail) for each in store.outages)):
        for seed in _REPEATED.findall(detail):
            if seed != str(result.run.seed):
                raise ClaimRefused(
                    Reason.SEED, f"{name} is repeated with the seed {in_one_line(seed, 20)}, and the run had {result.run.seed}"
                )


def _check_program(store: StoreResult) -> None:
    """What was tried is known by its digest, but behind an endpoint."""
    digest = {"process": store.binary_digest, "container": store.image_digest}.get(str(store.launch))
    if store.launch in ("process", "container") and (digest is None or not _DIGEST.fullmatch(digest)):
        raise ClaimRefused(Reason.RUN, f"it ran as a {store.launch}, and {in_one_line(str(digest), 40)} is no digest of its program")
