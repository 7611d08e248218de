"""What of the clients' writes was in the store's files when a fault struck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEAST_BYTES: Final = 16
"""Of a record in the store's files. The least that was measured is 179: ten stores, by each fault. Key and write id alone have 20 and more,
and no store compresses different ones to less."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What of the writes was in the files when one fault struck."""

    written: int
    """Bytes that reached the data directory between the beginning of the load and the fault, as the launcher saw them."""
    elsewhere: tuple[str, ...]
    """Files outside the data directory and `${run}` that the store had open for writing."""

    def missed(self, records: int) -> str:
        """Why the fault did not strike what clients wrote; empty if it did.
        `records`: how many different records were acknowledged in that time."""
        if self.elsewhere:
            more = f", and {len(self.elsewhere) - 1} files more" if len(self.elsewhere) > 1 else ""
            return f"it writes to {self.elsewhere[0]}{more}, outside its data directory, where no fault strikes"
        if not records or self.written >= records * LEAST_BYTES:
            return ""
        if not self.written:
            return f"the data directory holds nothing of what was written: {records} records were acknowledged"
        return f"the data directory holds nothing of what was written: {self.written} bytes, and {records} records were acknowledged"
