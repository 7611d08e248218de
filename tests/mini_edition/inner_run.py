"""What a run of the suites inside a test is told beyond what a user can say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from storeproof.launch.forking import ForkedProcess, fork_server
from storeproof.launch.server_processes import inherited

CHECKOUT = Path(__file__).parents[2]


def told(
    spec_root: Path, *, pages: bool, cases: Mapping[str, Sequence[str]] | None = None, rounds: int | None = None, path: str = ""
) -> tuple[list[str], dict[str, str]]:
    """The arguments and the environment of such a run.

    Args:
        spec_root: the specification that is read.
        pages: the report is rendered, and not only `result.json` written.
        cases: by target (`store:variant`), the ids of the cases that are run; without it, what `-k` selects.
        rounds: of each fault; without it, as many as the scale has.
        path: what PYTHONPATH has besides.
    """
    plugins = ["spec_root"]
    environment = {"SPEC_ROOT_OF_THE_TEST": str(spec_root), "PYTHONPATH": os.pathsep.join(filter(None, [path, str(CHECKOUT)]))}
    if not pages:
        plugins.append("json_only")
    if cases is not None:
        plugins.append("chosen_cases")
        environment["CASES_OF_THE_TEST"] = json.dumps({target: list(chosen) for target, chosen in cases.items()})
    if rounds is not None:
        plugins.append("few_rounds")
        environment["ROUNDS_OF_THE_TEST"] = str(rounds)
    return [argument for name in plugins for argument in ("-p", f"tests.mini_edition.{name}")], environment


def fork_pytest(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], said: int) -> ForkedProcess:
    """Run pytest in a folder, in a process that has its modules loaded. For runs of which nothing is tested that happens while it starts.

    Args:
        arguments: of pytest.
        folder: where it runs.
        environment: beside that of every run.
        said: the descriptor of what it prints, to both streams.
    """
    server = fork_server({**inherited(), "PYTHONPATH": str(CHECKOUT)}, module="tests.mini_edition.fork_server")
    return server.start(["-m", "pytest", "-p", "no:cacheprovider", *arguments], folder, {**outer(), **environment}, said)


def outer() -> dict[str, str]:
    """The environment of this process, without the options of its run: they are none of the inner one's.

    pytest says more where it sees a CI; without bytecode the suites would be compiled in each run, for a second.
    """
    names = ("PYTEST_", "COV_", "CI", "BUILD_NUMBER", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(names)}


def run_to_the_end(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float = 900) -> tuple[int, str]:
    """The exit code of such a run, and what it printed. After `seconds` it is taken to hang."""
    with (folder / "said").open("w+") as said:
        process = fork_pytest(arguments, folder, environment, said.fileno())
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            raise
        said.seek(0)  # the process wrote where this descriptor is
        return code, said.read()
