//! How much room there is, and who has it: sizes, and space that is allocated before it is written.

use fuser::Errno;

use super::changes::Change;
use super::content;
use super::disk::Disk;
use super::inode::{Answer, Number};

impl Disk {
    /// Whether there is room for this many bytes. Where there is none, what was removed is made durable first: until then its space is not free.
    pub(super) fn has_room(&mut self, bytes: u64) -> bool {
        if bytes > self.free() {
            self.commit_waiting();
            self.note(|| Change::Committed);
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
        self.note(|| Change::Resized { number, size });
        Ok(())
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
            inode.clear(from, to, mode & libc::FALLOC_FL_PUNCH_HOLE != 0)?;
        }
        if !keep {
            inode.extend(to)?;
        }
        if !zero {
            inode.reserved = inode.reserved.max(to);
        }
        let after = inode.unwritten();
        self.unwritten = self.unwritten - before + after;
        self.note(|| Change::Allocated { number, from, to, mode });
        Ok(())
    }
}
