"""The published results, each read once, and what the pages print of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from storeproof import units
from storeproof.outcome import SHOWN
from storeproof.result.compare import Side, pair_of, sides_of
from storeproof.result.json_file import read_result
from storeproof.result.measured.cluster_round import ClusterRoundRecord
from storeproof.result.measured.lost import Lost, lost_by
from storeproof.result.measurement import Measurement
from storeproof.result.model import GuaranteeRecord, Result, StoreResult
from tests.architecture.installed import CHECKOUT

REPORTS = CHECKOUT / "reports"
CLUSTER_FAULTS = (
    "lagging_node_wipe", "kill_primary", "second_primary", "isolate_primary", "pause_primary", "deaf_primary", "split_all", "lossy_links",
    "slow_links",
)  # fmt: skip
"""In the order of the columns."""


@cache
def run(name: str) -> Result:
    """By the end of its folder's name, which no other has."""
    (folder,) = [each for each in REPORTS.iterdir() if each.name == name or each.name[len("2026-11-27-") :] == name]
    return read_result(folder)


@cache
def sides(name: str) -> dict[str, Side]:
    """By `store:variant`."""
    return {side.name: side for side in sides_of(run(name))}


def store(name: str, target: str) -> StoreResult:
    """`target`: `store:variant`."""
    return sides(name)[target].store


def struck(name: str, target: str, guarantee: str) -> GuaranteeRecord:
    """What a fault did."""
    (found,) = [each for each in store(name, target).durability.guarantees if each.guarantee == guarantee]
    return found


def lost(name: str, target: str, guarantee: str) -> Lost:
    """What a fault cost."""
    return lost_by(struck(name, target, guarantee))


def numbers(name: str) -> list[tuple[StoreResult, Measurement]]:
    """All of a run."""
    return [(each, measured) for each in run(name).stores for measured in each.measurements]


def number(name: str, target: str, workload: str, clients: int = 50) -> Measurement:
    """The plainest of a workload."""
    (found,) = [
        each for each in store(name, target).measurements
        if (each.workload, each.clients, each.indexes, each.pipeline, each.record, each.rate) == (workload, clients, 0, 1, "", None)
    ]  # fmt: skip
    return found


def times(name: str, one: str, other: str, workload: str, clients: int = 50, about: Sequence[str] = ()) -> float:
    """The ratio of two stores, of which one is shown to be faster."""
    a, b = sides(name)[one], sides(name)[other]
    found = pair_of(a, number(name, one, workload, clients), b, number(name, other, workload, clients), about)
    assert found.ratio is not None, found.refused
    assert found.faster, found.verdict
    return found.ratio.middle


def machine(*names: str) -> str:
    """Scale, edition, cores and syncs of runs, as the first table has them."""
    found = [run(name) for name in names]
    ((scale, edition, cores),) = {(each.run.scale, each.edition.name, each.environment.cores) for each in found}
    syncs = sorted({each.environment.fsync_us or 0 for each in found})
    least, most = _micros(syncs[0]), _micros(syncs[-1])
    joined = least if len(syncs) == 1 else f"{least} {'and' if len(syncs) == 2 else 'to'} {most}"
    return f"{scale} | {edition} | {cores} | {joined.replace(' µs ', ' ') if most.endswith('µs') else joined} |"


def _micros(value: float) -> str:
    return units.seconds(value / 1e6) if value < 1000 else f"{value / 1000:.2g} ms"


def minutes(*names: str) -> str:
    """How long runs took."""
    return _listed([f"{run(name).run.seconds / 60:.0f}" for name in names])


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def cluster_row(name: str, target: str) -> str:
    """A line of the table of clusters, but for rounds of which the page says more."""
    records = [struck(name, target, guarantee) for guarantee in ("node_loss", "partition")]
    rounds = [each for record in records for each in record.cluster_rounds]
    cells = [_undone([each for each in rounds if each.fault == fault]) for fault in CLUSTER_FAULTS]
    told = [lost_by(each) for each in records]
    taken = sorted(second for record in records for second in record.recovery_seconds)
    middle = (taken[len(taken) // 2] + taken[(len(taken) - 1) // 2]) / 2
    total = f"{sum(each.acknowledged for each in told):,} | {sum(each.operations for each in told):,}"
    return f"| `{target}` | {' | '.join(cells)} | {total} | {middle:.1f}, {taken[-1]:.1f} |"


def _undone(rounds: Iterable[ClusterRoundRecord]) -> str:
    """In how many rounds acknowledged writes were undone, and how many in each."""
    found = sorted(each.lost for each in rounds if each.lost)
    if not found:
        return "0"
    between = {1: f"{found[0]:,}", 2: f"{found[0]:,} and {found[-1]:,}"}.get(len(found), f"{found[0]:,} to {found[-1]:,}")
    return f"{len(found)} ({between})"


def shown(target: StoreResult) -> int:
    """Capabilities that it was shown to have."""
    return sum(each.outcome in SHOWN for each in target.capabilities)
