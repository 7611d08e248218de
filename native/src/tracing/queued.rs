//! What was asked of the device and has not been issued to it yet: of which kind, by place.

use std::collections::BTreeMap;

/// Until which sector, and the kind.
#[derive(Clone, Copy)]
struct Part {
    until: u64,
    kind: usize,
}

/// By the first sector of each part. The kernel merges what it was asked for, and splits it.
#[derive(Default)]
pub struct Queued(BTreeMap<u64, Part>);

impl Queued {
    pub fn add(&mut self, first: u64, sectors: u64, kind: usize) {
        self.0.insert(first, Part { until: first + sectors, kind });
    }

    /// These sectors are issued, and no longer asked for. Of which kind the first of them is, where that is known.
    pub fn take(&mut self, first: u64, sectors: u64) -> Option<usize> {
        let until = first + sectors;
        let parts = self.0.range(..until).rev().take_while(|(_, part)| part.until > first);
        let parts: Vec<(u64, Part)> = parts.map(|(begins, part)| (*begins, *part)).collect();
        for (begins, part) in &parts {
            self.0.remove(begins);
            if *begins < first {
                self.0.insert(*begins, Part { until: first, ..*part });
            }
            if part.until > until {
                self.0.insert(until, *part);
            }
        }
        parts.last().filter(|(begins, _)| *begins <= first).map(|(_, part)| part.kind)
    }

    /// Forgets all where more is known than that: what was issued without a record stays here.
    pub fn bound(&mut self, most: usize) {
        if self.0.len() > most {
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two that are issued as one are of the first one's kind, and are both gone.
    #[test]
    fn merged() {
        let mut queued = Queued::default();
        queued.add(8, 8, 1);
        queued.add(16, 8, 2);
        assert_eq!(queued.take(8, 16), Some(1));
        assert_eq!(queued.take(16, 8), None);
    }

    /// One that is issued in parts is of its kind in each, in whatever order.
    #[test]
    fn split() {
        let mut queued = Queued::default();
        queued.add(100, 30, 3);
        assert_eq!(queued.take(110, 10), Some(3));
        assert_eq!(queued.take(100, 10), Some(3));
        assert_eq!(queued.take(120, 10), Some(3));
        assert_eq!(queued.take(120, 10), None);
    }

    /// What lies before or behind is not taken.
    #[test]
    fn beside() {
        let mut queued = Queued::default();
        queued.add(10, 5, 1);
        queued.add(20, 5, 2);
        assert_eq!(queued.take(15, 5), None);
        assert_eq!((queued.take(10, 5), queued.take(20, 5)), (Some(1), Some(2)));
    }
}
