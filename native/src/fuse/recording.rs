//! What was done to a disk from a known moment on: done again to the disk of that moment, it gives the disk of any later one.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;

use super::changes::{Change, Log};
use super::disk::{Disk, Mode, ROOT};
use super::inode::{Answer, Body, Number};
use super::mapped::Mapped;

pub struct Recording {
    pub(super) base: Disk,
    pub(super) log: Log,
}

impl Recording {
    /// One that was written down: its first disk, and what was done to it.
    pub fn of(base: Disk, changes: Vec<Change>) -> Self {
        let mut log = Log::new(u64::MAX);
        changes.into_iter().for_each(|change| log.add(change));
        Recording { base, log }
    }

    pub fn changes(&self) -> &[Change] {
        &self.log.changes
    }

    pub fn bytes(&self) -> u64 {
        self.log.bytes
    }

    /// More was written than is kept.
    pub fn overflowed(&self) -> bool {
        self.log.overflowed()
    }

    /// Its first disk without the files that no change is about. These are the same in every state.
    pub fn changing(&self, mode: Mode) -> Disk {
        let (mut disk, about) = (self.after(0, mode), self.about());
        disk.inodes.retain(|number, _| about.contains(number));
        for inode in disk.inodes.values_mut() {
            for image in [&mut inode.now, &mut inode.kept] {
                if let Body::Directory(entries) = &mut image.body {
                    entries.retain(|_, child| about.contains(child));
                }
            }
        }
        disk
    }

    /// The files and directories that changes are about, and the directories above them.
    fn about(&self) -> BTreeSet<Number> {
        let mut disk = self.after(0, Mode::Journal);
        let above: HashMap<Number, Number> = disk
            .inodes
            .iter()
            .flat_map(|(number, inode)| inode.now.entries().into_iter().flat_map(|names| names.values()).map(|child| (*child, *number)))
            .collect();
        let mut found = BTreeSet::from([ROOT]);
        for change in self.changes() {
            let (numbers, names) = change.about();
            let named = names.into_iter().flatten().filter_map(|(parent, name)| disk.find(parent, name).ok());
            for mut number in named.chain(numbers.into_iter().flatten()) {
                while found.insert(number) {
                    number = above.get(&number).copied().unwrap_or(ROOT);
                }
            }
            disk.apply(change);
        }
        found
    }

    /// The disk after this many changes, if syncs do what `mode` says.
    pub fn after(&self, position: usize, mode: Mode) -> Disk {
        let mut disk = self.base.clone();
        disk.mode = mode;
        self.changes()[..position].iter().for_each(|change| disk.apply(change));
        disk
    }
}

impl Disk {
    /// Write down what is done from now on, at most `limit` bytes of it. All that was done before is durable.
    pub fn record(&mut self, limit: u64) {
        (self.recorded_from, self.mapped) = (None, Mapped::default());
        self.settle();
        self.waiting.clear();
        self.joined.clear();
        let mut base = Box::new(self.clone());
        (base.cut_at, base.failing, base.capacity) = (None, None, u64::MAX); // what there was no room for was not done
        base.inodes.values_mut().for_each(|inode| inode.lookups += 1); // a file without a name is still synced by who has it open
        self.recorded_from = Some((base, Log::new(limit)));
    }

    /// The end of the recording.
    pub fn recorded(&mut self) -> Option<Recording> {
        self.recorded_from.take().map(|(base, log)| Recording { base: *base, log })
    }

    pub fn mark(&mut self, mark: u64) {
        self.note(|| Change::Marked { mark });
    }

    /// Write one change down, if this disk is recorded.
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some((_, log)) = &mut self.recorded_from
            && !log.overflowed()
        {
            log.add(change());
        }
    }

    /// Do it again. What was done once can be done again, but for files that have no name in either image and that were not open.
    pub fn apply(&mut self, change: &Change) {
        let _: Answer<()> = match change {
            Change::Made { parent, name, made } => self.make(*parent, name, made.clone()).and_then(|number| self.noted(number).map(|_| ())),
            Change::Linked { number, parent, name } => self.link(*number, *parent, name),
            Change::Removed { parent, name } => self.remove(*parent, name),
            Change::Renamed { from, name, to, new, flags } => self.rename(*from, name, *to, OsStr::new(new), *flags),
            Change::Described { number, mode, uid, gid } => self.describe(*number, Some(*mode), Some(*uid), Some(*gid)),
            Change::Wrote { number, offset, data } => self.write(*number, *offset, data),
            Change::Resized { number, size } => self.resize(*number, *size),
            Change::Allocated { number, from, to, mode } => self.allocate(*number, *from, *to, *mode),
            Change::Closed { number } => {
                self.closed(*number);
                Ok(())
            }
            Change::Synced { number, data_only } => self.sync(*number, *data_only),
            Change::SyncFailed { number } => self.lose(*number),
            Change::AllSynced => {
                self.settle();
                Ok(())
            }
            Change::Committed => {
                self.commit_waiting();
                Ok(())
            }
            Change::Marked { .. } => Ok(()),
        };
    }
}
