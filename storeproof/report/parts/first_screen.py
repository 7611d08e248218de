"""A row of the site's first screen, as a result says it and as the site shows it."""

from __future__ import annotations

from storeproof.report.formatting import name_of
from storeproof.report.parts.losses import Loss, losses_of
from storeproof.report.parts.roles import ProfileAnswer, role_of
from storeproof.report.parts.speeds import SpeedColumn, speed_columns
from storeproof.result.measured.first_screen import FaultSummary, FirstScreen, RoleSummary, SpeedSummary
from storeproof.result.model import Result, StoreResult
from storeproof.result.needs.servers import tried
from storeproof.result.product import short_product


def with_first_screen(result: Result) -> Result:
    """The result, with the row of each store."""
    columns = speed_columns(result)
    return result.model_copy(
        update={"stores": [each.model_copy(update={"first_screen": first_screen(each, columns)}) for each in result.stores]}
    )


def first_screen(store: StoreResult, columns: tuple[SpeedColumn, ...]) -> FirstScreen:
    """Its row. `columns`: the speeds of its run."""
    name, any_tried = name_of(store), bool(tried(store))
    return FirstScreen(
        product=short_product(store.title, store.version),
        version=store.product,
        tried=any_tried,
        roles={each.profile: role_summary(role_of(each)) for each in store.profiles if any_tried},
        losses={guarantee: fault_summary(loss) for guarantee, loss in losses_of(store).items()},
        speeds={each.workload: speed_summary(each, name) for each in columns if name in each.cells},
        apart={each.workload: each.apart[name] for each in columns if name in each.apart},
    )


def role_summary(role: ProfileAnswer) -> RoleSummary:
    return RoleSummary(verdict=role.verdict, failed=role.broken, lacking=role.lacks, open=len(role.open), looser=role.looser)


def fault_summary(loss: Loss) -> FaultSummary:
    return FaultSummary(
        state=loss.state,
        promised=loss.promised,
        rounds=loss.record.rounds,
        text=loss.text,
        changed=loss.changed,
        succession=loss.succession if loss.failover else "",
        failover=loss.failover and (_short(loss.failover[0]), _short(loss.failover[1])),
    )


def speed_summary(column: SpeedColumn, name: str) -> SpeedSummary:
    """Of `store:variant`."""
    measured = column.cells[name]
    rate = measured.throughput
    return SpeedSummary(
        clients=column.clients,
        rate=_short(rate.median),
        low=_short(rate.low),
        high=_short(rate.high),
        grade=measured.grade,
        p99=None if measured.latency_us.p99 is None else round(measured.latency_us.p99),
        at_least=measured.at_least,
        drifting=measured.trend.drifting,
        invalid=measured.invalid or (None if rate.median else ["no answer"]),
    )


def _short(number: float) -> float:
    """Five digits that matter: the fifth is far below every interval."""
    return float(f"{number:.5g}")
