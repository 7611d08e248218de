"""The suites and experiments have one kind of thread: it ends with its case, and is not waited for longer than that may take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.installed import CHECKOUT

FOLDERS = ("suites", "storeproof/experiments")
MAKES_THEM = "storeproof/experiments/client_threads.py"


def others(source: str) -> Iterator[int]:
    """The lines that name another kind of thread, or join one without a limit."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="concurrent.futures") | ast.Attribute(attr="Thread", value=ast.Name(id="threading")):
                yield node.lineno
            case ast.Import(names=names) if any(each.name == "concurrent.futures" for each in names):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="join", value=value), args=[], keywords=[]) if not isinstance(value, ast.Constant):
                yield node.lineno


def test_no_case_waits_for_a_thread_without_an_end() -> None:
    """A thread pool waits for its threads, also where a signal ends the run, and again when the interpreter ends."""
    files = [path for folder in FOLDERS for path in sorted((CHECKOUT / folder).rglob("*.py"))]
    assert len(files) > 60
    found = [f"{name}:{line}" for path in files if (name := _name(path)) != MAKES_THEM for line in others(path.read_text())]
    # Rounds of a load engine, which give up by themselves.
    assert [each for each in found if not each.startswith("storeproof/experiments/performance/workload_runner.py:")] == []


def test_the_check_sees_each_of_them() -> None:
    """Each is found, and nothing else."""
    assert list(others("from concurrent.futures import ThreadPoolExecutor")) == [1]
    assert list(others("import concurrent.futures")) == [1]
    assert list(others("import threading\nthreading.Thread(target=print)")) == [2]
    assert list(others("thread.join()")) == [1]
    assert not list(others("', '.join(words); thread.join(0.1); threading.Event().wait()"))


def _name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))
