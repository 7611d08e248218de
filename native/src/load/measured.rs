//! The result of a job, for Python.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::load::counts::{Client, Found, OperationCounts};
use crate::times::Times;

/// `storeproof.native.Measured`.
#[pyclass(frozen)]
pub struct Measured {
    #[pyo3(get)]
    ops: Vec<Py<OperationCounts>>,
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
    waiting_seconds: f64,
    #[pyo3(get)]
    elapsed_seconds: f64,
    #[pyo3(get)]
    threads: usize,
    #[pyo3(get)]
    positions: Vec<u64>,
    #[pyo3(get)]
    removed: Vec<u64>,
    #[pyo3(get)]
    indeterminate: Vec<u64>,
    #[pyo3(get)]
    samples: Vec<String>,
    #[pyo3(get)]
    broken: Vec<usize>,
    #[pyo3(get)]
    silent: Vec<usize>,
    #[pyo3(get)]
    seconds: Vec<(u64, u64, u64)>,
    #[pyo3(get)]
    schedule_lag: String,
    #[pyo3(get)]
    missed_sends: u64,
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
        let longest = clients.iter().map(|client| client.elapsed).max().unwrap_or(0);
        let common = sum.schedule_lag.as_ref().map(|_| longest);
        let rate = |number: fn(&Client) -> u64| -> f64 {
            let each = clients.iter().map(|client| (number(client), common.unwrap_or(client.elapsed)));
            each.filter(|(_, elapsed)| *elapsed > 0).map(|(done, elapsed)| done as f64 * 1e9 / elapsed as f64).sum()
        };
        let throughput = match common {
            Some(_) => rate(|client| client.ok),
            None => clients.iter().map(|client| client.rate(longest)).sum(),
        };
        let those = |is: fn(&Client) -> bool| clients.iter().filter(|client| is(client)).map(|client| client.client).collect();
        let flushed = |mut counts: OperationCounts| {
            counts.flush();
            Py::new(py, counts)
        };
        let mut schedule_lag = sum.schedule_lag;
        schedule_lag.iter_mut().for_each(Times::flush);
        Ok(Measured {
            ops: sum.counts.into_iter().map(flushed).collect::<PyResult<_>>()?,
            throughput,
            request_rate: rate(|client| client.requests),
            busy_seconds: sum.busy as f64 / 1e9,
            pause_seconds: sum.pause as f64 / 1e9,
            cpu_seconds: sum.cpu as f64 / 1e9,
            waiting_seconds: sum.waited as f64 / 1e9,
            elapsed_seconds: longest as f64 / 1e9,
            threads,
            positions: clients.iter().map(|client| client.position).collect(),
            removed: clients.iter().map(|client| client.removed).collect(),
            broken: those(|client| client.broken),
            silent: those(|client| client.silent),
            schedule_lag: schedule_lag.map_or(Ok(String::new()), |times| times.encode())?,
            indeterminate: sum.indeterminate,
            samples: sum.samples,
            seconds: sum.course.seconds.into_iter().map(|(ok, errors, time)| (ok, errors, time / 1_000)).collect(),
            missed_sends: sum.missed_sends,
            bytes_sent: sum.sent,
            bytes_received: sum.received,
            log: pyo3::types::PyBytes::new(py, &sum.log).unbind(),
        })
    }
}
