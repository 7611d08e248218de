"""What the Couchbase adapter and its container do where a server takes a while, or has its set-up killed: on stubs of both."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.shipped import SHIPPED

pytest.importorskip("couchbase")

from couchbase import exceptions

from storeproof.adapters.couchbase import indexes
from storeproof.adapters.couchbase.indexes import Indexes
from storeproof.adapters.couchbase.records import Records
from storeproof.contract import Layout, Refused, Unknown, Unsupported
from storeproof.launch.template import Template

NAMES = {"bucket": "b", "scope": "_default", "collection": "sp_1"}
CREATE = "CREATE PRIMARY INDEX IF NOT EXISTS ON `b`.`_default`.`sp_1`"


def refusal(code: int, message: str) -> exceptions.InternalServerFailureException:
    """As the client raises an error of the query service."""
    context = exceptions.QueryErrorContext(first_error_code=code, first_error_message=message)
    return exceptions.InternalServerFailureException(context=context)


class Service:
    """The query service: it answers a new index's statement with errors first, and builds it while its state is looked at."""

    def __init__(self, *errors: Exception, always: Exception | None = None, looks: int = 0) -> None:
        self.errors = list(errors)
        self.always = always
        self.looks = looks
        self.asked: list[str] = []
        self.states: dict[str, int] = {}

    def query(self, text: str, options: Any = None) -> Any:
        if "system:indexes" in text:
            rows = [{"name": name, "state": "building" if left else "online"} for name, left in self.states.items()]
            self.states = {name: max(0, left - 1) for name, left in self.states.items()}
            return SimpleNamespace(rows=lambda: rows)
        return SimpleNamespace(execute=lambda: self._carry_out(text))

    def _carry_out(self, text: str) -> None:
        self.asked.append(text)
        name = text.split("`")[1] if text.startswith(("CREATE INDEX", "DROP INDEX")) else "#primary"
        if self.errors:
            raise self.errors.pop(0)
        if self.always is not None:
            raise self.always
        if text.startswith("DROP"):
            del self.states[name]
        else:
            self.states[name] = self.looks


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_PAUSE", 0.0)


def test_an_index_is_made_when_it_is_online() -> None:
    """The server answers before it has built it; queries would not find it."""
    service = Service(looks=3)
    Indexes(service, NAMES).make([["color"], ["maker", "country"]])
    assert service.asked == [
        CREATE,
        "CREATE INDEX `i0` IF NOT EXISTS ON `b`.`_default`.`sp_1`(`color`)",
        "CREATE INDEX `i1` IF NOT EXISTS ON `b`.`_default`.`sp_1`(`maker`.`country`)",
    ]
    assert not any(service.states.values())
    assert Indexes(service, NAMES).secondary() == 2


def test_a_transient_error_of_the_index_service_is_no_refusal() -> None:
    """Right after its collection was made an index meets the error 5000; the statement is asked again where the server forgot it."""
    service = Service(refusal(5000, "GSI CreatePrimaryIndex() - cause: ... will retry"), exceptions.KeyspaceNotFoundException())
    Indexes(service, NAMES).make([])
    assert service.asked == [CREATE] * 3


def test_another_error_is_raised_as_it_is() -> None:
    """A statement that the server does not understand is not asked again."""
    service = Service(exceptions.ParsingFailedException())
    with pytest.raises(Refused, match="ParsingFailed"):
        Indexes(service, NAMES).make([])
    assert service.asked == [CREATE]


def test_an_index_that_never_comes_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is limited, and has the state and what the server said. Each look at the clock is a second here."""
    monkeypatch.setattr(indexes, "time", SimpleNamespace(monotonic=itertools.count().__next__, sleep=lambda _: None))
    with pytest.raises(Unknown, match=r"not online after 60 s \(#primary: building"):
        Indexes(Service(looks=1_000_000_000), NAMES).make([])
    full = Service(always=refusal(5000, "not enough memory"))
    with pytest.raises(Unknown, match=r"#primary: absent\); the server says: not enough memory"):
        Indexes(full, NAMES).make([])


def test_a_collection_takes_its_indexes_with_it() -> None:
    """They are dropped by name, so that hundreds of collections do not exhaust the index service's memory."""
    service = Service()
    Indexes(service, NAMES).make([["color"]])
    service.asked.clear()
    service.errors.append(refusal(5000, "busy"))
    Indexes(service, NAMES).drop()
    assert service.states == {}
    drops = [f"DROP INDEX `{name}` ON `b`.`_default`.`sp_1`" for name in ("#primary", "i0", "#primary")]
    assert service.asked == drops


class Whole(Records):
    """Records of which only the metadata matter here."""

    def encode(self, record: Any) -> Any:
        return record


def records(durability: str, touched: list[str]) -> Whole:
    """Records in a collection that notes what is touched."""
    keyspace = SimpleNamespace(touch=lambda name, _: touched.append(name))
    place: Any = SimpleNamespace(keyspace=keyspace, prefix="")
    return Whole(place, Layout("sp_1", SHIPPED.models["single_key"]), durability)


@pytest.mark.parametrize("durability", ["majority", "persist_to_majority"])
def test_a_touch_is_not_promised_a_durability_level(durability: str) -> None:
    """The protocol has none for it: it is done where no level is promised, and Unsupported elsewhere, as the variants claim."""
    touched: list[str] = []
    with pytest.raises(Unsupported, match=f"a touch carries no durability level, .* `{durability}`"):
        records(durability, touched).expire("k", 5)
    with pytest.raises(Unsupported):
        records(durability, touched).persist("k")
    assert touched == []
    assert records("none", touched).expire("k", 5)
    assert touched == ["k"]
    for target in SHIPPED.targets(["couchbase:all"]):
        claimed = {target.claims("expiry.set"), target.claims("expiry.remove")}
        assert claimed == {target.configuration.options["durability"] == "none"}


def test_an_id_is_as_long_as_the_server_allows() -> None:
    """Of 250 bytes up to four are for the collection; a longer one is refused before it is sent."""
    made = records("none", [])
    assert made.name("é" * 123) == "é" * 123
    with pytest.raises(Refused, match="an id of more than 246 bytes"):
        made.name("é" * 123 + "x")


CURL = """#!/bin/sh
for url; do :; done
case $url in
  */pools) exit 0 ;;
  */buckets/storeproof) [ -e "$STATE/bucket" ] ;;
  */pools/default) [ -e "$STATE/cluster" ] ;;
esac
"""
CLI = """#!/bin/sh
echo "$1" >>"$STATE/done"
case $1 in
  cluster-init) [ ! -e "$STATE/cluster" ] && touch "$STATE/cluster" ;;
  bucket-create) [ -e "$STATE/cluster" ] && touch "$STATE/bucket" ;;
esac
"""
"""As the server's own: a cluster is made once, and a bucket in a cluster only."""


@pytest.mark.parametrize(
    ("there", "steps"),
    [((), ["cluster-init", "bucket-create"]), (("cluster",), ["bucket-create"]), (("cluster", "bucket"), [])],
)
def test_a_set_up_that_was_killed_goes_on(tmp_path: Path, there: Sequence[str], steps: list[str]) -> None:
    """A start after a kill between the two steps makes the bucket; one after both makes nothing."""
    (target,) = SHIPPED.targets(["couchbase"])
    launch = target.launch.container
    assert launch is not None
    values = {"user": launch.user or "", "password": launch.password or ""}
    script = Template("couchbase", values, launch.setting, {}).table(launch.files)["/storeproof/set-up.sh"]
    for name, text in (("curl", CURL), ("couchbase-cli", CLI)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in there:
        (tmp_path / name).touch()
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "STATE": str(tmp_path)}
    subprocess.run(["bash", "-c", script], env=environment, check=True, timeout=20)
    assert (tmp_path / "bucket").exists()
    done = tmp_path / "done"
    assert (done.read_text().split() if done.exists() else []) == steps
