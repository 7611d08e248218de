"""The errors that a disk answered with, and how they are written: lines after those of the operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from storeproof.evidence.audit import AuditEvidence
from storeproof.evidence.notation import AuditOnLine, EvidenceDamaged, KnownKeys, LinePart, Number, audit_on_line
from storeproof.history import Place
from storeproof.spec.guarantee import IoError

MOST_CALLS: Final = 150
"""That fail on one store, each twice: each has some 75 operations, and what is read under 150 keys up to four times."""


@dataclass(slots=True)
class ErrorEvidence:
    """One error; filled in as it is tried."""

    call: int
    """1 is the first of the load that can fail so; 0: none failed."""
    lasting: bool
    """Whether all later calls failed, too."""
    first: int
    """The number of its first client."""
    until: int = 0
    """The number after its last client. The next client wrote when the disk worked again."""
    calls: int = 0
    """Calls of this load that could fail so."""
    gone: bool = False
    """The server ended, or closed its connections and took no new ones at once."""
    looks: list[AuditEvidence] = field(default_factory=list)
    """What was read while it ran; nothing of a model that it refused to read."""
    after: AuditEvidence | None = None
    """What was read after the power cut; None: nothing could be."""
    broken: str = ""
    """Why it did not start, or did not work, after that."""
    ended: bool = False
    """Of one that is broken: it did not start, or had ended."""


@dataclass(slots=True)
class ErrorsEvidence:
    """The errors of one kind on one store, in the order in which they were tried."""

    error: IoError
    requests: int
    clients: int
    """Those of the load that each error found done."""
    tried: list[ErrorEvidence] = field(default_factory=list)


class ErrorsLine(LinePart):
    """Which calls fail."""

    line: Literal["errors"] = "errors"
    error: IoError
    requests: Number
    clients: Number


class ErrorLine(LinePart):
    """One error."""

    line: Literal["error"] = "error"
    call: Number
    lasting: bool
    first: Number
    until: Number
    calls: Number
    gone: bool
    looks: list[AuditOnLine]
    after: AuditOnLine | None
    broken: str
    ended: bool


def error_lines(errors: ErrorsEvidence, numbers: Mapping[Place, int], origin: int) -> Iterator[str]:
    """What is written of all errors. `numbers`: of all keys; `origin`: from which times count."""
    yield ErrorsLine(error=errors.error, requests=errors.requests, clients=errors.clients).text
    for each in errors.tried:
        yield ErrorLine(
            call=each.call,
            lasting=each.lasting,
            first=each.first,
            until=each.until,
            calls=each.calls,
            gone=each.gone,
            looks=[audit_on_line(look, numbers, origin) for look in each.looks],
            after=None if each.after is None else audit_on_line(each.after, numbers, origin),
            broken=each.broken,
            ended=each.ended,
        ).text


def errors_with(errors: ErrorsEvidence | None, line: ErrorsLine | ErrorLine, keys: KnownKeys) -> ErrorsEvidence:
    """All errors, with those of the next line. Raises `EvidenceDamaged`."""
    if isinstance(line, ErrorsLine):
        return ErrorsEvidence(line.error, line.requests, line.clients)
    if errors is None:
        raise EvidenceDamaged("an error was tried, and nothing says of which kind")
    looks = [keys.audit(each) for each in line.looks]
    after = None if line.after is None else keys.audit(line.after)
    errors.tried.append(
        ErrorEvidence(line.call, line.lasting, line.first, line.until, line.calls, line.gone, looks, after, line.broken, line.ended)
    )
    if len(errors.tried) > 2 * MOST_CALLS + 1:
        raise EvidenceDamaged(f"more than {MOST_CALLS} calls failed on one store")
    return errors
