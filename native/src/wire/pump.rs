//! One thread of load: requests out, replies in, every one of them judged.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollOp};
use nix::time::ClockId;

use crate::dice::Dice;
use crate::wire::connection::{Connection, Flight, State};
use crate::wire::failures::shown;
use crate::wire::frame::{Framer, Reply};
use crate::wire::job::Job;
use crate::wire::keys::{Keys, New, Shared};
use crate::wire::op::{Meaning, Mix, follows};
use crate::wire::tally::{Count, Course, Found, Times};

/// Bytes of a reply that are kept, for its id and to be shown.
pub const HEAD: usize = 200;

const BUFFER: usize = 1 << 16;

/// Nanoseconds between two looks at whether to go on.
pub const SLICE: u64 = 50_000_000;

/// What the threads of a job and the one that started it tell each other.
#[derive(Default)]
pub struct Control {
    /// Send no more.
    pub halt: AtomicBool,
    /// Do not wait for replies either.
    pub abandon: AtomicBool,
    pub errors: AtomicU64,
}

/// One thread, with its share of the connections.
pub struct Pump<'a> {
    pub job: &'a Job,
    pub control: &'a Control,
    pub connections: Vec<Connection>,
    pub found: Found,
    pub epoll: Epoll,
    pub mix: Mix,
    pub keys: Keys<'a>,
    buffer: Vec<u8>,
    pub out: Vec<u8>,
    pub in_flight: usize,
    /// Requests that may still be sent.
    pub budget: u64,
    pub begun: u64,
    pub deadline: u64,
    /// The clock, as it was read last.
    pub now: u64,
    /// Which of how many threads.
    pub thread: usize,
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[inline]
pub fn clock() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC)
}

fn nanoseconds(of: ClockId) -> u64 {
    of.now().map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// One thread's part of a job, from the start to the last reply.
pub fn run(job: &Job, shared: &Shared, control: &Control, thread: usize) -> Result<Found, Errno> {
    let mut pump = Pump::new(job, shared, control, thread)?;
    loop {
        let left = job.start_ns.saturating_sub(clock());
        if left == 0 || control.halt.load(Relaxed) {
            break;
        }
        sleep(Duration::from_nanos(left.min(SLICE)));
    }
    let cpu = nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID);
    pump.begin()?;
    if job.rate > 0.0 {
        pump.open_loop()?
    } else {
        pump.closed_loop()?
    }
    let mut found = pump.end();
    found.cpu = nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID) - cpu;
    Ok(found)
}

impl<'a> Pump<'a> {
    fn new(job: &'a Job, shared: &'a Shared, control: &'a Control, thread: usize) -> Result<Self, Errno> {
        let batch = job.ops.iter().map(|op| op.batch).max().unwrap_or(1);
        let mine = (0..job.sockets.len()).filter(|client| client % job.threads == thread);
        let connections = mine.filter_map(|client| {
            let new = New { client: client as u64, position: job.positions[client], removed: job.removed[client] };
            let dice = Dice(job.seed ^ (client as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let framer = Framer::new(&job.protocol)?;
            Some(Connection::new(job.sockets[client], framer, new, dice, job.sequence, job.pipeline, batch))
        });
        let open = job.rate > 0.0;
        let found = Found {
            counts: job.ops.iter().map(|_| Count::new(open)).collect(),
            clients: Vec::new(),
            course: Course::default(),
            samples: Vec::new(),
            doubtful: Vec::new(),
            busy: 0,
            pause: 0,
            cpu: 0,
            lag: open.then(Times::new),
            unissued: 0,
            sent: 0,
            received: 0,
            log: Vec::new(),
        };
        let keys = Keys { known: job.known, clients: job.sockets.len() as u64, shared, follows: follows(job), unsure: job.unsure.clone() };
        let threads = job.threads as u64;
        let budget = match job.limit {
            0 => u64::MAX,
            limit => limit / threads + u64::from((thread as u64) < limit % threads),
        };
        Ok(Pump {
            job,
            control,
            connections: connections.collect(),
            found,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            mix: Mix::new(job, thread),
            keys,
            buffer: vec![0; BUFFER],
            out: Vec::new(),
            in_flight: 0,
            budget,
            begun: 0,
            deadline: 0,
            now: 0,
            thread,
        })
    }

    fn begin(&mut self) -> Result<(), Errno> {
        self.now = clock();
        self.begun = self.now;
        self.deadline = self.begun + (self.job.seconds * 1e9) as u64; // on a busy machine a thread may wake up late: it still has its whole time
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
    pub fn watch(&self, place: usize, how: EpollOp) -> Result<(), Errno> {
        let connection = &self.connections[place];
        let sending = if connection.is_sending() { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
        let mut event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET | sending, place as u64);
        // The newer `Epoll::add` wants a descriptor that this process owns; these are lent to it as numbers.
        #[allow(deprecated)]
        nix::sys::epoll::epoll_ctl(self.epoll.0.as_raw_fd(), how, connection.fd, &mut event)
    }

    /// Whether more may be sent at this time.
    pub fn may_send(&self) -> bool {
        self.now < self.deadline && self.budget > 0 && !self.control.halt.load(Relaxed)
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
        self.now = clock();
        let length = came.ok().flatten().unwrap_or(0);
        match came {
            Ok(None) => {}
            Ok(Some(0)) => self.broke(place, false, "the store closed the connection", &[]),
            Ok(Some(length)) => {
                self.found.received += length as u64;
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
                return self.broke(place, true, "a reply that nobody asked for", bytes);
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
    fn answered(&mut self, place: usize, reply: Reply, part: &[u8]) -> Result<(), &'static str> {
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
        // Told apart before the flight is over: the reply is shown from the connection's own memory.
        let verdict = match self.mix.operations[connection.flights[which].op].meaning(reply.count) {
            _ if failed => Err("refused"),
            Meaning::Malformed => Err("a count that is no answer"),
            Meaning::Found(found) => Ok(found),
        };
        let said = if verdict.is_err() { shown(head) } else { String::new() };
        let flight = connection.flights.remove(which).ok_or("a reply that nobody asked for")?;
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
        let time = self.now.saturating_sub(flight.sent);
        self.found.busy += time;
        match verdict {
            Ok(found) => self.went_well(place, flight, found, time),
            Err(why) => self.went_wrong(place, flight, failed, why, &said),
        }
        Ok(())
    }

    #[inline]
    fn went_well(&mut self, place: usize, flight: Flight, ok: u64, time: u64) {
        let (connection, operation) = (&mut self.connections[place], &self.mix.operations[flight.op]);
        let response = self.now.saturating_sub(flight.intended);
        connection.ok += ok;
        connection.errors_in_a_row = 0;
        let count = &mut self.found.counts[flight.op];
        count.ok += ok;
        count.misses += operation.batch as u64 - ok;
        if ok > 0 {
            count.requests += 1;
            count.busy += time;
            count.service.record(time);
            if let Some(responses) = &mut count.response {
                responses.record(response);
            }
        }
        self.found.course.note(self.now - self.begun, ok, 0, response);
        if !operation.writes || ok == 0 {
            return;
        }
        for key in connection.keys(flight.place, operation.keys) {
            self.keys.acknowledge(*key);
            if self.job.log {
                let log = &mut self.found.log;
                log.extend_from_slice(&(connection.new.client as u32).to_le_bytes());
                [*key, flight.sent, self.now].iter().for_each(|number| log.extend_from_slice(&number.to_le_bytes()));
            }
        }
    }
}
