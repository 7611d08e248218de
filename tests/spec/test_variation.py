"""Records of another size, number of fields or depth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.records.keys import key_of
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
        ("single_key", Variation(size=3), "size-3", 3),
        ("single_key", Variation(size=1000, key_order="hashed"), "size-1000", 1000),
        ("hash10", Variation(key_order="hashed"), "", 1000),
        ("document10", Variation(fields=1), "fields-1", 100),
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
        ("hash10", Variation(size=16), "hash10 has fields of 17 bytes or more"),
        ("document10", Variation(fields=11), "document10 has 10 fields; allowed: as many or fewer"),
        ("row", Variation(key_order="hashed"), "row has keys that cannot be hashed; allowed: text keys"),
        ("corpus", Variation(key_order="hashed"), "corpus has keys that cannot be hashed; allowed: text keys"),
    ],
)
def test_a_variation_that_does_not_apply_is_refused(model: str, variation: Variation, told: str) -> None:
    """The message has the model and its kind of record."""
    with pytest.raises(RuleError, match=told):
        variation.applied(MODELS[model])


def test_keys_are_hashed_where_the_variation_says_so() -> None:
    """And are as the model has them elsewhere; a variation of a model with hashed keys leaves them so."""
    hashed = Variation(size=1000, key_order="hashed").applied(MODELS["single_key"])
    assert key_of(hashed, 0) == "user6284781860667377211"
    assert key_of(Variation(size=1000).applied(MODELS["single_key"]), 0) == "key:000000000000"
    assert key_of(Variation(fields=2).applied(MODELS["usertable"]), 0) == "user6284781860667377211"


@pytest.mark.parametrize(
    ("model", "variation", "indexes"),
    [
        ("document10", Variation(fields=1), [("field0",)]),
        ("document10", Variation(fields=3), [("field0",), ("field1",), ("field2",)]),
        ("document10", Variation(depth=2), []),
        ("document10", Variation(depth=1), [(f"field{place}",) for place in range(5)]),
        ("hash10", Variation(fields=2), [("field0",), ("field1",)]),
        ("nested", Variation(fields=1), [("name",)]),
    ],
)
def test_an_index_stays_where_its_path_does(model: str, variation: Variation, indexes: list[tuple[str, ...]]) -> None:
    """One on a field that the records no longer have cannot be made."""
    assert list(variation.applied(MODELS[model]).indexes) == indexes


@pytest.mark.slow
def test_a_workload_with_more_indexes_than_its_records_can_have_is_refused(tmp_path: Path) -> None:
    """With file and line."""
    root = tmp_path / "spec"
    shutil.copytree(SPEC_ROOT, root, ignore=shutil.ignore_patterns("*.py", "schema"))
    path = root / "workloads" / "seeds.yaml"
    few, many = (f"indexes: [0, {most}]\n    records: [{{fields: 1}}]" for most in (1, 2))
    path.write_text(path.read_text().replace(few, many, 1))
    with pytest.raises(SpecError) as told:
        load_spec(root)
    (line,) = str(told.value).splitlines()
    assert "seeds.yaml:" in line
    assert line.endswith("these records of document10 can have 1 indexes, and the workload wants 2")


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
