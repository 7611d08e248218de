//! The kernel's requests, one by one: each is carried out under one lock, so that a cut falls between two of them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};

use super::content::PAGE;
use super::disk::{Disk, ROOT};
use super::failing::Way;
use super::inode::{Answer, Body, Made, Number};

/// How long the kernel may cache names and attributes: nothing else changes the files, and after a cut there is a new mount.
const LIFE: Duration = Duration::from_secs(86_400);
const FIRST: Generation = Generation(0);
/// Bytes of the largest write; fuser keeps a buffer of this size.
const LARGEST: u32 = 1 << 20;

/// What the names of marks begin with.
const MARK: &str = ".storeproof-mark-";

/// The first entries of a directory listing are `.` and `..`.
type Listing = Vec<(Number, FileType, OsString)>;

pub struct Served {
    disk: Arc<Mutex<Disk>>,
    listings: Mutex<(u64, HashMap<u64, Listing>)>,
}

impl Served {
    pub fn new(disk: Arc<Mutex<Disk>>) -> Self {
        Served { disk, listings: Mutex::default() }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("no request panics")
    }

    fn noted(&self, number: Answer<Number>) -> Answer<FileAttr> {
        let number = number?;
        self.disk().noted(number).map(|inode| inode.attributes(number))
    }

    fn make(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, rdev: u32, target: &OsStr) -> Answer<FileAttr> {
        let kind = match mode & libc::S_IFMT {
            libc::S_IFDIR => FileType::Directory,
            libc::S_IFLNK => FileType::Symlink,
            libc::S_IFIFO => FileType::NamedPipe,
            libc::S_IFSOCK => FileType::Socket,
            libc::S_IFREG => FileType::RegularFile,
            _ => return Err(Errno::EPERM),
        };
        let mut disk = self.disk();
        let above = &disk.get(parent.0)?.now.meta;
        // A directory with the set-group-id bit hands on its group.
        let inherits = above.mode & libc::S_ISGID != 0;
        let gid = if inherits { above.gid } else { req.gid() };
        let mode = if inherits && kind == FileType::Directory { mode | libc::S_ISGID } else { mode };
        let made = Made { kind, mode, uid: req.uid(), gid, rdev, target: target.to_owned() };
        let number = disk.make(parent.0, name, made)?;
        disk.noted(number).map(|inode| inode.attributes(number))
    }

    fn listing(&self, number: Number) -> Answer<Listing> {
        let disk = self.disk();
        let mut found = vec![(number, FileType::Directory, OsString::from(".")), (number, FileType::Directory, OsString::from(".."))];
        for (name, child) in disk.entries(number)? {
            found.push((*child, disk.get(*child)?.kind, name.clone()));
        }
        Ok(found)
    }
}

/// A handle says whether each write through it has to be durable when it returns, and how thoroughly.
fn handle(flags: i32) -> FileHandle {
    FileHandle((flags & libc::O_SYNC) as u64) // O_SYNC is O_DSYNC and one bit more
}

/// A client marks a moment by asking for a name that no file has.
fn mark(parent: INodeNo, name: &OsStr) -> Option<u64> {
    if parent.0 != ROOT {
        return None;
    }
    name.to_str()?.strip_prefix(MARK)?.parse().ok()
}

fn time(wanted: TimeOrNow) -> SystemTime {
    match wanted {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

fn entry(found: Answer<FileAttr>, reply: ReplyEntry) {
    match found {
        Ok(attributes) => reply.entry(&LIFE, &attributes, FIRST),
        Err(reason) => reply.error(reason),
    }
}

fn empty(done: Answer<()>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(reason) => reply.error(reason),
    }
}

impl Filesystem for Served {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(LARGEST);
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if let Some(mark) = mark(parent, name) {
            self.disk().mark(mark);
            return reply.error(Errno::ENOENT);
        }
        let found = self.disk().find(parent.0, name);
        entry(self.noted(found), reply);
    }

    fn forget(&self, _req: &Request, ino: INodeNo, nlookup: u64) {
        self.disk().forget(ino.0, nlookup);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.disk().get(ino.0) {
            Ok(inode) => reply.attr(&LIFE, &inode.attributes(ino.0)),
            Err(reason) => reply.error(reason),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk();
        let done = size.map_or(Ok(()), |size| disk.resize(ino.0, size)).and_then(|()| {
            if mode.is_some() || uid.is_some() || gid.is_some() {
                disk.describe(ino.0, mode, uid, gid)?;
            }
            let inode = disk.touch(ino.0)?;
            let meta = &mut inode.now.meta;
            meta.accessed = atime.map_or(meta.accessed, time);
            meta.modified = mtime.map_or(meta.modified, time);
            Ok(inode.attributes(ino.0))
        });
        match done {
            Ok(attributes) => reply.attr(&LIFE, &attributes),
            Err(reason) => reply.error(reason),
        }
    }

    fn readlink(&self, _req: &Request, ino: INodeNo, reply: ReplyData) {
        match self.disk().get(ino.0).map(|inode| &inode.now.body) {
            Ok(Body::Fixed(target)) => reply.data(target.as_bytes()),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(reason) => reply.error(reason),
        }
    }

    fn mknod(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, rdev: u32, reply: ReplyEntry) {
        entry(self.make(req, parent, name, mode, rdev, OsStr::new("")), reply);
    }

    fn mkdir(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, reply: ReplyEntry) {
        entry(self.make(req, parent, name, mode & 0o7777 | libc::S_IFDIR, 0, OsStr::new("")), reply);
    }

    fn symlink(&self, req: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        entry(self.make(req, parent, name, 0o777 | libc::S_IFLNK, 0, target.as_os_str()), reply);
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.disk().remove(parent.0, name), reply);
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.disk().remove(parent.0, name), reply);
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        empty(self.disk().rename(parent.0, name, newparent.0, newname, flags), reply);
    }

    fn link(&self, _req: &Request, ino: INodeNo, newparent: INodeNo, newname: &OsStr, reply: ReplyEntry) {
        let done = self.disk().link(ino.0, newparent.0, newname).map(|()| ino.0);
        entry(self.noted(done), reply);
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.disk().get(ino.0) {
            Ok(_) => reply.opened(handle(flags.0), FopenFlags::FOPEN_KEEP_CACHE),
            Err(reason) => reply.error(reason),
        }
    }

    fn create(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, flags: i32, reply: ReplyCreate) {
        match self.make(req, parent, name, mode & 0o7777 | libc::S_IFREG, 0, OsStr::new("")) {
            Ok(attributes) => reply.created(&LIFE, &attributes, FIRST, handle(flags), FopenFlags::FOPEN_KEEP_CACHE),
            Err(reason) => reply.error(reason),
        }
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let found = self.disk().ask_read(ino.0, offset, u64::from(size));
        match found {
            Ok(bytes) => reply.data(&bytes),
            Err(reason) => reply.error(reason),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        // Written back from the page cache, the handle is any that is open: the sync that it waits for comes by itself.
        let cached = write_flags.contains(WriteFlags::FUSE_WRITE_CACHE);
        let way = if cached { Way::Back } else { Way::of(flags.0) };
        let mut disk = self.disk();
        let done = disk.ask_write(ino.0, offset, data, way).and_then(|written| {
            match if cached { 0 } else { fh.0 as i32 } {
                0 => Ok(()),
                libc::O_DSYNC => disk.ask_sync(ino.0, true),
                _ => disk.ask_sync(ino.0, false),
            }?;
            Ok(written)
        });
        drop(disk);
        match done {
            Ok(written) => reply.written(written as u32),
            Err(reason) => reply.error(reason),
        }
    }

    fn flush(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, _lock_owner: LockOwner, reply: ReplyEmpty) {
        self.disk().closed(ino.0);
        reply.ok();
    }

    fn fsync(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, datasync: bool, reply: ReplyEmpty) {
        let done = self.disk().ask_sync(ino.0, datasync);
        empty(done, reply);
    }

    fn fsyncdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let done = self.disk().ask_sync(ino.0, false);
        empty(done, reply);
    }

    fn opendir(&self, _req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        if let Err(reason) = self.disk().entries(ino.0) {
            return reply.error(reason);
        }
        let mut listings = self.listings.lock().expect("no request panics");
        listings.0 += 1;
        reply.opened(FileHandle(listings.0), FopenFlags::empty());
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let mut listings = self.listings.lock().expect("no request panics");
        if offset == 0 {
            // An entry that is removed while the directory is read must not hide the rest: the listing is that of the start.
            match self.listing(ino.0) {
                Ok(found) => listings.1.insert(fh.0, found),
                Err(reason) => return reply.error(reason),
            };
        }
        let found = listings.1.get(&fh.0).map_or(&[][..], |found| found);
        for (place, (number, kind, name)) in found.iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*number), place as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(&self, _req: &Request, _ino: INodeNo, fh: FileHandle, _flags: OpenFlags, reply: ReplyEmpty) {
        self.listings.lock().expect("no request panics").1.remove(&fh.0);
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let disk = self.disk();
        let (blocks, free) = (disk.capacity / PAGE, disk.free() / PAGE);
        reply.statfs(blocks, free, free, 1 << 20, 1 << 20, PAGE as u32, 255, PAGE as u32);
    }

    fn fallocate(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, length: u64, mode: i32, reply: ReplyEmpty) {
        empty(self.disk().ask_allocate(ino.0, offset, offset.saturating_add(length), mode), reply);
    }
}
