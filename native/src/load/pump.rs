//! The connections of one thread: sends requests, and checks every reply.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollOp};

use crate::dice::Dice;
use crate::load::clock;
use crate::load::connection::{Connection, Flight, State};
use crate::load::control::Control;
use crate::load::frame::{Framer, Problem, Reply, shown};
use crate::load::job::Job;
use crate::load::keys::{Keys, OwnKeys, Shared};
use crate::load::ledger::Ledger;
use crate::load::mix::{Meaning, Mix, follows};

const BUFFER: usize = 1 << 16;

/// Errors in a row after which a client gives up, as in `storeproof.load.driver.client`.
const LOST_CAUSE: u32 = 100;

const NO_ROOM: &str = "no template has room for this key";

/// One thread, with its share of the connections.
pub struct Pump<'a> {
    pub job: &'a Job,
    pub control: &'a Control,
    pub connections: Vec<Connection>,
    pub ledger: Ledger<'a>,
    pub epoll: Epoll,
    pub in_flight: usize,
    /// Requests that may still be sent.
    pub budget: u64,
    pub begun: u64,
    pub deadline: u64,
    /// The clock, as it was read last.
    pub now: u64,
    /// Which of how many threads.
    pub thread: usize,
    mix: Mix,
    keys: Keys<'a>,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

impl<'a> Pump<'a> {
    pub fn new(job: &'a Job, shared: &'a Shared, control: &'a Control, thread: usize) -> Result<Self, Errno> {
        let batch = job.ops.iter().map(|op| op.batch).max().unwrap_or(1);
        let mine = (0..job.sockets.len()).filter(|place| place % job.threads == thread);
        let connections = mine.filter_map(|place| {
            let client = job.clients[place];
            let dice = Dice(job.seed ^ (client as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let own = OwnKeys { client: client as u64, position: job.positions[client], removed: job.removed[client], dice };
            let framer = Framer::new(&job.protocol)?;
            Some(Connection::new(job.sockets[place], framer, own, job.sequence, job.pipeline, batch))
        });
        let threads = job.threads as u64;
        let budget = match job.limit {
            0 => u64::MAX,
            limit => limit / threads + u64::from((thread as u64) < limit % threads),
        };
        Ok(Pump {
            job,
            control,
            connections: connections.collect(),
            ledger: Ledger::new(job),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            in_flight: 0,
            budget,
            begun: 0,
            deadline: 0,
            now: 0,
            thread,
            mix: Mix::new(job, thread),
            keys: Keys {
                known: job.known,
                clients: job.positions.len() as u64,
                shared,
                follows: follows(job),
                indeterminate: &job.indeterminate,
            },
            buffer: vec![0; BUFFER],
            out: Vec::new(),
        })
    }

    /// Starts the clock, which began to run at `begun` for all threads.
    pub fn begin(&mut self, begun: u64) -> Result<(), Errno> {
        self.now = clock::now();
        self.begun = begun;
        self.ledger.begun = begun;
        self.deadline = begun + (self.job.seconds * 1e9) as u64; // on a busy machine a thread may wake up late: it still has its whole time
        for place in 0..self.connections.len() {
            self.connections[place].last = self.begun;
            self.watch(place, EpollOp::EpollCtlAdd)?;
            if !self.connections[place].is_quiet() {
                self.broke(place, true, "something came before anything was asked, or the connection was closed", &[]);
            }
        }
        Ok(())
    }

    /// Edge-triggered, so that the kernel does not look again at each connection that was read dry; whether it can be written to is asked
    /// only where something waits for that.
    fn watch(&self, place: usize, how: EpollOp) -> Result<(), Errno> {
        let connection = &self.connections[place];
        let sending = if connection.is_sending() { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
        let mut event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET | sending, place as u64);
        // The newer `Epoll::add` wants a descriptor that this process owns; these are lent to it as numbers.
        #[allow(deprecated)]
        nix::sys::epoll::epoll_ctl(self.epoll.0.as_raw_fd(), how, connection.fd, &mut event)
    }

    /// Whether more may be sent at this time.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.now < self.deadline && self.budget > 0 && !self.control.halt.load(Relaxed)
    }

    /// Sends what a connection may still have in flight, at most `most` requests; in an open loop those of the time `intended`.
    pub fn send(&mut self, place: usize, most: usize, intended: Option<u64>) {
        let connection = &mut self.connections[place];
        let before = connection.flights.len();
        let room = self.job.pipeline.min(before.saturating_add(most));
        let direct = self.job.pipeline == 1;
        let (mut kept, mut beyond) = (Ok(true), None);
        self.out.clear();
        while connection.state == State::Open && connection.flights.len() < room && self.budget > 0 {
            let Some(op) = self.mix.choose(&self.keys, &mut connection.own) else {
                connection.state = State::Ended;
                break;
            };
            let Some(keys_at) = connection.room() else { break };
            let operation = &mut self.mix.operations[op];
            let author = connection.next;
            let (own, keys) = connection.drawing(keys_at, operation.keys);
            operation.draw(&self.keys, own, keys);
            let Some(bytes) = operation.write(self.job, author, &mut own.dice, keys) else {
                connection.give_back(keys_at);
                connection.state = State::Ended;
                beyond = Some(op);
                break;
            };
            connection.advance();
            self.budget -= 1;
            self.in_flight += 1;
            self.ledger.found.sent += bytes.len() as u64;
            let sent = if direct { clock::now() } else { 0 };
            connection.flights.push_back(Flight { op, id: author.id, intended: intended.unwrap_or(sent), sent, place: keys_at });
            if direct {
                self.ledger.found.pause += sent.saturating_sub(connection.last);
                kept = connection.send(bytes);
            } else {
                self.out.extend_from_slice(bytes);
            }
        }
        if !direct && !self.out.is_empty() {
            let sent = clock::now();
            for flight in connection.flights.range_mut(before..) {
                flight.sent = sent;
                flight.intended = intended.unwrap_or(sent);
                self.ledger.found.pause += sent.saturating_sub(connection.last);
            }
            kept = connection.send(&self.out);
        }
        self.went_out(place, kept);
        if let Some(op) = beyond {
            self.ledger.failure(op, false, NO_ROOM, "", self.now, 0);
        }
    }

    /// Sends the second requests of operations that are under way, also after the deadline: they are part of what was begun before.
    fn follow_up(&mut self, place: usize) {
        self.out.clear();
        while let Some(mut flight) = self.connections[place].due.pop() {
            let connection = &mut self.connections[place];
            let operation = &mut self.mix.operations[flight.op];
            flight.id = connection.next.id;
            let author = connection.next;
            let (own, keys) = connection.drawing(flight.place, operation.keys);
            let Some(bytes) = operation.write(self.job, author, &mut own.dice, keys) else {
                connection.give_back(flight.place);
                connection.state = State::Ended;
                connection.requests += 1;
                self.in_flight -= 1;
                self.ledger.failure(flight.op, false, NO_ROOM, "", self.now, 0);
                continue;
            };
            connection.advance();
            self.out.extend_from_slice(bytes);
            connection.flights.push_back(flight);
        }
        self.ledger.found.sent += self.out.len() as u64;
        let kept = self.connections[place].send(&self.out);
        self.went_out(place, kept);
    }

    /// What the kernel said of a request that was to be sent.
    #[inline]
    fn went_out(&mut self, place: usize, kept: Result<bool, Errno>) {
        match kept {
            Ok(true) => {}
            Ok(false) => {
                let _ = self.watch(place, EpollOp::EpollCtlMod); // it is watched: begin() would have failed
            }
            Err(failure) => self.broke(place, false, failure.desc(), &[]),
        }
    }

    /// What the kernel says of a connection.
    pub fn attend(&mut self, event: &EpollEvent) {
        let place = event.data() as usize;
        if self.connections[place].state == State::Broken {
            return;
        }
        if event.events().contains(EpollFlags::EPOLLOUT) && self.connections[place].is_sending() {
            match self.connections[place].send_rest() {
                Ok(true) => {
                    let _ = self.watch(place, EpollOp::EpollCtlMod);
                }
                Ok(false) => {}
                Err(failure) => return self.broke(place, false, failure.desc(), &[]),
            }
        }
        // There is no second event for what was left unread: a full buffer, or the end of the connection behind a reply.
        let ends = event.events().intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR);
        while self.connections[place].state != State::Broken && (self.receive(place) == BUFFER || ends) {}
    }

    /// Takes in what came on a connection; how many bytes that was.
    fn receive(&mut self, place: usize) -> usize {
        let mut buffer = std::mem::take(&mut self.buffer);
        let came = self.connections[place].receive(&mut buffer);
        self.now = clock::now();
        let length = came.ok().flatten().unwrap_or(0);
        match came {
            Ok(None) => {}
            Ok(Some(0)) => self.broke(place, false, "the store closed the connection", &[]),
            Ok(Some(length)) => {
                self.ledger.found.received += length as u64;
                self.read(place, &buffer[..length]);
                if !self.connections[place].due.is_empty() {
                    self.follow_up(place);
                }
            }
            Err(failure) => self.broke(place, false, failure.desc(), &[]),
        }
        self.buffer = buffer;
        length
    }

    fn read(&mut self, place: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let connection = &mut self.connections[place];
            if connection.flights.is_empty() {
                return self.broke(place, true, "a reply without a request", bytes);
            }
            match connection.framer.feed(bytes) {
                Ok((Some(reply), used)) => {
                    if let Err(problem) = self.answered(place, reply, &bytes[..used]) {
                        return self.broke(place, true, problem, bytes);
                    }
                    bytes = &bytes[used..];
                }
                Ok((None, used)) => {
                    connection.head.keep(&bytes[..used]);
                    return;
                }
                Err(problem) => return self.broke(place, true, problem, bytes),
            }
        }
    }

    /// One whole frame, whose last part is `part`.
    #[inline]
    fn answered(&mut self, place: usize, reply: Reply, part: &[u8]) -> Result<(), Problem> {
        let connection = &mut self.connections[place];
        let head = connection.head.of(part);
        let mut which = 0;
        let operation = &self.mix.operations[connection.flights[0].op];
        if let Some(id_place) = operation.requests[0].id_place {
            let id = id_place.read(head).ok_or("a reply too short for an id")?;
            // Some stores answer the requests of one connection as each is done.
            let asked = connection.flights.iter().position(|flight| id_place.of(flight.id) == id);
            which = asked.ok_or("a reply with the id of no request")?;
        }
        connection.failed |= reply.error;
        connection.frames += 1;
        if connection.frames < operation.frames {
            return Ok(());
        }
        let failed = std::mem::take(&mut connection.failed);
        connection.frames = 0;
        let verdict = match self.mix.operations[connection.flights[which].op].meaning(reply.count) {
            _ if failed => Err("refused"),
            Meaning::Malformed => Err("an unexpected count"),
            Meaning::Found(found) => Ok(found),
        };
        let said = if verdict.is_err() { shown(head) } else { String::new() };
        let flight = connection.flights.remove(which).ok_or("a reply without a request")?;
        let operation = &self.mix.operations[flight.op];
        if let (Some(then), Ok(found)) = (operation.then, &verdict) {
            if *found == operation.batch as u64 {
                connection.due.push(Flight { op: then, ..flight });
                return Ok(());
            }
        }
        self.in_flight -= 1;
        connection.requests += 1;
        connection.last = self.now;
        connection.give_back(flight.place);
        self.ledger.found.busy += self.now.saturating_sub(flight.sent);
        match verdict {
            Ok(found) => self.succeeded(place, flight, found),
            Err(why) => self.failed(place, flight, !failed, why, &said),
        }
        let connection = &mut self.connections[place];
        if connection.requests == self.job.pipeline as u64 {
            connection.settled = Some((self.now, connection.ok));
        }
        Ok(())
    }

    #[inline]
    fn succeeded(&mut self, place: usize, flight: Flight, ok: u64) {
        let (connection, operation) = (&mut self.connections[place], &self.mix.operations[flight.op]);
        connection.ok += ok;
        connection.errors_in_a_row = 0;
        self.ledger.success(flight, ok, operation.batch as u64 - ok, self.now);
        if !operation.writes || ok == 0 {
            return;
        }
        for key in connection.keys(flight.place, operation.keys) {
            self.keys.acknowledge(*key);
            if self.job.log {
                self.ledger.log(connection.own.client, *key, flight.sent, self.now);
            }
        }
    }

    /// A request was refused, or its reply is no answer to it.
    #[cold]
    fn failed(&mut self, place: usize, flight: Flight, malformed: bool, why: &str, said: &str) {
        let connection = &mut self.connections[place];
        connection.errors_in_a_row += 1;
        if connection.errors_in_a_row >= LOST_CAUSE {
            connection.state = State::Ended;
        }
        self.doubt(place, flight);
        self.ledger.failure(flight.op, malformed, why, said, self.now, self.now.saturating_sub(flight.intended));
    }

    /// A connection ended, or its replies cannot be trusted: what is in flight on it is lost. `malformed`: its first request got nonsense.
    #[cold]
    pub fn broke(&mut self, place: usize, malformed: bool, why: &str, said: &[u8]) {
        let connection = &mut self.connections[place];
        connection.state = State::Broken;
        connection.last = self.now.max(connection.last);
        let said = shown(said);
        let _ = self.watch(place, EpollOp::EpollCtlDel); // the kernel may have let go of it already
        if self.connections[place].flights.is_empty() {
            match malformed {
                true => self.ledger.failure(0, true, why, &said, self.now, 0), // it belongs to no request: counted with the first operation
                false => self.ledger.show(why.to_string()),
            }
        }
        let mut first = malformed;
        while let Some(flight) = self.connections[place].flights.pop_front() {
            self.doubt(place, flight);
            self.lost(place, flight, first, why, &said);
            first = false;
        }
        while let Some(flight) = self.connections[place].due.pop() {
            self.lost(place, flight, false, why, &said); // its first request was answered, and its second never sent
        }
    }

    fn lost(&mut self, place: usize, flight: Flight, malformed: bool, why: &str, said: &str) {
        self.in_flight -= 1;
        self.connections[place].requests += 1;
        self.ledger.found.busy += self.now.saturating_sub(flight.sent);
        self.ledger.failure(flight.op, malformed, why, said, self.now, self.now.saturating_sub(flight.intended));
    }

    /// Whether it was carried out is not known.
    fn doubt(&mut self, place: usize, flight: Flight) {
        let operation = &self.mix.operations[flight.op];
        if operation.writes {
            let keys = self.connections[place].keys(flight.place, operation.keys);
            self.ledger.found.indeterminate.extend_from_slice(keys);
            self.keys.shared.doubt(keys);
        }
    }
}
