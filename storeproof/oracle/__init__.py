"""The correct answers: pure step functions on plain values, and the equality by which answers are compared."""

from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.equality import same, same_answer, same_lenient
from storeproof.oracle.step import step

__all__ = ["REFUSAL", "UNDEFINED", "State", "same", "same_answer", "same_lenient", "step"]
