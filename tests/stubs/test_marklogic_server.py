"""The MarkLogic adapter on a stub that does what the vendor says of the server: what takes a while, ends, or must be repeated."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("marklogic", reason="the client of MarkLogic is not installed: pip install marklogic-python-client")

from storeproof.adapters import marklogic as adapter
from storeproof.adapters.marklogic import indexes, link
from storeproof.adapters.marklogic.query import RangeIndex
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported
from storeproof.spec.query import Browse, Query, Where
from tests.stubs.marklogic.server import Server
from tests.stubs.marklogic_asked import MODELS, OPTIONS, PASSWORD, collection, session

CHEAP = Where.model_validate({"filter": ["price", "lte", 3]})


def started(server: Server, **options: str) -> adapter.MarkLogicSession:
    """A session with the stub as a server that storeproof has started."""
    ports = {"manage": server.port, "health": server.port}
    return adapter.connect(Address("127.0.0.1", server.port, "anna", PASSWORD, ports=ports, ours=True), OPTIONS | options)


def test_an_index_is_there_when_queries_may_use_it(server: Server) -> None:
    """`prepare` waits for the reindexing; until then the server says that there is no index."""
    server.database.index_looks = 3
    made = collection(server, "product", 2)
    made.put("p", {"name": "anvil", "price": 3, "color": "red"})
    assert made.count_where(CHEAP) == 1


def test_an_index_that_is_being_built_is_not_unsupported(server: Server) -> None:
    """A session that did not make the index waits for it as well; an index that no one asked for is Unsupported all the same."""
    made = collection(server, "product", 2)
    made.put("p", {"name": "anvil", "price": 3, "color": "red"})
    server.database.index_looks = 2
    definitions = server.database.properties["range-path-index"]
    server.database.set_properties({"range-path-index": []})
    server.database.set_properties({"range-path-index": definitions})
    other = session(server).collection(Layout("sp_test", MODELS["product"], 2))
    assert other.count_where(CHEAP) == 1
    with pytest.raises(Unsupported, match="PATHRIDXNOTFOUND"):
        other.count_where(Where.model_validate({"filter": ["name", "eq", "anvil"]}))


def test_an_index_that_is_never_built_is_unknown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is limited, and says what the server was doing."""
    monkeypatch.setattr(indexes, "_SECONDS", 0.0)
    server.database.index_looks = 1_000_000
    with pytest.raises(Unknown, match="the range indexes of sp_test cannot be used after 0 s: they were just added"):
        collection(server, "product", 2)


def test_two_runs_in_one_database_keep_their_indexes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is replaced as a whole: what another run has written over ours is noticed, and its own indexes stay."""
    foreign = RangeIndex("/someone/else", "string").definition
    replace, lost = server.database.set_properties, [True]

    def overwritten(changed: Any) -> None:
        replace(changed)
        if lost.pop() if lost else False:
            replace({"range-path-index": [foreign]})

    monkeypatch.setattr(server.database, "set_properties", overwritten)
    made = collection(server, "product", 2)
    paths = [each["path-expression"] for each in server.database.properties["range-path-index"]]
    assert paths == ["/someone/else", "/sp_test/key", "/sp_test/record/price", "/sp_test/record/color"]
    made.put("p", {"price": 3})
    replace({"range-path-index": [foreign]})
    assert made.count_where(CHEAP) == 1, "also later"


def test_a_deadlock_is_tried_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two transactions that have read the same document wait for each other: one is rolled back, and its client repeats it."""
    made = [collection(server, "single_key") for _ in range(2)]
    met, read = threading.Barrier(2), server.database.read
    meetings = [2]

    def read_together(uri: str, txid: str | None) -> Any:
        found = read(uri, txid)
        if txid is not None and meetings[0]:
            meetings[0] -= 1
            met.wait(10)
        return found

    monkeypatch.setattr(server.database, "read", read_together)
    with ThreadPoolExecutor(2) as clients:
        done = list(clients.map(lambda each: each.put_if_absent("k", b"one"), made))
    assert sorted(done) == [False, True]
    meetings[0] = 2
    with ThreadPoolExecutor(2) as clients:
        done = list(clients.map(lambda each: each.compare_and_set("k", b"one", b"two"), made))
    assert sorted(done) == [False, True]
    assert made[0].get("k") == b"two"


def test_a_transaction_that_always_meets_a_deadlock_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends, and is known not to have happened."""

    def deadlock(*_: Any, **__: Any) -> None:
        raise link.Deadlock("500 XDMP-DEADLOCK")

    made = collection(server, "single_key")
    monkeypatch.setattr("storeproof.adapters.marklogic.records._PAUSE", 0.0)
    monkeypatch.setattr(made, "_write", deadlock)
    with pytest.raises(Refused, match="rolled the transaction back 10 times"):
        made.put_if_absent("k", b"one")
    assert not server.database.view(None)


def test_a_server_that_is_set_up_is_waited_for(server: Server) -> None:
    """It is ready when the health check says so and its user exists; on a user's own server a wrong password is final."""
    server.unhealthy, server.setting_up = 1, 1
    with pytest.raises(Unknown, match="the server is not healthy: 503"):
        started(server)
    with pytest.raises(Unknown, match=r"401 Unauthorized: .*the server is not set up yet"):
        started(server)
    assert started(server).version().number
    server.setting_up = 1
    with pytest.raises(Refused, match="401 Unauthorized: the server rejects this user or password"):
        session(server)


def test_the_journal_is_set_on_a_server_of_ours_and_read_on_any(server: Server) -> None:
    """`strict` syncs it; a server that storeproof did not start is never changed, and says what it has."""
    own = started(server, journaling="strict").collection(Layout("sp_test", MODELS["single_key"]))
    assert own.describe()["journaling"] == "fast"
    own.prepare()
    assert (server.database.properties["journaling"], own.describe()["journaling"]) == ("strict", "strict")
    other = collection(server, "single_key", journaling="fast")
    assert (server.database.properties["journaling"], other.describe()["journaling"]) == ("strict", "strict")


def test_a_connection_that_the_server_is_about_to_close_is_not_used_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes a kept connection after five seconds: a write that meets that would be neither acknowledged nor refused."""
    moment = [100.0]
    server.clock, server.keep_alive = lambda: moment[0], 5.0
    monkeypatch.setattr(link, "monotonic", lambda: moment[0])
    made = collection(server, "single_key")
    for idle in (3.0, 5.5, 60.0):
        moment[0] += idle
        made.put("k", b"v")
    moment[0] += 4.5
    assert made.get("k") == b"v"


ARTICLES: dict[str, Any] = {
    "ja": {"language": "ja", "title": "図書館", "body": "学生は古い本を読みます。", "categories": ["books"]},
    "zhs": {"language": "zh-hans", "title": "图书馆", "body": "学生们阅读旧书。", "categories": ["books"]},
    "zht": {"language": "zh-hant", "title": "圖書館", "body": "學生們閱讀舊書。", "categories": ["books"]},
    "de": {"language": "de", "title": "Die Bibliothek", "body": "Studenten lesen alte Bücher.", "categories": ["books"]},
    "en": {"language": "en", "title": "The library", "body": "Students read old books.", "categories": ["books"]},
}


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ([[], "words", "古い"], ["ja"]),
        ([[], "words", "学生 読み"], ["ja"]),
        ([[], "words", "阅读"], ["zhs"]),
        ([[], "words", "閱讀"], ["zht"]),
        ([[], "any_word", "古い 阅读 library"], ["en", "ja", "zhs"]),
        ([[], "phrase", "古い本"], ["ja"]),
        (["title", "words", "図書館"], ["ja"]),
        ([[], "words", "Bücher"], ["de"]),
        ([[], "words", "學"], ["zht"]),
        ([[], "words", "本古"], []),
    ],
)
def test_words_are_found_in_the_language_of_their_text(server: Server, condition: Any, found: list[str]) -> None:
    """A text says its language by the property `language`, and a query of characters asks in each language that has them."""
    made = collection(server, "corpus")
    made.put_many(ARTICLES)
    assert sorted(key for key, _ in made.find(Query.model_validate({"filter": condition, "fields": []}))) == found
    assert made.get("zht") == ARTICLES["zht"], "the property is the record's own too"


def test_the_language_is_a_value_like_any_other(server: Server) -> None:
    """It is counted, compared and sorted by its index, whatever MarkLogic does with it."""
    made = collection(server, "corpus", **{"range-indexes": "model"})
    made.put_many(ARTICLES)
    wanted = {"filter": ["language", "prefix", "zh"], "facets": {"languages": {"path": "language"}}}
    found = made.browse(Browse.model_validate(wanted))
    assert (found.total, found.facets) == (2, {"languages": [("zh-hans", 1), ("zh-hant", 1)]})


@pytest.mark.parametrize("condition", [[[], "word_prefix", "古"], [[], "words", "หนังสือ"], {"not": [[], "words", "古い"]}])
def test_what_no_language_splits_is_refused(server: Server, condition: Any) -> None:
    """A prefix of a word that only the server knows, a script that it does not split, the opposite of a phrase."""
    made = collection(server, "corpus")
    with pytest.raises(Unsupported):
        made.find(Query.model_validate({"filter": condition}))
