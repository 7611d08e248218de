//! The wire engine: requests made from templates, on connections that a store's own client opened, and every reply judged.
//!
//! A job is defined in `storeproof/load/wire/request.py`, and what it found in `storeproof/native.pyi`. It allocates nothing while it runs but what
//! it keeps for the end: failures and acknowledgements.

mod arrivals;
mod clock;
mod connection;
mod control;
mod counts;
mod distribution;
mod drive;
mod frame;
mod job;
mod keys;
mod ledger;
mod measured;
mod mix;
mod null_server;
mod pump;
mod run;
mod template;
mod zipf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use job::Job;
use run::Run;

/// Begin a job.
#[pyfunction]
fn start(job: Job) -> PyResult<Run> {
    Run::start(job.validated()?)
}

/// (count, error, length) of one reply.
type Seen = (i64, Option<String>, u64);

/// The replies in `data`, received in pieces of `chunk` bytes, and why it cannot be read further than that.
#[pyfunction]
fn replies(protocol: &str, data: Vec<u8>, chunk: usize) -> PyResult<(Vec<Seen>, Option<String>)> {
    let mut framer = frame::Framer::new(protocol).ok_or_else(|| PyValueError::new_err(format!("no such protocol: {protocol}")))?;
    let (mut seen, mut begun, mut at) = (Vec::new(), 0, 0);
    for piece in data.chunks(chunk.max(1)) {
        let mut rest = piece;
        while !rest.is_empty() {
            match framer.feed(rest) {
                Err(problem) => return Ok((seen, Some(problem.to_string()))),
                Ok((reply, used)) => {
                    rest = &rest[used..];
                    at += used;
                    if let Some(reply) = reply {
                        seen.push((reply.count, reply.error.then(|| frame::shown(&data[begun..at])), reply.length));
                        begun = at;
                    }
                }
            }
        }
    }
    Ok((seen, None))
}

/// `count` draws of key numbers by one of the distributions, from loaded records alone.
#[pyfunction]
fn draw(keys: &str, known: u64, count: usize, seed: u64, theta: f64) -> PyResult<Vec<u64>> {
    if known == 0 || !(theta > 0.0 && theta < if keys == "zipf" { 100.0 } else { 1.0 }) {
        return Err(PyValueError::new_err("keys are drawn from one record or more, with a constant between 0 and 1"));
    }
    distribution::sample(keys, known, count, seed, theta).ok_or_else(|| PyValueError::new_err(format!("no such distribution: {keys}")))
}

/// Adds this part to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Run>()?;
    module.add_class::<null_server::NullServer>()?;
    module.add_class::<counts::OperationCounts>()?;
    module.add_class::<measured::Measured>()?;
    module.add_function(wrap_pyfunction!(start, module)?)?;
    module.add_function(wrap_pyfunction!(replies, module)?)?;
    module.add_function(wrap_pyfunction!(draw, module)?)
}
