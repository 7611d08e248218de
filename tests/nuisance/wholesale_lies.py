"""Runs all suites on stores that lie about everything in one way: `nox -s wholesale`.

One says no to every condition, one says yes to whatever can be answered so, one answers each request a second late, and one turns every
error into success. Each run must end by itself, without an `error`, and all but the late one, whose answers are right, with `fail`s. The
late one takes two hours, nearly all of which it waits: `--lie` chooses, and `-k` takes a part.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Final

from tests.mutants.endless.mutant_file import mutant_file

CHECKOUT: Final = Path(__file__).parents[2]
LIES: Final = ("no", "yes", "late", "ok")
RIGHT: Final = ("late",)
"""Those that answer right."""


def run(lie: str, folder: Path, selection: str) -> bool:
    """One run of all suites; prints how it ended, and returns whether so it should."""
    folder.mkdir(parents=True)
    began = monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(CHECKOUT / "suites"), "-p", "no:cacheprovider", "-q", "--seed=1", "--no-verify-settings"),
            *(f"--store={mutant_file(folder / 'mutant.yaml', [lie])}", "--report-dir=report", f"--data-dir={folder}", "-k", selection),
        ],
        cwd=folder,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    result = folder / "report" / "result.json"
    outcomes = [each for store in json.loads(result.read_text())["stores"] for each in store["outcomes"]] if result.exists() else []
    counts = Counter(each["outcome"] for each in outcomes)
    good = bool(outcomes) and not counts["error"] and (counts["fail"] > 0) is (lie not in RIGHT)
    print(f"{'ok' if good else 'NO'} {lie:5} {monotonic() - began:7.0f} s, exit {done.returncode}, {dict(counts)}", flush=True)
    for each in outcomes:
        if each["outcome"] == "error":
            print(f"   {each['id']}: {each['detail'].splitlines()[0]}")
    if not outcomes:
        print(done.stdout[-2000:] + done.stderr[-2000:])
    return good


def main() -> int:
    """All that were chosen; 0 if each ended as it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lie", action="append", choices=LIES, help="which; all by default")
    parser.add_argument("--at-once", type=int, default=2, help="runs side by side")
    parser.add_argument("-k", default="", help="cases, as pytest selects them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as base, ThreadPoolExecutor(given.at_once) as pool:
        return 0 if all(list(pool.map(lambda lie: run(lie, Path(base, lie), given.k), given.lie or LIES))) else 1


if __name__ == "__main__":
    sys.exit(main())
