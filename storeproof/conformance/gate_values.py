"""Computes the values of the gates again, as far as rounds and latencies show them, and holds rates against what the load can have been.

Some cannot be computed: the processor time of the load generator, and the pauses of its clients, which only lower a rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose, sqrt
from statistics import median
from typing import Final

from storeproof.result.measurement import Measurement

_EXACT: Final = 1e-6
"""Share by which a figure may differ that was computed by another processor."""
_IN_FLIGHT: Final = 2.0
"""Times as many requests as the clients have room for that rate and times may amount to, beside those that ended after their round: a rate
counts from the first reply to the last, and on a busy machine clients wait before and after. Of a thousand true numbers the most was 1.08,
on a machine with nine other loads 1.23."""
_CEILING: Final = 3.0
"""Factor by which the rates of the rounds may differ from that of the client ceiling's gate, for the same reason; 1.44 was found."""
_OFFERED: Final = 6.0
"""Standard deviations by which more requests may have been due in an open loop than the rate says: the gaps are exponential."""
_ROUND_TRIP: Final = 0.1
"""Share of a round trip of one byte over loopback that half of a lone client's requests may take: less than that is no request."""


def wrong_gates(measured: Measurement, loopback_us: float | None) -> Iterator[str]:
    """What of the gates, or of the rates, does not follow from rounds and latencies. `loopback_us`: of one byte, if it was measured."""
    done, seconds = measured.latency_us.samples, sum(each.seconds for each in measured.rounds)
    if not done or not seconds:
        return
    yield from _of_room(measured, done / seconds, seconds)
    if measured.load_model == "open":
        yield from _of_schedule(measured, done, seconds)
    ceiling = measured.gates.get("client_ceiling")
    if ceiling is not None and measured.ceiling:
        shows = median(each.throughput / measured.batch for each in measured.rounds) / measured.ceiling
        if not ceiling.value / _CEILING <= shows <= ceiling.value * _CEILING:
            yield f"the gate client_ceiling has {ceiling.value:g}, and its rates are {shows:g} of the ceiling"
    alone = measured.clients * measured.pipeline * measured.hosts == 1
    if alone and loopback_us and measured.latency_us.p50 is not None and measured.latency_us.p50 < loopback_us * _ROUND_TRIP:
        yield f"half of its requests took {measured.latency_us.p50:g} us or less, and one byte over loopback {loopback_us:g} us"


def _of_room(measured: Measurement, rate: float, seconds: float) -> Iterator[str]:
    """Little's law: requests in flight = rate × mean time; the clients have room for some, and some ended after a round."""
    times = measured.latency_us if measured.load_model == "closed" else measured.service_us
    if times is None or times.mean is None:
        return
    in_flight = rate * times.mean / 1e6
    room = measured.clients * measured.pipeline * measured.hosts
    after = times.mean / 1e6 / (seconds / len(measured.rounds))
    if in_flight > room * (_IN_FLIGHT + after):
        yield f"its rate and its times are those of {in_flight:.4g} requests in flight, and it had room for {room} (Little's law)"


def _of_schedule(measured: Measurement, done: int, seconds: float) -> Iterator[str]:
    due = (measured.rate or 0.0) * seconds
    if done > due + _OFFERED * sqrt(due) + 1:
        yield f"it sent {done} requests, where {due:.0f} were due at its rate"
    asked = done + measured.errors + measured.misses + measured.missed_sends
    if not _near(measured.gates["missed_send_ratio"].value, measured.missed_sends / asked):
        says = measured.gates["missed_send_ratio"].value
        yield f"the gate missed_send_ratio has {says:g}, and {measured.missed_sends} of {asked} requests were not sent"
    lag, latency = measured.schedule_lag_us, measured.latency_us
    if lag is not None and lag.p50 is not None and lag.p99 is not None and latency.p50 and latency.p99:
        shows = max(lag.p50 / latency.p50, lag.p99 / latency.p99)
        if not _near(measured.gates["schedule_lag"].value, shows):
            yield f"the gate schedule_lag has {measured.gates['schedule_lag'].value:g}, and by its latencies {shows:g}"


def _near(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=_EXACT, abs_tol=1e-12)
