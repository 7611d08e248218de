"""Whether a store supports a capability that is wanted, and which of several alternatives tells it: for profiles and for needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

from storeproof.outcome import SHOWN, Outcome


class Support(StrEnum):
    """The support of a capability. Ordered as alternatives count: the first that occurs among them is said of all."""

    SUPPORTED = "supported"  # every case was answered correctly
    FAILED = "failed"  # answered wrongly, or claimed and not kept
    NOT_SHOWN = "not_shown"  # something was not tried, or decided nothing
    UNSUPPORTED = "unsupported"  # refused, and not claimed

    @property
    def words(self) -> str:
        return {Support.NOT_SHOWN: "not shown", Support.UNSUPPORTED: "not supported"}.get(self, str(self))


def support_of(outcomes: Collection[Outcome]) -> Support:
    """The support of a capability by its cases; a case that was not tried is `not_run`. Without any case nothing is shown."""
    if not outcomes:
        return Support.NOT_SHOWN
    if any(each in (Outcome.FAIL, Outcome.KNOWN_FAIL) for each in outcomes):
        return Support.FAILED
    if Outcome.UNSUPPORTED in outcomes:
        return Support.UNSUPPORTED
    return Support.SUPPORTED if all(each in SHOWN for each in outcomes) else Support.NOT_SHOWN


def telling(alternatives: Sequence[Support]) -> int:
    """The position of the alternative that says what is said of all of them.

    One that is shown is enough. Where none is, one that was claimed and failed tells more than one that was not tried; and only where
    every one is unsupported, all are.
    """
    order = list(Support)
    return min(range(len(alternatives)), key=lambda position: order.index(alternatives[position]))


def way_in_words(name: str, title: str) -> str:
    """An alternative by which something is met: `expiry.swept (expired records are removed within two minutes)`; a group has no title."""
    return f"{name} ({title[:1].lower()}{title[1:]})" if title else name
