"""Articles as records: whole, torn and invented are told apart, and every request for them has an answer."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from storeproof.contract import FacetedPage
from storeproof.corpus.articles import Article, Articles, ArticleStore, ArticleStoreWriter, articles
from storeproof.errors import NotAvailable
from storeproof.load.requests import DIFFERENT, requests, words
from storeproof.oracle.query import holds
from storeproof.records.article_records import ArticleRecipe
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from tests.shipped import SHIPPED

SPEC = SHIPPED
MODEL = SPEC.models["corpus"]
MADE = recipe(MODEL)
KEY = MADE.key(2)


def _made(write_id: str, key: str | int = KEY) -> dict[str, Any]:
    record = MADE.make(key, write_id)
    assert isinstance(record, dict)
    return record


def test_a_record_is_whole_under_its_key_and_names_its_writer() -> None:
    """Loaded ones and later revisions; and one made again is the same."""
    for write_id in ("0:17", "7:1042"):
        seen = MADE.identify(KEY, _made(write_id))
        assert (seen.kind, seen.write_ids) == ("whole", (write_id,))
        assert _made(write_id) == _made(write_id)


def test_what_is_loaded_is_the_article() -> None:
    """The write id aside; a later revision has the same words and another date."""
    article = articles().under(KEY)
    loaded, later = _made("0:2"), _made("3:5")
    assert article is not None
    assert (loaded["title"], loaded["body"], loaded["published"]) == (article.title, f"{article.body} 0:2", article.published)
    assert sorted(later["body"].split()[:-1]) == sorted(article.body.split())
    assert later["published"] > loaded["published"]


@pytest.mark.parametrize("name", ["body", "published", "revision", "bookmark"])
def test_parts_of_two_writes_are_torn(name: str) -> None:
    """Whichever part is of the other write."""
    seen = MADE.identify(KEY, {**_made("1:1"), name: _made("2:9")[name]})
    assert seen.kind == "torn"


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: {**record, "body": record["body"][:20]},
        lambda record: {name: value for name, value in record.items() if name != "title"},
        lambda record: {**record, "categories": record["categories"][:-1]},
        lambda record: {**record, "bookmark": "later"},
    ],
)
def test_a_part_that_is_cut_off_or_lost_is_torn(damage: Any) -> None:
    """The rest still names its writer."""
    assert MADE.identify(KEY, damage(_made("1:1"))).kind == "torn"


@pytest.mark.parametrize("record", [b"x", {}, {"title": "x"}, {**_made("1:1"), "more": 1}])
def test_what_nobody_wrote_is_invented(record: Any) -> None:
    """Values of other types, no part, or a part too many."""
    assert MADE.identify(KEY, record).kind == "invented"


def test_another_article_under_the_key_is_not_whole() -> None:
    """The key decides the article."""
    assert MADE.identify(KEY, _made("1:1", MADE.key(16))).kind != "whole"


def test_a_bookmark_is_the_one_part_that_is_set_by_itself() -> None:
    """The last bookmark and the last write have different write ids."""
    record = {**_made("1:1"), "bookmark": MADE.part(KEY, "2:9", ("bookmark",))}
    seen = MADE.identify(KEY, record)
    assert {path for path, write_id in seen.parts.items() if write_id != "1:1"} == {("bookmark",)}
    assert seen.parts["bookmark",] == "2:9"


BROWSE = [mix for mix in SPEC.workloads["corpus-browse"].mix if mix.request is not None]


@pytest.mark.parametrize("mix", BROWSE, ids=[mix.name for mix in BROWSE])
def test_every_request_has_an_answer_in_what_is_loaded(mix: Mix) -> None:
    """Also once all of it was updated: the oracle finds a record for each of them."""
    for writer in (0, 5):
        loaded = [_made(f"{writer}:{number}", MADE.key(number)) for number in range(160)]
        asked = requests(MODEL, mix, articles(), 160)
        assert len(asked) == DIFFERENT
        for (request,) in asked[:60]:
            wanted = getattr(request, "skip", 0) + 1
            found = islice((record for record in loaded if holds(request.filter, record)), wanted)
            assert len(list(found)) == wanted, request
    assert asked == requests(MODEL, mix, articles(), 160), "the same for every store"
    assert len({repr(each) for each in asked}) > 12


def test_words_are_those_that_every_index_has() -> None:
    """Letters alone, of languages that put spaces between words."""
    text = "A fox, 2026 “jumped” (again) don't über naïve 図書館は毎朝 도서관은 мир-мир Библиотека."
    assert words(Article("t", text, "en", [], "")) == ["jumped", "again", "über", "naïve", "도서관은", "Библиотека"]


def test_a_corpus_without_such_words_is_told(tmp_path: Path) -> None:
    """The message names the corpus and the remedy."""
    with ArticleStoreWriter(tmp_path / "articles.db") as writer:
        writer.put("ja:1", Article("川", "川は高い山から流れ出て、海に注ぎます。", "ja", [], "2026-01-01T00:00:00Z"))
        writer.name("jawiki.xml (1 pages)")
    found: Articles = ArticleStore(tmp_path / "articles.db")
    with pytest.raises(NotAvailable, match=r"jawiki.xml \(1 pages\) has no word that can be asked for; give --corpus a dump"):
        requests(MODEL, BROWSE[0], found, 1)


def test_an_article_store_is_read_under_its_own_keys(tmp_path: Path) -> None:
    """A key that no page has is none of ours."""
    article = Article("A", "Some words of text.", "en", ["C"], "2026-01-01T00:00:00Z")
    with ArticleStoreWriter(tmp_path / "articles.db") as writer:
        assert writer.put("en:7", article) is not None
        assert writer.put("en:7", article) is None
        writer.name("enwiki.xml (1 pages)")
    made = ArticleRecipe(MODEL, ArticleStore(tmp_path / "articles.db"))
    assert made.key(3) == "en:7/3"
    assert made.identify("en:7/3", made.make("en:7/3", "1:1")).kind == "whole"
    assert made.identify("en:8", made.make("en:7", "1:1")).kind == "invented"
    with pytest.raises(ValueError, match="en:8 is the key of no article"):
        made.make("en:8", "1:1")


def test_the_payload_is_the_mean_of_the_first_articles() -> None:
    """Generated articles have more than 300 bytes."""
    assert MADE.payload_bytes() > 300 if isinstance(MADE, ArticleRecipe) else False


def test_other_models_with_texts_take_no_load() -> None:
    """The message names the parts that an article has."""
    other = MODEL.model_copy(update={"key": "integer"})
    with pytest.raises(ValueError, match="its records are articles: body, bookmark, "):
        recipe(other)


def test_an_empty_answer_is_a_miss() -> None:
    """What is asked for is there."""
    from storeproof.load.calls import MISSED

    assert [MISSED[name](reply) for name, reply in (("find", []), ("count_where", 0), ("browse", FacetedPage(0, [], {})))] == [1, 1, 1]
    assert [MISSED[name](reply) for name, reply in (("find", [("k", {})]), ("browse", FacetedPage(2, ["k"], {})))] == [0, 0]
