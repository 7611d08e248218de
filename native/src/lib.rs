//! `storeproof.native`: one line per part, each of which adds its own functions and classes.

#![forbid(unsafe_code)]

use pyo3::prelude::*;

mod dice;
mod fuse;
mod isolation;
mod linearizable;
mod load;
mod times;
mod tracing;

/// The parts of storeproof that Python cannot do, or not fast enough.
#[pymodule]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fuse::register(module)?;
    isolation::register(module)?;
    linearizable::register(module)?;
    load::register(module)?;
    tracing::register(module)?;
    Ok(())
}
