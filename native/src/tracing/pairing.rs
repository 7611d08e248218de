//! Pairs what begins with what ends, and counts both for the kind of the file and thread.

use std::collections::HashMap;

use pyo3::prelude::*;

use crate::tracing::records::{Point, Record};
use crate::tracing::waits::{DeviceIo, KindIo};

/// Of what is open, or known, at once: beyond that all of it is given up, and counted as lost.
const MOST: usize = 1 << 16;

/// Of a direct read or write (include/linux/fs.h): it is synced before it ends. That it is a write only some system calls say, and so what its
/// thread then asks of the device does.
const SYNCED: u64 = 6;

struct Sync {
    since: u64,
    inode: u64,
    kind: usize,
    /// Not within a direct write, whose own wait includes it.
    by_itself: bool,
}

struct Direct {
    since: u64,
    kind: usize,
    bytes: u64,
    synced: bool,
    writes: bool,
}

struct Read {
    since: u64,
    kind: usize,
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
    /// Those of a thread that has asked nothing of the device since.
    undecided: HashMap<u32, Vec<(u64, u64)>>,
    /// By sector.
    reads: HashMap<u64, Read>,
    /// When the flush was issued that is under way. A device has one at a time, which ends twice: for itself, and for what waited for it.
    flush: Option<u64>,
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
            undecided: HashMap::new(),
            reads: HashMap::new(),
            flush: None,
        }
    }

    /// The file has another name now.
    pub fn forget(&mut self, inode: u64) {
        self.known.remove(&inode);
    }

    /// What was found, by kind. What is under way has no end, and only its time counts.
    pub fn end(&mut self, time: u64) -> HashMap<usize, KindIo> {
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
                let direct = Direct { since: record.time, kind, bytes: third, synced: fourth & SYNCED != 0, writes: false };
                if let Some(other) = self.direct.insert((first, second), direct) {
                    self.give_up(other.kind, other.writes, record.time);
                }
                self.undecided.entry(record.tid).or_default().push((first, second));
                self.bound();
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
            Point::Issued => self.issued(py, record)?,
            Point::Completed => self.completed(record),
        }
        Ok(())
    }

    fn issued(&mut self, py: Python<'_>, record: &Record) -> PyResult<()> {
        let [sector, bytes, rwbs, _] = record.fields;
        match operation(rwbs) {
            b'F' => {
                self.device.flushes += 1;
                self.flush = Some(record.time);
            }
            b'W' => {
                self.device.writes += 1;
                self.device.written_bytes += bytes;
                for place in self.undecided.remove(&record.tid).unwrap_or_default() {
                    self.writes(place, record.time);
                }
            }
            b'R' => {
                self.undecided.remove(&record.tid);
                let kind = match self.readers.get(&record.tid) {
                    Some(kind) => *kind,
                    None => self.files.call_method1(py, "reader", (record.pid, record.tid))?.extract(py)?,
                };
                self.readers.insert(record.tid, kind);
                let io = self.kinds.entry(kind).or_default();
                io.reads += 1;
                io.read_bytes += bytes;
                self.reads.insert(sector, Read { since: record.time, kind });
                self.bound();
            }
            _ => (),
        }
        Ok(())
    }

    /// A direct read or write is a write.
    fn writes(&mut self, place: (u64, u64), time: u64) {
        if let Some(direct) = self.direct.get_mut(&place) {
            direct.writes = true;
            let io = self.kinds.entry(direct.kind).or_default();
            io.direct_writes += 1;
            io.direct_bytes += direct.bytes;
            io.under_way.begin(time);
        }
    }

    fn completed(&mut self, record: &Record) {
        let [sector, _, rwbs, _] = record.fields;
        match operation(rwbs) {
            b'F' => {
                if let Some(since) = self.flush.take() {
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

    /// Keeps memory bounded where ends are missing, and forgets which kinds were asked for.
    fn bound(&mut self) {
        if self.known.len() > MOST {
            self.known.clear();
        }
        if self.readers.len() > MOST {
            self.readers.clear();
        }
        let open = self.syncs.len() + self.direct.len() + self.reads.len();
        if open > MOST {
            self.lost += open as u64;
            self.syncs.clear();
            self.direct.clear();
            self.undecided.clear();
            self.reads.clear();
        }
    }
}

/// The operation of a request to the device, by its letters (block/blk-core.c, `blk_fill_rwbs`): an `F` before it says that a flush comes
/// first. Behind the zero byte there may be anything.
fn operation(rwbs: u64) -> u8 {
    let [first, second, ..] = rwbs.to_le_bytes();
    if first == b'F' && second != 0 { second } else { first }
}
