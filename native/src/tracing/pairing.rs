//! Pairs what begins with what ends, and counts both for the kind of the file and thread.

use std::collections::{HashMap, VecDeque};

use pyo3::prelude::*;

use crate::tracing::queued::Queued;
use crate::tracing::records::{Point, Record};
use crate::tracing::waits::{DeviceIo, KindIo};

/// Of what is open, or known, at once: beyond that all of it is given up, and counted as lost.
const MOST: usize = 1 << 16;

/// Of a direct read or write (include/linux/fs.h): it is synced before it ends. That it is a write only some system calls say here.
const SYNCED: u64 = 6;

/// Of what a thread looks up of a file's blocks (include/linux/iomap.h): for a write, and a direct one.
const WRITE: u64 = 1;
const DIRECT: u64 = 1 << 4;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Nanoseconds. The end of a request to the device that is older when the measurement ends is missing.
const OLD: u64 = 1_000_000_000;

struct Sync {
    since: u64,
    inode: u64,
    kind: usize,
    /// Not within a direct write, whose own wait includes it.
    by_itself: bool,
}

struct Direct {
    since: u64,
    tid: u32,
    kind: usize,
    bytes: u64,
    synced: bool,
    writes: bool,
}

struct Read {
    since: u64,
    kind: usize,
    bytes: u64,
}

pub struct Pairing {
    /// Says of which kind a file's I/O by a thread is: `kind(inode, pid, tid)`, `reader(pid, tid)`, `created(inode, directory)`.
    files: Py<PyAny>,
    /// What it said, by inode and thread.
    known: HashMap<u64, HashMap<u32, usize>>,
    readers: HashMap<u32, usize>,
    kinds: HashMap<usize, KindIo>,
    pub device: DeviceIo,
    pub lost: u64,
    /// By thread, which makes one at a time.
    syncs: HashMap<u32, Sync>,
    /// By inode and position.
    direct: HashMap<(u64, u64), Direct>,
    /// Of which kind what was asked of the device is: a request is often issued by a thread of the kernel, later.
    queued: Queued,
    /// By sector.
    reads: HashMap<u64, Read>,
    /// When those were issued that are under way.
    flushes: VecDeque<u64>,
}

impl Pairing {
    pub fn new(files: Py<PyAny>) -> Self {
        Pairing {
            files,
            known: HashMap::new(),
            readers: HashMap::new(),
            kinds: HashMap::new(),
            device: DeviceIo::default(),
            lost: 0,
            syncs: HashMap::new(),
            direct: HashMap::new(),
            queued: Queued::default(),
            reads: HashMap::new(),
            flushes: VecDeque::new(),
        }
    }

    /// The file has another name now.
    pub fn forget(&mut self, inode: u64) {
        self.known.remove(&inode);
    }

    /// What was found, by kind. What is under way has no end, and only its time counts.
    pub fn end(&mut self, time: u64) -> HashMap<usize, KindIo> {
        let issued = self.reads.values().map(|read| read.since).chain(self.flushes.iter().copied());
        self.lost += issued.filter(|since| since + OLD < time).count() as u64;
        self.kinds.values_mut().for_each(|kind| kind.under_way.stop(time));
        std::mem::take(&mut self.kinds)
    }

    pub fn add(&mut self, py: Python<'_>, record: &Record) -> PyResult<()> {
        let [first, second, third, fourth] = record.fields;
        match record.point {
            Point::Created => {
                self.forget(first);
                self.files.call_method1(py, "created", (first, second))?;
            }
            Point::Written => {
                let kind = self.kind(py, first, record)?;
                self.kinds.entry(kind).or_default().written_bytes += second;
            }
            Point::SyncBegins => {
                let kind = self.kind(py, first, record)?;
                let by_itself = !self.direct.iter().any(|((inode, _), direct)| *inode == first && direct.synced && direct.writes);
                let io = self.kinds.entry(kind).or_default();
                io.syncs += 1;
                if by_itself {
                    io.under_way.begin(record.time);
                }
                let sync = Sync { since: record.time, inode: first, kind, by_itself };
                if let Some(other) = self.syncs.insert(record.tid, sync) {
                    self.give_up(other.kind, other.by_itself, record.time);
                }
                self.bound();
            }
            Point::SyncEnds => {
                if let Some(sync) = self.syncs.remove(&record.tid)
                    && sync.inode == first
                    && sync.by_itself
                {
                    self.waited(sync.kind, sync.since, record.time);
                }
            }
            Point::DirectBegins => {
                let kind = self.kind(py, first, record)?;
                let direct =
                    Direct { since: record.time, tid: record.tid, kind, bytes: third, synced: fourth & SYNCED != 0, writes: false };
                if let Some(other) = self.direct.insert((first, second), direct)
                    && other.writes
                {
                    self.give_up(other.kind, true, record.time);
                }
                self.bound();
            }
            Point::LookedUp => {
                if third & DIRECT != 0 {
                    self.looked_up((first, second), third & WRITE != 0, record);
                }
            }
            Point::DirectEnds => {
                // The position has advanced by what was written; of a failed one it has not.
                let begins = second.wrapping_sub((third as i64).max(0) as u64);
                if let Some(direct) = self.direct.remove(&(first, begins))
                    && direct.writes
                {
                    self.waited(direct.kind, direct.since, record.time);
                }
            }
            Point::Queued => {
                if operation(third) == b'R' {
                    let kind = self.reader(py, record)?;
                    self.queued.add(first, second, kind);
                }
            }
            Point::Issued => self.issued(py, record)?,
            Point::Requeued => self.requeued(record),
            Point::Completed => self.completed(record),
        }
        Ok(())
    }

    /// A direct read or write has begun to look up blocks, and by that says which it is. At the end of another it may look up the same.
    fn looked_up(&mut self, place: (u64, u64), write: bool, record: &Record) {
        let Some(direct) = self.direct.get_mut(&place).filter(|direct| direct.tid == record.tid && !direct.writes) else { return };
        if !write {
            self.direct.remove(&place);
            return;
        }
        direct.writes = true;
        let io = self.kinds.entry(direct.kind).or_default();
        io.direct_writes += 1;
        io.direct_bytes += direct.bytes;
        io.under_way.begin(record.time);
    }

    fn issued(&mut self, py: Python<'_>, record: &Record) -> PyResult<()> {
        let [sector, bytes, rwbs, _] = record.fields;
        match operation(rwbs) {
            b'F' => {
                self.device.flushes += 1;
                self.flushes.push_back(record.time);
                self.bound();
            }
            b'W' => {
                self.device.writes += 1;
                self.device.written_bytes += bytes;
            }
            b'R' => {
                let kind = match self.queued.take(sector, bytes / SECTOR) {
                    Some(kind) => kind,
                    None => self.reader(py, record)?, // it was asked for before the measurement began
                };
                let io = self.kinds.entry(kind).or_default();
                io.reads += 1;
                io.read_bytes += bytes;
                if self.reads.insert(sector, Read { since: record.time, kind, bytes }).is_some() {
                    self.lost += 1;
                }
                self.bound();
            }
            _ => (),
        }
        Ok(())
    }

    /// The device had no room: it will be issued again.
    fn requeued(&mut self, record: &Record) {
        let [sector, sectors, rwbs, _] = record.fields;
        match operation(rwbs) {
            b'F' => {
                self.device.flushes -= u64::from(self.flushes.pop_back().is_some());
            }
            b'W' => {
                self.device.writes = self.device.writes.saturating_sub(1);
                self.device.written_bytes = self.device.written_bytes.saturating_sub(sectors * SECTOR);
            }
            b'R' => {
                if let Some(read) = self.reads.remove(&sector) {
                    let io = self.kinds.entry(read.kind).or_default();
                    io.reads -= 1;
                    io.read_bytes -= read.bytes;
                    self.queued.add(sector, sectors, read.kind);
                }
            }
            _ => (),
        }
    }

    fn completed(&mut self, record: &Record) {
        let [sector, _, rwbs, _] = record.fields;
        match operation(rwbs) {
            // The end of what waited for a flush is told too, with a sector.
            b'F' if sector == u64::MAX => {
                if let Some(since) = self.flushes.pop_front() {
                    self.device.flush_waits.record(record.time.saturating_sub(since));
                }
            }
            b'R' => {
                if let Some(read) = self.reads.remove(&sector) {
                    self.kinds.entry(read.kind).or_default().read_waits.record(record.time.saturating_sub(read.since));
                }
            }
            _ => (),
        }
    }

    fn waited(&mut self, kind: usize, since: u64, until: u64) {
        let io = self.kinds.entry(kind).or_default();
        io.waits.record(until.saturating_sub(since));
        io.under_way.end(until);
    }

    /// The record of an end is missing.
    fn give_up(&mut self, kind: usize, under_way: bool, time: u64) {
        self.lost += 1;
        if under_way {
            self.kinds.entry(kind).or_default().under_way.end(time);
        }
    }

    fn kind(&mut self, py: Python<'_>, inode: u64, record: &Record) -> PyResult<usize> {
        if let Some(kind) = self.known.get(&inode).and_then(|threads| threads.get(&record.tid)) {
            return Ok(*kind);
        }
        let kind = self.files.call_method1(py, "kind", (inode, record.pid, record.tid))?.extract(py)?;
        self.known.entry(inode).or_default().insert(record.tid, kind);
        Ok(kind)
    }

    fn reader(&mut self, py: Python<'_>, record: &Record) -> PyResult<usize> {
        if let Some(kind) = self.readers.get(&record.tid) {
            return Ok(*kind);
        }
        let kind = self.files.call_method1(py, "reader", (record.pid, record.tid))?.extract(py)?;
        self.readers.insert(record.tid, kind);
        Ok(kind)
    }

    /// Keeps memory bounded where ends are missing, and forgets which kinds were asked for.
    fn bound(&mut self) {
        if self.known.len() > MOST {
            self.known.clear();
        }
        if self.readers.len() > MOST {
            self.readers.clear();
        }
        self.queued.bound(MOST);
        let open = self.syncs.len() + self.direct.len() + self.reads.len() + self.flushes.len();
        if open > MOST {
            self.lost += open as u64;
            self.syncs.clear();
            self.direct.clear();
            self.reads.clear();
            self.flushes.clear();
        }
    }
}

/// The operation of a request to the device, by its letters (block/blk-core.c, `blk_fill_rwbs`): an `F` before it says that a flush comes
/// first. Behind the zero byte there may be anything.
fn operation(rwbs: u64) -> u8 {
    let [first, second, ..] = rwbs.to_le_bytes();
    if first == b'F' && second != 0 { second } else { first }
}
