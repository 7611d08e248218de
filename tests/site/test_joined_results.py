"""The joining of results: of each variant the preferred result on each subject, and where each part is from."""

from __future__ import annotations

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.site.joined_results import join
from storeproof.site.site_content import gather
from storeproof.site.store_pages import history_of
from tests.shipped import SHIPPED
from tests.site.made import content, fault, ran, result, sources, struck, tried

ONE, TWO, THREE = "key_access.put-get", "key_access.delete", "text.language-ja"
EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00Z"


def test_the_newer_result_on_capabilities_is_shown() -> None:
    """Of two runs of one variant, however they are given."""
    old = result(tried("redis:x", (ONE, Outcome.PASS)), run="old", started=LATE)
    new = result(tried("redis:x", (ONE, Outcome.FAIL)), run="new", started="2026-02-01T00:00:01")
    for given in ((old, new), (new, old)):
        (variant,) = join(sources(*given), {})
        assert variant.answers is not None
        assert variant.answers.source.result.run.id == "new"


def test_a_quick_check_does_not_replace_a_run_for_decisions() -> None:
    """Smoke is too small for decisions: it is shown only where there is nothing else."""
    old = result(tried("redis:x", (ONE, Outcome.PASS)), run="old", started=EARLY)
    smoke = result(tried("redis:x", (ONE, Outcome.FAIL)), tried("valkey:x", (ONE, Outcome.PASS)), run="smoke", started=LATE, scale="smoke")
    shown = {each.name: each.answers for each in join(sources(old, smoke), {})}
    assert {name: found.source.result.run.id for name, found in shown.items() if found} == {"redis:x": "old", "valkey:x": "smoke"}


def test_a_run_of_a_few_cases_does_not_hide_one_of_all() -> None:
    """A newer run in which most capabilities were left out says less; one in which none was tried says nothing."""
    whole = result(tried("redis:x", (ONE, Outcome.PASS), (TWO, Outcome.PASS), (THREE, Outcome.UNSUPPORTED)), run="whole", started=EARLY)
    few = result(tried("redis:x", (ONE, Outcome.PASS), (TWO, Outcome.EXCLUDED), (THREE, Outcome.NOT_RUN)), run="few", started=LATE)
    (variant,) = join(sources(whole, few), {})
    assert variant.answers is not None
    assert variant.answers.source.result.run.id == "whole"
    none = result(tried("redis:x", (ONE, Outcome.EXCLUDED)), run="none", started=LATE)
    assert join(sources(none), {})[0].answers is None


def test_each_fault_is_from_the_newest_result_in_which_it_struck() -> None:
    """A run without power cuts leaves those of an older run as they are."""
    both = result(struck("redis:x", fault("process_crash", lost=7), fault("power_loss", lost=9)), run="both", started=EARLY)
    kill = result(struck("redis:x", fault("process_crash"), fault("power_loss", rounds=0)), run="kill", started=LATE)
    (variant,) = join(sources(both, kill), {})
    found = {name: (loss.record.lost, found.source.result.run.id) for name, (loss, found) in variant.losses.items()}
    assert found == {"process_crash": (0, "kill"), "power_loss": (9, "both")}


def test_a_row_is_of_one_run_as_far_as_it_can_be() -> None:
    """What the run of its capabilities says of a fault stands beside them, and not what a newer run of faults alone says."""
    whole = result(struck("redis:x", fault("power_loss", lost=9)), run="whole", started=EARLY)
    stores = [each.model_copy(update={"capabilities": tried("redis:x", (ONE, Outcome.PASS)).capabilities}) for each in whole.stores]
    faults = result(struck("redis:x", fault("power_loss", lost=7), fault("process_crash")), run="faults", started=LATE)
    (variant,) = join(sources(whole.model_copy(update={"stores": stores}), faults), {})
    assert {name: found.source.result.run.id for name, (_, found) in variant.losses.items()} == {
        "power_loss": "whole",
        "process_crash": "faults",
    }
    assert variant.kept.source.result.run.id == "whole"


def test_nothing_is_taken_from_another_variant() -> None:
    """What was not tried of a variant is not shown, although it is the same product."""
    made = result(tried("redis:a", (ONE, Outcome.PASS)), struck("redis:b", fault("process_crash")))
    variants = {each.name: each for each in join(sources(made), {})}
    assert variants["redis:b"].answers is None
    assert variants["redis:b"].roles == {}
    assert variants["redis:a"].losses == {}
    assert [each.name for each in join(sources(made), {})] == ["redis:a", "redis:b"], "those with capabilities come first"


def test_a_time_that_cannot_be_read_is_the_oldest() -> None:
    """A result that was changed by hand does not break the order."""
    odd = result(tried("redis:x", (ONE, Outcome.FAIL)), run="odd", started="yesterday")
    good = result(tried("redis:x", (ONE, Outcome.PASS)), run="good", started=EARLY)
    assert [each.result.run.id for each in sources(odd, good)] == ["good", "odd"]


def test_results_without_a_store_are_refused() -> None:
    """One clear message, and no empty site."""
    with pytest.raises(UsageError, match="hold no store"):
        gather(sources(result()), SHIPPED)


def test_capabilities_have_the_order_of_the_specification() -> None:
    """And those that it no longer has come last, under their names."""
    made = content(result(tried("redis:x", ("gone.thing", Outcome.PASS), (THREE, Outcome.PASS), (ONE, Outcome.PASS))))
    assert made.capabilities == [ONE, THREE, "gone.thing"]
    assert made.title(THREE) == "Japanese, without spaces between words"
    assert made.title("gone.thing") == "gone.thing"


def test_the_same_run_with_another_time_is_another_source() -> None:
    """`ran` gives what the other tests rest on."""
    made = ran(result(tried("redis:x", (ONE, Outcome.PASS))), "other", started=LATE)
    assert (made.run.id, made.run.started) == ("other", LATE)


def test_the_history_has_every_run_of_a_variant() -> None:
    """Also those that are shown nowhere else, such as an older version."""
    old = result(struck("redis:x", fault("power_loss", lost=9), version="Redis 6.0"), run="old", started=EARLY, scale="smoke")
    new = result(tried("redis:x", (ONE, Outcome.PASS), (TWO, Outcome.FAIL), version="Redis 7.0"), run="new", started=LATE)
    (variant,) = join(sources(old, new), {})
    first, second = history_of(variant)
    assert (first.found.store.version, first.shown, first.found.tried, first.losses) == ("Redis 7.0", 1, 2, (None, None))
    assert second.found.store.version == "Redis 6.0"
    assert [each and each.text for each in second.losses] == [None, "< 1 % lost"]


def test_results_of_another_server_are_left_out_with_the_reason() -> None:
    """Nothing of them is joined; the history has them."""
    old = result(struck("redis:x", fault("power_loss", lost=9), version="Redis 6.0"), run="old", started=EARLY)
    new = result(tried("redis:x", (ONE, Outcome.PASS), version="Redis 7.0"), run="new", started=LATE)
    (variant,) = join(sources(old, new), {})
    assert variant.losses == {}
    assert [(found.source.result.run.id, why) for found, why in variant.left_out] == [("old", "its version is Redis 6.0, not Redis 7.0")]
    assert [each.found.source.result.run.id for each in history_of(variant)] == ["new", "old"]
