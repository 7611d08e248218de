//! Counts and times of the requests of one thread, and the first failures in words.

use crate::load::connection::Flight;
use crate::load::counts::{Found, SAMPLES};
use crate::load::job::Job;

pub struct Ledger<'a> {
    pub found: Found,
    job: &'a Job,
    /// When the thread began; all times are of `clock::now`.
    pub begun: u64,
}

impl<'a> Ledger<'a> {
    pub fn new(job: &'a Job) -> Self {
        Ledger { found: Found::new(job.ops.len(), job.rate > 0.0), job, begun: 0 }
    }

    /// A request succeeded: `ok` of its records were there, `missed` were not.
    #[inline]
    pub fn success(&mut self, flight: Flight, ok: u64, missed: u64, now: u64) {
        let (time, response) = (now.saturating_sub(flight.sent), now.saturating_sub(flight.intended));
        let count = &mut self.found.counts[flight.op];
        count.ok += ok;
        count.misses += missed;
        if ok > 0 {
            count.requests += 1;
            count.busy_ns += time;
            count.service.record(time);
            if let Some(responses) = &mut count.response {
                responses.record(response);
            }
        }
        self.found.course.note(now - self.begun, ok, 0, response);
    }

    /// A write was acknowledged, and such are to be kept.
    pub fn log(&mut self, client: u64, key: u64, sent: u64, now: u64) {
        self.found.log.extend_from_slice(&(client as u32).to_le_bytes());
        [key, sent, now].iter().for_each(|number| self.found.log.extend_from_slice(&number.to_le_bytes()));
    }

    /// A request failed, or its reply is malformed. `said`: what came in place of a reply, printable; `time`: how long it took.
    #[cold]
    pub fn failure(&mut self, op: usize, malformed: bool, why: &str, said: &str, now: u64, time: u64) {
        let count = &mut self.found.counts[op];
        if malformed {
            count.malformed += 1
        } else {
            count.errors += 1
        }
        self.found.course.note(now.saturating_sub(self.begun), 0, 1, time);
        let name = &self.job.ops[op].name;
        self.show(if said.is_empty() { format!("{name}: {why}") } else { format!("{name}: {why}: {said}") });
    }

    /// Keeps the first words on what went wrong.
    pub fn show(&mut self, words: String) {
        if self.found.samples.len() < SAMPLES {
            self.found.samples.push(words);
        }
    }
}
