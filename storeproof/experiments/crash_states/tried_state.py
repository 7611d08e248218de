"""What a store made of one state of its disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storeproof.disk.recording import DiskState
from storeproof.evidence import StateEvidence
from storeproof.experiments.trial_summary import Tried
from storeproof.history import Place, Seen
from storeproof.result.measured.crash_states import FileLeft


@dataclass(slots=True)
class TriedState(Tried):
    """One state."""

    state: DiskState
    depth: int = 1
    """Whether what is wrong was seen after the crash, 1, or after the next, 2."""
    seen: Mapping[Place, Seen] | None = None
    """What was read after the crash."""
    client: int | None = None
    """The number of the one that wrote after that."""
    again: Mapping[Place, Seen] | None = None
    """What was read after the next crash."""
    files: Sequence[FileLeft] = ()
    """What was on its disk, if that is shown."""

    def evidence(self, mark: int) -> StateEvidence:
        """To be judged again. `mark`: what was acknowledged by it has to be there."""
        state = self.state
        return StateEvidence(
            state.name, state.tier, mark, state.fingerprint, self.depth, self.seen, self.client, self.again, self.broken, self.ended
        )
