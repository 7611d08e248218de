//! The power goes, and comes back.

use super::disk::{Disk, ROOT};
use super::inode::Body;

impl Disk {
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
        (self.off, self.aborted) = (false, false);
    }
}
