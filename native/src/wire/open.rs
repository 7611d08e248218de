//! The open loop: requests have times of their own, whatever became of the ones before.

use std::collections::VecDeque;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::EpollEvent;
use nix::sys::time::{TimeSpec, TimeValLike};

use crate::dice::Dice;
use crate::wire::connection::{Connection, State};
use crate::wire::pump::{Pump, SLICE, clock};

/// Nanoseconds before a request's time from which on the clock is watched: the kernel wakes late by about half of that.
const SPUN: u64 = 100_000;

const EVENTS: usize = 64;

/// When requests are to be sent, one after the other.
struct Arrivals {
    /// Nanoseconds from the start.
    next: f64,
    gap: f64,
    dice: Option<Dice>,
}

impl Arrivals {
    fn advance(&mut self) {
        self.next += match &mut self.dice {
            Some(dice) => -(1.0 - dice.draw()).ln() * self.gap,
            None => self.gap,
        };
    }

    /// How many are due before this time, the next one included.
    fn due_before(&mut self, end: f64) -> u64 {
        const COUNTED: f64 = 1e7;
        if (end - self.next) / self.gap > COUNTED {
            return ((end - self.next) / self.gap) as u64; // so many that their mean is as good
        }
        let mut due = 0;
        while self.next < end {
            due += 1;
            self.advance();
        }
        due
    }
}

impl Pump<'_> {
    /// From the first request's time to the last reply.
    pub fn open_loop(&mut self) -> Result<(), Errno> {
        let gap = self.job.threads as f64 * 1e9 / self.job.rate;
        let dice = Dice(self.job.seed.rotate_left(32) ^ self.thread as u64);
        let mut arrivals = Arrivals { next: 0.0, gap, dice: self.job.poisson.then_some(dice) };
        match self.job.poisson {
            true => arrivals.advance(),
            false => arrivals.next = gap * self.thread as f64 / self.job.threads as f64,
        }
        let mut idle: VecDeque<usize> = (0..self.connections.len()).collect();
        self.connections.iter_mut().for_each(|connection| connection.queued = true);
        let mut events = [EpollEvent::empty(); EVENTS];
        while !self.is_over() {
            self.now = clock();
            self.dispatch(&mut arrivals, &mut idle);
            if !self.may_send() && self.in_flight == 0 {
                break;
            }
            let due = self.begun + arrivals.next as u64;
            let left = if self.may_send() && !idle.is_empty() { due.saturating_sub(self.now) } else { SLICE };
            for event in self.wait_for(&mut events, left)? {
                self.attend(event);
                self.queue(event.data() as usize, &mut idle);
                self.dispatch(&mut arrivals, &mut idle);
            }
            if idle.is_empty() && self.in_flight == 0 {
                break; // no connection is left
            }
        }
        self.now = clock();
        if self.budget > 0 {
            self.found.unissued = arrivals.due_before(self.now.min(self.deadline).saturating_sub(self.begun) as f64);
        }
        Ok(())
    }

    /// A connection that may take a request waits for its turn.
    fn queue(&mut self, place: usize, idle: &mut VecDeque<usize>) {
        let connection = &mut self.connections[place];
        if connection.state == State::Open && !connection.queued && connection.flights.len() < self.job.pipeline {
            connection.queued = true;
            connection.idle_since = self.now;
            idle.push_back(place);
        }
    }

    /// Sends what is due, as far as there are idle connections.
    fn dispatch(&mut self, arrivals: &mut Arrivals, idle: &mut VecDeque<usize>) {
        while self.begun + arrivals.next as u64 <= self.now && self.may_send() {
            let Some(place) = idle.pop_front() else { return };
            self.connections[place].queued = false;
            let Connection { id: before, idle_since, .. } = self.connections[place];
            let intended = self.begun + arrivals.next as u64;
            self.send(place, 1, Some(intended));
            if self.connections[place].id > before {
                arrivals.advance();
                if let (Some(lag), Some(flight)) = (&mut self.found.lag, self.connections[place].flights.back()) {
                    lag.record(flight.sent.saturating_sub(intended.max(idle_since)));
                }
            }
            self.queue(place, idle);
        }
    }

    /// Waits until something happens or a request's time has come: the kernel's clock for most of it, and our own for the rest.
    fn wait_for<'e>(&mut self, events: &'e mut [EpollEvent], left: u64) -> Result<&'e [EpollEvent], Errno> {
        let asleep = left.min(SLICE).saturating_sub(SPUN);
        if asleep > 0 {
            let mut all = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
            match ppoll(&mut all, Some(TimeSpec::nanoseconds(asleep as i64)), None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(failure) => return Err(failure),
            }
        }
        self.wait(events, 0)
    }
}
