//! A recording as bytes: the disk that it began with, every page once, and the changes; with a checksum.
//!
//! Bytes may be forged. What is read is held to what a kernel can have asked for, so that doing it again ends, and within bounds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::SystemTime;

use fuser::FileType;
use serde::{Deserialize, Serialize};

use super::changes::Change;
use super::content::{self, Content, PAGE, Page};
use super::disk::{Disk, Mode, ROOT};
use super::inode::{Body, Entries, Image, Inode, Made, Meta, Number};
use super::recording::Recording;

/// What it begins with: the kind of file, and the version of its form.
const HEAD: &[u8] = b"storeproof recording 1\n";
const MOST_INODES: usize = 50_000;
const MOST_CHANGES: usize = 200_000;
/// Bytes of all pages.
const MOST_MEMORY: u64 = 200 << 20;
/// Bytes of a file.
const LARGEST: u64 = 1 << 40;
/// Pages that are made zeros, in all.
const MOST_CLEARED: u64 = 1 << 22;

#[derive(Serialize, Deserialize)]
struct StoredDisk {
    next: Number,
    pages: Vec<Box<[u8]>>,
    inodes: Vec<StoredInode>,
}

#[derive(Serialize, Deserialize)]
struct StoredInode {
    number: Number,
    made: Made,
    reserved: u64,
    rewritten: bool,
    size: u64,
    /// The place of each page in the file, and among all pages.
    pages: Vec<(u64, u32)>,
    entries: Vec<(OsString, Number)>,
}

impl Recording {
    /// As bytes.
    pub fn dump(&self) -> Vec<u8> {
        let base = stored(&self.base);
        let mut bytes = HEAD.to_vec();
        bytes = postcard::to_extend(&base, bytes).expect("bytes can be written to memory");
        bytes = postcard::to_extend(&self.changes(), bytes).expect("bytes can be written to memory");
        let sum = crc32fast::hash(&bytes).to_le_bytes();
        bytes.extend(sum);
        bytes
    }

    /// From bytes. Fails with a reason if they were cut off or changed, or are none of a recording.
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or("it is cut off")?;
        let content = content.strip_prefix(HEAD).ok_or("it does not begin as a recording of this version")?;
        if crc32fast::hash(&bytes[..bytes.len() - 4]).to_le_bytes() != *sum {
            return Err("it was cut off or changed: its checksum is another one".to_owned());
        }
        let (base, rest): (StoredDisk, _) = postcard::take_from_bytes(content).map_err(|reason| reason.to_string())?;
        let (changes, rest): (Vec<Change>, _) = postcard::take_from_bytes(rest).map_err(|reason| reason.to_string())?;
        if !rest.is_empty() || base.inodes.len() > MOST_INODES || changes.len() > MOST_CHANGES {
            return Err(format!("it has {} files, {} changes, and {} further bytes", base.inodes.len(), changes.len(), rest.len()));
        }
        let found = Recording::of(disk_of(base)?, changes);
        possible(&found)?;
        Ok(found)
    }
}

fn stored(disk: &Disk) -> StoredDisk {
    let (mut pages, mut places) = (Vec::new(), HashMap::new());
    let inodes = disk.inodes.iter().map(|(number, inode)| {
        let Meta { mode, uid, gid, rdev, .. } = inode.now.meta;
        let target = if let Body::Fixed(target) = &inode.now.body { target.clone() } else { OsString::new() };
        let made = Made { kind: inode.kind, mode, uid, gid, rdev, target };
        let (mut size, mut own, mut entries) = (0, Vec::new(), Vec::new());
        match &inode.now.body {
            Body::File(content) => {
                size = content.size;
                for (at, page) in content.pages() {
                    let place = *places.entry(*page.bytes()).or_insert_with(|| {
                        pages.push(Box::from(&page.bytes()[..]));
                        pages.len() as u32 - 1
                    });
                    own.push((*at, place));
                }
            }
            Body::Directory(names) => entries = names.iter().map(|(name, child)| (name.clone(), *child)).collect(),
            Body::Fixed(_) => {}
        }
        StoredInode { number: *number, made, reserved: inode.reserved, rewritten: inode.rewritten, size, pages: own, entries }
    });
    let inodes = inodes.collect();
    StoredDisk { next: disk.next, pages, inodes }
}

/// The disk, all of it durable.
fn disk_of(stored: StoredDisk) -> Result<Disk, String> {
    let mut pages = Vec::new();
    for bytes in stored.pages {
        let bytes: [u8; PAGE as usize] = (*bytes).try_into().map_err(|_| "a page has another size")?;
        pages.push(Arc::new(Page::of(bytes)));
    }
    let mut disk = Disk::new(Mode::Journal, 0.0, 0, u64::MAX, 0, 0);
    disk.inodes.clear();
    disk.next = stored.next;
    for each in stored.inodes {
        let body = match each.made.kind {
            FileType::RegularFile => {
                let mut own = BTreeMap::new();
                for (at, place) in each.pages {
                    let page = pages.get(place as usize).filter(|_| at < LARGEST / PAGE).ok_or("a file has a page that there is not")?;
                    own.insert(at, page.clone());
                }
                Body::File(Content::shared(each.size, own))
            }
            FileType::Directory => Body::Directory(each.entries.into_iter().collect()),
            _ => Body::Fixed(each.made.target),
        };
        if each.size > LARGEST || each.number >= stored.next || stored.next > u64::from(u32::MAX) {
            return Err("a file has a size or a number that none has".to_owned());
        }
        let then = SystemTime::UNIX_EPOCH;
        let Made { kind, mode, uid, gid, rdev, .. } = each.made;
        let image = Image { meta: Meta { mode, uid, gid, rdev, accessed: then, modified: then, changed: then }, body };
        let mut inode = Inode::settled(kind, image.clone(), image, each.size);
        (inode.lookups, inode.reserved, inode.rewritten) = (1, each.reserved, each.rewritten);
        disk.inodes.insert(each.number, inode);
    }
    count_names(&mut disk)?;
    Ok(disk)
}

/// Each name leads to a file, and to each directory leads one.
fn count_names(disk: &mut Disk) -> Result<(), String> {
    if let Some(name) = disk.inodes.values().filter_map(|inode| inode.now.entries()).flat_map(Entries::keys).find(|name| !is_name(name)) {
        return Err(format!("{name:?} is no name of a file"));
    }
    let names: Vec<Number> =
        disk.inodes.values().filter_map(|inode| inode.now.entries()).flat_map(|names| names.values().copied()).collect();
    for number in [ROOT].into_iter().chain(names) {
        let inode = disk.inodes.get_mut(&number).ok_or("a name leads nowhere")?;
        (inode.links, inode.held) = (inode.links + 1, inode.held + 1);
        if inode.links > 1 && inode.kind == FileType::Directory {
            return Err("a directory has two names".to_owned());
        }
    }
    if disk.inodes[&ROOT].kind != FileType::Directory {
        return Err("it has no root".to_owned());
    }
    Ok(())
}

/// Whether a kernel can have asked for all changes.
fn possible(recording: &Recording) -> Result<(), String> {
    let (mut disk, mut cleared) = (recording.after(0, Mode::Journal), 0);
    for (at, change) in recording.changes().iter().enumerate() {
        let end = match change {
            Change::Made { name, .. } | Change::Linked { name, .. } | Change::Renamed { new: name, .. } if !is_name(name) => u64::MAX,
            Change::Wrote { offset, data, .. } => offset.saturating_add(data.len() as u64),
            Change::Resized { size, .. } => *size,
            Change::Allocated { from, to, mode, .. } if from <= to => {
                cleared += if mode & !libc::FALLOC_FL_KEEP_SIZE == 0 { 0 } else { (to - from).div_ceil(PAGE) };
                *to
            }
            Change::Allocated { .. } => u64::MAX,
            Change::Linked { number, .. } if disk.entries(*number).is_ok() => u64::MAX,
            Change::Renamed { from, name, to, new, .. }
                if from != to
                    && (disk.find(*from, name).is_ok_and(|moved| leads_to(&disk, moved, *to))
                        || disk.find(*to, new).is_ok_and(|moved| leads_to(&disk, moved, *from))) =>
            {
                u64::MAX
            }
            _ => 0,
        };
        if end > LARGEST || cleared > MOST_CLEARED || content::memory() > MOST_MEMORY {
            return Err(format!("change {at} is none that it can have had, or is too large"));
        }
        disk.apply(change);
    }
    Ok(())
}

/// Whether it leads to nothing outside its directory.
fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    !bytes.is_empty() && bytes != b"." && bytes != b".." && !bytes.contains(&b'/') && !bytes.contains(&0)
}

/// Whether one directory is in another, or the same.
fn leads_to(disk: &Disk, outer: Number, inner: Number) -> bool {
    let (mut todo, mut seen) = (vec![outer], BTreeSet::new());
    while let Some(number) = todo.pop() {
        if seen.insert(number) {
            todo.extend(disk.entries(number).into_iter().flat_map(|names| names.values().copied()));
        }
    }
    seen.contains(&inner)
}
