//! Every state that a crash may leave of a recording, by the rules of a model, and which of them are the same.

use std::collections::HashMap;

use super::changes::Change;
use super::content::{FNV_OFFSET, PAGE, SECTOR, fnv, numbers};
use super::disk::{Disk, Mode, ROOT};
use super::inode::{Body, Inode, Number};
use super::recording::Recording;

/// What a file system may leave.
#[derive(Clone, Copy, PartialEq)]
pub enum Model {
    /// What reached the kernel, and nothing else: the process ended, the machine did not.
    Kernel,
    /// ext4 with `data=ordered`: names in order, new pages in order and before their size, written ones alone.
    Ordered,
    /// As `Ordered`, and of a page that is overwritten only the first sectors may be there.
    Torn,
    /// ext4 with `data=writeback`: a commit waits for no page, so a size may be there without any or some of them.
    Writeback,
    /// A name is there when its directory was synced; each, and all that the others leave, may be there before.
    Posix,
}

impl Model {
    pub fn mode(self) -> Mode {
        if self == Model::Posix { Mode::Strict } else { Mode::Journal }
    }

    /// One page alone, and a size that does not wait for the others.
    fn with_a_size(self, number: Number, page: u64) -> impl Iterator<Item = Event> {
        let alone = matches!(self, Model::Writeback | Model::Posix).then_some(Event::Alone { number, page });
        alone.into_iter().chain((self == Model::Posix).then_some(Event::Grown { number, page }))
    }

    /// Whether a state that was possible before a change need not be possible after it.
    fn ends(self, change: &Change) -> bool {
        if self == Model::Kernel { !matches!(change, Change::Marked { .. }) } else { change.is_barrier() }
    }
}

/// One thing that happened besides what was asked for.
#[derive(Clone, Copy)]
pub enum Event {
    /// Nothing: only what was synced is there.
    Nothing,
    /// The journal was committed.
    Commit,
    /// All was written.
    All,
    /// All pages were written that have a block, and nothing was committed.
    Data,
    /// One page was written back, and its size committed if it is a new one.
    Page { number: Number, page: u64 },
    /// All was written but one page.
    Missing { number: Number, page: u64 },
    /// One page was written back up to a sector, and `rest` is what else is there.
    Torn { rest: Rest, number: Number, page: u64, sectors: usize },
    /// The journal was committed, and wrote no page before.
    Bare,
    /// All sizes and names, and no page that was not synced.
    Sizes,
    /// All sizes and names, and of the pages that were not synced this one.
    Alone { number: Number, page: u64 },
    /// All sizes and names, and all pages but this one, which is as it was.
    Lost { number: Number, page: u64 },
    /// One page was written back, and the size is its end or beyond.
    Grown { number: Number, page: u64 },
    /// The names of one directory.
    Names { number: Number },
}

/// What is there beside a torn page.
#[derive(Clone, Copy)]
pub enum Rest {
    Synced,
    Committed,
    All,
}

pub struct State {
    /// Changes that were done.
    pub at: usize,
    pub event: Event,
    /// Changes after which it is not possible any more: what was acknowledged before them has to be there.
    pub until: usize,
    /// Of all that is there: of the first disk, and of what may change.
    pub fingerprint: u64,
}

/// All different states, those with the fewest events first. At most `limit`; the second number says how many more there are.
pub fn states(recording: &Recording, model: Model, limit: usize) -> (Vec<State>, usize) {
    let changes = recording.changes();
    let first = recording.after(0, model.mode()).fingerprint();
    let mut disk = recording.changing(model.mode());
    let mut until = vec![changes.len(); changes.len() + 1];
    for at in (0..changes.len()).rev() {
        until[at] = if model.ends(&changes[at]) { at } else { until[at + 1] };
    }
    let (mut found, mut at_print) = (Vec::<State>::new(), HashMap::new());
    for (at, &until) in until.iter().enumerate() {
        for event in events(&disk, changes, at, model) {
            let fingerprint = disk.clone().struck(event).fingerprint_of(ROOT, first);
            match at_print.get(&fingerprint) {
                Some(known) => {
                    let known: &mut State = &mut found[*known];
                    known.until = known.until.max(until);
                }
                None => {
                    at_print.insert(fingerprint, found.len());
                    found.push(State { at, event, until, fingerprint });
                }
            }
        }
        if let Some(change) = changes.get(at) {
            disk.apply(change);
        }
    }
    found.sort_by_key(|state| state.event.tier());
    let more = found.len().saturating_sub(limit);
    found.truncate(limit);
    (found, more)
}

/// What may have happened just after the first `at` changes. What could have happened before was looked at there.
fn events(disk: &Disk, changes: &[Change], at: usize, model: Model) -> Vec<Event> {
    let before = at.checked_sub(1).map(|last| &changes[last]);
    if matches!(before, Some(Change::Marked { .. })) {
        return Vec::new();
    }
    if model == Model::Kernel {
        return vec![Event::All];
    }
    let (tears, free) = (matches!(model, Model::Torn | Model::Posix), matches!(model, Model::Writeback | Model::Posix));
    let mut found = vec![Event::All, Event::Commit, Event::Data];
    let fresh = before.is_none_or(Change::is_barrier);
    let mut pages: Vec<(Number, u64)> = Vec::new();
    if fresh {
        found.push(Event::Nothing);
        pages = disk.dirty_pages();
    } else if let Some((number, from, to)) = before.and_then(Change::wrote) {
        pages = numbers(from, to).map(|page| (number, page)).collect();
    } else if let Some(Change::Resized { number, .. } | Change::Allocated { number, .. }) = before {
        pages = disk.dirty_pages().into_iter().filter(|(changed, _)| changed == number).collect();
    }
    for (number, page) in &pages {
        let (number, page) = (*number, *page);
        found.push(Event::Page { number, page });
        if tears {
            found.extend(torn(Rest::Synced, number, page).chain(torn(Rest::Committed, number, page)));
        }
        found.extend(model.with_a_size(number, page));
    }
    if changes.get(at).is_none_or(Change::is_barrier) {
        for (number, page) in disk.dirty_pages() {
            found.push(Event::Missing { number, page });
            if tears {
                found.extend(torn(Rest::All, number, page));
            }
            if free {
                found.push(Event::Lost { number, page });
            }
            found.extend(model.with_a_size(number, page));
        }
    }
    if free {
        found.extend([Event::Bare, Event::Sizes]);
    }
    if model == Model::Posix {
        found.extend(disk.waiting.iter().map(|number| Event::Names { number: *number }));
    }
    found
}

fn torn(rest: Rest, number: Number, page: u64) -> impl Iterator<Item = Event> {
    (1..PAGE as usize / SECTOR).map(move |sectors| Event::Torn { rest, number, page, sectors })
}

impl Event {
    /// The fewer first: how far a state is from those that every run of the store may meet.
    pub fn tier(self) -> u8 {
        match self {
            Event::Nothing | Event::All => 0,
            Event::Commit | Event::Bare | Event::Data | Event::Names { .. } => 1,
            Event::Page { .. } | Event::Missing { .. } | Event::Grown { .. } => 2,
            Event::Sizes | Event::Alone { .. } | Event::Lost { .. } | Event::Torn { .. } => 3,
        }
    }

    /// As in a state's name.
    pub fn name(self) -> String {
        match self {
            Event::Nothing => "synced".to_owned(),
            Event::Commit => "commit".to_owned(),
            Event::All => "all".to_owned(),
            Event::Data => "data".to_owned(),
            Event::Page { number, page } => format!("page:{number}:{page}"),
            Event::Missing { number, page } => format!("missing:{number}:{page}"),
            Event::Torn { rest: Rest::Synced, number, page, sectors } => format!("torn:{number}:{page}:{sectors}"),
            Event::Torn { rest: Rest::Committed, number, page, sectors } => format!("commit-torn:{number}:{page}:{sectors}"),
            Event::Torn { rest: Rest::All, number, page, sectors } => format!("all-torn:{number}:{page}:{sectors}"),
            Event::Bare => "bare".to_owned(),
            Event::Alone { number, page } => format!("alone:{number}:{page}"),
            Event::Lost { number, page } => format!("lost:{number}:{page}"),
            Event::Grown { number, page } => format!("grown:{number}:{page}"),
            Event::Sizes => "sizes".to_owned(),
            Event::Names { number } => format!("names:{number}"),
        }
    }
}

impl Disk {
    /// After an event.
    pub fn struck(mut self, event: Event) -> Self {
        match event {
            Event::Nothing => {}
            Event::Commit => self.commit_waiting(),
            Event::All => self.settle(),
            Event::Data => self.inodes.values_mut().for_each(Inode::write_back_in_place),
            Event::Page { number, page } => {
                if self.inodes.get_mut(&number).is_some_and(|inode| inode.write_back(page)) {
                    self.waiting.insert(number);
                    self.commit_waiting();
                }
            }
            Event::Missing { number, page } => {
                if let Some(inode) = self.inodes.get_mut(&number) {
                    inode.miss(page);
                }
                self.settle_but(Some(number));
            }
            Event::Torn { rest, number, page, sectors } => {
                if matches!(rest, Rest::Committed) {
                    self.commit_waiting();
                }
                if let Some(inode) = self.inodes.get_mut(&number)
                    && inode.tear_after(page, sectors)
                    && matches!(rest, Rest::All)
                {
                    inode.miss(page);
                    self.settle_but(Some(number));
                }
            }
            Event::Bare => {
                self.inodes.values_mut().for_each(Inode::forget_order);
                self.commit_waiting();
            }
            Event::Sizes => self.grow_with(None),
            Event::Alone { number, page } => self.grow_with(Some((number, page))),
            Event::Lost { number, page } => {
                if let Some(inode) = self.inodes.get_mut(&number) {
                    inode.forget_order();
                    inode.lose(page);
                }
                self.settle_but(Some(number));
            }
            Event::Grown { number, page } => {
                if let Some(inode) = self.inodes.get_mut(&number) {
                    inode.grow_to(page);
                }
                self.commit([number]);
            }
            Event::Names { number } => self.commit([number]),
        }
        self
    }

    /// All sizes and names are there, and one page at most.
    fn grow_with(&mut self, one: Option<(Number, u64)>) {
        for (number, inode) in &mut self.inodes {
            inode.forget_order();
            inode.grow(one.filter(|(written, _)| written == number).map(|(_, page)| page));
        }
        let all: Vec<Number> = self.inodes.keys().copied().collect();
        self.commit(all);
    }

    fn dirty_pages(&self) -> Vec<(Number, u64)> {
        self.inodes.iter().flat_map(|(number, inode)| inode.dirty().map(|page| (*number, page))).collect()
    }

    /// Of all that a cut leaves, with names.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint_of(ROOT, FNV_OFFSET)
    }

    fn fingerprint_of(&self, number: Number, before: u64) -> u64 {
        let Some(inode) = self.inodes.get(&number) else { return before };
        let meta = &inode.kept.meta;
        let mut hash = fnv(before, &[meta.mode, meta.uid, meta.gid].map(u32::to_le_bytes).concat());
        match &inode.kept.body {
            Body::File(content) => content.fingerprint(hash),
            Body::Fixed(target) => fnv(hash, target.as_encoded_bytes()),
            Body::Directory(entries) => {
                for (name, child) in entries {
                    hash = fnv(fnv(hash, name.as_encoded_bytes()), &[0]);
                    hash = self.fingerprint_of(*child, hash);
                }
                fnv(hash, &[1])
            }
        }
    }
}
