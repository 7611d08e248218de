//! What goes out: new requests, and the second ones of operations that are under way.

use nix::errno::Errno;
use nix::sys::epoll::EpollOp;

use crate::wire::connection::{Flight, State};
use crate::wire::pump::{Pump, clock};

const NO_ROOM: &str = "no template has room for this key";

impl Pump<'_> {
    /// Sends what a connection may still have in flight, at most `most` requests; in an open loop those of the time `intended`.
    pub fn send(&mut self, place: usize, most: usize, intended: Option<u64>) {
        let connection = &mut self.connections[place];
        let before = connection.flights.len();
        let room = self.job.pipeline.min(before.saturating_add(most));
        let direct = self.job.pipeline == 1;
        let (mut kept, mut beyond) = (Ok(true), None);
        self.out.clear();
        while connection.state == State::Open && connection.flights.len() < room && self.budget > 0 {
            let Some(op) = self.mix.choose(&self.keys, connection) else {
                connection.state = State::Ended;
                break;
            };
            let Some(keys_at) = connection.room() else { break };
            let operation = &mut self.mix.operations[op];
            operation.draw(&self.keys, connection, keys_at);
            let Some((id, bytes)) = operation.write(self.job, connection, keys_at) else {
                connection.give_back(keys_at);
                connection.state = State::Ended;
                beyond = Some(op);
                break;
            };
            self.budget -= 1;
            self.in_flight += 1;
            self.found.sent += bytes.len() as u64;
            let sent = if direct { clock() } else { 0 };
            connection.flights.push_back(Flight { op, id, intended: intended.unwrap_or(sent), sent, place: keys_at });
            if direct {
                self.found.pause += sent.saturating_sub(connection.last);
                kept = connection.send(bytes);
            } else {
                self.out.extend_from_slice(bytes);
            }
        }
        if !direct && !self.out.is_empty() {
            let sent = clock();
            for flight in connection.flights.range_mut(before..) {
                flight.sent = sent;
                flight.intended = intended.unwrap_or(sent);
                self.found.pause += sent.saturating_sub(connection.last);
            }
            kept = connection.send(&self.out);
        }
        self.went_out(place, kept);
        if let Some(op) = beyond {
            self.note(op, false, NO_ROOM, "", 0);
        }
    }

    /// Sends the second requests of operations that are under way, also after the deadline: they are part of what was begun before.
    pub fn follow_up(&mut self, place: usize) {
        self.out.clear();
        while let Some(mut flight) = self.connections[place].due.pop() {
            let connection = &mut self.connections[place];
            let Some((id, bytes)) = self.mix.operations[flight.op].write(self.job, connection, flight.place) else {
                connection.give_back(flight.place);
                connection.state = State::Ended;
                connection.requests += 1;
                self.in_flight -= 1;
                self.note(flight.op, false, NO_ROOM, "", 0);
                continue;
            };
            flight.id = id;
            self.out.extend_from_slice(bytes);
            connection.flights.push_back(flight);
        }
        self.found.sent += self.out.len() as u64;
        let kept = self.connections[place].send(&self.out);
        self.went_out(place, kept);
    }

    /// What the kernel said of a request that was to be sent.
    fn went_out(&mut self, place: usize, kept: Result<bool, Errno>) {
        match kept {
            Ok(true) => {}
            Ok(false) => {
                let _ = self.watch(place, EpollOp::EpollCtlMod); // it is watched: begin() would have failed
            }
            Err(failure) => self.broke(place, false, failure.desc(), &[]),
        }
    }
}
