"""What all of our own tests stand on."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from storeproof.cleanup.registry import registry
from storeproof.experiments.correctness.drawn_constants import leave_out_constants_of_code
from storeproof.halt import halt
from storeproof.machine.garbage import without_garbage

# A start in the background (`nohup`, a script's `&`) has us ignore these, and our children after us: then no
# test could interrupt a run. What is set to Python's own handlers here, a child finds at the system's defaults.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

leave_out_constants_of_code()  # by default they are read before the first test: ten seconds of each worker

SERIAL = (
    # They assert how long something takes, or measure the processor that is left for them.
    "adapters/test_sqlite_host.py",
    "cli/test_decide_time.py",
    "end_to_end/test_interleaved.py",
    "experiments/performance",
    "load/test_ceiling.py",
    "load/test_client.py",
    "load/test_driver.py",
    "load/test_machine_speed.py",
    "load/test_noise_floor.py",
    "load/test_store.py",
    "load/wire/test_native_pump.py",
    "load/wire/test_relay.py",
    "machine/test_limits.py",
    # It looks at a port that was just free, which any other test may be given.
    "machine/test_ports.py",
)
"""Folders and files whose tests are marked `serial`: they run alone, after all others."""

SLOW = (
    # They run the suites as a user does: some seconds of processor time each.
    "cli/test_new_store.py",
    "end_to_end",
    "stubs",
    "vendor",
    # They strike a store again and again, start servers of their own, or draw whole reports.
    "adapters/test_mongodb_cluster.py",
    "adapters/test_postgresql_cluster.py",
    "adapters/test_redis_cluster.py",
    "adapters/test_tarantool_cluster.py",
    "cleanup",
    "disk",
    "experiments/durability/test_atomic_groups.py",
    "experiments/durability/test_load_shapes.py",
    "experiments/durability/test_replay.py",
    "experiments/durability/test_rounds.py",
    "experiments/durability/test_spoiled.py",
    "experiments/roles/test_joint_loads.py",
    "launch",
    "network",
    "nuisance",
    "load/hosts/test_hosts.py",
    "load/wire/test_engine.py",
    "report/test_html.py",
    "site/browser",
    "stats/test_ratio.py",
)
"""Folders and files whose tests are marked `slow`, beside those that are marked where they stand: the quick group leaves them out."""

_LONG = (
    *("mutants/durability", "mutants/test_lies.py", "stubs/test_couchbase_mock.py", "stubs/test_marklogic.py", "mutants"),
    *("end_to_end", "architecture", "nuisance", "stubs", "vendor", "load", "experiments"),
)
"""Folders and files that take longest: they are begun first, so that no processor waits for one of them in the end."""

_APART = ("test_the_suite_on_the_stand_in", "test_a_false_claim_is_caught_at_every_seed")
"""Long tests that share nothing with the others of their files."""


_HERE = Path(__file__).parent
_PLACES = {"serial": SERIAL, "slow": SLOW}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which `-m` takes no test is not imported: that takes longer than the tests of a small pass."""
    expression = config.option.markexpr
    if not collection_path.name.startswith("test_") or not collection_path.is_relative_to(_HERE) or re.search(r"[()]|\bor\b", expression):
        return None
    at, text = collection_path.relative_to(_HERE), collection_path.read_text()
    for term in expression.split(" and "):
        marker = term.removeprefix("not ")
        listed = any(at.is_relative_to(each) for each in _PLACES.get(marker, ()))
        if term != marker and (listed or re.search(rf"^pytestmark = .*\bmark\.{marker}\b", text, re.MULTILINE)):
            return True
        if term == marker == "serial" and not listed and "mark.serial" not in text:
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end."""
    with without_garbage():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow and what runs alone, before `-m` selects; and begin with what takes longest."""
    files = {item.path for item in items}
    if not all(path.is_relative_to(_HERE) for path in files):
        return  # the suites by their name, from this checkout: pytest finds this file then too
    places = {path: path.relative_to(_HERE) for path in files}

    def within(places_of: Iterable[str]) -> set[Path]:
        return {path for path, at in places.items() if any(at.is_relative_to(each) for each in places_of)}

    serial, slow = within(SERIAL), within(SLOW)
    turns = {path: next((turn for turn, each in enumerate(_LONG) if at.is_relative_to(each)), len(_LONG)) for path, at in places.items()}
    for item in items:
        if item.path in serial:
            item.add_marker(pytest.mark.serial)
        if item.path in slow:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: turns[item.path])


_SIGNALS = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
"""How this process takes signals before its first test."""
_FOLDER = Path.cwd()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """What a test does to its own process ends with it: signals that it sends, handlers that it leaves, the directory it changes to."""
    halt._waited = math.inf  # no run takes an interruption back
    registry.interrupt = None
    for number, handler in _SIGNALS.items():
        if signal.getsignal(number) not in (handler, registry._end):  # the registry takes signals from its first entry on
            signal.signal(number, handler)
    os.chdir(_FOLDER)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: two more than there are processors, since tests wait for servers to start and to end: with one more, two processors
    were idle for a quarter of the time."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`: a file's tests run in one process, which makes what its fixtures share once; the files in the order of the collection."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if test.partition("[")[0] in _APART:
                return nodeid
            if file.endswith("/test_lies.py"):  # one run for each kind of liar, the first parameter
                return file + test.partition("[")[2].partition("-")[0].rstrip("]")
            return file

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session")
def networks() -> None:
    """Skip where no network can be made."""
    from tests.network.network_rights import reason_without

    if (reason := reason_without()) is not None:
        pytest.skip(reason)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without plots, which take most of their time: for what is said in words. `report/test_html.py` has pages with all of them."""
    from storeproof.report import html

    pictures = "storeproof.report.pictures.of_result.Pictures"
    monkeypatch.setattr(f"{pictures}.of_report", lambda _: html._NOTHING_DRAWN)
    monkeypatch.setattr(f"{pictures}.of_workload", lambda _, measured: {"curves": [], "legend": []})
