//! What is counted of one kind of I/O, and of the device.

use pyo3::prelude::*;

use crate::times::Times;

/// Waiting times: their number is that of the histogram, which takes no memory before the first.
#[derive(Default)]
pub struct Waits {
    times: Option<Times>,
    /// The sum, in nanoseconds.
    pub total: u64,
}

impl Waits {
    pub fn record(&mut self, nanoseconds: u64) {
        self.times.get_or_insert_with(Times::new).record(nanoseconds);
        self.total += nanoseconds;
    }

    /// Empty where there was none.
    fn encode(&mut self) -> PyResult<String> {
        self.times.as_mut().map_or(Ok(String::new()), |times| {
            times.flush();
            times.encode()
        })
    }
}

/// When at least one of several things was under way.
#[derive(Default)]
pub struct UnderWay {
    number: u64,
    since: u64,
    /// Nanoseconds, without what is under way now.
    pub total: u64,
}

impl UnderWay {
    pub fn begin(&mut self, time: u64) {
        if self.number == 0 {
            self.since = time;
        }
        self.number += 1;
    }

    pub fn end(&mut self, time: u64) {
        self.number = self.number.saturating_sub(1);
        if self.number == 0 {
            self.total += time.saturating_sub(self.since);
        }
    }

    /// All that is under way ends now, for a measurement that does.
    pub fn stop(&mut self, time: u64) {
        if self.number > 0 {
            self.number = 1;
            self.end(time);
        }
    }
}

/// One kind of I/O.
#[pyclass]
#[derive(Default)]
pub struct KindIo {
    /// Into the page cache.
    #[pyo3(get)]
    pub written_bytes: u64,
    #[pyo3(get)]
    pub direct_writes: u64,
    #[pyo3(get)]
    pub direct_bytes: u64,
    #[pyo3(get)]
    pub syncs: u64,
    /// Reads of the device.
    #[pyo3(get)]
    pub reads: u64,
    #[pyo3(get)]
    pub read_bytes: u64,
    /// For syncs and direct writes.
    pub waits: Waits,
    pub read_waits: Waits,
    pub under_way: UnderWay,
}

#[pymethods]
impl KindIo {
    #[getter]
    fn waits(&mut self) -> PyResult<String> {
        self.waits.encode()
    }

    #[getter]
    fn read_waits(&mut self) -> PyResult<String> {
        self.read_waits.encode()
    }

    #[getter]
    fn wait_ns(&self) -> u64 {
        self.waits.total
    }

    #[getter]
    fn busy_ns(&self) -> u64 {
        self.under_way.total
    }
}

/// What reached the device, of all programs and of the file system itself.
#[pyclass]
#[derive(Default)]
pub struct DeviceIo {
    #[pyo3(get)]
    pub writes: u64,
    #[pyo3(get)]
    pub written_bytes: u64,
    #[pyo3(get)]
    pub flushes: u64,
    pub flush_waits: Waits,
}

#[pymethods]
impl DeviceIo {
    #[getter]
    fn flush_waits(&mut self) -> PyResult<String> {
        self.flush_waits.encode()
    }
}
