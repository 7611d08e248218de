//! What a file holds: pages that the volatile and the durable image share until one of them is written to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page: the kernel's own.
pub const PAGE: u64 = 4096;
/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

static PAGES: AtomicU64 = AtomicU64::new(0);

/// Bytes of all pages of this process: one file system lives in it.
pub fn memory() -> u64 {
    PAGES.load(Ordering::Relaxed) * PAGE
}

struct Page([u8; PAGE as usize]);

impl Page {
    fn new() -> Self {
        PAGES.fetch_add(1, Ordering::Relaxed);
        Page([0; PAGE as usize])
    }
}

impl Clone for Page {
    fn clone(&self) -> Self {
        PAGES.fetch_add(1, Ordering::Relaxed);
        Page(self.0)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        PAGES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes of one file; what was never written is a hole and reads as zeros.
#[derive(Clone, Default)]
pub struct Content {
    pub size: u64,
    pages: BTreeMap<u64, Arc<Page>>,
}

impl Content {
    /// Bytes that it takes, without its holes.
    pub fn taken(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }

    pub fn has(&self, number: u64) -> bool {
        self.pages.contains_key(&number)
    }

    /// At most `length` bytes from `offset`; fewer at the end of the file.
    pub fn read(&self, offset: u64, length: u64) -> Vec<u8> {
        let end = self.size.min(offset.saturating_add(length));
        if offset >= end {
            return Vec::new();
        }
        let mut found = vec![0; (end - offset) as usize];
        for (number, inside, outside) in spans(offset, end) {
            if let Some(page) = self.pages.get(&number) {
                found[outside].copy_from_slice(&page.0[inside]);
            }
        }
        found
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        for (number, inside, outside) in spans(offset, end) {
            self.page(number).0[inside].copy_from_slice(&data[outside]);
        }
        self.size = self.size.max(end);
    }

    /// Cut it off, or let it end in a hole.
    pub fn resize(&mut self, size: u64) {
        if size < self.size {
            self.clear(size, self.size);
        }
        self.size = size;
    }

    /// Make zeros of what lies between; whole pages become holes.
    pub fn clear(&mut self, from: u64, to: u64) {
        let last = to >= self.size;
        let touched: Vec<u64> = self.pages.range(numbers(from, to)).map(|(number, _)| *number).collect();
        for number in touched {
            let (start, end) = (number * PAGE, (number + 1) * PAGE);
            if from <= start && (end <= to || last) {
                self.pages.remove(&number);
            } else {
                let inside = (from.max(start) - start) as usize..(to.min(end) - start) as usize;
                self.page(number).0[inside].fill(0);
            }
        }
    }

    /// Take over one page as it is in `other`.
    pub fn take(&mut self, other: &Content, number: u64) {
        match other.pages.get(&number) {
            Some(page) => {
                self.pages.insert(number, page.clone());
            }
            None => self.remove(number),
        }
    }

    /// The pages that it has.
    pub fn numbers(&self) -> Vec<u64> {
        self.pages.keys().copied().collect()
    }

    /// Make a hole of one page.
    pub fn remove(&mut self, number: u64) {
        self.pages.remove(&number);
    }

    /// Take over those sectors of a page that differ in `other` and for which `survives` says so.
    pub fn tear(&mut self, other: &Content, number: u64, mut survives: impl FnMut() -> bool) {
        let Some(wanted) = other.pages.get(&number) else { return };
        for first in (0..PAGE as usize).step_by(SECTOR) {
            let inside = first..first + SECTOR;
            let same = match self.pages.get(&number) {
                Some(page) => page.0[inside.clone()] == wanted.0[inside.clone()],
                None => wanted.0[inside.clone()].iter().all(|byte| *byte == 0),
            };
            if same || !survives() {
                continue;
            }
            self.page(number).0[inside.clone()].copy_from_slice(&wanted.0[inside.clone()]);
            let end = number * PAGE + inside.end as u64;
            self.size = self.size.max(end.min(other.size));
        }
    }

    fn page(&mut self, number: u64) -> &mut Page {
        Arc::make_mut(self.pages.entry(number).or_insert_with(|| Arc::new(Page::new())))
    }
}

/// The numbers of the pages that `from..to` touches.
pub fn numbers(from: u64, to: u64) -> Range<u64> {
    from / PAGE..to.div_ceil(PAGE)
}

/// The pages that `from..to` touches: number, range within the page, range within what is read or written.
fn spans(from: u64, to: u64) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    numbers(from, to).filter(move |_| from < to).map(move |number| {
        let start = from.max(number * PAGE);
        let end = to.min((number + 1) * PAGE);
        let inside = (start - number * PAGE) as usize..(end - number * PAGE) as usize;
        (number, inside, (start - from) as usize..(end - from) as usize)
    })
}
