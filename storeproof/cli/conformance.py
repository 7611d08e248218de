"""`storeproof bundle`, `storeproof verify` and `storeproof rerun`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from storeproof.cli.output import write_output
from storeproof.conformance.answer import Level, answer_lines, badge_of, refused_badge
from storeproof.conformance.bundle import make_bundle
from storeproof.conformance.known import Known
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.rerun import Repeated, command_of, repeat
from storeproof.conformance.verify import Verified, verify
from storeproof.errors import UsageError
from storeproof.printable import printable
from storeproof.regular_file import Unreadable, exists
from storeproof.result.json_file import write_bytes
from storeproof.units import plural, size

_SHOWN = 10
"""Differences that are listed."""


def bundle(run: Path, product: Path, out: Path, store: Path | None) -> None:
    """Write the bundle of a run.

    Raises:
        UsageError: a file is missing, or the bundle cannot be written.
        ClaimRefused: no claim can be made of the run.
    """
    content, found = make_bundle(run, product, store, Known.here())
    try:
        write_bytes(out, content)
    except OSError as reason:
        raise UsageError(f"{out} cannot be written: {reason}; name another file with --out") from None
    print(f"wrote {out}, {size(len(content))}; sign this file, and publish both")
    _print(answer_lines(found, Level.SELF_REPORTED))


def check(file: Path, badge: Path | None) -> int:
    """Verify a bundle, and print the answer; 0 if it is verified, else 1.

    Raises:
        UsageError: the file is not there, or the badge cannot be written.
    """
    try:
        found = _verified(file)
    except ClaimRefused as refused:
        print(printable(f"refused: {refused}"))
        if badge is not None:
            write_output(badge, refused_badge(refused).endpoint)
        return 1
    _print(answer_lines(found))
    if badge is not None:
        write_output(badge, badge_of(found).endpoint)
    return 0


def rerun(file: Path, report_dir: Path, more: Sequence[str]) -> int:
    """Verify a bundle and repeat its run; 0 if it is reproduced, else 1.

    Raises:
        UsageError: the file is not there, the report directory holds something, or the run wrote no result.
        ClaimRefused: the bundle is not verified.
    """
    found = _verified(file)
    if exists(report_dir) and (not report_dir.is_dir() or any(report_dir.iterdir())):
        raise UsageError(f"--report-dir {report_dir} holds something already; name a new directory")
    try:
        command = command_of(found, file, report_dir, more)
    except OSError as reason:
        raise UsageError(f"{report_dir} cannot be written: {reason}; name another directory with --report-dir") from None
    print(printable(shlex.join(command)), flush=True)
    repeated = repeat(command, found, report_dir)
    level = Level.REPRODUCED if repeated.reproduced else Level.RECOMPUTED
    print()
    _print(answer_lines(found, level))
    _print(_told(repeated))
    return 0 if repeated.reproduced else 1


def _verified(file: Path) -> Verified:
    try:
        return verify(file, Known.here())
    except Unreadable as reason:
        raise UsageError(f"{file} {reason}; give the file that `storeproof bundle` wrote") from None


def _told(repeated: Repeated) -> list[str]:
    lines = [f"{plural(repeated.agreeing, 'case')} that the claim shows are shown here too"]
    for what, texts in (("contradicted", repeated.contradicted), ("not decided here", repeated.open), ("unlike", repeated.unlike)):
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
