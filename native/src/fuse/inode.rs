//! A file, directory or symbolic link in its two images: as the store sees it, and as it is after a power cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::SystemTime;

use fuser::{Errno, FileAttr, FileType, INodeNo};
use serde::{Deserialize, Serialize};

use super::content::{Content, PAGE, numbers};

pub type Answer<T> = Result<T, Errno>;
pub type Number = u64;
pub type Entries = BTreeMap<OsString, Number>;

/// What a new inode is.
#[derive(Clone, Serialize, Deserialize)]
pub struct Made {
    #[serde(with = "KindNumber")]
    pub kind: FileType,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u32,
    pub target: OsString,
}

/// How a kind is written down.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FileType")]
enum KindNumber {
    NamedPipe,
    CharDevice,
    BlockDevice,
    Directory,
    RegularFile,
    Symlink,
    Socket,
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

impl Image {
    /// Of a directory, its names.
    pub fn entries(&self) -> Option<&Entries> {
        if let Body::Directory(entries) = &self.body { Some(entries) } else { None }
    }
}

#[derive(Clone)]
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
    pub(super) dirty: BTreeSet<u64>,
    /// Dirty pages that the journal writes out before its next commit: it must not show what was in their blocks before.
    pub(super) ordered: BTreeSet<u64>,
    /// Pages that became holes since the last commit.
    pub(super) emptied: BTreeSet<u64>,
    /// Pages that were made zeros since the last commit and keep their blocks: what is written to them is in place until then.
    zeroed: BTreeSet<u64>,
    /// What was written out already, into blocks that it gets with the next commit.
    pub(super) flushed: Content,
    /// Pages that were written past the page cache (O_DIRECT) since the last sync: a failed one does not lose them.
    pub(super) direct: BTreeSet<u64>,
    /// It was cut to nothing: what is written until it is closed is written out then (auto_da_alloc).
    pub(super) rewritten: bool,
    /// Bytes that were allocated for it, whether or not they were written.
    pub reserved: u64,
    /// The size it gets with the next commit. A write moves it at once within a block that the file has, and beyond only when it is
    /// synced: until then its blocks are not allocated. So a size can become durable before the data, and a file end in zeros.
    pub(super) planned: u64,
    /// The smallest size it was truncated to since the last commit.
    pub(super) lowest: u64,
    /// Made since the last commit.
    fresh: bool,
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
        Inode { links: 1, fresh: true, ..Inode::settled(kind, now.clone(), now, 0) }
    }

    /// With nothing under way, and no names counted.
    pub(super) fn settled(kind: FileType, now: Image, kept: Image, planned: u64) -> Self {
        let [dirty, ordered, emptied, zeroed, direct] = [const { BTreeSet::new() }; 5];
        Inode {
            kind,
            now,
            kept,
            links: 0,
            held: 0,
            lookups: 0,
            dirty,
            ordered,
            emptied,
            zeroed,
            flushed: Content::default(),
            direct,
            rewritten: false,
            reserved: 0,
            planned,
            lowest: u64::MAX,
            fresh: false,
        }
    }

    /// As it is after the power came back: all that it has is durable. Its names are still to be counted.
    pub fn survivor(self) -> Self {
        let planned = if let Body::File(content) = &self.kept.body { content.size } else { 0 };
        Inode::settled(self.kind, self.kept.clone(), self.kept, planned)
    }

    /// Bytes that were allocated for it and are in no page yet.
    pub fn unwritten(&self) -> u64 {
        match &self.now.body {
            Body::File(content) => self.reserved.saturating_sub(content.taken()),
            _ => 0,
        }
    }

    /// Write to the volatile image. Returns whether the next commit gives it another size.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Answer<bool> {
        let end = offset + data.len() as u64;
        let before = self.size()?;
        if offset > before {
            self.order_end(before);
        }
        self.content()?.write(offset, data);
        self.dirty.extend(numbers(offset, end));
        let planned = self.planned;
        for number in numbers(offset, end).filter(|number| self.has_block(*number)).collect::<Vec<_>>() {
            self.planned = self.planned.max(end.min((number + 1) * PAGE));
        }
        Ok(self.planned != planned)
    }

    /// Cut the volatile image off, or let it end in a hole.
    pub fn resize(&mut self, size: u64) -> Answer<()> {
        let before = self.size()?;
        if size > before {
            self.order_end(before);
        } else if !size.is_multiple_of(PAGE) && self.content()?.has(size / PAGE) {
            self.dirty.insert(size / PAGE); // its tail becomes zeros
            self.order_end(size);
        }
        self.content()?.resize(size);
        self.flushed.resize(size);
        for pages in [&mut self.dirty, &mut self.ordered] {
            pages.split_off(&size.div_ceil(PAGE));
        }
        self.rewritten = size == 0;
        self.planned = size;
        self.lowest = self.lowest.min(size);
        Ok(())
    }

    /// Make zeros of what lies between; `punched`: and give its blocks back.
    pub fn clear(&mut self, from: u64, to: u64, punched: bool) -> Answer<()> {
        let to = to.min(self.size()?).max(from);
        self.content()?.clear(from, to);
        self.flushed.clear(from, to);
        for number in numbers(from, to) {
            if self.content()?.has(number) {
                self.dirty.insert(number);
                self.ordered.insert(number);
            } else {
                self.dirty.remove(&number);
                if punched { &mut self.emptied } else { &mut self.zeroed }.insert(number);
            }
        }
        Ok(())
    }

    /// Let the volatile image end in allocated space, which reads as zeros.
    pub fn extend(&mut self, size: u64) -> Answer<()> {
        let before = self.size()?;
        if size > before {
            self.order_end(before);
            self.content()?.resize(size);
            self.planned = size;
        }
        Ok(())
    }

    /// Write out what was written, so that it is there with the next commit, as ext4 does for what replaces another file's content or name.
    pub fn flush(&mut self) {
        if let Body::File(now) = &self.now.body {
            for number in std::mem::take(&mut self.dirty) {
                self.flushed.take(now, number);
            }
            self.flushed.size = now.size;
            self.planned = now.size;
        }
    }

    /// Its user closed it. Returns whether the next commit has more to write.
    pub fn closed(&mut self) -> bool {
        let rewritten = std::mem::take(&mut self.rewritten);
        if rewritten {
            self.flush();
        }
        rewritten
    }

    /// The page of its end is filled with zeros before the size moves beyond it, and that is written out before the commit.
    fn order_end(&mut self, size: u64) {
        if !size.is_multiple_of(PAGE) && self.has_block(size / PAGE) {
            self.ordered.insert(size / PAGE);
        }
    }

    /// Whether the file has a block for this page, so that a write to it allocates none.
    pub(super) fn has_block(&self, number: u64) -> bool {
        self.overwrites(number) || self.flushed.has(number)
    }

    fn content(&mut self) -> Answer<&mut Content> {
        match &mut self.now.body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::EINVAL),
        }
    }

    fn size(&self) -> Answer<u64> {
        match &self.now.body {
            Body::File(content) => Ok(content.size),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Whether an fdatasync of it has to change more than the bytes of pages that it has already.
    pub fn grows(&self) -> bool {
        let (Body::File(now), Body::File(kept)) = (&self.now.body, &self.kept.body) else { return true };
        self.fresh
            || self.lowest != u64::MAX
            || !self.emptied.is_empty()
            || !self.zeroed.is_empty()
            || self.planned != kept.size
            || self.planned != now.size
            || self.dirty.iter().any(|number| !kept.has(*number))
    }

    /// Move its written pages to the durable image; they show there once its size, too, is committed.
    pub fn keep_pages(&mut self) {
        self.keep_blocks();
        self.ordered.clear();
        self.direct.clear();
        if let (Body::File(now), Body::File(kept)) = (&self.now.body, &mut self.kept.body) {
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
        self.keep_blocks();
        match (&self.now.body, &mut self.kept.body) {
            (Body::File(now), Body::File(kept)) => {
                for number in std::mem::take(&mut self.ordered) {
                    kept.take(now, number);
                    self.dirty.remove(&number);
                }
                kept.resize(self.planned);
                None
            }
            (Body::Directory(now), Body::Directory(kept)) => Some(std::mem::replace(kept, now.clone())),
            _ => None,
        }
    }

    /// The durable image loses what was cut off and what became holes, and gets what was written out since.
    fn keep_blocks(&mut self) {
        if let Body::File(kept) = &mut self.kept.body {
            if self.lowest < kept.size {
                kept.resize(self.lowest);
            }
            self.lowest = u64::MAX;
            for number in std::mem::take(&mut self.emptied).into_iter().chain(std::mem::take(&mut self.zeroed)) {
                kept.remove(number);
            }
            for number in self.flushed.numbers() {
                kept.take(&self.flushed, number);
            }
            self.flushed = Content::default();
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
