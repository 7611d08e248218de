"""The load of a role is measured with its own rate, records and clients, and what the needs leave out is said."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.roles.role_config import OWN, role_config
from storeproof.outcome import Outcome
from storeproof.result.running_case import EndCase
from storeproof.spec.questions.needs import Role
from storeproof.store_under_test import Options
from tests.shipped import SHIPPED


def config(model: str = "single_key", *, given: int | None = None, records: int | None = None, **load: Any) -> BenchmarkConfig:
    """Of a role with this load, at standard scale; `given`: what `--records` says."""
    role = Role.model_validate({"model": model, "records": records, "load": {"rate": 1000, **load}})
    return role_config(role, SHIPPED, Options(SHIPPED.scales["standard"], seed=1, records=given))


def test_it_is_an_open_loop_at_the_rate_that_is_needed() -> None:
    """Whatever loop the workload has by itself."""
    found = config(workload="single-get", clients=7)
    assert (found.workload.loop, found.rate, found.clients, found.indexes) == ("open", 1000, 7, 0)
    assert config(workload="single-get").clients == max(SHIPPED.scales["standard"].performance.few)


def test_a_batch_is_one_request() -> None:
    """A rate of operations is one of records."""
    assert config("document10", workload="document10-insert-10").rate == 100


def test_the_records_are_those_of_the_role() -> None:
    """The command line decides before the role, and the role before the scale; a workload may be about one record."""
    assert config(workload="single-get").workload.preload_records is None
    assert config(workload="single-get", records=5000).workload.preload_records == 5000
    assert config(workload="single-get", records=5000, given=20).workload.preload_records == 20
    assert config(workload="single-put-same-key", record="size-3", records=5000).workload.preload_records == 1
    assert config("document10", workload="document10-insert-1", records=5000).workload.preload


def test_a_mix_is_a_workload_with_the_same_shares() -> None:
    """One of the specification, if it has one."""
    found = config(mix=[{"operation": "get"}])
    assert found.workload.workload == "single-get"
    assert config(mix=[{"operation": "get"}], record="size-1000").workload.workload == "single-get-sizes"


def test_a_mix_of_no_workload_is_about_records_that_are_there() -> None:
    """Each operation once, whatever the needs repeat."""
    found = config("hash10", mix=[{"operation": "get", "weight": 4}, {"operation": "set_field"}, {"operation": "get", "weight": 4}])
    assert (found.workload.workload, found.workload.preload) == (OWN, True)
    assert {each.operation: (each.weight, each.keys) for each in found.workload.mix} == {"get": (8, "uniform"), "set_field": (1, "uniform")}


def test_a_request_of_a_mix_is_asked_as_it_is_written() -> None:
    """Under its name, beside operations by key; one that is there twice has both shares."""
    dear, some = {"filter": ["price", "gt", 1], "limit": 5}, {"compute": {"n": ["count"]}}
    mix = [
        {"name": "dear", "operation": "find", "request": dear, "weight": 2},
        {"name": "dear", "operation": "find", "request": dear},
        {"operation": "aggregate", "request": some},
        {"operation": "get"},
    ]
    found = config("product", mix=mix).workload
    assert [(each.name, each.operation, each.weight, each.request, each.keys) for each in found.mix] == [
        ("dear", "find", 3, dear, None),
        (None, "aggregate", 1, some, None),
        (None, "get", 1, None, "uniform"),
    ]


@pytest.mark.parametrize(
    ("model", "load", "words"),
    [
        ("single_key", {"mix": [{"operation": "persist"}]}, "persist needs more than a share; name a workload, or make a mix of get, put"),
        ("single_key", {"workload": "single-get", "indexes": 9}, "9 indexes are needed, and records of single_key can have 0"),
        (
            "single_key",
            {"workload": "single-get-sizes"},
            "single-get-sizes is measured with several records; name one of them: `record: size-",
        ),
    ],
)
def test_what_the_needs_do_not_say_is_not_guessed(model: str, load: dict[str, Any], words: str) -> None:
    """The case is not run, and says what to add."""
    with pytest.raises(EndCase, match="the load of the role does not say all") as ended:
        config(model, **load)
    assert words in str(ended.value)
    assert ended.value.outcome is Outcome.NOT_RUN
