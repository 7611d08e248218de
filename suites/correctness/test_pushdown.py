"""Pushdown: the bytes that the client receives for a fixed answer do not grow with the collection or the record.

A client that filters, sorts, counts or projects for the store must receive the data it works on. A proxy counts the bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from storeproof.contract import Collection, Json, Layout, Refused, Unsupported, call
from storeproof.contract.notation import arguments_from, shown
from storeproof.experiments.case_collections import fill
from storeproof.experiments.waiting_writes import carry_out
from storeproof.launch.proxy import CountingProxy, counting
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import ATTEMPTS, CaseResult
from storeproof.spec import Capability, Step
from storeproof.spec.cases import PUSHDOWN
from storeproof.store_under_test import StoreUnderTest

_FEW, _MANY = 100, 1000
"""Records beside those that are asked for, of about 150 bytes."""
_BATCH = 100
_SMALL, _LARGE = 200, 20_000
"""Bytes of a record beside the part that is asked for."""
_TOLERANCE = 512
"""Bytes by which two answers may differ: counts with more digits."""
_TIMES = 3
"""How often each question is asked; the least counts. What a driver's heartbeat brings on its own connection only adds to it."""


@dataclass
class Received:
    """What came for the questions of one capability. What the store does not support is left out."""

    bytes: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """By number and request, which is shortened: of its answers, the first among few and the last among many records."""
    refused: list[str] = field(default_factory=list)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "capability" in metafunc.fixturenames:
        asking = {name: capability for name, capability in suite_run(metafunc.config).spec.capabilities.items() if capability.questions}
        cases = [
            pytest.param(
                name,
                id=f"{name}/{PUSHDOWN}",
                marks=pytest.mark.case(id=f"capabilities.{name}/{PUSHDOWN}", model=capability.model, capability=name),
            )
            for name, capability in asking.items()
        ]
        metafunc.parametrize("capability", cases)


class Measured:
    """What came for every question about a model, measured in one go: the records are the same for all."""

    def __init__(self, sut: StoreUnderTest) -> None:
        self._sut = sut
        self._found: dict[str, dict[str, Received]] = {}
        self._failed: dict[str, list[Exception]] = defaultdict(list)

    def of(self, capability: str) -> Received:
        """Those of one capability.

        A measurement that failed is done again for the next case, so that one timeout does not end them all; but not forever.
        """
        model = self._sut.spec.capabilities[capability].model
        failures = self._failed[model]
        if model not in self._found:
            if len(failures) == ATTEMPTS:
                raise failures[-1]
            try:
                self._found[model] = _measure_all(self._sut, model, self._asking(model))
            except Exception as reason:
                failures.append(reason)
                raise
        return self._found[model][capability]

    def _asking(self, model: str) -> dict[str, Capability]:
        return {name: each for name, each in self._sut.spec.capabilities.items() if each.questions and each.model == model}


@pytest.fixture(scope="module")
def measured(sut: StoreUnderTest) -> Measured:
    """Of the models that are asked about in this module."""
    return Measured(sut)


def test_an_answer_does_not_grow_with_the_data(capability: str, measured: Measured, sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The bytes of an answer depend on the request, not on the amount of stored data: the store does the work."""
    _of_a_kept_model(sut.spec.capabilities[capability].model, sut, case_result)
    answers = measured.of(capability)
    if answers.refused:
        case_result.end(Refused("\n".join(answers.refused)))
    if not answers.bytes:
        case_result.settle(Outcome.UNSUPPORTED, "the store supports none of the requests")
    grown = [
        f"{request}: {few:,} bytes, then {many:,}" for (_, request), (few, *_, many) in answers.bytes.items() if many > few + _TOLERANCE
    ]
    assert not grown, "\n".join([f"the bytes of these answers grew when the other records grew from {_FEW} to {_MANY}:", *grown])
    case_result.add(f"{len(answers.bytes)} answers; none grew when the other records grew from {_FEW} to {_MANY}")


@pytest.mark.parametrize(
    ("model", "operation", "args"),
    [
        pytest.param(
            model, operation, args, marks=pytest.mark.case(id=f"pushdown.{operation}/{model}", model=model, operations=(operation,))
        )
        for model, operation, args in (
            ("hash10", "get_field", ("h", "field0")),
            ("hash10", "set_field", ("h", "field0", b"new")),
            ("hash10", "delete_field", ("h", "field0")),
            ("hash10", "get_fields", ("h", ["field0", "field2"])),
            ("hash10", "set_fields", ("h", {"field0": b"new", "field2": b"new"})),
            ("nested", "get_path", ("h", ("name",))),
            ("nested", "set_path", ("h", ("name",), "new")),
            ("nested", "unset_path", ("h", ("name",))),
            ("nested", "get_paths", ("h", [("name",), ("orders",)])),
            ("nested", "set_paths", ("h", {("name",): "new", ("orders",): []})),
            ("nested", "exists", ("h",)),
        )
    ],
)
def test_a_part_does_not_grow_with_the_record(
    model: str, operation: str, args: tuple[Any, ...], sut: StoreUnderTest, case_result: CaseResult
) -> None:
    """Reading or changing a part of a record transfers only that part, however large the record is."""
    _of_a_kept_model(model, sut, case_result)
    with counting(sut.shared().address) as proxy:
        session = sut.connect(proxy.address)
        layout = sut.layout(model)
        collection = session.collection(layout)
        collection.prepare()
        try:
            moved = []
            for size in (_SMALL, _LARGE):
                record = {"field0": b"part", "field1": b"x" * size} if model == "hash10" else {"name": "part", "profile": "x" * size}
                call(collection, layout, "put", "h", record)
                carry_out(session, [layout])
                before = proxy.to_client + proxy.to_store
                call(collection, layout, operation, *args)
                moved.append(proxy.to_client + proxy.to_store - before)
        except Unsupported as reason:
            case_result.settle(Outcome.UNSUPPORTED, str(reason))
        finally:
            collection.clear()
            session.close()
    assert moved[1] <= moved[0] + _TOLERANCE, (
        f"{operation} transferred {moved[0]:,} bytes, and {moved[1]:,} after the rest of the record had grown"
    )


def _of_a_kept_model(model: str, sut: StoreUnderTest, case_result: CaseResult) -> None:
    sut.shared()  # a store that is not to be had was not asked, and is `not_run`
    if model not in sut.target.store.claims.models:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {model}")


def _measure_all(sut: StoreUnderTest, model: str, asking: Mapping[str, Capability]) -> dict[str, Received]:
    found = {name: Received() for name in asking}
    layout = sut.layout(model)
    with counting(sut.shared().address) as proxy:
        session = sut.connect(proxy.address)
        collection = session.collection(layout)
        collection.prepare()
        try:
            for given in {capability.dataset for capability in asking.values() if capability.dataset}:
                for key, record in sut.spec.datasets[given].records.items():
                    call(collection, layout, "put", *arguments_from(layout.model, "put", (key, record)))
            for numbers in (range(_FEW), range(_FEW, _MANY)):
                filler = _ARTICLE if model == "corpus" else _FILLER
                fill(collection, layout, dict.fromkeys((f"z{number:05}" for number in numbers), filler), _BATCH)
                for name, each in asking.items():
                    _ask(collection, layout, each.questions, proxy, found[name])
        finally:
            collection.clear()
            session.close()
    return found


def _arguments_of(step: Step, model: str) -> tuple[Any, ...]:
    """A step's arguments.

    Articles are asked for by words, which the filler has not. Other records are wanted without it; counts, groups and facets over
    it too: one group more is all it adds.
    """
    if model == "corpus" or step.do not in ("find", "find_joined"):
        return step.args
    written = dict(step.args[0]) if step.args else {}
    asked = [written["filter"]] if written.get("filter") is not None else []
    return {**written, "filter": {"and": [["maker.country", "ne", "XX"], *asked]}}, *step.args[1:]


_FILLER: dict[str, Json] = {
    "name": "filler",
    "color": "none",
    "price": 1.25,
    "stock": 7,
    "active": True,
    "added": "2026-05-05T05:05:05Z",
    "tags": ["filler"],
    "maker": {"name": "nobody", "country": "XX"},
    "reviews": [{"by": "ann", "stars": 5}],
}
"""All alike: the number of groups and of values does not grow with them."""

_ARTICLE: dict[str, Json] = {
    "language": "en",
    "title": "Padding",
    "body": "No query asks about this. It takes room, no more, so that what is asked about stands among much else; so it is this long",
    "categories": ["padding"],
    "published": "2026-05-05T05:05:05Z",
}
"""The same among articles."""


def _ask(collection: Collection, layout: Layout, questions: Iterable[Step], proxy: CountingProxy, found: Received) -> None:
    for number, step in enumerate(questions):
        args = arguments_from(layout.model, step.do, _arguments_of(step, layout.model.model))
        request = shown(step.do, args)
        sizes = []
        try:
            for _ in range(_TIMES):
                before = proxy.to_client
                call(collection, layout, step.do, *args)
                sizes.append(proxy.to_client - before)
        except Unsupported:
            continue
        except Refused as reason:
            found.refused.append(f"{request}: {reason}")
            continue
        found.bytes[number, request].append(min(sizes))
