"""`storeproof bundle`, `storeproof verify` and `storeproof rerun`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from storeproof.cli.output import form_of, write_output
from storeproof.conformance.answer import MAKERS_WORD, Level, answer_lines, badge_of, contradicted_badge, refused_badge
from storeproof.conformance.bundle import make_bundle
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.rerun import Repeated, command_of, repeat
from storeproof.conformance.submitted import check_submitted, folders_of
from storeproof.conformance.verify import Verified, verify
from storeproof.errors import UsageError
from storeproof.printable import printable
from storeproof.regular_file import Unreadable, exists
from storeproof.result.json_file import write_bytes
from storeproof.result.unproven import unproven_claims
from storeproof.site.badges import Badge
from storeproof.units import plural, size

EXPIRED: Final = 3
"""The exit code for a claim that is verified, and of too old an edition."""
UNPROVEN: Final = 5
"""The exit code for one that is verified, and not proven as a whole, where that was required."""

_BADGES: Final[Mapping[str, Callable[[Badge], str]]] = {".json": lambda badge: badge.endpoint, ".svg": lambda badge: badge.svg}

_SHOWN = 10
"""Differences that are listed."""


def bundle(run: Path, product: Path, out: Path, store: Path | None) -> None:
    """Write the bundle of a run.

    Raises:
        UsageError: a file is missing, or the bundle cannot be written.
        ClaimRefused: no claim can be made of the run.
    """
    content, found = make_bundle(run, product, store, KnownJudges.here())
    try:
        write_bytes(out, content)
    except OSError as reason:
        raise UsageError(f"{out} cannot be written: {reason.strerror}; name another file with --out") from None
    print(f"wrote {out}, {size(len(content))}; sign this file, and publish both")
    _print(answer_lines(found, Level.SELF_REPORTED))


def check(path: Path, badge: Path | None, *, proven: bool) -> int:
    """Verify a bundle, or all that were submitted under a folder, and print the answer. `proven`: all that is claimed has to be.

    Returns:
        0 if each is verified, 1 if one is refused; `EXPIRED` and `UNPROVEN` for one bundle that is verified and has expired, or has a claim
        that was not proven.

    Raises:
        UsageError: the file is not there, the folder has no claims, or the badge cannot be written.
    """
    render = form_of(badge, _BADGES, "--badge")
    if exists(path) and path.is_dir():
        if badge is not None or proven:
            raise UsageError(
                f"{path} is a folder, and {'a badge' if badge else '--require'} is of one bundle; leave it out, or name the bundle"
            )
        return _check_all(path)
    try:
        found = _verified(path)
    except ClaimRefused as refused:
        print(printable(f"refused: {refused}"))
        made, code = refused_badge(refused), 1
    else:
        _print(answer_lines(found))
        made, code = badge_of(found), EXPIRED if found.expired_by else UNPROVEN if proven and unproven_claims(found.store) else 0
    if badge is not None and render is not None:
        write_output(badge, render(made), "--badge")
    return code


def _check_all(folder: Path) -> int:
    """One line for each claim; those that have expired stay, and say so."""
    if not folders_of(folder):
        raise UsageError(f"{folder} has no claims; each is a folder EDITION/ORGANIZATION-PRODUCT/ with one bundle")
    every = list(check_submitted(folder, KnownJudges.here()))
    for each in every:
        said = f"refused: {each.wrong}" if each.found is None or each.wrong else next(iter(answer_lines(each.found)))
        print(printable(f"{each.folder.relative_to(folder)}: {said}"))
    accepted = sum(not each.wrong for each in every)
    print(f"{accepted} of {plural(len(every), 'claim')} in {folder} verified; of each, the maker's word: {MAKERS_WORD}")
    return 0 if accepted == len(every) else 1


def rerun(file: Path, report_dir: Path, more: Sequence[str], badge: Path | None) -> int:
    """Verify a bundle and repeat its run; 0 if it is reproduced, else 1.

    Raises:
        UsageError: the file is not there, the report directory holds something, the run wrote no result, or the badge cannot be written.
        ClaimRefused: the bundle is not verified.
    """
    render = form_of(badge, _BADGES, "--badge")
    found = _verified(file)
    if exists(report_dir) and (not report_dir.is_dir() or any(report_dir.iterdir())):
        raise UsageError(f"--report-dir {report_dir} holds something already; name a new directory")
    try:
        command = command_of(found, file, report_dir, more)
    except OSError as reason:
        raise UsageError(f"{report_dir} cannot be written: {reason.strerror}; name another directory with --report-dir") from None
    print(printable(shlex.join(command)), flush=True)
    repeated = repeat(command, found, report_dir)
    level = Level.REPRODUCED if repeated.reproduced else Level.RECOMPUTED
    print()
    print(_concluded(repeated))
    _print(answer_lines(found, level))
    _print(_told(repeated))
    if badge is not None and render is not None:
        refuted = repeated.contradicted and not repeated.another
        write_output(badge, render(contradicted_badge(found) if refuted else badge_of(found, level)), "--badge")
    return 0 if repeated.reproduced else 1


def _concluded(repeated: Repeated) -> str:
    """The answer of a repetition, in one line."""
    if repeated.reproduced:
        return "reproduced: the same version and binary came to the same verdicts"
    if repeated.another:
        return f"not reproduced: this run is no repetition: {repeated.another[0]}; repeat it with what the claim was made of"
    return f"not reproduced: {plural(len(repeated.contradicted), 'verdict')} contradicted, {len(repeated.open)} not decided here"


def _verified(file: Path) -> Verified:
    try:
        return verify(file, KnownJudges.here())
    except Unreadable as reason:
        raise UsageError(f"{file} {reason}; give the file that `storeproof bundle` wrote") from None


def _told(repeated: Repeated) -> list[str]:
    lines = [f"{plural(repeated.agreeing, 'case')} that the claim shows are shown here too"]
    told = {
        "no repetition": repeated.another,
        "contradicted": repeated.contradicted,
        "not decided here": repeated.open,
        "unlike": repeated.unlike,
    }
    for what, texts in told.items():
        lines += [f"{what}: {text}" for text in texts[:_SHOWN]]
        if len(texts) > _SHOWN:
            lines.append(f"{what}: {len(texts) - _SHOWN} more")
    speeds = repeated.speeds
    if speeds.refused:
        lines.append(f"speeds are not compared: {speeds.refused[0]}")
    else:
        near = sum(each.agrees for each in speeds.numbers)
        lines.append(f"{near} of {plural(len(speeds.numbers), 'number')} agree within the noise floor of their kind")
    return lines


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line))
