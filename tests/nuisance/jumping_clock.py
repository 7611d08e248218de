"""A wall clock that jumps by an hour, forth and back, for the run and for the servers that it starts by process (libfaketime).

The monotonic clock goes on, as it does on a machine whose clock is set.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from storeproof.machine.programs import find_program
from storeproof.spec import SPEC_ROOT
from storeproof.spec.store import Store
from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_PLACES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1")
_STEADY = Path(__file__).with_name("steady_clock.c")
_OFFSETS = ("+0", "+3600", "-3600")


def _library() -> Path | None:
    return next((path for place in _PLACES for path in sorted(Path("/").glob(place.lstrip("/")))), None)


def _cannot(_trial: ShortTrial) -> str | None:
    if _library() is None:
        return "libfaketime is not installed; apt-get install faketime"
    return None if shutil.which("cc") else "there is no C compiler; apt-get install gcc libc6-dev"


def _variables(clock_file: Path, store: str) -> dict[str, str]:
    """A real machine has one clock, so a process that asks for the time must see a jump at once. MongoDB, which asks all the time, crawls
    where every question opens the file; nothing that it is tried for depends on the time of day."""
    caching = {"FAKETIME_CACHE_DURATION": "1"} if store == "mongodb" else {"FAKETIME_NO_CACHE": "1"}
    steady = clock_file.with_name("steady_clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(steady), str(_STEADY)], check=True)
    return {
        "LD_PRELOAD": f"{steady}:{_library()}",
        "FAKETIME_TIMESTAMP_FILE": str(clock_file),
        **caching,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",  # a clock that is set changes no time that a file was given before
    }


def _faked(sut: ShortTrial, variables: dict[str, str]) -> Path:
    """The store's file, whose server is started under the library: it inherits nothing of our environment."""
    given = Path(sut.store_argument or SPEC_ROOT / "stores" / f"{sut.store}.yaml")
    told: dict[str, Any] = yaml.safe_load(given.read_text())
    process = told["launch"]["process"]
    program = find_program(process["binary"], Store.model_validate(told).launch.process, sut.store)
    process["command"] = [*(f"{name}={value}" for name, value in variables.items()), program, *process["command"]]
    process["binary"] = "env"
    path = sut.folder / "faked.yaml"
    path.write_text(yaml.safe_dump(told))
    return path


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    clock_file = sut.folder / "clock"

    def set_clock(offset: str) -> None:
        fresh = clock_file.with_suffix(".new")
        fresh.write_text(f"{offset}\n")
        fresh.chmod(0o644)
        fresh.replace(clock_file)

    set_clock("+0")
    variables = _variables(clock_file, sut.store)
    sut.environment.update(variables)
    if sut.launch == "process":
        sut.store_argument = str(_faked(sut, variables))

    def work() -> None:
        before = "+0"
        more = sut.until_over(0, 1)
        while more:
            offset = sut.random.choice([each for each in _OFFSETS if each != before])
            with sut.act(f"the clock jumps from {before} to {offset} s"):
                set_clock(offset)
                more = sut.until_over(1.2, 3)
            before = offset

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("jumping clock", _around, _cannot, also="expiry", lasting=True)
