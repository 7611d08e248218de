//! The I/O of a file system, from the records of kernel tracepoints: counted by kind, in memory that does not grow with the records.

mod format;
mod pairing;
mod queued;
mod records;
mod waits;

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use pairing::Pairing;
use records::{Formats, POINTS, Record};
use waits::{DeviceIo, KindIo};

/// Records of all cores, in the order of their time, as I/O of files.
#[pyclass]
struct IoTrace {
    formats: Formats,
    pairing: Pairing,
    /// Not before the next `feed`: another core may still have an earlier one.
    later: Vec<Record>,
    lost: u64,
}

#[pymethods]
impl IoTrace {
    /// The names of the tracepoints.
    #[staticmethod]
    fn points() -> Vec<&'static str> {
        POINTS.iter().map(|(name, ..)| *name).collect()
    }

    #[new]
    fn new(formats: HashMap<String, String>, files: Py<PyAny>) -> PyResult<Self> {
        let formats =
            Formats::new(&formats).map_err(|name| PyValueError::new_err(format!("the kernel has no {name} as it is read here")))?;
        Ok(IoTrace { formats, pairing: Pairing::new(files), later: Vec::new(), lost: 0 })
    }

    fn feed(&mut self, py: Python<'_>, rings: Vec<PyBackedBytes>, until: u64) -> PyResult<()> {
        let mut records = std::mem::take(&mut self.later);
        for ring in &rings {
            self.lost += self.formats.read(ring, &mut records);
        }
        records.sort_by_key(|record| record.time);
        self.later = records.split_off(records.partition_point(|record| record.time <= until));
        records.iter().try_for_each(|record| self.pairing.add(py, record))
    }

    fn forget(&mut self, inode: u64) {
        self.pairing.forget(inode);
    }

    fn end(&mut self, time: u64) -> HashMap<usize, KindIo> {
        self.pairing.end(time)
    }

    fn device(&mut self) -> DeviceIo {
        std::mem::take(&mut self.pairing.device)
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.lost + self.pairing.lost
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IoTrace>()?;
    module.add_class::<KindIo>()?;
    module.add_class::<DeviceIo>()
}
