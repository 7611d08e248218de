//! The closed loop: every connection sends its next request when it has the reply to the one before.

use std::sync::atomic::Ordering::Relaxed;

use nix::errno::Errno;
use nix::sys::epoll::{EpollEvent, EpollTimeout};

use crate::wire::connection::{Connection, State};
use crate::wire::pump::{Pump, SLICE, clock};
use crate::wire::tally::{Client, Found};

/// Connections that are attended to between two questions to the kernel.
const EVENTS: usize = 256;

impl Pump<'_> {
    /// From the first request to the last reply.
    pub fn closed_loop(&mut self) -> Result<(), Errno> {
        let mut events = [EpollEvent::empty(); EVENTS];
        for place in 0..self.connections.len() {
            self.top_up(place);
        }
        while self.in_flight > 0 && !self.is_over() {
            for event in self.wait(&mut events, SLICE)? {
                self.attend(event);
                self.top_up(event.data() as usize);
            }
        }
        Ok(())
    }

    fn top_up(&mut self, place: usize) {
        if self.may_send() {
            self.send(place, usize::MAX, None);
        }
    }

    /// Whether nobody waits any more for replies.
    pub fn is_over(&self) -> bool {
        let patience = (self.job.patience * 1e9) as u64;
        self.control.abandon.load(Relaxed) || self.now >= self.deadline.saturating_add(patience)
    }

    /// Waits so many nanoseconds for something to happen, in whole milliseconds, 0 being no wait.
    pub fn wait<'e>(&mut self, events: &'e mut [EpollEvent], nanoseconds: u64) -> Result<&'e [EpollEvent], Errno> {
        let timeout = EpollTimeout::from((nanoseconds / 1_000_000) as u16);
        let happened = match self.epoll.wait(events, timeout) {
            Err(Errno::EINTR) => 0,
            other => other?,
        };
        if happened == 0 {
            self.now = clock();
        }
        Ok(&events[..happened])
    }

    /// What was found. Who still waits for a reply by now met silence.
    pub fn end(mut self) -> Found {
        self.now = clock();
        for place in 0..self.connections.len() {
            if !self.connections[place].flights.is_empty() {
                self.connections[place].silent = true;
                self.broke(place, false, "no reply in time", &[]);
            }
        }
        // In an open loop a client is idle until something is due: the time is everyone's.
        let last = self.connections.iter().map(|connection| connection.last).max().unwrap_or(0).max(self.deadline.min(self.now));
        let ended = |connection: &Connection| if self.job.rate > 0.0 { last } else { connection.last };
        let clients = self.connections.iter().map(|connection| Client {
            client: connection.new.client as usize,
            position: connection.new.position,
            removed: connection.new.removed,
            ok: connection.ok,
            requests: connection.requests,
            elapsed: ended(connection).saturating_sub(self.begun),
            broken: connection.state == State::Broken,
            silent: connection.silent,
        });
        self.found.clients = clients.collect();
        self.found
    }
}
