"""A pytest plugin for a run inside a test: a case of correctness has two seconds, and all of them three."""

from storeproof.outcome import Stage
from storeproof.plugin.limits import time_limits

time_limits._CASE = {**time_limits._CASE, Stage.CORRECTNESS: 2.0}
time_limits._STAGE = {**time_limits._STAGE, Stage.CORRECTNESS: 3.0}
