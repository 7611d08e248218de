"""A pytest plugin for a run inside a test: each fault strikes in ROUNDS_OF_THE_TEST rounds, where the specification demands five or more.

For stores that are right: that their cases work shows in one round. What is wrong with a store is looked for in as many as a user has.
"""

from __future__ import annotations

import os
from dataclasses import replace

from storeproof.plugin import run
from storeproof.spec import Scale, Spec

ROUNDS = int(os.environ["ROUNDS_OF_THE_TEST"])

whole_edition = run.edition_to_try


def edition_with_few(name: str | None) -> Spec:
    """The edition, with fewer rounds."""
    whole = whole_edition(name)
    return replace(whole, scales={name: _with_few(scale) for name, scale in whole.scales.items()})


def _with_few(scale: Scale) -> Scale:
    return scale.model_copy(update={"durability": scale.durability.model_copy(update={"rounds": ROUNDS})})


run.edition_to_try = edition_with_few
