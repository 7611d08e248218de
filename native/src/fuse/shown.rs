//! A state beside what the store saw: which of its writes are on the disk, page by page; and its files, to look at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::content::{Content, PAGE, SECTOR};
use super::disk::{Disk, ROOT};
use super::inode::{Body, Image, Inode, Number};

/// A path; whether its name is there (`there`, `missing`, `another` file's, or `removed` if it should not be); its size as the store saw it and as it is; and
/// each page that was not synced, with what became of it.
pub type Shown = (PathBuf, &'static str, Option<u64>, Option<u64>, Vec<(u64, &'static str)>);

/// All paths at which `left`, what a crash left of `asked`, differs from it, or had something to lose.
pub fn shown(asked: &Disk, left: &Disk) -> Vec<Shown> {
    let (before, after) = (paths(asked, |inode| &inode.now), paths(left, |inode| &inode.kept));
    let mut found = Vec::new();
    for path in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
        let (wanted, there) = (before.get(path), after.get(path));
        let word = match (wanted, there) {
            (Some(wanted), Some(there)) if wanted == there => "there",
            (Some(_), Some(_)) => "another",
            (Some(_), None) => "missing",
            _ => "removed",
        };
        let now = wanted.and_then(|number| content(&asked.inodes[number].now));
        let synced = wanted.and_then(|number| content(&asked.inodes[number].kept));
        let kept = there.and_then(|number| content(&left.inodes[number].kept));
        let pages = if word == "there" { now.map_or_else(Vec::new, |now| pages(now, synced, kept)) } else { Vec::new() };
        let sizes = (now.map(|content| content.size), kept.map(|content| content.size));
        if word != "there" || !pages.is_empty() || sizes.0 != sizes.1 {
            found.push((path.clone(), word, sizes.0, sizes.1, pages));
        }
    }
    found
}

/// What became of the pages that differ from what was synced.
fn pages(now: &Content, synced: Option<&Content>, kept: Option<&Content>) -> Vec<(u64, &'static str)> {
    let page = |content: Option<&Content>, number: u64| content.map_or_else(Vec::new, |content| content.read(number * PAGE, PAGE));
    let mut found = Vec::new();
    for number in 0..now.size.div_ceil(PAGE) {
        let (wanted, before, there) = (page(Some(now), number), page(synced, number), page(kept, number));
        if wanted == before && wanted == there {
            continue;
        }
        found.push((number, if there == wanted { "present" } else { lost(&wanted, &before, &there) }));
    }
    found
}

/// What is in place of a page that is not there.
fn lost(wanted: &[u8], before: &[u8], there: &[u8]) -> &'static str {
    if there.is_empty() || there == before {
        return "missing";
    }
    let mut sectors = wanted.chunks(SECTOR).zip(there.chunks(SECTOR)).filter(|(wanted, _)| wanted.iter().any(|byte| *byte != 0));
    if sectors.clone().all(|(_, there)| there.iter().all(|byte| *byte == 0)) {
        return "zero";
    }
    if sectors.any(|(wanted, there)| wanted.starts_with(there)) { "torn" } else { "missing" }
}

fn content(image: &Image) -> Option<&Content> {
    if let Body::File(content) = &image.body { Some(content) } else { None }
}

/// The inode at each path of one image, of the root first.
fn paths(disk: &Disk, image: impl Fn(&Inode) -> &Image) -> BTreeMap<PathBuf, Number> {
    let (mut found, mut todo) = (BTreeMap::new(), vec![(PathBuf::new(), ROOT)]);
    while let Some((path, number)) = todo.pop() {
        let names = image(&disk.inodes[&number]).entries();
        todo.extend(names.into_iter().flatten().map(|(name, child)| (path.join(name), *child)));
        found.insert(path, number);
    }
    found
}

/// Write what a crash left into a directory, with modes and without owners.
pub fn extract(left: &Disk, into: &Path) -> io::Result<()> {
    for (path, number) in paths(left, |inode| &inode.kept) {
        let (at, image) = (into.join(path), &left.inodes[&number].kept);
        match &image.body {
            Body::Directory(_) => fs::create_dir_all(&at)?,
            Body::Fixed(target) if !target.is_empty() => symlink(target, &at)?,
            Body::Fixed(_) => {} // a socket or a pipe
            Body::File(content) => {
                let file = File::create_new(&at)?;
                for (number, page) in content.pages().iter().filter(|(number, _)| **number * PAGE < content.size) {
                    file.write_all_at(page.bytes(), number * PAGE)?;
                }
                file.set_len(content.size)?;
                file.set_permissions(fs::Permissions::from_mode(image.meta.mode & 0o777))?;
            }
        }
    }
    Ok(())
}
