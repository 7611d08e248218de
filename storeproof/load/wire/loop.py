"""The pump's loop in pure Python: many connections in one thread, on epoll.

Level-triggered; one `recv` for what has come and one `send` for what may go. Descriptors are shared with whoever connected
them: neither they nor their flags are touched, and after the last reply the driver can go on with them.
"""

from __future__ import annotations

import select
import socket
from collections import deque
from struct import Struct
from time import monotonic_ns, sleep, thread_time
from typing import Final

from storeproof.load.wire.arrivals import gaps
from storeproof.load.wire.asking import Asker, Common, Task, Written
from storeproof.load.wire.connection import Client, taken
from storeproof.load.wire.framing import Reply
from storeproof.load.wire.request import Job
from storeproof.load.wire.rest import rest
from storeproof.load.wire.tally import Count, Measured, Series, Times

_FLAGS: Final = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
_MOST: Final = 1 << 18
"""Bytes that are asked for at once, at most."""
_SECOND: Final = 1_000_000_000
_LOOK_NS: Final = 50_000_000
"""How often it is looked whether the run was stopped."""
_SAMPLES: Final = 3
_LOGGED: Final = Struct("<IQQQ")


class Loop:
    """One job under way."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.counts = [Count(op) for op in job.ops]
        self.halted = False
        """Send no more."""
        self.abandoned = False
        """Do not wait for replies either."""
        self._series = Series(self.counts)
        self._common = Common(job)
        self._leans = any(op.keys in ("latest", "exponential") for op in job.ops)
        self._clients: dict[int, Client] = {}
        try:
            for number, descriptor in enumerate(job.sockets):
                asker = Asker(job, number, self.counts, self._common)
                client = self._clients[descriptor] = Client(number, taken(descriptor), asker, job)
                self._common.join(client.fresh, client.flight)
        except BaseException:
            self._let_go()
            raise
        self._busy = self._pause = self._sent = self._received = self._issued = self._in_flight = self._unissued = 0
        self._doubtful: list[int] = []
        self._samples: list[str] = []
        self._silent: list[int] = []
        self._log = bytearray()
        # Open loop: who has room for one more request and since when, when the next one is intended, and how late they are.
        self._open = bool(job.rate)
        self._idle: deque[tuple[Client, int]] = deque((client, 0) for _ in range(job.pipeline) for client in self._clients.values())
        self._gaps = gaps(job)
        self._intended = 0
        self._lag = Times()

    def run(self) -> Measured:
        """To the end."""
        cpu = thread_time()
        try:
            with select.epoll() as self._epoll:
                for descriptor in self._clients:
                    self._epoll.register(descriptor, select.EPOLLIN)
                while (left := self._job.start_ns - monotonic_ns()) > 0 and not self.halted and not self.abandoned:
                    sleep(min(left, _LOOK_NS) / _SECOND)
                self._begun = monotonic_ns()
                self._deadline = self._begun + int(self._job.seconds * _SECOND)
                self._second = self._begun + _SECOND
                for client in self._clients.values():
                    client.ended = self._begun
                self._serve(0)  # what comes before anything was asked is nobody's
                (self._open_loop if self._open else self._closed_loop)()
                self._drain()
            return self._measured(thread_time() - cpu)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        for client in self._clients.values():
            client.connection.detach()

    @property
    def _may_ask(self) -> bool:
        return (not self._job.limit or self._issued < self._job.limit) and not self.halted and not self.abandoned

    def _closed_loop(self) -> None:
        for client in self._clients.values():
            if not client.lost:
                self._fill(client)
        while self._in_flight and (left := self._deadline - monotonic_ns()) > 0 and not self.halted and not self.abandoned:
            self._serve(min(_LOOK_NS, left) / 1e9)

    def _open_loop(self) -> None:
        self._intended = self._begun + next(self._gaps)
        while (now := monotonic_ns()) < self._deadline and self._may_ask:
            self._dispatch()
            wait = min(self._deadline - now, _LOOK_NS)
            if self._idle:
                wait = min(wait, self._intended - monotonic_ns())
            self._serve(rest(wait, self._epoll.fileno()))
        while self._intended < self._deadline and self._may_ask:
            self._intended += next(self._gaps)
            self._unissued += 1

    def _drain(self) -> None:
        """Wait for what is still in flight."""
        end = min(self._deadline, monotonic_ns()) + int(self._job.patience * _SECOND)
        while self._in_flight and (left := end - monotonic_ns()) > 0 and not self.abandoned:
            self._serve(min(left, _LOOK_NS) / 1e9)
        for client in self._clients.values():
            if client.flight:
                self._silent.append(client.number)
                self._lose(client, f"no reply within {self._job.patience:g} s")

    def _dispatch(self) -> None:
        """Open loop: send what is due, as long as a connection has room for it."""
        idle = self._idle
        while idle and self._intended <= (now := monotonic_ns()) and now < self._deadline and self._may_ask:
            client, since = idle.popleft()
            if client.lost or client.gave_up:
                continue
            intended = self._intended
            if (made := self._next(client, intended)) is None:
                continue
            self._intended += next(self._gaps)
            data, sent = made
            self._lag.add(sent - max(intended, since))
            self._send(client, data)

    def _fill(self, client: Client) -> None:
        """Closed loop: as many requests as may be in flight, all at once."""
        room = self._job.pipeline - len(client.flight)
        requests = []
        while room > 0 and self._may_ask and (made := self._next(client, 0)) is not None:
            requests.append(made[0])
            room -= 1
        if requests:
            self._send(client, requests[0] if len(requests) == 1 else b"".join(requests))

    def _next(self, client: Client, intended: int) -> tuple[bytes, int] | None:
        """The next request, which counts as in flight from now on, and what time it is; None where the client has none to send."""
        task = client.asker.pick()
        if task is None:
            client.finished = True
            return None
        number = task.draw()
        if (made := client.write(task, number)) is None:
            self._no_room(client, task)
            return None
        data, id_reply = made
        sent = monotonic_ns()
        self._pause += sent - client.ended
        client.flight.append(Written(task, sent, intended, number, client.request_id, id_reply))
        self._in_flight += 1
        self._issued += 1
        return data, sent

    def _follow_up(self, client: Client) -> None:
        """Send the second requests of operations under way, also after the deadline: they are part of what was begun before."""
        requests = []
        for written in client.due:
            if (made := client.write(written.task, written.number)) is None:
                self._in_flight -= 1
                client.requests += 1
                self._no_room(client, written.task)
                continue
            requests.append(made[0])
            client.flight.append(written._replace(request_id=client.request_id, id_reply=made[1]))
        client.due.clear()
        self._send(client, b"".join(requests))

    def _no_room(self, client: Client, task: Task) -> None:
        client.finished = True
        task.count.errors += 1
        self._sample(f"{task.op.name}: no template has room for this key")

    def _send(self, client: Client, data: bytes) -> None:
        if client.unsent:
            client.unsent += data
            return
        try:
            done = client.connection.send(data, _FLAGS)
        except BlockingIOError:
            done = 0
        except OSError as reason:
            self._lose(client, str(reason))
            return
        self._sent += done
        if done < len(data):
            client.unsent = data[done:]
            self._epoll.modify(client.connection.fileno(), select.EPOLLIN | select.EPOLLOUT)

    def _serve(self, seconds: float) -> None:
        """Answer what comes, which is waited for at most so long."""
        for descriptor, what in self._epoll.poll(seconds):
            client = self._clients[descriptor]
            if what & select.EPOLLOUT:
                data, client.unsent = client.unsent, b""
                self._epoll.modify(descriptor, select.EPOLLIN)
                self._send(client, data)
            if what & ~select.EPOLLOUT and not client.lost:
                self._receive(client)
                if self._open:
                    self._dispatch()

    def _receive(self, client: Client) -> None:
        try:
            data = client.connection.recv(client.room, _FLAGS)
        except BlockingIOError:
            return
        except OSError as reason:
            self._lose(client, str(reason))
            return
        now = monotonic_ns()
        if not data:
            self._lose(client, "the store closed the connection")
            return
        self._received += len(data)
        if len(data) == client.room and client.room < _MOST:
            client.room *= 2
        if now >= self._second:
            over = (now - self._begun) // _SECOND
            self._series.close(over)
            self._second = self._begun + (over + 1) * _SECOND
        framer = client.framer
        for reply in framer.feed(data):
            self._reply(client, reply, now)
            if client.lost:
                return
        if framer.problem:
            self._lose(client, framer.problem, malformed=True)
            return
        if client.due:
            self._follow_up(client)
        if not self._open and now < self._deadline and not client.gave_up and not client.lost:
            self._fill(client)

    def _reply(self, client: Client, reply: Reply, now: int) -> None:
        written = self._meant(client, reply)
        if written is None:
            return
        task = written.task
        error = reply.error
        if task.frames > 1:
            client.frames += 1
            client.frames_error = error = client.frames_error or error
            if client.frames < task.frames:
                return
            client.frames, client.frames_error = 0, None
        flight = client.flight
        if flight[0] is written:
            flight.popleft()
        else:
            flight.remove(written)
        if task.then is not None and error is None and task.missed(reply.count) == 0:
            client.due.append(written._replace(task=task.then))
            return
        self._in_flight -= 1
        client.ended = now
        client.requests += 1
        self._busy += now - written.sent
        if error is not None:
            task.count.errors += 1
            self._failed(client, written, f"refused: {error}")
        elif (missed := task.missed(reply.count)) is not None:
            self._succeeded(client, written, missed, now)
        else:
            task.count.malformed += 1
            self._failed(client, written, f"an answer that counts {reply.count}, where {task.allowed} was expected")
        if self._open:
            self._idle.append((client, now))

    def _succeeded(self, client: Client, written: Written, missed: int, now: int) -> None:
        task, took = written.task, now - written.sent
        count, found = task.count, task.batch - missed
        client.in_a_row = 0
        client.ok += found
        count.ok += found
        count.misses += missed
        if found:
            count.busy_ns += took
            count.service.add(took)
        if self._open:
            took = now - written.intended
            if found:
                count.response.add(took)
        if took > self._series.slowest:
            self._series.slowest = took
        if found and task.op.writes and (self._job.log or self._leans):
            self._acknowledge(client, written, now)

    def _meant(self, client: Client, reply: Reply) -> Written | None:
        """The request that a reply answers; None where there is none, and then nothing more is believed of this connection."""
        if not client.flight:
            self._lose(client, f"a reply of {reply.length} bytes that nobody asked for", malformed=True)
            return None
        written = client.flight[0]
        if not written.id_reply:
            return written
        for written in client.flight:
            if written.id_reply:
                offset, width, order = written.id_reply
                found = int.from_bytes(reply.head[offset : offset + width], "little" if order == "le" else "big")
                if found == written.request_id % (1 << 8 * width):
                    return written
        self._lose(client, f"a reply to another request: {reply.head.hex(' ')}", malformed=True)
        return None

    def _acknowledge(self, client: Client, written: Written, now: int) -> None:
        for number in written.task.numbers(written.number):
            if written.task.op.keys == "new":
                self._common.acknowledge(number)
            if self._job.log:
                self._log += _LOGGED.pack(client.number, number, written.sent, now)

    def _failed(self, client: Client, written: Written, words: str, doubtful: bool = True) -> None:
        """A request came to nothing, or nobody knows; unless `doubtful` it was never sent."""
        client.in_a_row += 1
        task = written.task
        if task.op.writes and doubtful:
            numbers = task.numbers(written.number)
            self._doubtful.extend(numbers)
            client.fresh.unsure.update(numbers)
        self._sample(f"{task.op.name}: {words}")

    def _sample(self, words: str) -> None:
        if len(self._samples) < _SAMPLES:
            self._samples.append(words)

    def _lose(self, client: Client, words: str, malformed: bool = False) -> None:
        """The connection ended, or what comes cannot be believed: what was in flight on it is lost."""
        client.lost = True
        self._epoll.unregister(client.connection.fileno())
        now = monotonic_ns()
        if malformed:  # one reply was; where nothing was asked it is nobody's, and is told of the first operation
            count = client.flight[0].task.count if client.flight else self.counts[0]
            count.malformed += 1
        lost = [*client.flight, *client.due]
        for place, written in enumerate(lost):
            written.task.count.errors += not (malformed and place == 0 and client.flight)
            self._busy += now - written.sent
            self._failed(client, written, words, doubtful=place < len(client.flight))
        if not lost:
            self._sample(words)
        client.requests += len(lost)
        self._in_flight -= len(lost)
        client.ended = max(client.ended, now) if lost else client.ended
        client.flight.clear()
        client.due.clear()
        client.unsent = b""

    def _measured(self, cpu: float) -> Measured:
        clients = list(self._clients.values())
        last = max((client.ended for client in clients), default=self._begun)
        self._series.close(-(-(last - self._begun) // _SECOND))
        if self._open:  # a client is idle until something is due: the time is everyone's
            spans = {client: max(last, self._deadline) - self._begun for client in clients}
        else:
            spans = {client: client.ended - self._begun for client in clients if client.ended > self._begun}
        return Measured(
            ops=[count.told(self._open) for count in self.counts],
            throughput=sum(client.ok * _SECOND / span for client, span in spans.items()),
            request_rate=sum(client.requests * _SECOND / span for client, span in spans.items()),
            busy_seconds=self._busy / _SECOND,
            pause_seconds=self._pause / _SECOND,
            cpu_seconds=cpu,
            elapsed_seconds=(last - self._begun) / _SECOND,
            threads=1,
            positions=[client.fresh.position for client in clients],
            removed=[client.fresh.removed for client in clients],
            doubtful=self._doubtful,
            samples=self._samples,
            broken=[client.number for client in clients if client.lost],
            silent=self._silent,
            seconds=self._series.seconds,
            lag=self._lag.encoded() if self._open else "",
            unissued=self._unissued,
            bytes_sent=self._sent,
            bytes_received=self._received,
            log=bytes(self._log),
        )
