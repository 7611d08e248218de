//! One thread's part of a job, from the start to the last reply: in a closed loop, or in an open one.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{EpollEvent, EpollTimeout};
use nix::sys::time::{TimeSpec, TimeValLike};

use crate::dice::Dice;
use crate::load::arrivals::Arrivals;
use crate::load::clock;
use crate::load::connection::{Connection, State};
use crate::load::control::Control;
use crate::load::counts::{Client, Found};
use crate::load::job::Job;
use crate::load::keys::Shared;
use crate::load::pump::Pump;

/// Nanoseconds between two looks at whether to go on.
const SLICE: u64 = 50_000_000;

/// Nanoseconds before a request's time from which on the clock is watched: the kernel wakes late by about half of that.
const SPUN: u64 = 100_000;

/// Events that are handled between two calls of the kernel: fewer in an open loop, where requests become due in between.
const EVENTS: usize = 256;
const EVENTS_WHILE_DUE: usize = 64;

/// What one thread found.
pub fn run(job: &Job, shared: &Shared, control: &Control, thread: usize) -> Result<Found, Errno> {
    let pump = Pump::new(job, shared, control, thread);
    loop {
        let left = job.start_ns.saturating_sub(clock::now());
        if left == 0 || control.halt.load(Relaxed) {
            break;
        }
        sleep(Duration::from_nanos(left.min(SLICE)));
    }
    let begun = control.common_start(job.threads);
    let mut pump = pump?; // only here: the others wait for this thread
    let (cpu, waited) = (clock::of_thread(), clock::waited_by_thread());
    pump.begin(begun)?;
    if job.rate > 0.0 {
        open_loop(&mut pump)?
    } else {
        closed_loop(&mut pump)?
    }
    let mut found = end(pump);
    found.cpu = clock::of_thread() - cpu;
    found.waited = clock::waited_by_thread().saturating_sub(waited);
    Ok(found)
}

/// Every connection sends its next request when it has the reply to the one before.
fn closed_loop(pump: &mut Pump<'_>) -> Result<(), Errno> {
    let mut events = [EpollEvent::empty(); EVENTS];
    for place in 0..pump.connections.len() {
        top_up(pump, place);
    }
    while pump.in_flight > 0 && !is_over(pump) {
        for event in wait(pump, &mut events, SLICE)? {
            pump.attend(event);
            top_up(pump, event.data() as usize);
        }
    }
    Ok(())
}

#[inline]
fn top_up(pump: &mut Pump<'_>, place: usize) {
    if pump.may_send() {
        pump.send(place, usize::MAX, None);
    }
}

/// Requests have scheduled send times, whatever became of the ones before.
fn open_loop(pump: &mut Pump<'_>) -> Result<(), Errno> {
    let job = pump.job;
    let dice = Dice(job.seed.rotate_left(32) ^ pump.thread as u64);
    let mut arrivals = Arrivals::new(job.rate, pump.thread, job.threads, job.poisson.then_some(dice));
    let mut idle: VecDeque<usize> = (0..pump.connections.len()).collect();
    pump.connections.iter_mut().for_each(|connection| connection.queued = true);
    let mut events = [EpollEvent::empty(); EVENTS_WHILE_DUE];
    while !is_over(pump) {
        pump.now = clock::now();
        dispatch(pump, &mut arrivals, &mut idle);
        if !pump.may_send() && pump.in_flight == 0 {
            break;
        }
        let due = pump.begun + arrivals.next as u64;
        let left = if pump.may_send() && !idle.is_empty() { due.saturating_sub(pump.now) } else { SLICE };
        for event in wait_until_due(pump, &mut events, left)? {
            pump.attend(event);
            queue(pump, event.data() as usize, &mut idle);
            dispatch(pump, &mut arrivals, &mut idle);
        }
        if idle.is_empty() && pump.in_flight == 0 {
            break; // no connection is left
        }
    }
    pump.now = clock::now();
    if pump.budget > 0 {
        pump.ledger.found.missed_sends = arrivals.due_before(pump.now.min(pump.deadline).saturating_sub(pump.begun) as f64);
    }
    Ok(())
}

/// A connection that may take a request waits for its turn.
fn queue(pump: &mut Pump<'_>, place: usize, idle: &mut VecDeque<usize>) {
    let connection = &mut pump.connections[place];
    if connection.state == State::Open && !connection.queued && connection.flights.len() < pump.job.pipeline {
        connection.queued = true;
        connection.idle_since = pump.now;
        idle.push_back(place);
    }
}

/// Sends what is due, as far as there are idle connections.
fn dispatch(pump: &mut Pump<'_>, arrivals: &mut Arrivals, idle: &mut VecDeque<usize>) {
    while pump.begun + arrivals.next as u64 <= pump.now && pump.may_send() {
        let Some(place) = idle.pop_front() else { return };
        pump.connections[place].queued = false;
        let (before, idle_since) = (pump.connections[place].next.id, pump.connections[place].idle_since);
        let intended = pump.begun + arrivals.next as u64;
        pump.send(place, 1, Some(intended));
        if pump.connections[place].next.id > before {
            arrivals.advance();
            if let (Some(lag), Some(flight)) = (&mut pump.ledger.found.schedule_lag, pump.connections[place].flights.back()) {
                lag.record(flight.sent.saturating_sub(intended.max(idle_since)));
            }
        }
        queue(pump, place, idle);
    }
}

/// Whether replies are no longer waited for.
fn is_over(pump: &Pump<'_>) -> bool {
    let patience = (pump.job.patience * 1e9) as u64;
    pump.control.abandon.load(Relaxed) || pump.now >= pump.deadline.saturating_add(patience)
}

/// Waits this many nanoseconds for something to happen, in whole milliseconds, 0 being no wait.
fn wait<'e>(pump: &mut Pump<'_>, events: &'e mut [EpollEvent], nanoseconds: u64) -> Result<&'e [EpollEvent], Errno> {
    let timeout = EpollTimeout::from((nanoseconds / 1_000_000) as u16);
    let happened = match pump.epoll.wait(events, timeout) {
        Err(Errno::EINTR) => 0,
        other => other?,
    };
    if happened == 0 {
        pump.now = clock::now();
    }
    Ok(&events[..happened])
}

/// Waits until something happens or a request's time has come: the kernel's clock for most of it, and our own for the rest.
fn wait_until_due<'e>(pump: &mut Pump<'_>, events: &'e mut [EpollEvent], left: u64) -> Result<&'e [EpollEvent], Errno> {
    let asleep = left.min(SLICE).saturating_sub(SPUN);
    if asleep > 0 {
        let mut all = [PollFd::new(pump.epoll.0.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut all, Some(TimeSpec::nanoseconds(asleep as i64)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(failure) => return Err(failure),
        }
    }
    wait(pump, events, 0)
}

/// The result. A client that still waits for a reply by now is silent.
fn end(mut pump: Pump<'_>) -> Found {
    pump.now = clock::now();
    for place in 0..pump.connections.len() {
        if !pump.connections[place].flights.is_empty() {
            pump.connections[place].silent = true;
            pump.broke(place, false, "no reply in time", &[]);
        }
    }
    // In an open loop a client is idle until something is due: the time is everyone's.
    let last = pump.connections.iter().map(|connection| connection.last).max().unwrap_or(0).max(pump.deadline.min(pump.now));
    let ended = |connection: &Connection| if pump.job.rate > 0.0 { last } else { connection.last };
    let clients = pump.connections.iter().map(|connection| Client {
        client: connection.own.client as usize,
        position: connection.own.position,
        removed: connection.own.removed,
        ok: connection.ok,
        requests: connection.requests,
        elapsed: ended(connection).saturating_sub(pump.begun),
        settled: connection.settled.map(|(when, ok)| (when.saturating_sub(pump.begun), ok)),
        broken: connection.state == State::Broken,
        silent: connection.silent,
    });
    pump.ledger.found.clients = clients.collect();
    pump.ledger.found
}
