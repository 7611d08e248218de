"""The pure parts of the Aerospike adapter. No server was asked anything: there is none to be had, and no stub either."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.shipped import SHIPPED

pytest.importorskip("aerospike")

from aerospike import exception as failures

from storeproof.adapters import aerospike as adapter
from storeproof.adapters.aerospike.models import Documents, Hashes, Rows, Values, context
from storeproof.adapters.aerospike.records import same
from storeproof.adapters.aerospike.sorting import failure_of
from storeproof.contract import Address, Layout, Refused, Row, Unknown, Unsupported

MODELS = SHIPPED.models


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (failures.RecordTooBig(), Refused),
        (failures.RecordGenerationError(), Refused),
        (failures.NotAuthenticated(), Refused),
        (failures.ParamError(), Refused),
        (failures.TimeoutError(), Unknown),
        (failures.ConnectionError(), Unknown),
        (failures.ClusterError(), Unknown),
        (failures.ServerError(), Unknown),
        (failures.UnsupportedFeature(), Unsupported),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), Refused),
    ],
)
def test_errors_are_sorted(reason: Exception, kind: type[Exception]) -> None:
    """Each result code of Aerospike becomes the error of the contract."""
    assert type(failure_of(reason)) is kind


def test_what_the_client_doubts_is_unknown() -> None:
    """An error that the client marks as in doubt raises Unknown."""
    reason = failures.RecordTooBig()
    reason.in_doubt = True  # type: ignore[attr-defined]
    assert type(failure_of(reason)) is Unknown


def test_settings_are_found_in_an_answer() -> None:
    """Settings are read from the server's `name=value;...` answer."""
    answer = "replication-factor=1;storage-engine=device;storage-engine.flush-max-ms=1000;empty="
    assert adapter.pairs(answer) == {
        "replication-factor": "1",
        "storage-engine": "device",
        "storage-engine.flush-max-ms": "1000",
        "empty": "",
    }


class Answers:
    """A client that answers the info protocol alone."""

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = answers

    def info_random_node(self, command: str) -> str:
        return f"{command}\t{self._answers[command]}\n"


def test_settings_and_version_are_those_of_the_server() -> None:
    """Version and settings come from the server; another product keeps its own name."""
    answers = {"edition": "Aerospike Community Edition", "build": "7.2.0.1", "namespace/ns": "ttl=0;storage-engine.flush-max-ms=50"}
    session = adapter.AerospikeSession(Answers(answers), "ns")
    assert session.version() == adapter.Version("Aerospike", "7.2.0.1 (Aerospike Community Edition)")
    assert session.read_settings(("flush-max-ms", "ttl", "no-such")) == {"flush-max-ms": "50", "ttl": "0"}
    other = adapter.AerospikeSession(Answers({"edition": "Something", "build": "1"}), "ns")
    assert other.version().product == "Something", "another product is not tried under this name"


def test_the_way_to_a_part() -> None:
    """A path becomes the client's context; one that names no part is Refused."""
    assert context(("a",)) is None
    assert len(context(("a", 0, "b")) or ()) == 2
    for wrong in ((), ("a", -1)):
        with pytest.raises(Refused):
            context(wrong)


def test_records_come_back_as_they_were_written() -> None:
    """Every kind of record is decoded to what was encoded."""
    for kind, model, record in (
        (Values, "single_key", b"\0\xff"),
        (Hashes, "hash10", {"field0": b"", "field1": b"\0"}),
        (Rows, "row", Row(1, -0.5)),
        (Documents, "nested", {"a": [None, True, {"b": 1.5}]}),
    ):
        kept = kind(None, "ns", Layout("sp_1", MODELS[model]))
        assert kept.decode(kept.encode(record)) == record
        assert all(len(name) <= 15 for name in kept.encode(record))
        assert kept.name("k") == ("ns", "sp_1", "k")


def test_a_comparison_tells_types_apart() -> None:
    """1, 1.0 and true are different values to a comparison."""
    assert same({"a": [1, None]}, {"a": [1, None]})
    assert not same({"a": 1}, {"a": True})
    assert not same({"a": 1}, {"a": 1.0})
    assert not same({"a": 1}, {"a": 1, "b": 2})


def test_whoever_does_not_answer_is_unknown() -> None:
    """A server that hangs up at once is Unknown."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]

        def hang_up() -> None:
            while True:
                try:
                    deaf.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        with pytest.raises(Unknown):
            adapter.connect(Address("127.0.0.1", port), {})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unknown, match="nothing listens"):
        adapter.connect(Address("127.0.0.1", port), {})
