"""MarkLogic: its adapter tried on a stand-in for its REST API, which the vendor's own clients for Python and Node accept too.

The stand-in is a store of its own name. What it shows is that the adapter's requests are those of the documented API, and
that its answers are read as the vendor's clients read them; of the server itself it shows nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("marklogic", reason="the client of MarkLogic is not installed: pip install marklogic-python-client")

from marklogic import Client
from marklogic.documents import DefaultMetadata, Document

from storeproof.adapters import marklogic as adapter
from storeproof.adapters.marklogic_query import RangeIndex, Translation
from storeproof.contract import Address, Layout, Refused, Unsupported
from storeproof.spec import load_spec
from storeproof.spec.query import Browse, Facet, Query, Where
from tests.standins.marklogic import NUMBER, PRODUCT
from tests.standins.marklogic.server import Server, serving
from tests.trial.running import leaves_nothing, run

STORE = Path(__file__).with_name("marklogic-rest.yaml")
NODE_CLIENT = "marklogic@3.7.1"
OPTIONS = {"management": "same", "range-indexes": "asked", "update-policy": "merge-metadata"}
PASSWORD = "s3cret"
MODELS = load_spec().models


@pytest.fixture
def server() -> Iterator[Server]:
    with serving("anna", PASSWORD) as running:
        yield running


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The official Node client, installed where it is thrown away."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    home = tmp_path_factory.mktemp("node")
    command = ["npm", "install", "--prefix", str(home), "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", NODE_CLIENT]
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install {NODE_CLIENT} within two minutes")
    if done.returncode:
        pytest.skip(f"npm cannot install {NODE_CLIENT}: {done.stderr.strip()[-200:]}")
    return home / "node_modules"


def url(server: Server, password: str = PASSWORD) -> str:
    return f"http://anna:{password}@127.0.0.1:{server.port}"


def session(server: Server, **options: str) -> adapter.MarkLogicSession:
    return adapter.connect(Address("127.0.0.1", server.port, "anna", PASSWORD), OPTIONS | options)


def collection(server: Server, model: str, indexes: int = 0, **options: str) -> Any:
    """A prepared collection of the adapter's."""
    made = session(server, **options).collection(Layout("sp_test", MODELS[model], indexes))
    made.prepare()
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "only", "shown"),
    [
        ("default", "key_access or scans or documents or fields or indexes or rows or settings", "capabilities.documents.set-path/003"),
        ("default", "stateful or sizes or limits or concurrency", "stateful.nested"),
        ("versioned", "key_access or documents or scans or concurrency or settings", "capabilities.key_access.compare-and-set/001"),
        ("indexed", "filter or facets or sort or paging or requests or settings", "capabilities.filter.and-or/003"),
    ],
)
def test_the_suite_on_the_stand_in(tmp_path: Path, server: Server, variant: str, only: str, shown: str) -> None:
    server.database.policy = "version-optional" if variant == "versioned" else "merge-metadata"
    line = (f"--store={STORE}:{variant}", f"--endpoint=marklogic-rest={url(server)}", "-k", only)
    done = run(tmp_path, *line, suites="correctness")
    assert done.code == 0, done.said
    (store,) = done.result["stores"]
    assert (store["store"], store["version"]) == ("marklogic-rest", f"{PRODUCT} {NUMBER}")
    assert not {"fail", "error", "inconclusive", "not_run"} & done.counted.keys()
    assert done.outcomes[shown]["outcome"] == "pass"
    assert server.database.view(None) == {}, "what was written was removed"
    assert server.database.properties["range-path-index"] == []
    _shows_no_secret(tmp_path)
    leaves_nothing(tmp_path)


def test_the_stand_in_is_not_tried_under_the_name_of_the_store(tmp_path: Path, server: Server) -> None:
    done = run(tmp_path, "--store=marklogic", f"--endpoint=marklogic={url(server)}")
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run"}
    assert f"what answers is {PRODUCT} {NUMBER}, not MarkLogic" in done.outcomes["settings.readback"]["detail"]
    _shows_no_secret(tmp_path)


def test_without_a_server_it_is_not_run_and_says_how(tmp_path: Path) -> None:
    done = run(tmp_path, "--store=marklogic", environment={"DOCKER_HOST": "tcp://127.0.0.1:9"})
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run"}
    for told in (done.outcomes["settings.readback"]["detail"], done.said):
        assert "docker" in told.lower()


def test_a_wrong_password_is_said_and_not_shown(tmp_path: Path, server: Server) -> None:
    done = run(tmp_path, f"--store={STORE}", f"--endpoint=marklogic-rest={url(server, 'wr0ng')}")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "answers and refuses us: 401" in done.said
    assert "wr0ng" not in done.said


def test_the_official_python_client(server: Server) -> None:
    client = Client(f"http://127.0.0.1:{server.port}", digest=("anna", PASSWORD))
    assert client.get("/admin/v1/timestamp").status_code == 200
    assert client.eval(javascript="xdmp.version()") == [NUMBER]
    one = Document("/a.json", {"n": 1}, content_type="application/json")
    parts = [DefaultMetadata(collections=["c"]), one, Document("/b.txt", "text", content_type="text/plain")]
    assert client.documents.write(parts).status_code == 200
    found = client.documents.read(["/a.json", "/none.json", "/b.txt"])
    assert [(each.uri, each.content) for each in found] == [("/a.json", {"n": 1}), ("/b.txt", "text")]
    assert client.documents.read("/none.json").status_code == 404
    with client.transactions.create(name="kept") as kept:
        assert kept.get_status()["transaction-status"]["transaction-name"] == "kept"
        client.documents.write(Document("/c.json", {"n": 3}, content_type="application/json"), tx=kept)
        assert client.documents.read("/c.json").status_code == 404, "not outside before the commit"
        assert [each.content for each in client.documents.read("/c.json", tx=kept)] == [{"n": 3}]
    assert [each.content for each in client.documents.read("/c.json")] == [{"n": 3}]
    with pytest.raises(ZeroDivisionError), client.transactions.create() as dropped:
        client.documents.write(Document("/c.json", {"n": 4}, content_type="application/json"), tx=dropped)
        _ = 1 / 0
    assert [each.content for each in client.documents.read("/c.json")] == [{"n": 3}]
    found = client.documents.search(query={"search": {"query": {"queries": [{"collection-query": {"uri": ["c"]}}]}}})
    assert {each.uri for each in found} == {"/a.json", "/b.txt"}


@pytest.mark.servers
@pytest.mark.slow
def test_the_official_node_client(server: Server, node_modules: Path) -> None:
    words = Translation("node", MODELS["product"])
    color, price = words.index(("color",)), words.index(("price",))
    server.database.properties["range-path-index"] = [color.definition, price.definition]
    script = Path(__file__).parent / "marklogic" / "roundtrip.js"
    command = ["node", str(script), str(server.port), "anna", PASSWORD]
    environment = {"NODE_PATH": str(node_modules), "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(node_modules.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    built = seen.pop("built")
    assert seen == {
        "written": 3,
        "one": {"node": {"key": "a", "record": {"color": "red", "price": 4.25}}},
        "many": ["/node/b.json", "/node/c.json"],
        "probed": [True, False],
        "patched": {"price": 4.25, "size": 7},
        "inside": True,
        "rolledBack": False,
        "committed": True,
        "found": ["/node/b.json", "/node/a.json"],
        "total": 4,
        "facet": [["blue", 1], ["green", 1], ["red", 1]],
        "noIndex": "XDMP-PATHRIDXNOTFOUND",
        "policy": "version-optional",
        "stale": "RESTAPI-CONTENTWRONGVERSION",
        "afterStale": {"color": "black"},
        "left": False,
        "stranger": 401,
    }
    # What the vendor's client writes, the adapter writes too.
    wanted = Query.model_validate(
        {
            "filter": {"or": [["color", "in", ["red", "blue"]], {"not": ["price", "gte", 2.5]}, {"and": [["price", "gt", 7]]}]},
            "sort": [["price", "desc"], ["color", "asc"]],
        }
    )
    (query,) = words.query(wanted.filter)["queries"]
    assert query["and-query"]["queries"][1:] == built["where"]
    assert words.order(wanted.sort) == built["order"]
    assert [words.facet("colors", Facet(path=("color",), limit=3))] == built["facet"]
    assert words.extraction([("maker", "country")]) == built["extract"]


def test_a_write_depends_on_the_version_that_was_read(server: Server) -> None:
    server.database.policy = "version-optional"
    made = collection(server, "single_key", **{"update-policy": "version-optional"})
    made.put("k", b"one")
    assert made.compare_and_set("k", b"one", b"two")
    assert not made.compare_and_set("k", b"one", b"three")
    assert made.get("k") == b"two"
    assert made.describe()["update-policy"] == "version-optional"
    server.database.policy = "merge-metadata"
    with pytest.raises(Refused, match="keeps no versions"):
        made.compare_and_set("k", b"two", b"three")


def test_without_versions_a_transaction_decides(server: Server) -> None:
    made = collection(server, "single_key")
    assert made.put_if_absent("k", b"one")
    assert not made.put_if_absent("k", b"two")
    assert made.compare_and_set("k", b"one", b"three")
    assert not made.compare_and_set("k", b"one", b"four")
    assert not made.compare_and_set("none", b"one", b"four")
    assert made.get("k") == b"three"
    assert made.get("none") is None


def test_indexes_are_those_that_were_asked_for(server: Server) -> None:
    foreign = RangeIndex("/somebody/else", "string").definition
    server.database.properties["range-path-index"] = [foreign]
    made = collection(server, "product", 2)
    assert made.describe() == {"indexes": "2", **OPTIONS}
    paths = [each["path-expression"] for each in server.database.properties["range-path-index"]]
    assert paths == ["/somebody/else", "/sp_test/key", "/sp_test/record/price", "/sp_test/record/color"]
    made.put("p", {"name": "anvil", "price": 3, "color": "red"})
    assert made.count_where(Where.model_validate({"filter": ["price", "lte", 3]})) == 1
    with pytest.raises(Unsupported, match="PATHRIDXNOTFOUND"):
        made.count_where(Where.model_validate({"filter": ["name", "eq", "anvil"]}))
    made.clear()
    assert server.database.properties["range-path-index"] == [foreign], "what is not ours stays"


def test_every_field_of_the_model_has_an_index_where_the_variant_says_so(server: Server) -> None:
    made = collection(server, "product", **{"range-indexes": "model"})
    assert made.describe()["indexes"] == "8"
    made.put("p", {"name": "anvil", "tags": ["iron", "heavy"], "maker": {"country": "US"}})
    found = made.browse(
        Browse.model_validate({"filter": ["maker.country", "eq", "US"], "facets": {"tags": {"path": "tags", "each": True}}})
    )
    assert found == (1, [], {"tags": [("heavy", 1), ("iron", 1)]})


@pytest.mark.parametrize(
    "condition",
    [
        ["color", "eq", None],
        ["color", "eq", 7],
        ["price", "in", [1, "1"]],
        ["active", "eq", True],
        ["reviews.stars", "eq", 5],
        ["color", "regex", "r.d"],
        ["color", "exists", True],
        ["tags", "size", 2],
        ["tags", "gt", "a"],
        ["unheard-of", "eq", 1],
    ],
)
def test_what_no_range_index_answers_is_refused(server: Server, condition: list[Any]) -> None:
    made = collection(server, "product", **{"range-indexes": "model"})
    with pytest.raises(Unsupported):
        made.find(Query.model_validate({"filter": condition}))


def test_a_prefix_is_a_range(server: Server) -> None:
    made = collection(server, "single_key")
    keys = ["a", "a\U0010ffff", "a\U0010ffffz", "b", "a\ud7ff", "a\ue000"]
    made.put_many(dict.fromkeys(keys, b""))
    assert [key for key, _ in made.scan_prefix("a", 10)] == sorted(key for key in keys if key.startswith("a"))
    assert [key for key, _ in made.scan_prefix("a\ud7ff", 10)] == ["a\ud7ff"]
    assert [key for key, _ in made.scan_prefix("a\U0010ffff", 10)] == ["a\U0010ffff", "a\U0010ffffz"]
    assert len(made.scan_prefix("", 10)) == len(keys)


def test_a_patch_takes_any_name_and_any_place(server: Server) -> None:
    made = collection(server, "nested")
    made.put("n", {"name": {}, "a b": [1, {'say "x"': 2}], "empty": []})
    assert made.set_path("n", ("a b", 1, 'say "x"'), [3])
    assert made.set_path("n", ("empty",), {"empty": 1})
    assert made.set_path("n", ("name", "$.new/[0]"), None)
    assert made.unset_path("n", ("name", "none"))
    assert made.get("n") == {"name": {"$.new/[0]": None}, "a b": [1, {'say "x"': [3]}], "empty": {"empty": 1}}
    assert made.get_path("n", ("a b", 1)) == {'say "x"': [3]}
    assert made.get_path("n", ("a b",)) == [1, {'say "x"': [3]}]
    with pytest.raises(Refused, match="cardinality"):
        made.set_path("n", ("none", "x"), 1)
    assert not made.set_path("m", ("x",), 1)


def test_what_the_stand_in_does_not_know_it_refuses(server: Server) -> None:
    client = Client(f"http://127.0.0.1:{server.port}", digest=("anna", PASSWORD))
    lines = {
        "SEARCH-BADQUERY": lambda: client.post("/v1/search", json={"search": {"query": {"queries": [{"near-query": {}}]}}}),
        "REST-UNSUPPORTEDPARAM": lambda: client.get("/v1/documents", params={"uri": "/a", "transform": "x"}),
        "XDMP-UNDFUN": lambda: client.post("/v1/eval", data={"javascript": "1 + 1"}),
        "RESTAPI-NOTFOUND": lambda: client.get("/v1/graphs"),
    }
    assert {code: ask().json()["errorResponse"]["messageCode"] for code, ask in lines.items()} == {code: code for code in lines}


def _shows_no_secret(folder: Path) -> None:
    files = [path for path in (folder / "report").rglob("*") if path.is_file()]
    for path in [*files, folder / "said"]:
        assert PASSWORD.encode() not in path.read_bytes(), path
