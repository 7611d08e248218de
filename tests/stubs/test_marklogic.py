"""MarkLogic: its adapter tried on a stub for its REST API, which the vendor's own clients for Python and Node accept too.

The stub is a store of its own name. What it shows is that the adapter's requests are those of the documented API, and
that its answers are read as the vendor's clients read them; of the server itself it shows nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("marklogic", reason="the client of MarkLogic is not installed: pip install marklogic-python-client")

from marklogic import Client
from marklogic.documents import DefaultMetadata, Document

from storeproof.adapters import marklogic as adapter
from storeproof.adapters.marklogic.query import Translation
from storeproof.contract import Address, Refused, Unknown
from storeproof.spec.query import Facet, Query, Where
from tests.end_to_end.running import SOME, leaves_nothing, run
from tests.stubs.authority import Authority
from tests.stubs.marklogic import NUMBER, PRODUCT
from tests.stubs.marklogic.server import Handler, Server
from tests.stubs.marklogic_asked import MODELS, OPTIONS, PASSWORD, session, url

STORE = Path(__file__).with_name("marklogic-rest.yaml")
NODE_CLIENT = "marklogic@3.7.1"


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "only", "shown"),
    [
        ("fast", "key_access or scans or documents or fields or indexes or rows or settings", "capabilities.documents.set-path/003"),
        ("fast", "stateful or sizes or limits or concurrency", "stateful.nested"),
        ("versioned", "key_access or documents or scans or concurrency or settings", "capabilities.key_access.compare-and-set/001"),
        ("strict", "key_access or settings", "settings.readback"),
        ("fast", "test_capability and text or settings", "capabilities.text.language-zh-hant/002"),
        ("indexed", "(filter or facets or sort or paging or requests or settings) and not pushdown", "capabilities.filter.and-or/003"),
        ("indexed", "test_capability and (text or aggregation) and not pushdown or settings", "capabilities.text.with-facets/002"),
    ],
)
def test_the_suite_on_the_stand_in(tmp_path: Path, server: Server, variant: str, only: str, shown: str) -> None:
    """The suites pass on the stub server, and leave no documents or indexes there. What a query costs there says nothing: no pushdown."""
    server.database.policy = "version-optional" if variant == "versioned" else "merge-metadata"
    server.database.properties["journaling"] = "strict" if variant == "strict" else "fast"
    line = (f"--store={STORE}:{variant}", f"--endpoint=marklogic-rest={url(server)}", "-k", only)
    done = run(tmp_path, *line, suites="correctness", whole=True, pages=True)
    assert done.code == 0, done.said
    (store,) = done.result["stores"]
    assert (store["store"], store["version"]) == ("marklogic-rest", f"{PRODUCT} {NUMBER}")
    assert not {"fail", "error", "inconclusive", "not_run"} & done.counted.keys()
    assert done.outcomes[shown]["outcome"] == "pass"
    assert server.database.view(None) == {}, "what was written was removed"
    assert server.database.properties["range-path-index"] == []
    _shows_no_secret(tmp_path)
    leaves_nothing(tmp_path)


@pytest.mark.slow
def test_a_journal_that_is_not_the_variants_is_an_error(tmp_path: Path, server: Server) -> None:
    """A user's server whose journal is left to the operating system is not measured as one that syncs it."""
    line = (f"--store={STORE}:strict", f"--endpoint=marklogic-rest={url(server)}", "-k", "settings")
    done = run(tmp_path, *line, suites="correctness", whole=True)
    assert done.code != 0
    assert "journaling" in done.outcomes["settings.readback"]["detail"]
    assert done.outcomes["settings.readback"]["outcome"] == "error"


@pytest.mark.slow
def test_what_is_always_indexed_is_not_measured_without_indexes(tmp_path: Path, server: Server) -> None:
    """A store that indexes everything has no result for the layout without indexes."""
    line = (f"--store={STORE}:indexed", f"--endpoint=marklogic-rest={url(server)}", "-k", "(test_capability and fields) or hash10-put")
    done = run(tmp_path, *line, whole=True)
    assert done.code == 0, done.said
    assert done.outcomes["performance.hash10-put/0i/4c"]["outcome"] == "unsupported"
    assert "indexes every collection by itself" in done.outcomes["performance.hash10-put/0i/4c"]["detail"]
    assert done.outcomes["performance.hash10-put/1i/4c"]["outcome"] == "pass"


def test_the_stand_in_is_not_tried_under_the_name_of_the_store(tmp_path: Path, server: Server) -> None:
    """The stub is not run under the name of MarkLogic."""
    done = run(tmp_path, "--store=marklogic", f"--endpoint=marklogic={url(server)}", "-k", SOME, pages=True)
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run", "excluded"}
    assert f"the server is {PRODUCT} {NUMBER}, not MarkLogic" in done.outcomes["settings.readback"]["detail"]
    _shows_no_secret(tmp_path)


def test_without_a_server_it_is_not_run_and_says_how(tmp_path: Path) -> None:
    """Without an endpoint the store is not run, and the message says how to give one."""
    done = run(tmp_path, "--store=marklogic", "-k", f"{SOME} or single-get", environment={"DOCKER_HOST": "tcp://127.0.0.1:9"})
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run", "excluded"}
    for told in (done.outcomes["settings.readback"]["detail"], done.said):
        assert "docker" in told.lower()
        assert "--endpoint=marklogic=http://" in told
        assert "rest-admin and manage-admin" in " ".join(told.split()), "the screen breaks lines"


def test_a_wrong_password_is_said_and_not_shown(tmp_path: Path, server: Server) -> None:
    """A wrong password is reported without printing it."""
    endpoint = f"--endpoint=marklogic-rest={url(server, 'wr0ng')}"
    done = run(tmp_path, f"--store={STORE}", endpoint, suites="correctness/test_settings.py", whole=True)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "answers and refuses access: 401 Unauthorized: the server rejects this user or password" in done.said
    assert "wr0ng" not in done.said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("http://", "https://"), "the server there does not use TLS"),
        (("?manage=", "?manage=x"), "no valid port after `manage=`"),
        (("?manage=", "?manage=1&manage=9&was="), r"did not answer within 10 s .*port=9\).*Connection refused"),
        (("127.0.0.1", "no-such-host.invalid"), r"the name of its host cannot be resolved"),
    ],
)
def test_a_wrong_endpoint_is_one_clear_message(tmp_path: Path, server: Server, change: tuple[str, str], message: str) -> None:
    """An endpoint that is no MarkLogic server is one error message."""
    endpoint = f"--endpoint=marklogic-rest={url(server).replace(*change)}"
    done = run(tmp_path, f"--store={STORE}", endpoint, suites="correctness/test_settings.py", whole=True, pages=True)
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.said
    (told,) = [line for line in done.said.splitlines() if line.startswith("ERROR: ")]
    assert re.search(message, told)
    assert "Traceback" not in done.said
    _shows_no_secret(tmp_path)


def test_tls_needs_an_authority_that_is_trusted(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over TLS an untrusted certificate is Refused, and a trusted one is accepted."""
    authority = Authority(tmp_path)
    speaks = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    speaks.load_cert_chain(*authority.sign("127.0.0.1"))
    server.socket = speaks.wrap_socket(server.socket, server_side=True)
    where = Address("127.0.0.1", server.port, "anna", PASSWORD, tls=True, ports={"manage": server.port})
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(Refused, match="this machine does not trust its certificate"):
        adapter.connect(where, OPTIONS)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    assert adapter.connect(where, OPTIONS).version().product == PRODUCT


def test_a_server_that_is_not_set_up_is_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """403 while connecting means that the server is not set up yet, which is Unknown."""

    def forbidden(handler: Any) -> None:
        handler._read_body()
        handler._send(403, {"Content-Type": "text/html"}, b"403 Forbidden")

    monkeypatch.setattr(Handler, "do_GET", forbidden)
    with pytest.raises(Unknown, match="403 Forbidden: the server is not set up yet"):
        session(server)


def test_the_official_python_client(server: Server) -> None:
    """The stub answers the official Python client."""
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
    client.documents.write(Document("/d.json", {"title": "A Fox"}, content_type="application/json"))
    word = {"word-query": {"json-property": "title", "text": ["fox"], "term-option": ["case-insensitive"]}}
    found = client.documents.search(query={"search": {"query": {"queries": [word]}, "options": {"search-option": ["unfiltered"]}}})
    assert [(each.uri, each.content) for each in found] == [("/d.json", {"title": "A Fox"})]


@pytest.mark.servers
@pytest.mark.slow
def test_the_official_node_client(server: Server, node_modules: Path) -> None:
    """The stub answers the official Node.js client."""
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
        "word": ["/node/s1.json", "/node/s2.json"],
        "anyWord": ["/node/s1.json", "/node/s3.json", "/node/s2.json"],
        "caseCounts": ["/node/s1.json"],
        "term": ["/node/s3.json"],
        "notWord": ["/node/s3.json"],
        "phrase": ["/node/s2.json"],
        "prefix": ["/node/s2.json"],
        "unfiltered": "SEARCH-BADQUERY",
        "computed": [["count", "3"], ["sum", "15.25"], ["min", "1.0"], ["max", "10.0"], ["avg", "5.083333333333333"]],
        "ofNothing": [{"name": "sum"}],
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
    texts = [
        ([], "words", "fox dog"),
        (["title"], "any_word", "fox dog"),
        (["title"], "phrase", "quick brown"),
        (["title"], "word_prefix", "jump"),
    ]
    written = Where.model_validate({"filter": {"and": texts}}).filter
    (query,) = Translation("node", MODELS["corpus"]).query(written)["queries"]
    assert query["and-query"]["queries"][1]["and-query"]["queries"] == built["words"]


def test_what_the_stand_in_does_not_know_it_refuses(server: Server) -> None:
    """A request that the stub does not implement is an error, and never an empty answer."""
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
