"""Isolation: which anomalies of Adya's theory a history of transactions shows.

Nothing is reported that a store could show at a level which forbids it; what the reads do not tell is not guessed. Absence proves nothing.
"""

from storeproof.check.isolation.anomaly import Edge, IsolationAnomaly
from storeproof.check.isolation.contention import contended
from storeproof.check.isolation.find import find_anomalies
from storeproof.check.isolation.levels import FORBIDS, forbidden, is_at_least, strongest
from storeproof.check.isolation.lost_commits import lost_commits
from storeproof.check.isolation.words import explain
