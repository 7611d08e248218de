"""`storeproof picture`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storeproof.report.answer_table import answer_table
from storeproof.report.durability_cost import durability_cost
from storeproof.report.pictures.answer import draw_answer
from storeproof.result.json_file import read_result
from storeproof.result.terminal_safe import shown_of
from storeproof.spec import load_spec


def picture(
    path: Path, speeds: Path | None, workloads: Sequence[str], output: Path, *, narrow: bool, cost_of_durability: str | None
) -> None:
    """Draw the roles and losses of one result, with the throughput of another result or of the same one; or what durability costs.

    Raises:
        UsageError: a result cannot be read, has nothing to draw, or the picture cannot be written.
    """
    result = shown_of(read_result(path))
    if cost_of_durability is not None:
        draw_answer(durability_cost(result, cost_of_durability), output, narrow=narrow)
        return
    other = shown_of(read_result(speeds)) if speeds else result
    titles = {name: each.title for name, each in load_spec().capabilities.items()}
    draw_answer(answer_table(result, other, workloads, titles), output, narrow=narrow)
