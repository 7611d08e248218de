//! Times in an HdrHistogram.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// `storeproof.stats.latency`: the longest time, and the significant digits.
const LONGEST_NS: u64 = 120_000_000_000;
const DIGITS: u8 = 3;

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
            self.flush();
        }
    }

    /// Puts what waits into the histogram; to be done before it is encoded.
    pub fn flush(&mut self) {
        self.waiting.drain(..).for_each(|nanoseconds| self.histogram.saturating_record(nanoseconds.max(1)));
    }

    pub fn add(&mut self, other: &mut Times) {
        self.flush();
        other.flush();
        self.histogram.add(&other.histogram).expect("bounds that are the same");
    }

    /// HdrHistogram V2, compressed, base64.
    pub fn encode(&self) -> PyResult<String> {
        let mut bytes = Vec::new();
        let done = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        done.map_err(|failure| PyRuntimeError::new_err(format!("a histogram cannot be written: {failure}")))?;
        Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
    }
}
