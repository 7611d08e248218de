"""What clients did and what was found afterwards, in the terms that every check understands."""

from storeproof.history.observation import ABSENT, Observation, Sight
from storeproof.history.operation import Action, Ending, Operation
from storeproof.history.recorder import ClientLog, Recorder

__all__ = ["ABSENT", "Action", "ClientLog", "Ending", "Observation", "Operation", "Recorder", "Sight"]
