//! A job that is under way.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use nix::errno::Errno;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::load::control::Control;
use crate::load::counts::Found;
use crate::load::drive;
use crate::load::job::Job;
use crate::load::keys::Shared;
use crate::load::measured::Measured;

/// Between two looks at whether a signal came.
const POLL: Duration = Duration::from_millis(5);

type Thread = JoinHandle<Result<Found, Errno>>;

/// `storeproof.native.Run`.
#[pyclass(frozen)]
pub struct Run {
    control: Arc<Control>,
    threads: Mutex<Vec<Thread>>,
}

impl Run {
    pub fn start(job: Job) -> PyResult<Self> {
        let control = Arc::new(Control::default());
        let shared = Arc::new(Shared::new(job.known, &job.positions, &job.removed));
        let job = Arc::new(job);
        let mut threads = Vec::new();
        for thread in 0..job.threads {
            let (job, shared, its) = (job.clone(), shared.clone(), control.clone());
            let spawned = std::thread::Builder::new().name(format!("wire-{thread}"));
            // Those that are there already wait for the others.
            let begun = spawned.spawn(move || drive::run(&job, &shared, &its, thread)).inspect_err(|_| control.halt.store(true, Relaxed));
            threads.push(begun?);
        }
        Ok(Run { control, threads: Mutex::new(threads) })
    }

    fn is_done(&self) -> bool {
        self.threads.lock().is_ok_and(|threads| threads.iter().all(JoinHandle::is_finished))
    }

    /// Ends all threads: afterwards the descriptors are no more in use.
    fn abandon(&self) {
        self.control.halt.store(true, Relaxed);
        self.control.abandon.store(true, Relaxed);
        while !self.is_done() {
            sleep(POLL);
        }
    }
}

#[pymethods]
impl Run {
    #[getter]
    fn done(&self) -> bool {
        self.is_done()
    }

    fn stop(&self) {
        self.control.halt.store(true, Relaxed);
    }

    /// Waits for the end. A signal that raises an exception ends the job at once.
    fn join(&self, py: Python<'_>) -> PyResult<Measured> {
        while !self.is_done() {
            py.detach(|| sleep(POLL));
            if let Err(raised) = py.check_signals() {
                py.detach(|| self.abandon());
                return Err(raised);
            }
        }
        let threads = self.threads.lock().map(|mut threads| std::mem::take(&mut *threads)).unwrap_or_default();
        let mut found = Vec::new();
        for thread in threads {
            let ended = thread.join().map_err(|_| PyRuntimeError::new_err("a thread of the wire engine panicked"))?;
            found.push(ended.map_err(|failure| PyOSError::new_err((failure as i32, failure.desc())))?);
        }
        Measured::of(py, found)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.abandon();
    }
}
