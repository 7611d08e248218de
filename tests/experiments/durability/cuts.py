"""Power cuts over the settings that claim to survive them: how many, what was lost, and how long a cut and the restart take.

Not collected by pytest, since it takes ten minutes: `nox -s cuts`, or `python -m tests.experiments.durability.cuts --cuts 200` as root.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from storeproof.check import ANOMALIES
from storeproof.contract import call
from storeproof.records.self_verifying import recipe, write_id
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

STRONG = (
    "sqlite:wal-full",
    "sqlite:delete-extra",
    "redis:aof-always",
    "postgresql:synchronous-commit-on",
    "mariadb:innodb-flush-1",
    "mongodb:journaled",
)
"""All that claim power_loss, a setting for each way to claim it. Tarantool 2.6 is a known failure, and has its place in the reports."""

_SUITES = Path(__file__).parents[3] / "suites" / "durability" / "test_guarantees.py"
_WRITTEN = 50
_TIMED = 5


def run(stores: Sequence[str], seed: int, folder: Path) -> dict[str, dict[str, int]]:
    """One run of the suite: by store, what its record of power_loss counts."""
    command = [sys.executable, "-m", "pytest", str(_SUITES), "-q", "-p", "no:cacheprovider", "-k", "power_loss", "--launch=process"]
    command += [f"--store={store}" for store in stores] + [f"--seed={seed}", f"--report-dir={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (folder / "result.json").exists():
        sys.exit(done.stdout + done.stderr)
    counted = {}
    for store in json.loads((folder / "result.json").read_text())["stores"]:
        (record,) = store["durability"]["guarantees"]
        wrong = sum(record[name] for name in ANOMALIES) + (record["outcome"] != "pass")
        cuts = record["rounds"] + record["second_faults"]
        counted[f"{store['store']}:{store['variant']}"] = {"cuts": cuts, "acknowledged": record["acknowledged"], "wrong": wrong}
        if wrong:
            print(f"seed {seed}, {store['store']}: {record['outcome']}: {record['detail']}", flush=True)
    return counted


def timed(store: str) -> tuple[float, float, float]:
    """Milliseconds, medians: of a cut, of the start after it, and of a start after a clean stop, which is the store's own."""
    spec = SHIPPED
    (target,) = spec.targets([store])
    sut = StoreUnderTest(spec, target, Options(scale=spec.scales["smoke"], seed=1, launch="process"), lambda _: None)
    handle = sut.launch("the cuts", on_volume=True)
    cuts, starts, own = [], [], []
    try:
        layout = sut.layout("single_key")
        session = sut.connect(handle)
        session.collection(layout).prepare()
        session.close()
        handle.quiesce()
        for number in range(_TIMED):
            handle.stop()
            own.append(handle.start())
            session = sut.connect(handle)
            collection = session.collection(layout)
            for each in range(_WRITTEN):
                key = recipe(layout.model).key(number * _WRITTEN + each)
                call(collection, layout, "put", key, recipe(layout.model).make(key, write_id(0, each)))
            began = time.monotonic()
            handle.cut_power()
            cuts.append(time.monotonic() - began)
            session.close()
            starts.append(handle.start())
    finally:
        handle.close()
    return tuple(1000 * statistics.median(each) for each in (cuts, starts, own))  # type: ignore[return-value]


def main() -> None:
    """Cut until there were as many as asked for; print a table, and fail where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=200, help="at least this number over all stores")
    wanted = parser.parse_args().cuts
    total: dict[str, dict[str, int]] = {}
    seed = 0
    while sum(each["cuts"] for each in total.values()) < wanted:
        seed += 1
        with tempfile.TemporaryDirectory() as folder:
            for store, counts in run(STRONG, seed, Path(folder)).items():
                before = total.setdefault(store, dict.fromkeys(counts, 0))
                total[store] = {name: before[name] + number for name, number in counts.items()}
    print("| store | cuts | acknowledged | false alarms | cut, ms | start after it, ms | its own start, ms | both beyond that, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for store, counts in total.items():
        cut, start, own = timed(store)
        beyond = max(0.0, cut + start - own)
        row = (counts["cuts"], f"{counts['acknowledged']:,}", counts["wrong"], *(f"{each:.0f}" for each in (cut, start, own, beyond)))
        print(f"| {store} | {' | '.join(map(str, row))} |", flush=True)
    wrong = sum(each["wrong"] for each in total.values())
    print(f"{sum(each['cuts'] for each in total.values())} cuts in {seed} runs, {wrong} false alarms")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
