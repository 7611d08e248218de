//! What a file holds: pages that the volatile and the durable image share until one of them is written to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a page: the kernel's own.
pub const PAGE: u64 = 4096;
/// Bytes that a disk writes whole or not at all.
pub const SECTOR: usize = 512;

static PAGES: AtomicU64 = AtomicU64::new(0);

/// Bytes of all pages of this process: one file system lives in it.
pub fn memory() -> u64 {
    PAGES.load(Ordering::Relaxed) * PAGE
}

pub struct Page([u8; PAGE as usize], OnceLock<u64>);

impl Page {
    fn new() -> Self {
        Page::of([0; PAGE as usize])
    }

    pub fn of(bytes: [u8; PAGE as usize]) -> Self {
        PAGES.fetch_add(1, Ordering::Relaxed);
        Page(bytes, OnceLock::new())
    }

    pub fn bytes(&self) -> &[u8; PAGE as usize] {
        &self.0
    }

    /// The fingerprint of its bytes; 0 if all are zeros, as in a hole.
    fn fingerprint(&self) -> u64 {
        *self.1.get_or_init(|| if self.0.iter().all(|byte| *byte == 0) { 0 } else { fnv(FNV_OFFSET, &self.0) })
    }
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo).
pub const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// Go on with a fingerprint.
pub fn fnv(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

impl Clone for Page {
    fn clone(&self) -> Self {
        PAGES.fetch_add(1, Ordering::Relaxed);
        Page(self.0, OnceLock::new())
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

    /// One with pages that others may have, too.
    pub fn shared(size: u64, pages: BTreeMap<u64, Arc<Page>>) -> Self {
        Content { size, pages }
    }

    pub fn pages(&self) -> &BTreeMap<u64, Arc<Page>> {
        &self.pages
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

    /// Let it end earlier, and leave what its last page has beyond the end.
    pub fn shorten(&mut self, size: u64) {
        if size < self.size {
            self.pages.split_off(&size.div_ceil(PAGE));
            self.size = size;
        }
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

    /// Take over the first bytes of a page as they are in `other`.
    pub fn overlay(&mut self, other: &Content, number: u64, bytes: usize) {
        if let Some(wanted) = other.pages.get(&number) {
            self.page(number).0[..bytes].copy_from_slice(&wanted.0[..bytes]);
        }
    }

    /// Go on with a fingerprint: the size, and each page that is not all zeros.
    pub fn fingerprint(&self, before: u64) -> u64 {
        let mut hash = fnv(before, &self.size.to_le_bytes());
        for (number, page) in self.pages.iter().filter(|(number, page)| **number * PAGE < self.size && page.fingerprint() != 0) {
            hash = fnv(fnv(hash, &number.to_le_bytes()), &page.fingerprint().to_le_bytes());
        }
        hash
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
        let page = Arc::make_mut(self.pages.entry(number).or_insert_with(|| Arc::new(Page::new())));
        page.1 = OnceLock::new();
        page
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
