"""A profile is judged again from a result as in the run that wrote it, with all that it demands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verdicts import check_profiles
from storeproof.result.assemble import assemble
from storeproof.spec import Profile
from tests.result.records import SMALL, good_record, profile

DEMANDS = {"capabilities": [{"any_of": ["key.two", "key.one"]}]}


def check(**changed: Any) -> None:
    """Verify the profile of a true result, with what was changed in its verdict."""
    record = good_record()
    demanded = Profile.model_validate(profile().model_dump(mode="json") | DEMANDS)
    spec = replace(SMALL, profiles={"small_profile": demanded})
    store = assemble(record, [demanded], spec)
    assert store.profiles[0].verdict == "conforms"
    verdicts = [each.model_copy(update=changed) for each in store.profiles]
    check_profiles(store.model_copy(update={"profiles": verdicts}), record.target, spec)


def test_a_true_result_is_judged_alike() -> None:
    """With its alternatives."""
    check()


def test_a_way_that_was_not_the_one_is_refused() -> None:
    """A record that is swept is not gone at once."""
    with pytest.raises(ClaimRefused, match="small_profile is met in other ways than by its cases") as refused:
        check(ways=[])
    assert refused.value.reason is Reason.PROFILE
