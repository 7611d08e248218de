"""Histories: what clients did, and what was read back afterwards, in a form common to all checks."""

from storeproof.history.observation import ABSENT, Observation, Seen, Sight
from storeproof.history.operation import Action, Answer, Operation, Place, RequestOutcome, as_of, by_place
from storeproof.history.reach import Reach
from storeproof.history.recorder import ClientLog, Recorder
from storeproof.history.transaction import Access, Transaction
from storeproof.history.transfer import Balances, Transfer
