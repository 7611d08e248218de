"""Pure checks: their only input is the recorded history and the data read back."""

from storeproof.check.audits import Audits, judge_seen
from storeproof.check.counters import judge_counter
from storeproof.check.durability import ANOMALIES, Anomaly, Finding, judge_key
from storeproof.check.founded import founded
from storeproof.check.groups import judge_groups
from storeproof.check.isolation import (
    FORBIDS,
    Edge,
    IsolationAnomaly,
    contended,
    explain,
    find_anomalies,
    forbidden,
    is_at_least,
    lost_commits,
    strongest,
)
from storeproof.check.linearizable import MOST_CLIENTS, MOST_OPERATIONS, is_linearizable
from storeproof.check.losses import Losses, Shape, losses, unstartable, worst
from storeproof.check.sessions import SessionReads, judge_sessions
from storeproof.check.shrink import BEFORE, Contradiction, contradiction
from storeproof.check.staleness import Staleness, StaleRead, staleness, together
from storeproof.check.strength import upper_bound
from storeproof.check.transfers import Books, judge_transfers
