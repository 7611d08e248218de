"""The requests of a mix, with their values drawn from loaded records.

All values of one request are of one record that is loaded and stays, and an update keeps its words. So every request has an
answer, and an empty one is a record that was missed.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any, Final

from storeproof.contract.notation import arguments_from
from storeproof.corpus.articles import Article, Articles
from storeproof.errors import NotAvailable
from storeproof.outcome import Lack
from storeproof.spec.model import Model
from storeproof.spec.workload import Mix, fill_in

DIFFERENT: Final = 256
"""Requests of one mix, which are made before the clock runs and then drawn from."""
_TRIED: Final = 40
"""Articles in a row without a word or a category after which a corpus is taken to have none."""
_WORD: Final = re.compile(r"[^\W\d_]{4,20}")
"""Letters alone: what else belongs to a word, every text index has its own rules for, and also for shorter words."""
_NOT_SPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Kana and Han: nothing is between two words, and where one ends is for a dictionary to say."""
_MARKS: Final = ".,;:!?()\"'«»„“”‘’؟،؛"

Asked = tuple[tuple[Any, ...], ...]
"""The arguments of each of the requests."""


def requests(model: Model, mix: Mix, articles: Articles, known: int) -> Asked:
    """Different requests of a mix, the same in every run over the same `known` loaded records; none of a mix that asks nothing.
    Raises `NotAvailable`: the corpus has no such values."""
    if mix.request is None:
        return ()
    random = Random(mix.name or mix.operation)
    made: list[tuple[Any, ...]] = []
    missing = 0
    while len(made) < DIFFERENT:
        article = articles.under(articles.key(random.randrange(known)))
        assert article is not None, "a key of its own making"
        try:
            asked = fill_in(mix.request, lambda name, of=article: _drawn(of, name, random))  # type: ignore[misc]
        except _NothingOfIt as name:
            missing += 1
            if missing == _TRIED and not made:
                raise NotAvailable(
                    f"{articles.name} has no {name} that can be asked for",
                    "give --corpus a dump in a language with spaces between words too" if str(name) == "word" else "give another --corpus",
                    Lack.ENGINE,
                ) from None
            continue
        made.append(arguments_from(model, mix.operation, (asked,)))
    return tuple(made)


def words(article: Article) -> list[str]:
    """The words of an article that a store is asked for."""
    found = (word.strip(_MARKS) for word in article.body.split())
    return [word for word in found if _WORD.fullmatch(word) and not _NOT_SPACED.search(word)]


class _NothingOfIt(Exception):
    """The article has no such thing."""


def _drawn(article: Article, name: str, random: Random) -> str:
    if name == "word":
        choices = words(article)
    else:
        choices = {"language": [article.language], "category": article.categories, "published": [article.published]}[name]
    if not choices:
        raise _NothingOfIt(name)
    return random.choice(choices)
