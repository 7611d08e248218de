"""What clients did and what was found afterwards, in the terms that every check understands."""

from storeproof.history.access import Access, AccessAction, Answer
from storeproof.history.observation import ABSENT, Observation, Sight
from storeproof.history.operation import Action, Ending, Operation
from storeproof.history.recorder import ClientLog, Place, Recorder

__all__ = [
    "ABSENT",
    "Access",
    "AccessAction",
    "Action",
    "Answer",
    "ClientLog",
    "Ending",
    "Observation",
    "Operation",
    "Place",
    "Recorder",
    "Sight",
]
