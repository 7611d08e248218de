"""A small result in which all that the first screen shows occurs."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.report.parts.first_screen import with_first_screen
from storeproof.result.model import Result
from tests.report.clusters import ISOLATED, PROMOTED
from tests.result.needs.levels import MIXES, level_case, level_cases, seen
from tests.site.made import fault, judged, rate, result, struck, tried, way


def small_result() -> Result:
    """Two stores that differ in all that the first screen shows."""
    words = ("text.word", "text.language-ja", "expiry.put-expiring", "expiry.swept", "key_access.put-get")
    good, poor = (
        tried("x:x", *zip(words, outcomes, strict=True), detail="a reason that is told").capabilities
        for outcomes in (
            [Outcome.PASS, Outcome.PASS, Outcome.PASS, Outcome.UNSUPPORTED, Outcome.PASS],
            [Outcome.FAIL, Outcome.UNSUPPORTED, Outcome.PASS, Outcome.PASS, Outcome.PASS],
        )
    )
    missing = [
        "capability text.word/001: fail: wrong",
        "capability text.language-ja/001: unsupported: no index",
        "model corpus: not claimed",
        "capability text.phrase: no case was run",
        "capability text.prefix/001: not_run: the machine",
    ]
    return with_first_screen(
        result(
            struck(
                "mysql:innodb",
                fault("process_crash", lost_operations=95, lost=30),
                fault("power_loss", acknowledged=34_567),
                title="MySQL",
                outcomes=[level_case("serializable", MIXES[0], Outcome.FAIL, seen("G2-item")), *level_cases("snapshot")],
                capabilities=good,
                profiles=[
                    judged("cache", "does_not_conform", ["capability expiry.put-expiring or expiry.swept: unsupported: x"]),
                    judged("search_store", "conforms"),
                ],
                measurements=[
                    rate("single-get", 12_345),
                    rate("single-put-distinct-100", 4321, at_least=True),
                    rate("nested-get", 9, invalid=["errors"]),
                ],
            ),
            struck(
                "redis:volatile",
                fault("process_crash", Outcome.UNSUPPORTED, lost=460),
                fault("power_loss", Outcome.UNSUPPORTED, torn=3),
                fault(
                    "partition",
                    Outcome.UNSUPPORTED,
                    lost=900,
                    cluster_rounds=[ISOLATED.model_copy(update={"failover": PROMOTED})],
                    recovery_seconds=[2.0, 6.0, 2.5, 3.0],
                ),
                claimed="volatile",
                title="Redis",
                capabilities=poor,
                profiles=[judged("cache", "conforms", ways=[way("expiry.swept")]), judged("search_store", "does_not_conform", missing)],
                measurements=[rate("single-get", 98_765)],
            ),
            run="small",
        )
    )
