"""How the Redis Stack adapter writes requests and numbers; and, on real servers, that no plain Redis passes for it."""

from __future__ import annotations

import json
import random
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storeproof.adapters import redis_stack
from storeproof.adapters.redis_stack.filter import Selection, schema
from storeproof.adapters.redis_stack.notation import digits, written
from storeproof.adapters.redis_stack.path import equal, matched, stored
from storeproof.adapters.redis_stack.query import Grouping, faceting, finding, found
from storeproof.contract import Address, Layout, Refused, Unsupported
from storeproof.spec.query import Aggregation, Facet, Query, Where
from tests.end_to_end.running import wait_for
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
PRODUCTS = Layout("c", MODELS["product"], 2)
ARTICLES = Layout("c", MODELS["corpus"])
NEIGHBOUR = -122.41941550000001
"""A double that RedisJSON 2.8.3 reads as -122.4194155, if it is written as usual."""


def selection(filter_: object, layout: Layout = PRODUCTS) -> Selection:
    return Selection(layout).narrow(Where.model_validate({"filter": filter_}).filter)


def test_what_is_in_two_polygons_is_not_asked_for() -> None:
    """RediSearch answers that nothing is in both, whatever is; one of two, or one and not another, it finds."""
    places = Layout("c", MODELS["place"])
    one, other = (["location", "within_polygon", [[west, 46], [17, 46], [17, 57]]] for west in (-6, -7))
    for twice in ({"and": [one, other]}, {"and": [one, {"or": [other, ["people", "eq", 1]]}]}, {"and": [one, {"and": [other]}]}):
        with pytest.raises(Unsupported, match="two polygons"):
            selection(twice, places)
    for once in ({"or": []}, one, {"or": [one, other]}, {"and": [one, {"not": other}]}):
        selection(once, places)


def test_a_text_is_written_so_that_json_path_takes_it_as_it_is() -> None:
    """Texts and names are escaped for JSONPath; what it has no notation for is Unsupported."""
    assert equal("@", 'a"b') == "@=='a\"b'"
    assert equal("@", "a'b") == '@=="a\'b"'
    assert equal("@", "a\\b") == '@=="a\\\\b"', "two backslashes are one"
    assert equal("@", "\"'") == '@=~"^[!-#&&[^!#]][&-(&&[^&(]]$"', "a text with both quotes has no literal"
    assert matched("@", "contains", "1.5") == '@=~"1[.]5"'
    with pytest.raises(Unsupported, match="bracket"):
        matched("@", "prefix", "a[")
    with pytest.raises(Unsupported, match="backslash"):
        stored(("a\\b",))
    with pytest.raises(Unsupported, match="negative"):
        stored(("tags", -1))


def test_numbers_have_no_exponent() -> None:
    """Numbers in a query are written in plain digits."""
    assert equal("@", 1e21) == "@==1000000000000000000000.0"
    assert equal("@", True) == "@==true", "a boolean is no number"


def test_an_index_narrows_and_the_whole_condition_is_asked_again() -> None:
    """RediSearch only preselects; the whole condition is checked again."""
    asked = selection(["price", "gt", 42])
    assert asked.query == "(@n0:[42 +inf])"
    assert asked.steps == ["LOAD", 3, '$[?(@["d"]["price"]>42)]["k"]', "AS", "x0", "FILTER", "((exists(@x0)))"]
    assert selection(["stock", "gt", 42]).query == "*", "the path has no index"
    assert selection(["color", "eq", " red"]).query == "*", "a tag is trimmed"
    assert selection({"not": ["price", "gt", 42]}).query == "*"


def test_a_field_of_the_index_leads_to_one_type_alone() -> None:
    """One value of another type would keep the whole document out of the index."""
    fields = schema(PRODUCTS)
    assert fields[fields.index("n0") - 2] == '$[?((@["d"]["price"]>=0||@["d"]["price"]<0))]["d"]["price"]'
    assert fields[fields.index("t0") - 2] == '$[?(@["d"]["price"]>="")]["d"]["price"]'


def test_words_and_other_conditions_are_one_request_only_if_both_must_hold() -> None:
    """A text search is combined with other conditions under `and` only; a script without a dictionary is Unsupported."""
    word, color = [[], "words", "fox"], ["language", "eq", "en"]
    assert selection({"and": [word, color]}, ARTICLES).query == "(@w0|w1:(fox))"
    with pytest.raises(Unsupported, match="`or` of both is not possible in one request"):
        selection({"or": [word, color]}, ARTICLES)
    with pytest.raises(Unsupported, match="dictionary"):
        selection([[], "words", "古い"], ARTICLES)


def test_what_finds_han_is_asked_in_chinese_and_must_have_it_as_written() -> None:
    """Han text is searched with the Chinese tokenizer, and compared as written."""
    asked = selection([[], "words", "阅读"], ARTICLES)
    assert asked.language == ["LANGUAGE", "chinese"]
    assert asked.steps[2] == '$[?(@["d"]["title"]=~"阅读"||@["d"]["body"]=~"阅读")]["k"]'


def test_an_empty_list_is_asked_for_since_it_is_not_loaded() -> None:
    """A projected list that is empty, which RediSearch does not load, is found by a separate condition."""
    query = Query.model_validate({"fields": ["tags", "name"]})
    command = finding(query, PRODUCTS)
    assert '$[?(@["d"]["tags"]==@["e"])]["k"]' in command
    assert found(query, {"e0": b"[1]", "p1": b'["x"]'}) == {"tags": [], "name": "x"}


def test_an_estimate_is_refused() -> None:
    """A percentile, which RediSearch only estimates, is Unsupported."""
    with pytest.raises(Unsupported, match="estimate"):
        Grouping(Aggregation.model_validate({"compute": {"p": ["percentile", "price", 0.5]}}), PRODUCTS).command()


def test_items_that_the_text_of_a_list_does_not_tell_are_counted() -> None:
    """A facet counts a record once for an item, and asks separately for items that the text of a list does not tell apart."""
    counted, others = faceting(Facet(path=("tags",), each=True), Where(), PRODUCTS)
    assert counted[counted.index("REDUCE") :][:4] == ["REDUCE", "COUNT_DISTINCT", 1, "@__key"], "an item that is there twice counts once"
    assert any("=~" in str(word) for word in others)


def test_doubles_are_written_in_digits_that_are_read_right() -> None:
    """A double whose shortest form the server reads wrong is written in other digits."""
    assert digits(0.1) == "0.1"
    assert digits(NEIGHBOUR) != repr(NEIGHBOUR)
    assert float(digits(NEIGHBOUR)) == pytest.approx(NEIGHBOUR)
    assert json.loads(written({"a": [NEIGHBOUR, 'x"1.2345678901234567'], "b": 1})) == {
        "a": [float(digits(NEIGHBOUR)), 'x"1.2345678901234567'],
        "b": 1,
    }


@contextmanager
def running(command: str, home: Path) -> Iterator[redis_stack.StackSession]:
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = subprocess.Popen(
        [command, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--save", ""], stdout=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: _listens(port))
        session = redis_stack.connect(Address(host="127.0.0.1", port=port), {})
        try:
            yield session
        finally:
            session.close()
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.servers
@pytest.mark.parametrize(("command", "product"), [("redis-server", "Redis"), ("redis-stack-server", "Redis Stack")])
def test_only_a_server_with_both_modules_is_a_stack(command: str, product: str, tmp_path: Path) -> None:
    """A server without RedisJSON or RediSearch is not reported as Redis Stack."""
    with running(command, tmp_path) as session:
        version = session.version()
    assert version.product == product
    assert ("ReJSON" in version.number) == (product == "Redis Stack")


@pytest.mark.servers
def test_every_double_comes_back_or_is_refused(tmp_path: Path) -> None:
    """Any double is read back bit for bit, or its put is refused, which is rare."""
    source = random.Random(1)
    refused = 0
    with running("redis-stack-server", tmp_path) as session:
        collection = session.collection(Layout("c", MODELS["nested"]))
        for _ in range(2000):
            real = source.uniform(-1000, 1000)
            try:
                collection.put("k", {"real": real})
            except Refused:
                refused += 1
                continue
            assert struct.pack("<d", collection.get("k")["real"]) == struct.pack("<d", real)
    assert refused < 20
