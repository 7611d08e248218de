//! The whole tree in its two images, and what moves from the volatile one to the durable one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{Errno, FileType, RenameFlags};

use super::content;
use super::inode::{Answer, Body, Entries, Inode, Made, Number};
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

pub struct Disk {
    mode: Mode,
    /// The share of the sectors that were not synced and survive a cut all the same.
    torn: f64,
    dice: Dice,
    /// Bytes that the pages of both images may take.
    pub capacity: u64,
    /// Those of them that were allocated and not written yet: the sum over all inodes.
    unwritten: u64,
    inodes: BTreeMap<Number, Inode>,
    next: Number,
    /// Inodes whose names, size or owner wait for the next commit of the journal.
    waiting: BTreeSet<Number>,
    /// Directories between which something was moved and not yet synced: neither may be synced without the other.
    joined: Vec<(Number, Number)>,
    pub syncs: u64,
    pub written: u64,
    cut_at: Option<u64>,
    pub off: bool,
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
        };
        let number = disk.add(root);
        disk.inode(number).expect("just made").held = 1;
        disk
    }

    /// All that was done so far is durable.
    pub fn settle(&mut self) {
        let all: Vec<Number> = self.inodes.keys().copied().collect();
        for number in &all {
            self.inodes.get_mut(number).expect("a key").keep_pages();
        }
        self.commit(all);
    }

    /// From now on every operation fails.
    pub fn cut(&mut self) {
        if self.off {
            return;
        }
        self.off = true;
        self.cut_at = None;
        if self.torn > 0.0 {
            for inode in self.inodes.values_mut() {
                inode.tear(|| self.dice.draw() < self.torn);
            }
        }
    }

    /// Cut instead of carrying out the n-th sync from now on; 0 takes that back.
    pub fn cut_at(&mut self, nth: u64) {
        self.cut_at = (nth > 0).then(|| self.syncs + nth);
    }

    /// Go on with the durable image alone.
    pub fn remount(&mut self) {
        let mut before = std::mem::take(&mut self.inodes);
        let mut todo = vec![ROOT];
        while let Some(number) = todo.pop() {
            if let Some(inode) = before.remove(&number) {
                let inode = inode.survivor();
                if let Body::Directory(entries) = &inode.now.body {
                    todo.extend(entries.values());
                }
                self.inodes.insert(number, inode);
            }
            let inode = self.inodes.get_mut(&number).expect("a name leads to an inode");
            inode.links += 1;
            inode.held += 1;
        }
        self.unwritten = 0;
        self.waiting.clear();
        self.joined.clear();
        self.off = false;
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
        Ok(())
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

    fn commit(&mut self, numbers: impl IntoIterator<Item = Number>) {
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

    fn inode(&mut self, number: Number) -> Answer<&mut Inode> {
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
        if self.entries(parent)?.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        let number = self.add(made);
        self.put(parent, name, Some(number))?;
        Ok(number)
    }

    pub fn link(&mut self, number: Number, parent: Number, name: &OsStr) -> Answer<()> {
        if self.entries(parent)?.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        self.touch(number)?.links += 1;
        self.put(parent, name, Some(number))
    }

    pub fn remove(&mut self, parent: Number, name: &OsStr) -> Answer<()> {
        let number = self.find(parent, name)?;
        if matches!(&self.get(number)?.now.body, Body::Directory(entries) if !entries.is_empty()) {
            return Err(Errno::ENOTEMPTY);
        }
        self.put(parent, name, None)?;
        self.unname(number)
    }

    pub fn rename(&mut self, from: Number, name: &OsStr, to: Number, new: &OsStr, flags: RenameFlags) -> Answer<()> {
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
            self.remove(to, new)?;
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
        Ok(())
    }

    /// Whether there is room for this many bytes. Where there is none, what was removed is made durable first: until then its space is not free.
    fn has_room(&mut self, bytes: u64) -> bool {
        if bytes > self.free() {
            let waiting = std::mem::take(&mut self.waiting);
            self.commit(waiting);
        }
        bytes <= self.free()
    }

    /// Bytes that can still be written or allocated.
    pub fn free(&self) -> u64 {
        self.capacity.saturating_sub(content::memory() + self.unwritten)
    }

    pub fn resize(&mut self, number: Number, size: u64) -> Answer<()> {
        let inode = self.touch(number)?;
        let before = inode.unwritten();
        inode.resize(size)?;
        inode.now.meta.modified = inode.now.meta.changed;
        inode.reserved = inode.reserved.min(size);
        let after = inode.unwritten();
        self.unwritten = self.unwritten - before + after;
        Ok(())
    }

    /// A user of the file closed it.
    pub fn closed(&mut self, number: Number) {
        if self.inode(number).is_ok_and(Inode::closed) {
            self.waiting.insert(number);
        }
    }

    /// Space for a range of a file: grow it, or make zeros of what is there.
    pub fn allocate(&mut self, number: Number, from: u64, to: u64, mode: i32) -> Answer<()> {
        let zero = mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0;
        let keep = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        if mode & !(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE) != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let more = to.saturating_sub(self.inode(number)?.reserved.max(from));
        if !zero && !self.has_room(more) {
            return Err(Errno::ENOSPC);
        }
        let inode = self.touch(number)?;
        let before = inode.unwritten();
        if zero {
            inode.clear(from, to)?;
        }
        if !keep {
            inode.extend(to)?;
        }
        if !zero {
            inode.reserved = inode.reserved.max(to);
        }
        let after = inode.unwritten();
        self.unwritten = self.unwritten - before + after;
        Ok(())
    }

    /// The inode, whose names, size or owner are about to change.
    pub fn touch(&mut self, number: Number) -> Answer<&mut Inode> {
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
