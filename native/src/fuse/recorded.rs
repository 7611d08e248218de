//! A recording as Python has it: its states, and what each of them is. It needs no mount.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::changes::Change;
use super::crash_states::{Model, State, states};
use super::disk::{Disk, Mode};
use super::recording::Recording;
use super::shown::{Shown, extract, shown};

/// Of a recording: changes, bytes, whether these were too many, and the marks with their places.
pub type About = (usize, u64, bool, Vec<(usize, u64)>);
/// Of a state: its name, its tier, the place from which on it is impossible, and the fingerprint of what is there.
pub type Named = (String, u8, usize, u64);

#[pyclass]
pub struct DiskRecording {
    recording: Recording,
    states: (Mode, Vec<State>),
}

impl From<Recording> for DiskRecording {
    fn from(recording: Recording) -> Self {
        DiskRecording { recording, states: (Mode::Journal, Vec::new()) }
    }
}

impl DiskRecording {
    fn state(&self, index: usize) -> PyResult<&State> {
        self.states.1.get(index).ok_or_else(|| PyValueError::new_err("no such state"))
    }

    /// As it is when the power came back.
    pub fn disk(&self, index: usize) -> PyResult<Disk> {
        let state = self.state(index)?;
        Ok(self.recording.after(state.at, self.states.0).struck(state.event))
    }
}

#[pymethods]
impl DiskRecording {
    #[staticmethod]
    pub fn load(content: &[u8]) -> PyResult<Self> {
        Recording::load(content).map(Into::into).map_err(|reason| PyValueError::new_err(format!("not a recording: {reason}")))
    }

    pub fn dump(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        Ok(PyBytes::new(py, &self.recording.dump()).unbind())
    }

    pub fn about(&self) -> About {
        let recording = &self.recording;
        let marks = recording.changes().iter().enumerate();
        let marks = marks.filter_map(|(at, change)| if let Change::Marked { mark } = change { Some((at, *mark)) } else { None }).collect();
        (recording.changes().len(), recording.bytes(), recording.overflowed(), marks)
    }

    /// The states that a crash may have left: at most `limit`, and how many more there are.
    pub fn states(&mut self, py: Python<'_>, model: &str, limit: usize) -> PyResult<(Vec<Named>, usize)> {
        let model = match model {
            "kernel" => Model::Kernel,
            "ext4" => Model::Ordered,
            "torn" => Model::Torn,
            "writeback" => Model::Writeback,
            "posix" => Model::Posix,
            _ => return Err(PyValueError::new_err(format!("no such model: {model}"))),
        };
        let (found, more) = py.detach(|| states(&self.recording, model, limit));
        let named = found
            .iter()
            .map(|state| (format!("{}-{}", state.at, state.event.name()), state.event.tier(), state.until, state.fingerprint))
            .collect();
        self.states = (model.mode(), found);
        Ok((named, more))
    }

    /// What is there of what was written by the last moment at which the state was possible, by path.
    fn describe(&self, index: usize) -> PyResult<Vec<Shown>> {
        let asked = self.recording.after(self.state(index)?.until, self.states.0);
        Ok(shown(&asked, &self.disk(index)?))
    }

    /// Write its files into an empty directory.
    fn extract(&self, index: usize, into: PathBuf) -> PyResult<()> {
        Ok(extract(&self.disk(index)?, &into)?)
    }
}
