"""`storeproof picture`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.report.answer_table import answer_table
from storeproof.report.durability_cost import durability_cost
from storeproof.report.pictures.answer import draw_answer
from storeproof.result.terminal_safe import read_shown
from storeproof.spec import load_spec


def picture(
    paths: Sequence[Path], speeds: Path | None, workloads: Sequence[str], output: Path, *, narrow: bool, cost_of_durability: str | None
) -> None:
    """Draw the roles and losses of results, with the throughput of another one or of the only one; or what durability costs.

    Raises:
        UsageError: a result cannot be read, has nothing to draw, or the picture cannot be written; or it is not said whose throughput is
            drawn.
    """
    first, *more = [read_shown(path) for path in paths]
    measured = any(store.measurements for each in (first, *more) for store in each.stores)
    if more and speeds is None and (measured or cost_of_durability is not None):
        raise UsageError("several results: whose throughput is drawn? Name it with --speeds")
    other = read_shown(speeds) if speeds else first
    if cost_of_durability is not None:
        draw_answer(durability_cost([first, *more], other, cost_of_durability), output, narrow=narrow)
        return
    titles = {name: each.title for name, each in load_spec().capabilities.items()}
    draw_answer(answer_table([first, *more], other, workloads, titles), output, narrow=narrow)
