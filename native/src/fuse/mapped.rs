//! What programs wrote through memory mappings. A page comes when the kernel writes it back, and not when, or in what order, it was written.

use std::collections::{BTreeMap, BTreeSet};

use super::inode::Number;

#[derive(Clone, Default)]
pub struct Mapped {
    /// Pages that were written back, by file.
    pages: BTreeMap<Number, u64>,
    synced: BTreeSet<Number>,
}

impl Mapped {
    pub fn written_back(&mut self, number: Number, pages: u64) {
        *self.pages.entry(number).or_default() += pages;
    }

    pub fn synced(&mut self, number: Number) {
        self.synced.insert(number);
    }

    /// Pages of files that were synced, and those of others: nothing that has to survive a cut can be in these.
    pub fn counts(&self) -> (u64, u64) {
        let of = |synced| self.pages.iter().filter(|(number, _)| self.synced.contains(number) == synced).map(|(_, pages)| pages).sum();
        (of(true), of(false))
    }
}
