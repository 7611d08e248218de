//! Counters and histograms of a run, in memory that does not grow with the requests.

use pyo3::prelude::*;

use crate::times::Times;

/// Errors that are shown in words.
pub const SAMPLES: usize = 3;

/// Seconds of which the course is kept; later ones count to the last.
const MOST_SECONDS: usize = 1 << 20;

/// What became of one operation.
#[pyclass(frozen)]
pub struct OperationCounts {
    #[pyo3(get)]
    pub ok: u64,
    #[pyo3(get)]
    pub misses: u64,
    #[pyo3(get)]
    pub errors: u64,
    #[pyo3(get)]
    pub malformed: u64,
    #[pyo3(get)]
    pub requests: u64,
    #[pyo3(get)]
    pub busy_ns: u64,
    pub service: Times,
    /// From the scheduled time; only in open loops.
    pub response: Option<Times>,
}

#[pymethods]
impl OperationCounts {
    #[getter]
    fn service(&self) -> PyResult<String> {
        self.service.encode()
    }

    #[getter]
    fn response(&self) -> PyResult<String> {
        self.response.as_ref().map_or(Ok(String::new()), Times::encode)
    }
}

impl OperationCounts {
    pub fn new(open: bool) -> Self {
        let response = open.then(Times::new);
        OperationCounts { ok: 0, misses: 0, errors: 0, malformed: 0, requests: 0, busy_ns: 0, service: Times::new(), response }
    }

    fn add(&mut self, other: &mut OperationCounts) {
        self.ok += other.ok;
        self.misses += other.misses;
        self.errors += other.errors;
        self.malformed += other.malformed;
        self.requests += other.requests;
        self.busy_ns += other.busy_ns;
        self.service.add(&mut other.service);
        if let (Some(own), Some(others)) = (&mut self.response, &mut other.response) {
            own.add(others);
        }
    }

    pub fn flush(&mut self) {
        self.service.flush();
        self.response.iter_mut().for_each(Times::flush);
    }
}

/// Records, errors and the longest time in nanoseconds, of each second.
#[derive(Default)]
pub struct Course {
    pub seconds: Vec<(u64, u64, u64)>,
    until: u64,
}

impl Course {
    /// `since`: nanoseconds from the start.
    #[inline]
    pub fn note(&mut self, since: u64, ok: u64, errors: u64, time: u64) {
        if since >= self.until || self.seconds.is_empty() {
            let second = ((since / 1_000_000_000) as usize).min(MOST_SECONDS);
            if self.seconds.len() <= second {
                self.seconds.resize(second + 1, (0, 0, 0));
            }
            self.until = self.seconds.len() as u64 * 1_000_000_000;
        }
        if let Some(last) = self.seconds.last_mut() {
            *last = (last.0 + ok, last.1 + errors, last.2.max(time));
        }
    }

    fn add(&mut self, other: &Course) {
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), (0, 0, 0));
        }
        for (own, others) in self.seconds.iter_mut().zip(&other.seconds) {
            *own = (own.0 + others.0, own.1 + others.1, own.2.max(others.2));
        }
    }
}

/// What one client came to.
pub struct Client {
    pub client: usize,
    pub position: u64,
    pub removed: u64,
    pub ok: u64,
    pub requests: u64,
    /// From the start to its last reply.
    pub elapsed: u64,
    /// From the start until each of the first requests in flight had its reply, and `ok` then.
    pub settled: Option<(u64, u64)>,
    pub broken: bool,
    pub silent: bool,
}

impl Client {
    /// Records per second, from the reply to its first request to its last reply. All clients ask for the first time at once, and so the
    /// first requests wait for fewer others than all later ones do; counted with them, a client's few requests would look like a higher rate
    /// than the store has. A client without a second reply has the whole time of the run, `longest`.
    pub fn rate(&self, longest: u64) -> f64 {
        let (ok, elapsed) = match self.settled {
            Some((when, ok)) if self.elapsed > when => (self.ok - ok, self.elapsed - when),
            _ => (self.ok, longest),
        };
        if elapsed > 0 { ok as f64 * 1e9 / elapsed as f64 } else { 0.0 }
    }
}

/// What one thread found.
pub struct Found {
    pub counts: Vec<OperationCounts>,
    pub clients: Vec<Client>,
    pub course: Course,
    pub samples: Vec<String>,
    pub indeterminate: Vec<u64>,
    pub busy: u64,
    pub pause: u64,
    pub cpu: u64,
    /// For a processor.
    pub waited: u64,
    pub schedule_lag: Option<Times>,
    pub missed_sends: u64,
    pub sent: u64,
    pub received: u64,
    pub log: Vec<u8>,
}

impl Found {
    /// `operations`: their number; `open`: in an open loop.
    pub fn new(operations: usize, open: bool) -> Self {
        Found {
            counts: (0..operations).map(|_| OperationCounts::new(open)).collect(),
            clients: Vec::new(),
            course: Course::default(),
            samples: Vec::new(),
            indeterminate: Vec::new(),
            busy: 0,
            pause: 0,
            cpu: 0,
            waited: 0,
            schedule_lag: open.then(Times::new),
            missed_sends: 0,
            sent: 0,
            received: 0,
            log: Vec::new(),
        }
    }

    /// Takes in what another thread found.
    pub fn add(&mut self, mut other: Found) {
        self.counts.iter_mut().zip(&mut other.counts).for_each(|(own, others)| own.add(others));
        self.clients.extend(other.clients);
        self.course.add(&other.course);
        self.samples.extend(other.samples);
        self.samples.truncate(SAMPLES);
        self.indeterminate.extend(other.indeterminate);
        self.busy += other.busy;
        self.pause += other.pause;
        self.cpu += other.cpu;
        self.waited += other.waited;
        if let (Some(own), Some(others)) = (&mut self.schedule_lag, &mut other.schedule_lag) {
            own.add(others);
        }
        self.missed_sends += other.missed_sends;
        self.sent += other.sent;
        self.received += other.received;
        self.log.extend(other.log);
    }
}
