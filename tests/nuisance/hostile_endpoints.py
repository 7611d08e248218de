"""Runs the suites at servers that misbehave in sixteen ways, as each of seven stores: `nox -s hostile`.

Each run must end with exit code 4 and one message, in little memory and time. The time is for a quiet machine, one run after another;
`--at-once N` makes several, and `--store`, `--way` choose.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.spec import SPEC_ROOT
from tests.machine.measured_run import Ended, measured_run
from tests.nuisance.protocols import PROTOCOLS
from tests.nuisance.ways import WAYS

CHECKOUT: Final = Path(__file__).parents[2]
USAGE_ERROR: Final = 4
MEGABYTES: Final = 300
"""Resident, of any process of ours."""
SECONDS: Final = 30
_GIVEN_UP: Final = 180.0


@dataclass(frozen=True)
class Seen:
    """How a run at one server ended."""

    store: str
    way: str
    ended: Ended
    lines: Sequence[str]
    """Its message."""

    @property
    def good(self) -> bool:
        """As it must be."""
        clean = all(line.isprintable() for line in self.lines) and len(self.lines) == 1 and self.lines[0].startswith("ERROR: ")
        return clean and self.ended.code == USAGE_ERROR and self.ended.megabytes <= MEGABYTES and self.ended.seconds <= SECONDS

    def __str__(self) -> str:
        sign, said = "ok" if self.good else "NO", ascii("".join(self.lines[:1]))[:150]
        return f"{sign} {self.store:10} {self.way:18} {self.ended} {len(self.lines):5}  {said}"


def see(store: str, way: str) -> Seen:
    """One run at one server."""
    endpoint = f"{store}={scheme(store)}://127.0.0.1:{{}}"
    with tempfile.TemporaryDirectory() as folder, _server(store, way) as port, (Path(folder) / "errors").open("w+b") as errors:
        command = [
            *(sys.executable, "-P", "-m", "pytest", str(CHECKOUT / "suites"), "-p", "no:cacheprovider", "-q"),
            *(f"--report-dir={folder}/report", f"--store={store}", f"--endpoint={endpoint.format(port)}"),
        ]
        ended = measured_run(command, Path(folder), _GIVEN_UP, errors)
        errors.seek(0)
        # Bytes, and not lines as Python has them: what a terminal would show as one, and no more.
        lines = [line.decode(errors="replace") for line in errors.read().split(b"\n") if line.strip()]
    return Seen(store, way, ended, lines)


@contextmanager
def _server(store: str, way: str) -> Iterator[int]:
    """A server that misbehaves; its port."""
    command = [sys.executable, "-m", "tests.nuisance.ways", store, way]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def scheme(store: str) -> str:
    text = (SPEC_ROOT / "stores" / f"{store}.yaml").read_text()
    return text.split('url: "', 1)[1].split("://", 1)[0]


def main() -> int:
    """See all of them, print a line for each, and the worst; 0 if every one is good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=1, metavar="N")
    parser.add_argument("--store", action="append", choices=PROTOCOLS)
    parser.add_argument("--way", action="append", choices=WAYS)
    given = parser.parse_args()
    pairs = [(store, way) for store in given.store or PROTOCOLS for way in given.way or WAYS]
    print(f"   {'store':10} {'the server sends':18} exit      MB      s   busy lines  message", flush=True)
    seen = []
    with ThreadPoolExecutor(given.at_once) as pool:
        for each in pool.map(lambda pair: see(*pair), pairs):
            print(each, flush=True)
            seen.append(each)
    good = sum(each.good for each in seen)
    most, longest = max(each.ended.megabytes for each in seen), max(each.ended.seconds for each in seen)
    print(f"{good} of {len(seen)}: exit 4, one message, <= {most:.0f} MB, <= {longest:.1f} s")
    return 0 if good == len(seen) else 1


if __name__ == "__main__":
    sys.exit(main())
