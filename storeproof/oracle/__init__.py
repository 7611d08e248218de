"""The oracle: computes the correct answer of each operation on plain Python values, and compares a store's answers with it."""

from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.equality import same, same_answer, same_lenient
from storeproof.oracle.step import step
