"""What a run of the suites inside a test is told beyond what a user can say."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

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
