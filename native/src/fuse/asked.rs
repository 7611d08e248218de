//! A disk that answers with errors: some of the calls that reach it fail, and do what they do on ext4.

use fuser::{Errno, FileType};

use super::changes::Change;
use super::content::{PAGE, numbers};
use super::disk::{Disk, Mode};
use super::failing::{Failure, Way};
use super::inode::{Answer, Body, Inode, Number};

impl Disk {
    /// Write, unless that fails. Returns how many bytes were written.
    pub fn ask_write(&mut self, number: Number, offset: u64, data: &[u8], way: Way) -> Answer<usize> {
        self.takes_changes()?;
        let mut length = data.len();
        let room = self.allocated(number, offset, offset + length as u64)? as usize;
        if let Some(failing) = self.failing.as_mut() {
            let asked = way != Way::Back;
            let (full, short) = (failing.failure == Failure::Full, failing.failure == Failure::Short);
            if full && asked && room < length {
                let first = room.max((PAGE - offset % PAGE) as usize);
                if failing.strikes() {
                    if failing.begun || first >= length {
                        return Err(Errno::ENOSPC);
                    }
                    (failing.begun, length) = (true, first);
                } else if failing.begun && !failing.lasting {
                    failing.begun = false;
                    return Err(Errno::ENOSPC);
                }
            } else if short && asked && length > 1 && failing.strikes() {
                length /= 2;
            } else if failing.failure == Failure::Write && failing.strikes() {
                return Err(Errno::EIO);
            }
        }
        self.write(number, offset, &data[..length])?;
        if way == Way::Direct {
            self.inode(number)?.direct.extend(numbers(offset, offset + length as u64));
        }
        if way == Way::Back {
            self.mapped.written_back(number, numbers(offset, offset + length as u64).count() as u64);
        }
        Ok(length)
    }

    pub fn ask_read(&mut self, number: Number, offset: u64, length: u64) -> Answer<Vec<u8>> {
        if self.strikes(Failure::Read) { Err(Errno::EIO) } else { self.read(number, offset, length) }
    }

    pub fn ask_sync(&mut self, number: Number, data_only: bool) -> Answer<()> {
        self.mapped.synced(number);
        self.takes_changes()?;
        if !self.strikes(Failure::Sync) {
            return self.sync(number, data_only);
        }
        let aborts = self.only_commits(number, data_only)?;
        self.lose(number)?;
        self.aborted = aborts;
        Err(Errno::EIO)
    }

    /// Whether all that a sync of it has to write is a commit of the journal: it is a directory, or its pages are written. ext4 goes on after
    /// a page that could not be written, and not after a commit that could not.
    fn only_commits(&mut self, number: Number, data_only: bool) -> Answer<bool> {
        let (mode, waits) = (self.mode, self.waiting.contains(&number));
        let inode = self.inode(number)?;
        let commits = inode.kind == FileType::Directory || waits && (!data_only || inode.grows());
        Ok(mode == Mode::Journal && commits && inode.dirty.is_subset(&inode.direct))
    }

    pub fn ask_allocate(&mut self, number: Number, from: u64, to: u64, mode: i32) -> Answer<()> {
        self.takes_changes()?;
        let grows = mode & !libc::FALLOC_FL_KEEP_SIZE == 0 && self.allocated(number, from, to)? < to - from;
        if grows && self.strikes(Failure::Full) {
            return Err(Errno::ENOSPC);
        }
        self.allocate(number, from, to, mode)
    }

    /// What a failed sync does: nothing is durable, and what was written is not tried again.
    pub(super) fn lose(&mut self, number: Number) -> Answer<()> {
        self.touch(number)?.lose_dirty();
        self.note(|| Change::SyncFailed { number });
        Ok(())
    }

    pub(super) fn takes_changes(&self) -> Answer<()> {
        if self.aborted { Err(Errno::EROFS) } else { Ok(()) }
    }

    /// Count a call. Returns whether it fails.
    fn strikes(&mut self, failure: Failure) -> bool {
        self.failing.as_mut().is_some_and(|failing| failing.failure == failure && failing.strikes())
    }

    /// How many bytes from the first on a file has blocks for.
    fn allocated(&mut self, number: Number, from: u64, to: u64) -> Answer<u64> {
        let inode = self.inode(number)?;
        let Body::File(content) = &inode.now.body else { return Ok(to - from) };
        let missing = numbers(from, to).find(|page| !content.has(*page) && (page + 1) * PAGE > inode.reserved);
        Ok(missing.map_or(to, |page| (page * PAGE).max(from)) - from)
    }
}

impl Inode {
    /// Its dirty pages count as clean: they can be read, and are gone after a cut unless they are written again (Rebello and others, *Can
    /// Applications Recover from fsync Failures?*, 2020). They got their blocks: the next commit shows the size, and zeros.
    fn lose_dirty(&mut self) {
        let direct = &self.direct;
        self.dirty.retain(|page| direct.contains(page));
        self.ordered.retain(|page| direct.contains(page));
        if let Body::File(now) = &self.now.body {
            self.planned = now.size;
        }
    }
}
