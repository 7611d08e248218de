"""The pump in pure Python, for where there is no compiled one: the same API, and the same work at a lower rate."""

from __future__ import annotations

from threading import Thread

from storeproof.load.wire.loop import Loop
from storeproof.load.wire.request import Job
from storeproof.load.wire.tally import Measured
from storeproof.load.wire.validate_job import flaw


class PumpRun:
    """A job that is under way, in a thread."""

    def __init__(self, job: Job) -> None:
        self._loop = Loop(job)
        self._found: Measured | BaseException | None = None
        self._thread = Thread(target=self._run, name="wire-py", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._loop.run()
        except BaseException as reason:  # noqa: BLE001 - raised where it is waited for
            self._found = reason

    @property
    def done(self) -> bool:
        """Whether all clients have ended."""
        return not self._thread.is_alive()

    @property
    def errors(self) -> int:
        """Errors so far."""
        return sum(count.errors + count.malformed for count in self._loop.counts)

    def stop(self) -> None:
        """End before the deadline."""
        self._loop.halted = True

    def join(self) -> Measured:
        """Wait for the end, at most the job's patience beyond the deadline."""
        try:
            self._thread.join()
        except BaseException:  # an interrupt: nothing is sent any more, and nobody waits for replies
            self._loop.abandoned = True
            self._thread.join()
            raise
        if isinstance(self._found, BaseException):
            raise self._found
        assert self._found is not None, "the thread ended"
        return self._found


def start(job: Job) -> PumpRun:
    """Begin.

    Raises:
        ValueError: the job cannot be carried out as it is.
        OSError: a descriptor is no socket.
    """
    if wrong := flaw(job):
        raise ValueError(wrong)
    return PumpRun(job)
