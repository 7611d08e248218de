"""What became of each case of a trial that a nuisance was at work in."""

from __future__ import annotations

from dataclasses import dataclass

from tests.nuisance.nuisance import Nuisance
from tests.nuisance.short_trial import ShortTrial

_NOT_REACHED = "the run ended before this case"
_TRACEBACK = "Traceback (most recent call last)"
_SHOWN = 2000
"""Characters of what was said."""


@dataclass(frozen=True)
class SpoiledRound:
    """One case, tried while the nuisance was at work."""

    store: str
    launch: str
    nuisance: str
    seed: int
    case: str
    outcome: str
    detail: str


def spoil(trial: ShortTrial, nuisance: Nuisance) -> tuple[list[SpoiledRound], list[str]]:
    """Run the trial under the nuisance.

    Returns: the cases that were tried while it was at work, and what else is wrong: no report, a traceback, something left behind.
    """
    trial.prepare()
    with nuisance.around(trial):
        trial.run()
    rounds = _rounds(trial, nuisance)
    wrong = [f"left behind: {each}" for each in trial.left_behind()]
    if _had_begun(trial):
        if _TRACEBACK in trial.said:
            wrong.append(f"a traceback: {trial.said[trial.said.index(_TRACEBACK) :][-_SHOWN:]}")
        if trial.result() is None:
            assert trial.process is not None
            wrong.append(f"no report; exit code {trial.process.returncode}: {trial.said[-_SHOWN:]}")
    return rounds, wrong


def _had_begun(trial: ShortTrial) -> bool:
    """Whether a case was begun. Before that a signal may end the interpreter while it imports, and there is nothing to report."""
    return (trial.folder / "times").exists()


def _rounds(trial: ShortTrial, nuisance: Nuisance) -> list[SpoiledRound]:
    result = trial.result()
    if result is None:
        return []
    times = _times(trial)
    (store,) = result["stores"]
    return [
        SpoiledRound(trial.store, trial.launch, nuisance.name, trial.seed, each["id"], each["outcome"], each["detail"] or "")
        for each in store["outcomes"]
        if each["outcome"] != "excluded"
        and not (each["outcome"] == "not_run" and (each["detail"] or "").startswith(_NOT_REACHED))
        and any(act.began < times[each["id"]][1] and times[each["id"]][0] < act.ended for act in trial.acts if each["id"] in times)
    ]


def _times(trial: ShortTrial) -> dict[str, tuple[float, float]]:
    """By case: when it began and ended; one that did not end was under way until the run's end."""
    found: dict[str, tuple[float, float]] = {}
    path = trial.folder / "times"
    for line in path.read_text().splitlines() if path.is_file() else ():
        case, what, at = line.rsplit(" ", 2)
        began = float(at) if what == "begin" else found.get(case, (0.0, 0.0))[0]
        found[case] = (began, float("inf") if what == "begin" else float(at))
    return found
