"""One layout of every kind of record."""

from __future__ import annotations

from storeproof.contract import Layout
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
VALUE, HASH, DOCUMENT, ROW, COUNTER = (Layout("c", MODELS[name]) for name in ("single_key", "hash10", "document10", "row", "counter"))
QUEUE, SET, RANKING, PLACES = (Layout("c", MODELS[name]) for name in ("queue", "members", "ranking", "places"))
