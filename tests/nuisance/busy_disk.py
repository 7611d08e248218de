"""The disk of TMPDIR written to and synced without a pause."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_WRITERS = 2
_MIB = 32
"""Of each file, which is written again and again."""
_TURNS = 150
"""At most: 2 x 32 MiB x 150 are some 9 GiB in all."""


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    files = [sut.folder / f"busy-{number}" for number in range(_WRITERS)]

    def work() -> None:
        for _ in range(_TURNS):
            with sut.act(f"{_WRITERS} x {_MIB} MiB written and synced"):
                writers = [
                    subprocess.Popen(
                        [
                            "setpriv",
                            "--pdeathsig",
                            "KILL",
                            "dd",
                            "if=/dev/zero",
                            f"of={file}",
                            "bs=256K",
                            f"count={_MIB * 4}",
                            "oflag=dsync",
                        ],
                        stderr=subprocess.DEVNULL,
                    )
                    for file in files
                ]
                while any(each.poll() is None for each in writers):
                    if not sut.until_over(0.05, 0.05):
                        for each in writers:
                            each.kill()
                for each in writers:
                    each.wait()
            if sut.over.is_set():
                return

    try:
        with meanwhile(sut, work):
            yield
    finally:
        for file in files:
            file.unlink(missing_ok=True)


NUISANCE = Nuisance("busy disk", _around, lasting=True)
