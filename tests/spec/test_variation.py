"""Records of another size, number of fields or depth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.records.self_verifying import payload_bytes, recipe
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.base import RuleError
from storeproof.spec.sizes import Sizes
from storeproof.spec.variation import AS_IT_IS, Variation
from tests.shipped import SHIPPED

MODELS = SHIPPED.models


@pytest.mark.parametrize(
    ("model", "variation", "name", "payload"),
    [
        ("single_key", Variation(size=5000), "size-5000", 5000),
        ("single_key", Variation(sizes=Sizes(uniform=(20, 82))), "sizes-uniform-20-82", 51),
        ("single_key", Variation(sizes=Sizes(histogram={1000: 1, 100: 3})), "sizes-histogram-100x3-1000x1", 325),
        ("hash10", Variation(size=40), "size-40", 400),
        ("hash10", Variation(fields=1), "fields-1", 100),
        ("hash10", Variation(fields=100), "fields-100", 10_000),
        ("document10", Variation(depth=1), "depth-1", 1000),
        ("document10", Variation(depth=6), "depth-6", 1000),
        ("hash10", AS_IT_IS, "", 1000),
    ],
)
def test_records_are_as_they_are_said_to_be(model: str, variation: Variation, name: str, payload: int) -> None:
    """Also to those who make them and tell whose they are."""
    varied = variation.applied(MODELS[model])
    assert variation.name == name
    assert payload_bytes(varied) == payload
    made = recipe(varied)
    record = made.make(made.key(7), "3:4")
    assert made.identify(made.key(7), record).kind == "whole"
    if variation.depth == 6:
        assert isinstance(record, dict)
        for _ in range(5):
            (record,) = record.values()  # type: ignore[assignment]
        assert len(record) == 10


def test_a_variation_does_not_change_the_model() -> None:
    """It makes a copy."""
    before = MODELS["hash10"].model_copy(deep=True)
    Variation(fields=2).applied(MODELS["hash10"])
    assert MODELS["hash10"] == before


@pytest.mark.parametrize(
    ("model", "variation", "told"),
    [
        ("row", Variation(size=100), "row is a row, of which size cannot be changed"),
        ("hash10", Variation(sizes=Sizes(uniform=(20, 30))), "hash10 is a hash, of which sizes cannot be changed"),
        ("single_key", Variation(fields=10), "single_key is a value, of which fields cannot be changed"),
        ("hash10", Variation(depth=2), "hash10 is a hash, of which depth cannot be changed"),
    ],
)
def test_a_variation_that_does_not_apply_is_refused(model: str, variation: Variation, told: str) -> None:
    """The message has the model and its kind of record."""
    with pytest.raises(RuleError, match=told):
        variation.applied(MODELS[model])


def test_a_workload_with_an_inapplicable_variation_is_refused(tmp_path: Path) -> None:
    """With file and line."""
    root = tmp_path / "spec"
    shutil.copytree(SPEC_ROOT, root, ignore=shutil.ignore_patterns("*.py", "schema"))
    path = root / "workloads" / "series.yaml"
    path.write_text(path.read_text().replace("records: [{size: 32}", "records: [{depth: 3}", 1))
    with pytest.raises(SpecError) as told:
        load_spec(root)
    (line,) = str(told.value).splitlines()
    assert "series.yaml:1" in line
    assert line.endswith("single_key is a value, of which depth cannot be changed")
