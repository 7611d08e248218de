"""The Couchbase adapter on the vendor's CouchbaseMock, over the unmodified SDK.

The mock is a store of its own name. It has the data service and no more: no collections, queries, durability levels or disk,
and it takes any password.
What it does otherwise than the server is named here, so that a change is seen.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shipped import SHIPPED

pytest.importorskip("couchbase")

from storeproof.adapters import couchbase
from storeproof.adapters.couchbase.models import Values
from storeproof.contract import Address, Layout, Unknown
from tests.end_to_end.running import leaves_nothing, run, wait_for
from tests.stubs import couchbase_mock

HERE = Path(__file__).parent
ARTIFACT = "com.couchbase.mock:CouchbaseMock:1.5.25"
GROUPS = "arrays or counters or documents or fields or key_access or updates"
HISTORIES = "counter or hash10 or row or single_key"
SELECTED = (
    f"settings or concurrency or (test_capability and ({GROUPS}) and not expiry) or expiry.read/001 "
    f"or (test_random_histories and ({HISTORIES})) or single-get-0i"
)
"""Not a time to live of one second that is read at once, which may be over by then: the mock counts whole seconds of the clock. Not the
random histories of documents: the mock's own thread dies of a hostile path (IllegalStateException in its JSON reader)."""

DEVIATIONS = {"capabilities.updates.increment-path/006"}
"""What the mock does wrong: it adds to a text."""

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("java") is None or shutil.which("mvn") is None, reason="java and mvn are not installed"),
]


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mock, from the registry or from Maven's own store on this machine."""
    folder = tmp_path_factory.mktemp("mock")
    command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
    found = list(folder.glob("CouchbaseMock-*.jar"))
    if not found:
        pytest.skip(f"{ARTIFACT} cannot be had: {done.stdout[-300:]}")
    return found[0]


@pytest.mark.slow
def test_the_trial_of_the_mock(tmp_path: Path, jar: Path) -> None:
    """The key-value cases run against CouchbaseMock, with the outcomes that are expected of it."""
    store = tmp_path / "couchbase-mock.yaml"
    store.write_text((HERE / "couchbase-mock.yaml").read_text().replace("@JAR@", str(jar)))
    shutil.copy(HERE / "couchbase_mock.py", tmp_path)
    done = run(tmp_path / "run", f"--store={store}", "--launch=process", "-k", SELECTED, whole=True)
    (tried,) = done.result["stores"]
    assert tried["store"] == "couchbase-mock"
    assert tried["version"].startswith("CouchbaseMock")
    found = {name: each["outcome"] for name, each in done.outcomes.items()}
    assert {name for name, outcome in found.items() if outcome == "fail"} == DEVIATIONS, done.said
    assert "error" not in found.values()
    for case in (
        *("stateful.single_key", "stateful.hash10", "stateful.row", "stateful.counter", "concurrency.increment"),
        *("concurrency.compare-and-set", "concurrency.put-if-absent", "concurrency.whole/nested", "performance.single-get/0i/4c"),
        *("capabilities.documents.set-path/001", "capabilities.fields.set-field/001", "capabilities.key_access.put-get/004"),
        "capabilities.updates.get-and-set/001",
    ):
        assert found[case] == "pass", f"{case}: {done.outcomes[case]}"
    assert found["capabilities.expiry.read/001"] == "unsupported", "the mock does not tell when a document ends, and the adapter says so"
    assert found["capabilities.key_access.exists/001"] == "unsupported", "the mock does not know the request, and the adapter says so"
    leaves_nothing(tmp_path / "run")


@pytest.fixture
def data_port(jar: Path) -> Iterator[int]:
    """A mock by itself: the port of its data service."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    bucket = "storeproof:mock-password:couchbase"
    mock = subprocess.Popen(
        ["java", "-jar", str(jar), "--host", "127.0.0.1", "--port", str(port), "--nodes=1", "--replicas=0", "--buckets", bucket],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def asked() -> int | None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/mock/set_cccp?enabled=true&bucket=storeproof", timeout=2).read()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/mock/get_mcports?bucket=storeproof", timeout=2) as answer:
                return int(json.load(answer)["payload"][0])
        except OSError:
            return None

    try:
        yield wait_for(asked)
    finally:
        mock.kill()
        mock.wait()


def test_the_mock_knows_no_durability_levels(data_port: int) -> None:
    """A write with a durability level, which the mock does not have, is Unknown: it closes the connection."""
    address = Address("127.0.0.1", data_port, couchbase_mock.BUCKET, couchbase_mock.PASSWORD, couchbase_mock.BUCKET)
    opened = couchbase_mock.MockSession(couchbase.connect(address, {"durability": "majority"}), address)
    try:
        made = opened.collection(Layout("sp_1", SHIPPED.models["single_key"]))
        assert isinstance(made, Values)
        with pytest.raises(Unknown, match="RequestCanceled"):  # it closes the connection on a frame with a level
            made.put("k", b"v")
    finally:
        opened.close()


def test_the_mock_is_not_tried_under_the_name_of_the_server(tmp_path: Path, data_port: int) -> None:
    """The mock is not run under the name of Couchbase, and the password is not printed."""
    endpoint = f"--endpoint=couchbase=couchbase://storeproof:mock-password@127.0.0.1:{data_port}/storeproof"
    done = run(tmp_path, "--store=couchbase", endpoint, "-k", "settings or key_access")
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run", "excluded"}
    assert "the server is CouchbaseMock" in done.outcomes["settings.readback"]["detail"]
    assert "not Couchbase Server: it cannot be tested as couchbase" in done.outcomes["settings.readback"]["detail"]
    assert "mock-password" not in done.said + (tmp_path / "report" / "result.json").read_text()
