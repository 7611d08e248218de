"""Stores that keep their records, and forget what belongs to them: each is caught, and fills no role that wants records to survive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from storeproof.spec.cases import metadata_case
from tests.end_to_end.running import leaves_nothing, start
from tests.mini_edition.edition import embedded_store
from tests.mutants.durability import forgotten_metadata

pytestmark = pytest.mark.slow

CASE = metadata_case("clean_restart")
EXPIRY = ("expiry.put-expiring", "expiry.set", "expiry.read", "expiry.remove")
ROLE = "session_store"
Stores = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """By lie, and for the truth: what one run found, in which each was restarted once."""
    folder = tmp_path_factory.mktemp("metadata")
    written = yaml.safe_load(embedded_store())
    written |= {"store": "forgetful", "adapter": str(forgotten_metadata.__file__)}
    told: dict[str, Any] = {"settings": {"journal_mode": "wal"}, "guarantee": "clean_restart"}
    written["variants"] = {lie: {**told, "options": {"lie": lie}} for lie in forgotten_metadata.LIES} | {"truth": {**told, "default": True}}
    written["claims"]["capabilities"] |= dict.fromkeys(EXPIRY, True)
    (folder / "forgetful.yaml").write_text(yaml.safe_dump(written))
    cases = {f"forgetful:{variant}": [CASE] for variant in written["variants"]}
    done = start(folder, f"--store={folder / 'forgetful.yaml'}:all", "--no-verify-settings", "-q", whole=True, cases=cases)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(folder)
    return {store["variant"]: store for store in done.result["stores"]}


def found(store: Mapping[str, Any]) -> tuple[str, str]:
    """The outcome of the case, and its detail."""
    (one,) = [each for each in store["outcomes"] if each["id"] == CASE]
    return one["outcome"], one["detail"]


@pytest.mark.parametrize("lie", forgotten_metadata.LIES)
def test_what_is_forgotten_is_found(lie: str, stores: Stores) -> None:
    """By the finding that is meant for it, and no role is filled that wants records to survive a restart."""
    outcome, detail = found(stores[lie])
    assert (outcome, forgotten_metadata.LIES[lie][1] in detail) == ("fail", True), detail
    (role,) = [each for each in stores[lie]["profiles"] if each["profile"] == ROLE]
    assert role["verdict"] == "does_not_conform"
    assert any(f"{each['name']}/{each['case']}" == CASE and each["outcome"] == "fail" for each in role["missing"]), role["missing"]


def test_the_honest_store_raises_no_alarm(stores: Stores) -> None:
    """The same adapter without a lie keeps all, and nothing is held against it in that role but what was not run."""
    outcome, detail = found(stores["truth"])
    assert outcome == "pass", detail
    assert "times to live, indexes, types, change feeds, collections" in detail
    (role,) = [each for each in stores["truth"]["profiles"] if each["profile"] == ROLE]
    assert not any(f"{each['name']}/{each['case']}" == CASE for each in role["missing"])
