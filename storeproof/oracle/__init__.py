"""What is right: pure step functions on plain values, and the equality that answers are judged by."""

from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.equality import same, same_answer, same_lenient
from storeproof.oracle.step import step

__all__ = ["REFUSAL", "UNDEFINED", "State", "same", "same_answer", "same_lenient", "step"]
