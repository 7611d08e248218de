"""Runs the suites at servers that turn hostile in the middle of a run, in six ways, as each of seven stores: `nox -s turning`.

A real server answers first, through a relay. The user has started it; with `--launch process`, storeproof launches it. Whatever the relay
does then, it is a `fail` or no answer, never an error of ours; the run ends by itself, writes its report, and no process of it takes much
memory, nor the run much time of a processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from storeproof.contract import Address
from storeproof.spec import SPEC_ROOT
from storeproof.store_under_test import Options, StoreUnderTest
from tests.machine.measured_run import Ended, measured_run
from tests.nuisance.hostile_endpoints import CHECKOUT, MEGABYTES, scheme
from tests.nuisance.turning.servers import ENDLESS, STORES
from tests.shipped import SHIPPED

_TURNS_AFTER: Final = 120
"""Requests; the first twenty are those of the probe."""
_BUSY: Final = 60
"""Seconds of a processor. A client of Redis takes most: it copies all of a line for each part that it receives."""
_GIVEN_UP: Final = 600.0
_CASES: Final = "key_access"
_SERVER: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('tests.nuisance.turning.servers', run_name='__main__')"
)
"""The relay as a program: a server that storeproof launches inherits no PYTHONPATH."""
_LAUNCHING: Final = threading.Lock()
"""A run launches its stores one after another, and so does this process."""


@dataclass(frozen=True)
class Turned:
    """How a run ended whose server had turned."""

    store: str
    way: str
    ended: Ended
    counts: dict[str, int]
    says: Sequence[str]
    """What was said of the cases that failed."""
    ours: int
    """Errors of storeproof or of the adapter."""

    @property
    def good(self) -> bool:
        """As it must be."""
        tried = self.counts.get("pass", 0) + self.counts.get("unsupported", 0) > 0
        blamed = bool(self.says) and not self.ours
        return tried and blamed and self.ended.megabytes <= MEGABYTES and self.ended.busy <= _BUSY

    def __str__(self) -> str:
        sign, counts = "ok" if self.good else "NO", ", ".join(f"{number} {name}" for name, number in self.counts.items())
        said = ascii("".join(self.says[:1]))[:110]
        return f"{sign} {self.store:10} {self.way:18} {self.ended}  {counts}: {said}"


def see(store: str, way: str, launch: str = "endpoint") -> Turned:
    """One run at one server; `launch`: `endpoint` or `process`."""
    reach = _launched if launch == "process" else _at_endpoint
    with tempfile.TemporaryDirectory() as folder, _server(store) as address, reach(store, way, address, Path(folder)) as reached:
        command = [
            *(sys.executable, "-P", "-m", "pytest", str(CHECKOUT / "suites" / "correctness" / "test_capabilities.py")),
            *("-p", "no:cacheprovider", "-q", "-k", _CASES, f"--report-dir={folder}/report", *reached),
        ]
        ended = measured_run(command, Path(folder), _GIVEN_UP)
        found = _found(Path(folder) / "report" / "result.json")
    return Turned(store, way, ended, *found)


def _found(file: Path) -> tuple[dict[str, int], Sequence[str], int]:
    """The outcomes, and what was said of those that were neither right nor idle, and how many were our fault."""
    if not file.is_file():
        return {}, ["no report"], 1
    (store,) = json.loads(file.read_text())["stores"]
    bad = [each["detail"].replace("\n", " ") for each in store["outcomes"] if each["outcome"] in ("error", "fail", "inconclusive")]
    ours = sum(each["outcome"] == "error" and each["named"] != "the user" for each in store["outcomes"])
    return {name: number for name, number in store["counts"].items() if number and name != "excluded"}, bad, ours


@contextmanager
def _server(store: str) -> Iterator[Address]:
    """A real one, as its default variant is."""
    (target,) = SHIPPED.targets([store])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)
    with _LAUNCHING:
        handle = sut.launch("a server that turns")
    with closing(handle):
        yield handle.address


@contextmanager
def _at_endpoint(store: str, way: str, real: Address, _: Path) -> Iterator[Sequence[str]]:
    """The options for a relay that runs already."""
    login = f"{real.user or ''}:{real.password}@" if real.password else ""
    command = [sys.executable, "-m", "tests.nuisance.turning.servers", store, way, str(real.port), str(_TURNS_AFTER)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as relay:
        assert relay.stdout is not None
        try:
            endpoint = f"{store}={scheme(store)}://{login}127.0.0.1:{int(relay.stdout.readline())}/{real.database or ''}"
            yield f"--store={store}", f"--endpoint={endpoint.rstrip('/')}"
        finally:
            relay.kill()


@contextmanager
def _launched(store: str, way: str, real: Address, folder: Path) -> Iterator[Sequence[str]]:
    """The options for the store's own file, whose program is the relay: each launch answers as many requests, and turns."""
    described = yaml.safe_load((SPEC_ROOT / "stores" / f"{store}.yaml").read_text())
    relay = ["-c", _SERVER, str(CHECKOUT), store, way, str(real.port), str(_TURNS_AFTER), "${port}"]
    process = {"binary": "${python}", "install": "Python", "command": relay}
    described["launch"] = {"process": process | {"user": real.user, "password": real.password} if real.password else process}
    described.pop("topologies", None)
    described["variants"] = {name: each for name, each in described["variants"].items() if each.get("default")}
    described.pop("known_failures", None)
    file = folder / f"{store}.yaml"
    file.write_text(yaml.safe_dump(described))
    yield f"--store={file}", "--launch=process"


def main() -> int:
    """See all of them, print a line for each, and the worst; 0 if every one is good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=1, metavar="N")
    parser.add_argument("--store", action="append", choices=STORES)
    parser.add_argument("--way", action="append", choices=ENDLESS)
    parser.add_argument("--launch", choices=("endpoint", "process"), default="endpoint")
    given = parser.parse_args()
    runs = [(store, way, given.launch) for store in given.store or STORES for way in given.way or ENDLESS]
    print(f"   {'store':10} {'then it sends':18} exit      MB      s   busy  outcomes", flush=True)
    seen = []
    with ThreadPoolExecutor(given.at_once) as pool:
        for each in pool.map(lambda each: see(*each), runs):
            print(each, flush=True)
            seen.append(each)
    good = sum(each.good for each in seen)
    most, longest = max(each.ended.megabytes for each in seen), max(each.ended.busy for each in seen)
    print(f"{good} of {len(seen)}: ended by itself with a report and no error of ours, <= {most:.0f} MB, <= {longest:.1f} s of a processor")
    return 0 if good == len(seen) else 1


if __name__ == "__main__":
    sys.exit(main())
