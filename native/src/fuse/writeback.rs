//! What a kernel may do at any moment, without being asked: write some of a file's pages back, or lose others.

use super::content::{Content, PAGE, SECTOR};
use super::inode::{Body, Inode};

impl Inode {
    /// The pages that were written and not synced.
    pub fn dirty(&self) -> impl Iterator<Item = u64> + '_ {
        self.dirty.iter().copied()
    }

    /// Write one page back. One that the file has a block for is durable at once; new ones get their blocks in order, up to this one,
    /// and show with the next commit. Returns whether a commit has to follow.
    pub fn write_back(&mut self, page: u64) -> bool {
        if !self.dirty.contains(&page) {
            return false;
        }
        if self.overwrites(page) {
            self.dirty.remove(&page);
            if let (Body::File(now), Body::File(kept)) = (&self.now.body, &mut self.kept.body) {
                kept.take(now, page);
            }
            return false;
        }
        let pages: Vec<u64> = self.dirty.range(..=page).copied().filter(|page| !self.overwrites(*page)).collect();
        if let Body::File(now) = &self.now.body {
            for page in pages {
                self.flushed.take(now, page);
                self.dirty.remove(&page);
            }
            self.flushed.size = now.size;
            self.planned = self.planned.max(now.size.min((page + 1) * PAGE));
        }
        true
    }

    /// Write all pages back that the file has a block for.
    pub fn write_back_in_place(&mut self) {
        let pages: Vec<u64> = self.dirty().filter(|page| self.overwrites(*page)).collect();
        for page in pages {
            self.write_back(page);
        }
    }

    /// All that was written is durable with the next commit but for one page, unless the commit itself writes that one. If it is new, so is
    /// all that comes after it: blocks are allocated in order, and the size follows them.
    pub fn miss(&mut self, page: u64) {
        if self.ordered.contains(&page) {
            return self.keep_pages();
        }
        self.dirty.remove(&page);
        if self.has_block(page) {
            return self.keep_pages();
        }
        self.dirty.split_off(&page);
        let last = self.dirty().filter(|page| !self.has_block(*page)).last();
        let before = self.planned;
        self.keep_pages();
        self.planned = before.max(last.map_or(0, |last| self.planned.min((last + 1) * PAGE)));
    }

    /// All that was written is durable with the next commit but for one page, which is as it was, and reads as zeros if it is new.
    pub fn lose(&mut self, page: u64) {
        self.dirty.remove(&page);
        self.flushed.remove(page);
        self.keep_pages();
    }

    /// No page is written out before the next commit, not that either which was cut short.
    pub fn forget_order(&mut self) {
        self.ordered.clear();
        if let Body::File(kept) = &mut self.kept.body {
            kept.shorten(self.lowest);
        }
    }

    /// Its whole size is durable with the next commit, and of its new pages one at most.
    pub fn grow(&mut self, one: Option<u64>) {
        self.flushed = Content::default();
        if let Body::File(now) = &self.now.body {
            self.planned = now.size;
            if let Some(page) = one {
                self.flushed.take(now, page);
            }
        }
    }

    /// One page is durable with the next commit, and a size that shows it.
    pub fn grow_to(&mut self, page: u64) {
        if let Body::File(now) = &self.now.body {
            self.flushed.take(now, page);
            self.planned = self.planned.max(now.size.min((page + 1) * PAGE));
        }
    }

    /// The first sectors of a page that was written, and that the file has a block for, are there, the others are not. Returns whether it
    /// is one.
    pub fn tear_after(&mut self, page: u64, sectors: usize) -> bool {
        if !self.dirty.contains(&page) || !self.overwrites(page) {
            return false;
        }
        if let (Body::File(now), Body::File(kept)) = (&self.now.body, &mut self.kept.body) {
            kept.overlay(now, page, sectors * SECTOR);
        }
        true
    }

    /// Whether the page has a block that is the file's in the durable image too.
    pub fn overwrites(&self, page: u64) -> bool {
        let Body::File(kept) = &self.kept.body else { return false };
        kept.has(page) && page * PAGE < self.lowest && !self.emptied.contains(&page)
    }
}
