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


def spoil(sut: ShortTrial, nuisance: Nuisance) -> tuple[list[SpoiledRound], list[str]]:
    """Run the trial under the nuisance.

    Returns: the cases that were tried while it was at work, and what else is wrong: no report, a traceback, something left behind.
    """
    sut.prepare()
    with nuisance.around(sut):
        sut.run()
    rounds = _rounds(sut, nuisance)
    wrong = [f"left behind: {each}" for each in sut.left_behind()]
    if _had_begun(sut):
        if _TRACEBACK in sut.said:
            wrong.append(f"a traceback: {sut.said[sut.said.index(_TRACEBACK) :][-_SHOWN:]}")
        if sut.result() is None:
            assert sut.process is not None
            wrong.append(f"no report; exit code {sut.process.returncode}: {sut.said[-_SHOWN:]}")
    return rounds, wrong


def _had_begun(sut: ShortTrial) -> bool:
    """Whether a case was begun. Before that a signal may end the interpreter while it imports, and there is nothing to report."""
    return (sut.folder / "times").exists()


def _rounds(sut: ShortTrial, nuisance: Nuisance) -> list[SpoiledRound]:
    result = sut.result()
    if result is None:
        return []
    times = _times(sut)
    (store,) = result["stores"]
    return [
        SpoiledRound(sut.store, sut.launch, nuisance.name, sut.seed, each["id"], each["outcome"], each["detail"] or "")
        for each in store["outcomes"]
        if each["outcome"] != "excluded"
        and not (each["outcome"] == "not_run" and (each["detail"] or "").startswith(_NOT_REACHED))
        and any(act.began < times[each["id"]][1] and times[each["id"]][0] < act.ended for act in sut.acts if each["id"] in times)
    ]


def _times(sut: ShortTrial) -> dict[str, tuple[float, float]]:
    """By case: when it began and ended; one that did not end was under way until the run's end."""
    found: dict[str, tuple[float, float]] = {}
    path = sut.folder / "times"
    for line in path.read_text().splitlines() if path.is_file() else ():
        case, what, at = line.rsplit(" ", 2)
        began = float(at) if what == "begin" else found.get(case, (0.0, 0.0))[0]
        found[case] = (began, float("inf") if what == "begin" else float(at))
    return found
