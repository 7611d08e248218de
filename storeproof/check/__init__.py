"""Pure checks: they see recorded history and what was found, and nothing else."""

from storeproof.check.counters import judge_counter
from storeproof.check.durability import Finding, Verdict, judge
from storeproof.check.losses import Losses, Shape, losses, unstartable, worst

__all__ = ["Finding", "Losses", "Shape", "Verdict", "judge", "judge_counter", "losses", "unstartable", "worst"]
