"""The import of a run: as many articles as it needs, known by their keys, in little memory, and removed afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.corpus.article_store import Corpus
from storeproof.corpus.articles import ArticleStore, articles
from storeproof.errors import UsageError
from tests.corpus.dumps import TRAPS, dump, head, many, page


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    first = dump(tmp_path, *TRAPS)
    second = dump(tmp_path, page(1, "Le fleuve", "Le fleuve coule."), name="frwiki.xml.bz2", first=head("fr", ()))
    made = Corpus([first, second])
    yield made
    made.close()


def test_several_dumps_are_one_corpus(corpus: Corpus) -> None:
    """Pages keep their numbers, behind their language."""
    corpus.fetch(10, lambda _text: None)
    assert corpus.article_store is not None
    article_store = ArticleStore(corpus.article_store)
    assert [article_store.key(number) for number in range(5)] == ["de:1", "de:6", "fr:1", "de:1/1", "de:6/1"]
    assert article_store.under("de:6/1") == article_store.under("de:6")
    assert article_store.under("fr:2") is None
    assert [(each.name, each.language, each.pages, each.skipped_pages) for each in corpus.imported] == [
        ("dewiki.xml", "de", 2, 6),
        ("frwiki.xml.bz2", "fr", 1, 0),
    ]
    assert "dewiki.xml (2 pages, " in article_store.name


def test_the_checksum_is_that_of_the_articles(tmp_path: Path) -> None:
    """How the dump is packed makes no difference; one other word does."""
    sums = []
    for name, text in (("a.xml", "Ein Wort."), ("b.xml.bz2", "Ein Wort."), ("c.xml", "Zwei Worte.")):
        corpus = Corpus([dump(tmp_path, page(1, "A", text), name=name)])
        corpus.fetch(1, lambda _text: None)
        sums.append(corpus.imported[0].checksum)
        corpus.close()
    assert sums[0] == sums[1] != sums[2]


def test_no_more_is_read_than_is_needed(tmp_path: Path) -> None:
    """The rest of a large dump may as well be damaged."""
    path = dump(tmp_path, *many(500, 900))
    path.write_bytes(path.read_bytes()[:-1000])
    corpus = Corpus([path])
    corpus.fetch(100, lambda _text: None)
    assert corpus.imported[0].pages == 100
    corpus.close()
    with pytest.raises(UsageError, match="ends in the middle"):
        corpus.fetch(500, lambda _text: None)
    corpus.close()


def test_nothing_is_left_behind(corpus: Corpus) -> None:
    """Closing removes the imported articles, and may be repeated."""
    corpus.fetch(10, lambda _text: None)
    assert corpus.article_store is not None
    directory = corpus.article_store.parent.parent
    assert directory.exists()
    corpus.close()
    corpus.close()
    assert not directory.exists()


def test_a_dump_without_articles(tmp_path: Path) -> None:
    """It is an error that says how many pages were passed over."""
    corpus = Corpus([dump(tmp_path, *TRAPS[1:5])])
    with pytest.raises(UsageError, match="has no article: 4 pages"):
        corpus.fetch(10, lambda _text: None)
    corpus.close()


def test_the_same_dump_twice(tmp_path: Path) -> None:
    """Its articles would have the same keys."""
    path = dump(tmp_path, *TRAPS)
    with pytest.raises(UsageError, match="is given twice"):
        Corpus([path, path])


def test_the_library_for_wikitext_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is the command that installs it."""
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    with pytest.raises(UsageError, match=r"pip install 'storeproof\[corpus\]'"):
        Corpus([dump(tmp_path, *TRAPS)])


def test_generated_articles_are_the_same_each_time() -> None:
    """In all the languages of the specification, under keys that say which."""
    made = articles()
    keys = [made.key(number) for number in range(28)]
    assert len({key.partition(":")[0] for key in keys}) == 14
    assert all(article is not None and article.language == key.partition(":")[0] for key in keys if (article := made.under(key)))
    assert made.under(keys[3]) == articles().under(keys[3]) != made.under(keys[17])


_PEAK = """
import resource, sys
from pathlib import Path
from storeproof.corpus.article_store import Corpus
corpus = Corpus([Path(sys.argv[1])])
corpus.fetch(1 << 30, lambda text: None)
print(corpus.imported[0].pages, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
corpus.close()
"""


@pytest.mark.slow
def test_the_import_takes_no_more_memory_for_a_larger_dump(tmp_path: Path) -> None:
    """Ten times as many pages, and not 4 MiB more: 20 kB of text each, so that a hundredth of them kept would be seen."""
    peaks = []
    for count in (300, 3000):
        path = tmp_path / f"{count}.xml"
        with path.open("w") as file:
            file.write(head("en", ((0, ""), (6, "File"), (14, "Category"))))
            file.writelines(many(count, 20_000))
            file.write("</mediawiki>")
        done = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True)
        pages, kibibytes = map(int, done.stdout.split())
        assert pages == count
        peaks.append(kibibytes / 1024)
    assert peaks[1] - peaks[0] < 4, peaks
