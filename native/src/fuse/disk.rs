//! The whole tree in its two images, and what moves from the volatile one to the durable one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{Errno, FileType, RenameFlags};

use super::changes::{Change, Log};
use super::failing::Failing;
use super::inode::{Answer, Body, Entries, Inode, Made, Number};
use super::mapped::Mapped;
use crate::dice::Dice;

pub const ROOT: Number = 1;

/// What a sync of one file does for all else.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    /// As a journal does: it commits all that was done to names, sizes and owners before.
    Journal,
    /// Nothing: a name is durable when its directory was synced.
    Strict,
}

#[derive(Clone)]
pub struct Disk {
    pub(super) mode: Mode,
    /// The share of the sectors that were not synced and survive a cut all the same.
    pub(super) torn: f64,
    pub(super) dice: Dice,
    /// Bytes that the pages of both images may take.
    pub capacity: u64,
    /// Those of them that were allocated and not written yet: the sum over all inodes.
    pub(super) unwritten: u64,
    pub(super) inodes: BTreeMap<Number, Inode>,
    pub(super) next: Number,
    /// Inodes whose names, size or owner wait for the next commit of the journal.
    pub(super) waiting: BTreeSet<Number>,
    /// Directories between which something was moved and not yet synced: neither may be synced without the other.
    pub(super) joined: Vec<(Number, Number)>,
    pub syncs: u64,
    pub written: u64,
    pub(super) cut_at: Option<u64>,
    pub off: bool,
    /// While it is recorded: the disk as it was then, and what was done to it since.
    pub(super) recorded_from: Option<(Box<Disk>, Log)>,
    /// Which of the calls to come fail.
    pub(super) failing: Option<Failing>,
    /// A commit of its journal failed: until its next mount it can be read, and takes no changes.
    pub(super) aborted: bool,
    /// What came to it from memory mappings since the recording began.
    pub mapped: Mapped,
}

impl Disk {
    pub fn new(mode: Mode, torn: f64, seed: u64, capacity: u64, uid: u32, gid: u32) -> Self {
        let root = Made { kind: FileType::Directory, mode: 0o755, uid, gid, rdev: 0, target: OsString::new() };
        let mut disk = Disk {
            mode,
            torn,
            dice: Dice(seed),
            capacity,
            unwritten: 0,
            inodes: BTreeMap::new(),
            next: ROOT,
            waiting: BTreeSet::new(),
            joined: Vec::new(),
            syncs: 0,
            written: 0,
            cut_at: None,
            off: false,
            recorded_from: None,
            failing: None,
            aborted: false,
            mapped: Mapped::default(),
        };
        let number = disk.add(root);
        disk.inode(number).expect("just made").held = 1;
        disk
    }

    /// All that was done so far is durable.
    pub fn settle(&mut self) {
        if self.takes_changes().is_ok() {
            self.settle_but(None);
            self.note(|| Change::AllSynced);
        }
    }

    /// All names and sizes that are planned are durable, and all pages but those of one file.
    pub(super) fn settle_but(&mut self, spared: Option<Number>) {
        let all: Vec<Number> = self.inodes.keys().copied().collect();
        for number in all.iter().filter(|number| Some(**number) != spared) {
            self.inodes.get_mut(number).expect("a key").keep_pages();
        }
        self.commit(all);
    }

    /// fsync, or fdatasync, of a file, link or directory.
    pub fn sync(&mut self, number: Number, data_only: bool) -> Answer<()> {
        self.inode(number)?;
        self.syncs += 1;
        if self.cut_at.is_some_and(|at| self.syncs >= at) {
            self.cut();
            return Err(Errno::EIO);
        }
        let inode = self.inode(number)?;
        let commits = !data_only || inode.grows();
        inode.keep_pages();
        match self.mode {
            Mode::Journal if commits => {
                let mut waiting = std::mem::take(&mut self.waiting);
                waiting.insert(number);
                self.commit(waiting);
            }
            Mode::Journal => {}
            Mode::Strict => {
                let together = self.joined_with(number);
                self.commit(together);
            }
        }
        self.note(|| Change::Synced { number, data_only });
        Ok(())
    }

    /// Commit the journal.
    pub fn commit_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.commit(waiting);
    }

    fn joined_with(&mut self, number: Number) -> BTreeSet<Number> {
        let mut together = BTreeSet::from([number]);
        loop {
            let (inside, outside): (Vec<_>, Vec<_>) =
                self.joined.iter().partition(|(from, to)| together.contains(from) || together.contains(to));
            self.joined = outside;
            if inside.is_empty() {
                return together;
            }
            together.extend(inside.iter().flat_map(|(from, to)| [*from, *to]));
        }
    }

    pub(super) fn commit(&mut self, numbers: impl IntoIterator<Item = Number>) {
        let mut lost = Vec::new();
        for number in numbers {
            let Some(inode) = self.inodes.get_mut(&number) else { continue };
            let Some(before) = inode.keep_rest() else { continue };
            let Body::Directory(entries) = &inode.kept.body else { continue };
            for child in entries.values().copied().collect::<Vec<_>>() {
                self.inodes.get_mut(&child).expect("a name leads to an inode").held += 1;
            }
            lost.extend(before.into_values());
        }
        lost.into_iter().for_each(|child| self.let_go(child));
    }

    /// A durable name of it is gone.
    fn let_go(&mut self, number: Number) {
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.held -= 1;
            self.forget(number, 0);
        }
    }

    pub(super) fn inode(&mut self, number: Number) -> Answer<&mut Inode> {
        if self.off {
            return Err(Errno::EIO);
        }
        self.inodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    pub fn get(&self, number: Number) -> Answer<&Inode> {
        if self.off {
            return Err(Errno::EIO);
        }
        self.inodes.get(&number).ok_or(Errno::ENOENT)
    }

    pub fn entries(&self, number: Number) -> Answer<&Entries> {
        match &self.get(number)?.now.body {
            Body::Directory(entries) => Ok(entries),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub fn find(&self, parent: Number, name: &OsStr) -> Answer<Number> {
        self.entries(parent)?.get(name).copied().ok_or(Errno::ENOENT)
    }

    /// The kernel was told of it once more.
    pub fn noted(&mut self, number: Number) -> Answer<&Inode> {
        let inode = self.inode(number)?;
        inode.lookups += 1;
        Ok(inode)
    }

    /// The kernel forgets it `times`; who has no name in either image is gone then.
    pub fn forget(&mut self, number: Number, times: u64) {
        let Some(inode) = self.inodes.get_mut(&number) else { return };
        inode.lookups = inode.lookups.saturating_sub(times);
        if inode.links + inode.held > 0 {
            return;
        }
        self.unwritten -= inode.unwritten();
        inode.reserved = 0; // open files may go on, at no more than it takes
        if inode.lookups > 0 {
            return;
        }
        let gone = self.inodes.remove(&number);
        self.waiting.remove(&number);
        if let Some(Body::Directory(entries)) = gone.map(|inode| inode.kept.body) {
            entries.into_values().for_each(|child| self.let_go(child));
        }
    }

    pub fn make(&mut self, parent: Number, name: &OsStr, made: Made) -> Answer<Number> {
        self.takes_changes()?;
        if self.entries(parent)?.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        let number = self.add(made.clone());
        self.put(parent, name, Some(number))?;
        self.note(|| Change::Made { parent, name: name.to_owned(), made });
        Ok(number)
    }

    pub fn link(&mut self, number: Number, parent: Number, name: &OsStr) -> Answer<()> {
        if self.entries(parent)?.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        self.touch(number)?.links += 1;
        self.put(parent, name, Some(number))?;
        self.note(|| Change::Linked { number, parent, name: name.to_owned() });
        Ok(())
    }

    pub fn remove(&mut self, parent: Number, name: &OsStr) -> Answer<()> {
        self.unput(parent, name)?;
        self.note(|| Change::Removed { parent, name: name.to_owned() });
        Ok(())
    }

    fn unput(&mut self, parent: Number, name: &OsStr) -> Answer<()> {
        let number = self.find(parent, name)?;
        if matches!(&self.get(number)?.now.body, Body::Directory(entries) if !entries.is_empty()) {
            return Err(Errno::ENOTEMPTY);
        }
        self.put(parent, name, None)?;
        self.unname(number)
    }

    pub fn rename(&mut self, from: Number, name: &OsStr, to: Number, new: &OsStr, flags: RenameFlags) -> Answer<()> {
        self.move_name(from, name, to, new, flags)?;
        self.note(|| Change::Renamed { from, name: name.to_owned(), to, new: new.to_owned(), flags });
        Ok(())
    }

    fn move_name(&mut self, from: Number, name: &OsStr, to: Number, new: &OsStr, flags: RenameFlags) -> Answer<()> {
        let moved = self.find(from, name)?;
        let replaced = self.find(to, new).ok();
        if self.entries(to)?.contains_key(new) && flags.contains(RenameFlags::RENAME_NOREPLACE) {
            return Err(Errno::EEXIST);
        }
        if from != to {
            self.joined.push((from, to));
        }
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            self.put(from, name, Some(replaced.ok_or(Errno::ENOENT)?))?;
            return self.put(to, new, Some(moved));
        }
        if replaced == Some(moved) {
            return Ok(());
        }
        if replaced.is_some() {
            self.unput(to, new)?;
            self.inode(moved)?.flush();
        }
        self.put(from, name, None)?;
        self.put(to, new, Some(moved))?;
        self.touch(moved).map(|_| ())
    }

    pub fn read(&self, number: Number, offset: u64, length: u64) -> Answer<Vec<u8>> {
        match &self.get(number)?.now.body {
            Body::File(content) => Ok(content.read(offset, length)),
            _ => Err(Errno::EISDIR),
        }
    }

    pub fn write(&mut self, number: Number, offset: u64, data: &[u8]) -> Answer<()> {
        let end = offset + data.len() as u64;
        if end > self.inode(number)?.reserved && !self.has_room(data.len() as u64) {
            return Err(Errno::ENOSPC);
        }
        let inode = self.inode(number)?;
        let before = inode.unwritten();
        let resized = inode.write(offset, data)?;
        (inode.now.meta.modified, inode.now.meta.changed) = (SystemTime::now(), SystemTime::now());
        let after = inode.unwritten();
        self.unwritten = self.unwritten - before + after;
        self.written += data.len() as u64;
        if resized {
            self.waiting.insert(number);
        }
        self.note(|| Change::Wrote { number, offset, data: data.into() });
        Ok(())
    }

    /// A user of the file closed it.
    pub fn closed(&mut self, number: Number) {
        if self.inode(number).is_ok_and(Inode::closed) {
            self.waiting.insert(number);
            self.note(|| Change::Closed { number });
        }
    }

    /// Give it another mode or owner.
    pub fn describe(&mut self, number: Number, mode: Option<u32>, uid: Option<u32>, gid: Option<u32>) -> Answer<()> {
        let meta = &mut self.touch(number)?.now.meta;
        meta.mode = mode.map_or(meta.mode, |mode| meta.mode & libc::S_IFMT | mode & 0o7777);
        (meta.uid, meta.gid) = (uid.unwrap_or(meta.uid), gid.unwrap_or(meta.gid));
        let (mode, uid, gid) = (meta.mode, meta.uid, meta.gid);
        self.note(|| Change::Described { number, mode, uid, gid });
        Ok(())
    }

    /// The inode, whose names, size or owner are about to change.
    pub fn touch(&mut self, number: Number) -> Answer<&mut Inode> {
        self.takes_changes()?;
        self.inode(number)?;
        self.waiting.insert(number);
        let inode = self.inode(number)?;
        inode.now.meta.changed = SystemTime::now();
        Ok(inode)
    }

    fn add(&mut self, made: Made) -> Number {
        let number = self.next;
        self.next += 1;
        self.inodes.insert(number, Inode::new(made));
        number
    }

    fn put(&mut self, parent: Number, name: &OsStr, number: Option<Number>) -> Answer<()> {
        let directory = self.touch(parent)?;
        directory.now.meta.modified = directory.now.meta.changed;
        let Body::Directory(entries) = &mut directory.now.body else { return Err(Errno::ENOTDIR) };
        match number {
            Some(number) => entries.insert(name.to_owned(), number),
            None => entries.remove(name),
        };
        Ok(())
    }

    fn unname(&mut self, number: Number) -> Answer<()> {
        self.touch(number)?.links -= 1;
        self.forget(number, 0);
        Ok(())
    }
}
