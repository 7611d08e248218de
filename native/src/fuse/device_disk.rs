//! A model of a device: one file in memory, whose reads, writes and syncs are answered when the device would have answered them.
//!
//! What has to be done is done at once, and only the answer waits: what the way through the kernel takes counts towards the time. The
//! file is for a loop device, which asks for nothing but what a device is asked for.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::content::{Content, PAGE};
use super::device::{Asked, DeviceTimes, Sheet};
use super::disk::ROOT;
use super::held::Held;

const LIFE: Duration = Duration::from_secs(86_400);
const FIRST: Generation = Generation(0);
/// The only file.
const FILE: u64 = ROOT + 1;
const NAME: &str = "device";
/// Bytes of the largest request.
const LARGEST: u32 = 1 << 20;
/// Requests that the kernel sends without an answer to any: as many as a loop device has, so that they wait here and not there.
const QUEUE: u16 = 128;

struct ServedDevice {
    content: Mutex<Content>,
    times: Mutex<DeviceTimes>,
    /// What the times of requests are counted from.
    started: Instant,
    held: Held,
}

impl ServedDevice {
    /// Answer when the device would have.
    fn hold(&self, arrived: Instant, asked: Asked, answer: impl FnOnce() + Send + 'static) {
        let at = self.times.lock().expect("no request panics").answered(arrived - self.started, asked);
        self.held.hold(self.started + at, answer);
    }

    fn attributes(&self, number: INodeNo) -> Result<FileAttr, Errno> {
        let size = self.content.lock().expect("no request panics").size;
        let (kind, perm, size) = match number.0 {
            ROOT => (FileType::Directory, 0o700, 0),
            FILE => (FileType::RegularFile, 0o600, size),
            _ => return Err(Errno::ENOENT),
        };
        let then = SystemTime::UNIX_EPOCH;
        Ok(FileAttr {
            ino: number,
            size,
            blocks: size / 512,
            atime: then,
            mtime: then,
            ctime: then,
            crtime: then,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: PAGE as u32,
            flags: 0,
        })
    }
}

impl Filesystem for ServedDevice {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(LARGEST);
        let _ = config.set_max_background(QUEUE);
        let _ = config.set_congestion_threshold(QUEUE);
        // Else the kernel waits for each request of a loop device before it sends the next.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| io::Error::other("this kernel has no asynchronous direct I/O"))
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(INodeNo(if parent.0 == ROOT && name == NAME { FILE } else { 0 })) {
            Ok(attributes) => reply.entry(&LIFE, &attributes, FIRST),
            Err(reason) => reply.error(reason),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Ok(attributes) => reply.attr(&LIFE, &attributes),
            Err(reason) => reply.error(reason),
        }
    }

    fn open(&self, _req: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // The page cache is above the loop device, as above a disk.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrived = Instant::now();
        let bytes = self.content.lock().expect("no request panics").read(offset, u64::from(size));
        let asked = Asked::Read { offset, length: bytes.len() as u64 };
        self.hold(arrived, asked, move || reply.data(&bytes));
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (arrived, length) = (Instant::now(), data.len());
        {
            let mut content = self.content.lock().expect("no request panics");
            if offset + length as u64 > content.size {
                return reply.error(Errno::ENOSPC);
            }
            content.write(offset, data);
        }
        let asked = Asked::Write { offset, length: length as u64 };
        self.hold(arrived, asked, move || reply.written(length as u32));
    }

    fn fsync(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        self.hold(Instant::now(), Asked::Flush, move || reply.ok());
    }

    fn flush(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _lock_owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}

/// One model, mounted. Methods are for one thread.
#[pyclass]
pub struct DeviceDisk {
    session: BackgroundSession,
    held: Held,
}

#[pymethods]
impl DeviceDisk {
    #[new]
    fn new(py: Python<'_>, at: PathBuf, sheet: Sheet, capacity: u64) -> PyResult<Self> {
        let mut options = Config::default();
        options.mount_options = vec![MountOption::FSName("storeproof-model".to_owned()), MountOption::NoSuid, MountOption::NoDev];
        let held = Held::new(true);
        let served = ServedDevice {
            content: Mutex::new(Content::shared(capacity, BTreeMap::new())),
            times: Mutex::new(DeviceTimes::new(sheet)),
            started: Instant::now(),
            held: held.clone(),
        };
        let session = py.detach(|| fuser::spawn_mount(served, at, &options)).map_err(PyOSError::new_err)?;
        Ok(DeviceDisk { session, held })
    }

    /// Whether answers are given at once, and not when the device would have; at first they are.
    fn hurry(&self, hurried: bool) {
        self.held.hurry(hurried);
    }

    /// The kernel let go of the file, and of the file system.
    #[getter]
    fn unmounted(&self) -> bool {
        self.session.guard.is_finished()
    }
}
