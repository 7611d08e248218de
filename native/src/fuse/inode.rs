//! A file, directory or symbolic link in its two images: as the store sees it, and as it is after a power cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};

use super::content::{Content, PAGE};

pub type Number = u64;
pub type Entries = BTreeMap<OsString, Number>;

/// What a new inode is.
pub struct Made {
    pub kind: FileType,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u32,
    pub target: OsString,
}

#[derive(Clone)]
pub struct Meta {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u32,
    pub accessed: SystemTime,
    pub modified: SystemTime,
    pub changed: SystemTime,
}

#[derive(Clone)]
pub enum Body {
    File(Content),
    Directory(Entries),
    /// A symbolic link, a socket or a pipe: it is made whole and never changes.
    Fixed(OsString),
}

#[derive(Clone)]
pub struct Image {
    pub meta: Meta,
    pub body: Body,
}

pub struct Inode {
    pub kind: FileType,
    /// Volatile: what is read.
    pub now: Image,
    /// Durable: what a cut leaves.
    pub kept: Image,
    /// Names in the volatile image; a directory has one.
    pub links: u32,
    /// Names in the durable image.
    pub held: u32,
    /// How often the kernel was told of it and has not forgotten it.
    pub lookups: u64,
    /// Pages that were written and not synced.
    pub dirty: BTreeSet<u64>,
    /// Bytes that were allocated for it, whether or not they were written.
    pub reserved: u64,
    /// The size it gets with the next commit. A write moves it only when it is synced: until then its blocks are not allocated.
    pub planned: u64,
    /// The smallest size it was truncated to since the last commit.
    pub lowest: u64,
    /// Made since the last commit.
    pub fresh: bool,
}

impl Inode {
    pub fn new(made: Made) -> Self {
        let Made { kind, mode, uid, gid, rdev, target } = made;
        let now = SystemTime::now();
        let meta = Meta { mode, uid, gid, rdev, accessed: now, modified: now, changed: now };
        let body = match kind {
            FileType::RegularFile => Body::File(Content::default()),
            FileType::Directory => Body::Directory(Entries::new()),
            _ => Body::Fixed(target),
        };
        let now = Image { meta, body };
        let kept = now.clone();
        let dirty = BTreeSet::new();
        Inode { kind, now, kept, links: 1, held: 0, lookups: 0, dirty, reserved: 0, planned: 0, lowest: u64::MAX, fresh: true }
    }

    /// As it is after the power came back: all that it has is durable. Its names are still to be counted.
    pub fn survivor(self) -> Self {
        let planned = if let Body::File(content) = &self.kept.body { content.size } else { 0 };
        let (kind, now, kept, dirty) = (self.kind, self.kept.clone(), self.kept, BTreeSet::new());
        Inode { kind, now, kept, links: 0, held: 0, lookups: 0, dirty, reserved: 0, planned, lowest: u64::MAX, fresh: false }
    }

    /// Bytes that were allocated for it and are in no page yet.
    pub fn unwritten(&self) -> u64 {
        match &self.now.body {
            Body::File(content) => self.reserved.saturating_sub(content.taken()),
            _ => 0,
        }
    }

    /// Whether an fdatasync of it has to change more than the bytes of pages that it has already.
    pub fn grows(&self) -> bool {
        let (Body::File(now), Body::File(kept)) = (&self.now.body, &self.kept.body) else { return true };
        self.fresh
            || self.lowest != u64::MAX
            || self.planned != kept.size
            || self.planned != now.size
            || self.dirty.iter().any(|number| !kept.has(*number))
    }

    /// Move its written pages to the durable image; they show there once its size, too, is committed.
    pub fn keep_pages(&mut self) {
        if let (Body::File(now), Body::File(kept)) = (&self.now.body, &mut self.kept.body) {
            if self.lowest < kept.size {
                kept.resize(self.lowest);
            }
            self.lowest = u64::MAX;
            for number in std::mem::take(&mut self.dirty) {
                kept.take(now, number);
            }
            self.planned = now.size;
        }
    }

    /// Move all but its pages to the durable image. Returns, for a directory, the entries it had there before.
    pub fn keep_rest(&mut self) -> Option<Entries> {
        self.kept.meta = self.now.meta.clone();
        self.fresh = false;
        match (&self.now.body, &mut self.kept.body) {
            (Body::File(_), Body::File(kept)) => {
                if self.lowest < kept.size {
                    kept.resize(self.lowest);
                }
                kept.resize(self.planned);
                self.lowest = u64::MAX;
                None
            }
            (Body::Directory(now), Body::Directory(kept)) => Some(std::mem::replace(kept, now.clone())),
            _ => None,
        }
    }

    /// Let each dirty sector survive for which `survives` says so.
    pub fn tear(&mut self, mut survives: impl FnMut() -> bool) {
        if let (Body::File(now), Body::File(kept)) = (&self.now.body, &mut self.kept.body) {
            for number in std::mem::take(&mut self.dirty) {
                kept.tear(now, number, &mut survives);
            }
        }
    }

    pub fn attributes(&self, number: Number) -> FileAttr {
        let Meta { mode, uid, gid, rdev, accessed, modified, changed } = self.now.meta;
        let (size, taken) = match &self.now.body {
            Body::File(content) => (content.size, content.taken()),
            Body::Directory(_) => (PAGE, PAGE),
            Body::Fixed(target) => (target.len() as u64, 0),
        };
        FileAttr {
            ino: INodeNo(number),
            size,
            blocks: taken / 512,
            atime: accessed,
            mtime: modified,
            ctime: changed,
            crtime: changed,
            kind: self.kind,
            perm: (mode & 0o7777) as u16,
            nlink: self.links,
            uid,
            gid,
            rdev,
            blksize: PAGE as u32,
            flags: 0,
        }
    }
}
