//! A disk in memory whose power can be cut: a file system through /dev/fuse, each file in a volatile and a durable image.
//!
//! fsync moves what it should from the one to the other, and the cut drops the rest. It belongs into a process of its own: where
//! the memory is bounded, and whose end takes the file system along.

mod asked;
mod changes;
mod content;
mod crash_states;
mod device;
mod device_disk;
mod disk;
mod failing;
mod held;
mod inode;
mod mapped;
mod power;
mod recorded;
mod recording;
mod served;
mod shown;
mod space;
mod stored;
mod writeback;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use disk::{Disk, Mode};
use failing::Failing;
use recorded::{About, DiskRecording, Named};
use served::Served;

/// One mounted file system. Methods are for one thread.
#[pyclass]
struct MemoryDisk {
    at: PathBuf,
    options: Config,
    disk: Arc<Mutex<Disk>>,
    session: Option<BackgroundSession>,
    recording: Option<DiskRecording>,
}

impl MemoryDisk {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("no request panics")
    }

    fn last(&mut self) -> PyResult<&mut DiskRecording> {
        self.recording.as_mut().ok_or_else(|| PyValueError::new_err("nothing was recorded"))
    }
}

#[pymethods]
impl MemoryDisk {
    #[new]
    #[pyo3(signature = (at, *, strict, torn, seed, capacity, everybody))]
    fn new(at: PathBuf, strict: bool, torn: f64, seed: u64, capacity: u64, everybody: bool) -> PyResult<Self> {
        if !(0.0..=1.0).contains(&torn) {
            return Err(PyValueError::new_err(format!("torn is a share from 0 to 1, found {torn}")));
        }
        let mut options = Config::default();
        options.mount_options = vec![
            MountOption::FSName("storeproof".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoAtime,
        ];
        options.acl = if everybody { SessionACL::All } else { SessionACL::Owner };
        let mode = if strict { Mode::Strict } else { Mode::Journal };
        let (uid, gid) = owner_ids();
        let disk = Arc::new(Mutex::new(Disk::new(mode, torn, seed, capacity, uid, gid)));
        Ok(MemoryDisk { at, options, disk, session: None, recording: None })
    }

    /// Mount it; after a cut, with the durable image alone.
    fn mount(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.session.is_some() {
            return Err(PyOSError::new_err("it is mounted already"));
        }
        if self.disk().off {
            self.disk().remount();
        }
        let served = Served::new(self.disk.clone());
        let session = py.detach(|| fuser::spawn_mount(served, &self.at, &self.options))?;
        self.session = Some(session);
        Ok(())
    }

    /// The kernel let go of it, whichever process unmounted it.
    #[getter]
    fn unmounted(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Wait for the session's end, which comes with the end of the mount.
    fn join(&mut self, py: Python<'_>) -> PyResult<()> {
        match self.session.take() {
            // Some kernels call the end of a mount an abort (seen with 6.18, when the last user had just been killed).
            Some(session) => match py.detach(|| session.join()) {
                Err(end) if end.raw_os_error() == Some(libc::ECONNABORTED) => Ok(()),
                ended => ended.map_err(Into::into),
            },
            None => Ok(()),
        }
    }

    fn settle(&self) {
        self.disk().settle();
    }

    fn cut(&self) {
        self.disk().cut();
    }

    fn cut_at_sync(&self, nth: u64) {
        self.disk().cut_at(nth);
    }

    /// Write down from now on what is done to it, at most `limit` bytes.
    fn record(&self, limit: u64) {
        self.disk().record(limit);
    }

    /// End the recording.
    fn recorded(&mut self) -> PyResult<About> {
        let recording = self.disk().recorded().ok_or_else(|| PyValueError::new_err("nothing is recorded"))?;
        Ok(self.recording.insert(recording.into()).about())
    }

    /// What was recorded, as bytes.
    fn dump(&mut self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        self.last()?.dump(py)
    }

    /// Go on as if this had been recorded.
    fn load(&mut self, content: &[u8]) -> PyResult<()> {
        self.recording = Some(DiskRecording::load(content)?);
        Ok(())
    }

    /// The states that a crash may have left of what was recorded: at most `limit`, and how many more there are.
    fn states(&mut self, py: Python<'_>, model: &str, limit: usize) -> PyResult<(Vec<Named>, usize)> {
        self.last()?.states(py, model, limit)
    }

    /// What it holds from its next mount on: one of those states. It is cut before.
    fn restore(&mut self, index: usize) -> PyResult<()> {
        let mut left = self.last()?.disk(index)?;
        let mut disk = self.disk();
        (left.capacity, left.off) = (disk.capacity, true);
        *disk = left;
        Ok(())
    }

    /// From now on the n-th call of a kind fails, alone or with all later ones.
    fn fail(&self, kind: &str, nth: u64, lasting: bool) -> PyResult<()> {
        self.disk().failing = Some(Failing::new(kind, nth, lasting)?);
        Ok(())
    }

    /// It works again. Returns how many calls could fail since then, and how many did.
    fn failures(&self) -> (u64, u64) {
        self.disk().failing.take().map_or((0, 0), |failing| failing.counts())
    }

    /// Pages that were written through memory mappings, of files that were synced and of others.
    fn mapped(&self) -> (u64, u64) {
        self.disk().mapped.counts()
    }

    #[getter]
    fn syncs(&self) -> u64 {
        self.disk().syncs
    }

    #[getter]
    fn written(&self) -> u64 {
        self.disk().written
    }

    #[getter]
    fn off(&self) -> bool {
        self.disk().off
    }
}

/// Who mounts it owns its root.
fn owner_ids() -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").map_or((0, 0), |own| (own.uid(), own.gid()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<device::DeviceTimes>()?;
    module.add_class::<device_disk::DeviceDisk>()?;
    module.add_class::<DiskRecording>()?;
    module.add_class::<MemoryDisk>()
}
