"""Values of every size in the specification, and the limits beyond which a store refuses."""

from __future__ import annotations

import random

import pytest

from storeproof.contract import Refused, call
from storeproof.experiments.case_collections import OpenCollection
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
from storeproof.spec.model import Value
from storeproof.store_under_test import StoreUnderTest

_KEY_LENGTHS = (1, 64, 200, 250, 251, 255, 256, 512, 768, 1000, 1024, 2000, 4096, 16384, 65536)
"""Bytes of a key; around the limits that stores are known to have."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "size" not in metafunc.fixturenames:
        return
    spec = suite_run(metafunc.config).spec
    metafunc.parametrize(
        ("model", "size"),
        [
            pytest.param(
                model.model,
                size,
                id=f"{model.model}-{size}",
                marks=pytest.mark.case(id=f"sizes.{model.model}/{size}", model=model.model, operations=("put", "get")),
            )
            for model in spec.models.values()
            if isinstance(model.record, Value)
            for size in model.record.sizes
        ],
    )


def test_value_of_size(model: str, size: int, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """A value of this size is read back unchanged."""
    collection, layout = fresh(model)
    value = random.Random(f"{sut.seed}/{size}").randbytes(size)
    try:
        call(collection, layout, "put", "key", value)
    except Refused as reason:
        case_result.end(Refused(f"a value of {size} bytes: {reason}"))
    found = call(collection, layout, "get", "key")
    assert found == value, f"wrote {size} bytes, read {'nothing' if found is None else f'{len(found)} bytes'} that differ"


@pytest.mark.case(id="limits.key-length")
def test_longest_key(fresh: OpenCollection, case_result: CaseResult) -> None:
    """Find the longest key that is accepted. A refused key shows the limit; a truncated key is a failure."""
    collection, layout = fresh("single_key")
    longest = 0
    for length in _KEY_LENGTHS:
        key = "k" * length
        try:
            call(collection, layout, "put", key, b"whole")
        except Refused as reason:
            case_result.add(f"keys of {longest} bytes are accepted, keys of {length} bytes refused: {reason}")
            break
        assert call(collection, layout, "get", key) == b"whole", f"a key of {length} bytes was accepted, but then not found"
        assert call(collection, layout, "get", key[:-1] + "x") is None, f"keys of {length} bytes that differ at the end are treated as one"
        longest = length
    else:
        case_result.add(f"keys of {longest} bytes are accepted; longer ones were not tested")
    assert longest >= 200, f"keys of 200 bytes are required; the longest accepted key has {longest}"
