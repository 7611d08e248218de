"""The time of an answer at n, 10 n and 100 n records, with indexes and without: an index lookup or a full scan."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storeproof.contract import Collection, Layout, call
from storeproof.contract.notation import arguments_from
from storeproof.experiments.case_collections import OpenCollection, fill
from storeproof.experiments.performance.loaded_collection import refuse_without_indexes
from storeproof.outcome import SHOWN, Lack, Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.capabilities import deciding_cases_of
from storeproof.result.measured.case_records import SUBLINEAR, Lacked, ScalingRecord
from storeproof.result.running_case import CaseResult, EndCase
from storeproof.spec import Scaling, ScalingQuestion
from storeproof.store_under_test import StoreUnderTest

_FACTORS = (1, 10, 100)
_TIMES = 7
"""How often each question is asked; the median counts."""
_SECONDS = 2.0
"""A question that takes longer in all is not asked as often."""
_BATCH = 1000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = [
        pytest.param(scaling, indexes, id=f"{name}-{indexes}i", marks=pytest.mark.case(id=f"growth.{name}/{indexes}i", model=scaling.model))
        for name, scaling in suite_run(metafunc.config).spec.scaling.items()
        for indexes in (0, scaling.indexes)
    ]
    metafunc.parametrize(("scaling", "indexes"), cases)


def test_scaling(scaling: Scaling, indexes: int, sut: StoreUnderTest, case_result: CaseResult, fresh: OpenCollection) -> None:
    """Each question is timed at every size; an answer of another size than it should be ends the measurement."""
    if scaling.model not in sut.target.store.claims.models:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not support {scaling.model}")
    refuse_without_indexes(sut, indexes)
    tried = [question for question in scaling.questions if (cases := _outcomes(sut, question)) and all(cases)]
    proven = [question for question in tried if all(outcome in SHOWN for case in _outcomes(sut, question) for outcome in case)]
    if not proven:
        if len(tried) < len(scaling.questions):
            raise EndCase(
                Outcome.NOT_RUN,
                "not every question was verified; run the correctness stage with it, or cite a run that did (--proof)",
                Lacked(what=Lack.VERIFIED_QUESTIONS),
            )
        case_result.settle(Outcome.UNSUPPORTED, "the store answers none of the requests")
    collection, layout = fresh(scaling.model, indexes)
    sizes = [sut.scale.performance.scaling_records * factor for factor in _FACTORS]
    seconds: dict[int, list[float]] = {}
    for filled, size in itertools.pairwise((0, *sizes)):
        sut.progress(f"growth with {indexes} indexes: {size:,} records")
        for start in range(filled, size, _BATCH):
            fill(collection, layout, {f"k{number:08}": record(number) for number in range(start, min(start + _BATCH, size))}, _BATCH)
        seconds[size] = [_median_seconds(collection, layout, question) for question in proven]
    for number, question in enumerate(proven):
        times = {str(size): measured[number] for size, measured in seconds.items()}
        factor = seconds[sizes[-1]][number] / seconds[sizes[0]][number]
        sublinear = factor < SUBLINEAR
        sut.record.scaling.append(
            ScalingRecord(capability=question.capability, indexes=indexes, seconds=times, factor=factor, sublinear=sublinear)
        )
    case_result.add(f"{len(proven)} of {len(scaling.questions)} requests at {', '.join(f'{size:,}' for size in sizes)} records")


def record(number: int) -> dict[str, Any]:
    """The product of that number: `spec/growth/products.yaml` says what depends on it."""
    ten = f"c{number // 10:06}"
    return {
        "name": f"n{number:07}",
        "color": ten,
        "price": number / 4,
        "stock": number,
        "active": number % 2 == 0,
        "added": (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tags": ["all", ten],
        "maker": {"name": f"m{number % 7}", "country": ten},
        "reviews": [{"by": f"b{number % 5}", "stars": number % 5 + 1}],
    }


def _outcomes(sut: StoreUnderTest, question: ScalingQuestion) -> list[list[Outcome]]:
    """What became of each case of the capability, in this run or in the one that is cited: no speed without proof."""
    cases = deciding_cases_of(question.capability, sut.record.verified(), sut.spec).values()
    return [[each.outcome for each in case] for case in cases]


def _median_seconds(collection: Collection, layout: Layout, question: ScalingQuestion) -> float:
    """The median of some answers in seconds, after one that is not counted: it fills caches and makes plans."""
    args = arguments_from(layout.model, question.do, question.args)
    times = []
    end = time.monotonic() + _SECONDS
    for _ in _repeat_until(end):
        began = time.perf_counter()
        found = call(collection, layout, question.do, *args)
        times.append(time.perf_counter() - began)
        size = found if question.do == "count_where" else len(found)
        assert size == question.answer, f"{question.capability}: {size} instead of {question.answer} in the answer"
    return statistics.median(times[1:] or times)


def _repeat_until(end: float) -> Iterator[int]:
    for number in range(_TIMES + 1):
        if number > 1 and time.monotonic() > end:
            return
        yield number
