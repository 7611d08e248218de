//! What was found, counted while it happens, and what of it Python is told.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// `storeproof.stats.latency`: the longest time that is told apart, and the digits.
const LONGEST_NS: u64 = 120_000_000_000;
const DIGITS: u8 = 3;

/// Errors that are shown in words.
pub const SAMPLES: usize = 3;

/// Seconds of which the course is kept; later ones count to the last.
const MOST_SECONDS: usize = 1 << 20;

/// Times that are recorded at once. A histogram is larger than the fastest memory: one by one, each time would have to wait for its place.
const TOGETHER: usize = 256;

/// A histogram of nanoseconds.
pub struct Times {
    histogram: Histogram<u64>,
    waiting: Vec<u64>,
}

impl Times {
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("bounds that are right");
        Times { histogram, waiting: Vec::with_capacity(TOGETHER) }
    }

    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.waiting.push(nanoseconds);
        if self.waiting.len() == TOGETHER {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.waiting.drain(..).for_each(|nanoseconds| self.histogram.saturating_record(nanoseconds.max(1)));
    }

    fn add(&mut self, other: &mut Times) {
        self.settle();
        other.settle();
        self.histogram.add(&other.histogram).expect("bounds that are the same");
    }

    /// HdrHistogram V2, compressed, base64.
    fn encode(&mut self) -> PyResult<String> {
        self.settle();
        let mut bytes = Vec::new();
        let done = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        done.map_err(|failure| PyRuntimeError::new_err(format!("a histogram cannot be written: {failure}")))?;
        Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
    }
}

/// One operation.
pub struct Count {
    pub ok: u64,
    pub misses: u64,
    pub errors: u64,
    pub malformed: u64,
    pub requests: u64,
    pub busy: u64,
    pub service: Times,
    /// From the intended time; only in open loops.
    pub response: Option<Times>,
}

impl Count {
    pub fn new(open: bool) -> Self {
        Count { ok: 0, misses: 0, errors: 0, malformed: 0, requests: 0, busy: 0, service: Times::new(), response: open.then(Times::new) }
    }

    fn add(&mut self, other: &mut Count) {
        self.ok += other.ok;
        self.misses += other.misses;
        self.errors += other.errors;
        self.malformed += other.malformed;
        self.requests += other.requests;
        self.busy += other.busy;
        self.service.add(&mut other.service);
        if let (Some(own), Some(others)) = (&mut self.response, &mut other.response) {
            own.add(others);
        }
    }
}

/// Records, errors and the longest time in nanoseconds, of each second.
#[derive(Default)]
pub struct Course {
    seconds: Vec<(u64, u64, u64)>,
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
    pub broken: bool,
    pub silent: bool,
}

/// What one thread found.
pub struct Found {
    pub counts: Vec<Count>,
    pub clients: Vec<Client>,
    pub course: Course,
    pub samples: Vec<String>,
    pub doubtful: Vec<u64>,
    pub busy: u64,
    pub pause: u64,
    pub cpu: u64,
    pub lag: Option<Times>,
    pub unissued: u64,
    pub sent: u64,
    pub received: u64,
    pub log: Vec<u8>,
}

impl Found {
    /// Takes in what another thread found.
    fn add(&mut self, mut other: Found) {
        self.counts.iter_mut().zip(&mut other.counts).for_each(|(own, others)| own.add(others));
        self.clients.extend(other.clients);
        self.course.add(&other.course);
        self.samples.extend(other.samples);
        self.samples.truncate(SAMPLES);
        self.doubtful.extend(other.doubtful);
        self.busy += other.busy;
        self.pause += other.pause;
        self.cpu += other.cpu;
        if let (Some(own), Some(others)) = (&mut self.lag, &mut other.lag) {
            own.add(others);
        }
        self.unissued += other.unissued;
        self.sent += other.sent;
        self.received += other.received;
        self.log.extend(other.log);
    }
}

/// What became of one operation: `storeproof.load.wire.request.Tally`.
#[pyclass(frozen, get_all)]
pub struct Tally {
    ok: u64,
    misses: u64,
    errors: u64,
    malformed: u64,
    requests: u64,
    busy_ns: u64,
    service: String,
    response: String,
}

/// What one job found: `storeproof.load.wire.request.Measured`.
#[pyclass(frozen)]
pub struct Measured {
    #[pyo3(get)]
    ops: Vec<Py<Tally>>,
    #[pyo3(get)]
    throughput: f64,
    #[pyo3(get)]
    request_rate: f64,
    #[pyo3(get)]
    busy_seconds: f64,
    #[pyo3(get)]
    pause_seconds: f64,
    #[pyo3(get)]
    cpu_seconds: f64,
    #[pyo3(get)]
    elapsed_seconds: f64,
    #[pyo3(get)]
    threads: usize,
    #[pyo3(get)]
    positions: Vec<u64>,
    #[pyo3(get)]
    removed: Vec<u64>,
    #[pyo3(get)]
    doubtful: Vec<u64>,
    #[pyo3(get)]
    samples: Vec<String>,
    #[pyo3(get)]
    broken: Vec<usize>,
    #[pyo3(get)]
    silent: Vec<usize>,
    #[pyo3(get)]
    seconds: Vec<(u64, u64, u64)>,
    #[pyo3(get)]
    lag: String,
    #[pyo3(get)]
    unissued: u64,
    #[pyo3(get)]
    bytes_sent: u64,
    #[pyo3(get)]
    bytes_received: u64,
    #[pyo3(get)]
    log: Py<pyo3::types::PyBytes>,
}

impl Measured {
    /// Of all threads together.
    pub fn of(py: Python<'_>, found: Vec<Found>) -> PyResult<Self> {
        let threads = found.len();
        let mut all = found.into_iter();
        let mut sum = all.next().ok_or_else(|| PyRuntimeError::new_err("no thread found anything"))?;
        all.for_each(|other| sum.add(other));
        sum.clients.sort_by_key(|client| client.client);
        let clients = &sum.clients;
        // In an open loop a client that was last asked early did not do its work in less time: all of them had the same.
        let common = sum.lag.as_ref().and_then(|_| clients.iter().map(|client| client.elapsed).max());
        let rate = |number: fn(&Client) -> u64| {
            let each = clients.iter().map(|client| (number(client), common.unwrap_or(client.elapsed)));
            each.filter(|(_, elapsed)| *elapsed > 0).map(|(done, elapsed)| done as f64 * 1e9 / elapsed as f64).sum()
        };
        let those = |is: fn(&Client) -> bool| clients.iter().filter(|client| is(client)).map(|client| client.client).collect();
        let encode = |times: &mut Option<Times>| times.as_mut().map_or(Ok(String::new()), Times::encode);
        let tally = |count: &mut Count| {
            Py::new(
                py,
                Tally {
                    ok: count.ok,
                    misses: count.misses,
                    errors: count.errors,
                    malformed: count.malformed,
                    requests: count.requests,
                    busy_ns: count.busy,
                    service: count.service.encode()?,
                    response: encode(&mut count.response)?,
                },
            )
        };
        Ok(Measured {
            ops: sum.counts.iter_mut().map(tally).collect::<PyResult<_>>()?,
            throughput: rate(|client| client.ok),
            request_rate: rate(|client| client.requests),
            busy_seconds: sum.busy as f64 / 1e9,
            pause_seconds: sum.pause as f64 / 1e9,
            cpu_seconds: sum.cpu as f64 / 1e9,
            elapsed_seconds: clients.iter().map(|client| client.elapsed).max().unwrap_or(0) as f64 / 1e9,
            threads,
            positions: clients.iter().map(|client| client.position).collect(),
            removed: clients.iter().map(|client| client.removed).collect(),
            broken: those(|client| client.broken),
            silent: those(|client| client.silent),
            lag: encode(&mut sum.lag)?,
            doubtful: sum.doubtful,
            samples: sum.samples,
            seconds: sum.course.seconds.into_iter().map(|(ok, errors, time)| (ok, errors, time / 1_000)).collect(),
            unissued: sum.unissued,
            bytes_sent: sum.sent,
            bytes_received: sum.received,
            log: pyo3::types::PyBytes::new(py, &sum.log).unbind(),
        })
    }
}
