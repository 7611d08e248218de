"""What may be `not_run` in a claim: what a machine or a launcher lacks, in the words of the machinery, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.conformance.not_run import check_not_run
from storeproof.conformance.reasons import ClaimRefused
from storeproof.launch import endpoint
from storeproof.launch.handle import FaultMeans
from storeproof.launch.managed_server import NO_CLUSTER, NO_DISK, NO_NODES, ManagedServer
from storeproof.launch.several.cluster import NO_CUT, ClusterHandle
from storeproof.outcome import Lack, Outcome
from storeproof.result.measured.case_records import Lacked
from storeproof.result.older_formats import lacked_of
from storeproof.result.sources import NATIVE
from storeproof.spec import Target
from tests.conformance.published import published
from tests.shipped import SHIPPED

ENDPOINT: str = vars(endpoint)["_REASON"]
UNPROVEN = "put on single_key was not correct in this run (fail); run the correctness stage with it, or cite a run that did (--proof)"
COMPILED = "the linearizability checker needs the compiled part of storeproof, which was not built when it was installed; pip install -e ."
POWER = "a power cut needs a separate file system for the data, and only root may mount one; sudo -E $(which pytest) suites/"


def target() -> Target:
    """The store of the claim, by the file of today."""
    store, file = SHIPPED.store("sqlite")
    return Target(store, "wal-full", file)


def refused(
    case: str,
    detail: str,
    *,
    of: Target | None = None,
    launch: str = "process",
    compiled: bool = True,
    put: Outcome = Outcome.PASS,
    lacked: Lacked | None = None,
) -> str:
    """Why a claim is refused in which that case was not run; empty where it is not. `lacked`: by default what the detail says."""
    result = published()
    run = result.run.model_copy(update={"sources": {NATIVE: "0" * 64} if compiled else {}})
    record = (
        result.stores[0]
        .outcomes[0]
        .model_copy(update={"id": case, "outcome": Outcome.NOT_RUN, "detail": detail, "lacked": lacked or lacked_of(detail)})
    )
    fields = {"outcomes": [record], "launch": launch, "operations": {"single_key": {"put": put}}}
    try:
        check_not_run(run, result.stores[0].model_copy(update=fields), of or target(), SHIPPED.mixes)
    except ClaimRefused as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize(
    ("case", "detail"),
    [
        ("durability.node_loss", "sqlite runs as a single server: it has no nodes that could be killed one by one"),
        ("durability.one_node_crash", NO_NODES),
        ("durability.linearizable/partition", NO_CLUSTER),
        ("durability.power_loss", NO_DISK),
        ("durability.transfers/power_loss", NO_DISK),
        ("durability.sessions/power_loss", POWER),
        ("durability.metadata/power_loss", POWER),
        ("durability.power_loss", NO_CUT),
        ("durability.power_loss", POWER),
        ("durability.power_loss", "no power cut; strace saw a sync between request and reply of 7 of 100 acknowledged writes: evidence"),
        ("durability.full_disk", POWER),
        ("durability.crash_states/power_loss", POWER),
        ("durability.io_errors/eio_sync", POWER),
        ("durability.corruption/flip", "its data directory is not accessible from here; use --data-dir DIR or --launch=process"),
        ("capabilities.key_access.put-get/pushdown", "bytes cannot be counted on an encrypted connection"),
        ("growth.products/0i", "not every question was verified; run the correctness stage with it, or cite a run that did (--proof)"),
        ("performance.single-get-pipelined/0i/50c/4p", "the store's client has one request in flight, and no other engine was wanted"),
    ],
)
def test_what_a_machine_lacks_may_be_not_run(case: str, detail: str) -> None:
    """For the reasons that a run gives; the same reason excuses no case that needs no such thing."""
    assert refused(case, detail) == ""
    assert "can be tried on any machine" in refused("settings.readback", detail)


@pytest.mark.parametrize(
    ("case", "detail", "true", "contradicted", "says"),
    [
        ("durability.process_crash", ENDPOINT, {"launch": "endpoint"}, {}, "and the store ran as a process"),
        ("performance.single-put-distinct-100/0i/4c", UNPROVEN, {"put": Outcome.FAIL}, {}, "and put on single_key is pass in the result"),
        ("durability.linearizable/process_crash", COMPILED, {"compiled": False}, {}, "and the run had the compiled part"),
    ],
)
def test_a_reason_is_held_against_the_rest_of_the_result(
    case: str, detail: str, true: dict[str, object], contradicted: dict[str, object], says: str
) -> None:
    """Where that says whether it holds."""
    assert refused(case, detail, **true) == ""  # type: ignore[arg-type]
    text = refused(case, detail, **contradicted)  # type: ignore[arg-type]
    assert (text.startswith("not-run: "), says in text) == (True, True)


def test_kills_at_the_first_start_need_a_disk_only_of_a_cluster_or_a_container() -> None:
    """A cluster's data cannot be emptied from here; a process of this machine is killed wherever its data is."""
    store, file = SHIPPED.store("postgresql")
    case = "durability.bootstrap/process_kill"
    assert refused(case, NO_CUT, of=Target(store, "standbys-on", file)) == ""
    assert refused(case, NO_CUT).endswith("and a process of this machine is killed without a disk of its own")
    assert refused("durability.process_crash", NO_CUT, of=Target(store, "standbys-on", file)) != ""


@pytest.mark.parametrize(("said", "of"), [("postgresql:unlogged is a single server", "unlogged"), (NO_CLUSTER, "standbys-on")])
def test_only_mixes_with_readers_need_a_cluster(said: str, of: str) -> None:
    """Reads at several nodes, and their control; any other mix is tried on one server."""
    store, file = SHIPPED.store("postgresql")
    lacked = lacked_of(said) or Lacked(what=Lack.NODES)
    for mix, each in SHIPPED.mixes.items():
        found = refused(f"transactions.isolation/serializable/{mix}", said, of=Target(store, of, file), lacked=lacked)
        assert found.endswith("" if each.readers else f"and transactions of {mix} need one server")
        assert bool(found) is not bool(each.readers)


def test_a_store_whose_file_claims_transactions_was_tried_under_transfers() -> None:
    """SQLite's does."""
    said = "sqlite:wal-full claims no transactions that could be tested: transactions.commit"
    assert refused("durability.transfers/process_crash", said).endswith("its file claims them")


@pytest.mark.parametrize("detail", ["", "busy", "its data is not on a disc", "it has no nodes", "because " + NO_DISK])
def test_other_words_are_no_reason(detail: str) -> None:
    """However alike."""
    assert refused("durability.power_loss", detail).endswith("is no reason by which a run leaves it out")


def test_what_the_field_says_counts_and_not_the_words() -> None:
    """Whatever a detail is made to say; and no lack excuses the cases that have no need of it."""
    power = "durability.power_loss"
    assert refused(power, "its disk is away", lacked=Lacked(what=Lack.DISK)) == ""
    for lack in (Lack.BEGUN, Lack.FRONT, Lack.VERIFIED_OPERATION, Lack.PLAIN_CONNECTION):
        assert refused(power, NO_DISK, lacked=Lacked(what=lack)).endswith("is no reason by which a run leaves it out")


@pytest.mark.parametrize("capability", FaultMeans)
def test_what_a_handle_cannot_do_is_typed_as_its_words_were_read(capability: FaultMeans) -> None:
    """The reader of results without the field, and what is raised today, name the same lack."""
    managed = SimpleNamespace(nodes=(), _disk=None)
    handles: list[tuple[Any, Any]] = [(endpoint.EndpointHandle, None), (ClusterHandle, None), (ManagedServer, managed)]
    for kind, instance in handles:
        if (found := kind.cannot(instance, capability)) is not None:
            assert found.lack is not None
            assert lacked_of(str(found)) == Lacked(what=found.lack)
