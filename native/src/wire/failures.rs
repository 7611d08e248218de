//! What becomes of requests that were refused, answered with nonsense, or not answered at all.

use std::sync::atomic::Ordering::Relaxed;

use nix::sys::epoll::EpollOp;

use crate::wire::connection::{Flight, State};
use crate::wire::pump::{HEAD, Pump};
use crate::wire::tally::SAMPLES;

/// Errors in a row after which a client gives up, as in `storeproof.load.driver.client`.
const LOST_CAUSE: u32 = 100;

/// The first bytes of a reply, fit to be read.
pub fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(HEAD)].escape_ascii().to_string()
}

impl Pump<'_> {
    /// A request was answered, and not well.
    #[cold]
    pub fn went_wrong(&mut self, place: usize, flight: Flight, refused: bool, why: &str, said: &str) {
        let connection = &mut self.connections[place];
        connection.errors_in_a_row += 1;
        if connection.errors_in_a_row >= LOST_CAUSE {
            connection.state = State::Ended;
        }
        self.doubt(place, flight);
        self.note(flight.op, !refused, why, said, self.now.saturating_sub(flight.intended));
    }

    /// Nothing more is to be had from a connection: what is in flight on it is lost, the first of it to nonsense or with all the rest.
    #[cold]
    pub fn broke(&mut self, place: usize, malformed: bool, why: &str, said: &[u8]) {
        let connection = &mut self.connections[place];
        connection.state = State::Broken;
        connection.last = self.now.max(connection.last);
        let said = shown(said);
        let _ = self.watch(place, EpollOp::EpollCtlDel); // the kernel may have let go of it already
        if self.connections[place].flights.is_empty() {
            self.nobodys(malformed, why, &said);
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
        self.found.busy += self.now.saturating_sub(flight.sent);
        self.note(flight.op, malformed, why, said, self.now.saturating_sub(flight.intended));
    }

    /// What nobody asked for is told of the first operation, and what nobody waits for is only shown.
    fn nobodys(&mut self, malformed: bool, why: &str, said: &str) {
        if malformed {
            self.note(0, true, why, said, 0);
        } else {
            self.show(why.to_string());
        }
    }

    fn show(&mut self, words: String) {
        if self.found.samples.len() < SAMPLES {
            self.found.samples.push(words);
        }
    }

    /// Nobody knows whether it was carried out.
    fn doubt(&mut self, place: usize, flight: Flight) {
        let operation = &self.mix.operations[flight.op];
        if operation.writes {
            let keys = self.connections[place].keys(flight.place, operation.keys);
            self.found.doubtful.extend_from_slice(keys);
            self.keys.unsure.extend(keys);
        }
    }

    /// Counts a failure, and shows the first ones.
    #[cold]
    pub fn note(&mut self, op: usize, malformed: bool, why: &str, said: &str, time: u64) {
        let count = &mut self.found.counts[op];
        if malformed {
            count.malformed += 1
        } else {
            count.errors += 1
        }
        self.control.errors.fetch_add(1, Relaxed);
        self.found.course.note(self.now.saturating_sub(self.begun), 0, 1, time);
        let name = &self.job.ops[op].name;
        self.show(if said.is_empty() { format!("{name}: {why}") } else { format!("{name}: {why}: {said}") });
    }
}
