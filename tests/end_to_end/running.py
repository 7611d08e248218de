"""Runs the suites as a user does: in a process of their own, with directories of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from storeproof.launch.forking import ForkedProcess
from tests.mini_edition.edition import all_cases, embedded_store, fitting, mini_edition
from tests.mini_edition.inner_run import CHECKOUT, fork_pytest, outer, told
from tests.spec.files import with_changes

SUITES = CHECKOUT / "suites"
SOME = "settings or key_access or guarantee"
"""Selects (`-k`) a few cases of two stages: what is the same for all cases shows in them, at a tenth of the cost."""
_MUTANTS = Path(__file__).parents[1] / "mutants"
_MARK = "STOREPROOF_TEST_RUN"
"""In the environment of a run and of what it starts, with the run's folder: so its processes are known from everybody else's."""


@dataclass
class Run:
    """One run of the suites, under way or over."""

    folder: Path
    process: subprocess.Popen[bytes] | ForkedProcess
    arguments: Sequence[str] = field(repr=False, default=())

    @property
    def said(self) -> str:
        """What it printed so far, to both streams."""
        return (self.folder / "said").read_text()

    @property
    def code(self) -> int:
        """Its exit code, waited for."""
        try:
            return self.process.wait(timeout=1200)  # far more than any takes, on a busy machine too
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            raise AssertionError(f"{self.arguments} did not end:\n{self.said}") from None

    @property
    def result(self) -> dict[str, Any]:
        """What it reported."""
        found: dict[str, Any] = json.loads((self.folder / "report" / "result.json").read_text())
        return found

    @property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """The outcomes of the only store of the run, by id."""
        (store,) = self.result["stores"]
        return {outcome["id"]: outcome for outcome in store["outcomes"]}

    @property
    def counted(self) -> dict[str, int]:
        """How many of each outcome, without zeros."""
        (store,) = self.result["stores"]
        return {outcome: number for outcome, number in store["counts"].items() if number}


def start(
    folder: Path,
    *arguments: str,
    suites: str = "",
    environment: Mapping[str, str] | None = None,
    piped: bool = False,
    whole: bool = False,
    edition: Path | None = None,
    pages: bool = False,
    cases: Mapping[str, Sequence[str]] | None = None,
    rounds: int | None = None,
    forked: bool = False,
) -> Run:
    """Start a run that keeps its report, its data and its temporary files under `folder`, which is made.

    Args:
        piped: what it says comes out of `process.stdout`, and is not in a file.
        whole: all cases of the specification are there, and not only the mini-edition.
        edition: the folder of another edition than these two.
        pages: the report is rendered, and not only `result.json` written.
        cases: by target (`store:variant`), the ids of the cases that are run; without it, what `-k` selects.
        rounds: of each fault; without it, as many as the scale has.
        forked: in a process that has its modules loaded, where Python is told nothing that it has to know before.
    """
    for name in ("data", "temporary"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # Without a data directory of ours, the container's data is in a volume: that is the common case.
    elsewhere = any(each == "--launch=container" or each.startswith("--disk=") for each in arguments)
    data = [] if elsewhere else [f"--data-dir={folder / 'data'}"]
    given = environment or {}
    chosen = edition or (all_cases() if whole else mini_edition())
    plugins, own = told(chosen, pages=pages, cases=cases, rounds=rounds, path=given.get("PYTHONPATH", ""))
    words = [
        *(str(SUITES / suites), "--seed=1", *plugins),
        *(f"--report-dir={folder / 'report'}", *data, *arguments),
    ]
    told_python = any(name.startswith("PYTHON") for name in given)
    own = {_MARK: str(folder), "TMPDIR": str(folder / "temporary"), "PYTHONUNBUFFERED": "1", **given, **own}
    with (folder / "said").open("wb") as file:
        if forked and not told_python:
            return Run(folder, fork_pytest(words, folder, own, file.fileno()), arguments)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
        said = subprocess.PIPE if piped else file
        process = subprocess.Popen(command, cwd=folder, env=outer() | own, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
    return Run(folder, process, arguments)


def struck(case: str, number: signal.Signals, seconds: float, victim: str) -> dict[str, str]:
    """The environment of a run that is disturbed by `striking`, which must be given as `-p striking`."""
    return {"STRIKE": f"{case}:{number.name}:{seconds}:{victim}", "PYTHONPATH": str(Path(__file__).parent)}


def run(folder: Path, *arguments: str, **how: Any) -> Run:
    """Run to the end; `how` is that of `start`."""
    running = start(folder, *arguments, **how, forked=True)
    assert running.code is not None
    return running


def run_all(folder: Path, lines: Sequence[Sequence[str]], **how: Any) -> list[Run]:
    """Run to the end as many command lines, a few at a time, each in a folder of its own; `how` is that of `start`."""
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda numbered: run(folder / str(numbered[0]), *numbered[1], **how), enumerate(lines)))


def store_file(path: Path, *changes: tuple[str, str], whole: bool = False) -> Path:
    """The embedded store's own file, with changes; `whole`: as it is for the project's specification, and not for the mini-edition."""
    text = with_changes(embedded_store(), changes)
    path.write_text(text if whole else fitting(text))
    return path


def lying_store(folder: Path, mutant: str, *changes: tuple[str, str], whole: bool = False) -> str:
    """The option that tries a mutant of `tests/mutants`; `whole` as for `store_file`."""
    (module,) = _MUTANTS.rglob(f"{mutant}.py")
    adapter = ("adapter: sqlite\n", f"adapter: {module}\n")
    name = ("store: sqlite\n", f"store: {mutant.replace('_', '-')}\n")
    return f"--store={store_file(folder / f'{mutant}.yaml', name, adapter, *changes, whole=whole)}"


def left_behind(folder: Path) -> list[str]:
    """What a run left: processes, mounts, shared memory, and files where there should be none."""
    ours = f"{_MARK}={folder}"

    def belongs(process: psutil.Process) -> bool:
        environment = Path(f"/proc/{process.pid}/environ").read_text(errors="replace").split("\0")
        return ours in environment or process.cwd().startswith(f"{folder}/")

    found = [str(process) for process in _processes(belongs)]
    found += [line for line in Path("/proc/mounts").read_text().splitlines() if f" {folder}/data/" in line]
    found += [str(path) for name in ("data", "temporary") for path in (folder / name).rglob("*")]
    expected = {"data", "temporary", "said", "report", ".hypothesis", ".benchmarks", "__pycache__"}
    return found + [str(path) for path in folder.iterdir() if path.name not in expected and path.suffix not in (".yaml", ".py")]


def leaves_nothing(folder: Path) -> None:
    """Assert so. The reaper takes a moment to see that its run has ended."""
    wait_for(lambda: not left_behind(folder), 10, lambda: f"left behind: {left_behind(folder)}")


def wait_for(condition: Callable[[], Any], seconds: float = 30, complaint: Callable[[], str] = lambda: "waited in vain") -> Any:
    """Wait until the condition holds, and return what it returned."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, complaint()
        time.sleep(0.02)
    return value


def _processes(wanted: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    """The running processes that are wanted, other than pytest: those that end while we look are not."""
    found = []
    for process in psutil.process_iter():
        try:
            if "pytest" not in process.cmdline() and wanted(process):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found
