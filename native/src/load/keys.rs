//! The keys of one thread's clients: those that are there, and those that each client adds or removes.

use std::collections::HashSet;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{PoisonError, RwLock};

use crate::dice::Dice;
use crate::load::distribution::{Draw, below};

/// Draws in vain before a loaded key is taken instead, as happens where all new ones were removed.
const TRIES: u32 = 1_000;

/// What all threads know of new keys: written where any operation draws from them, and where a write was not acknowledged.
pub struct Shared {
    known: u64,
    newest: AtomicU64,
    /// For each client how many of its new keys were acknowledged, and how many of these removed again.
    acknowledged: Vec<AtomicU64>,
    removed: Vec<AtomicU64>,
    /// Keys whose write was not acknowledged in this job, by any thread: another one would draw them once a later key of the same client was.
    doubted: RwLock<HashSet<u64>>,
    /// Whether there are any: hardly ever, and so nothing is locked to find that out.
    doubts: AtomicBool,
}

impl Shared {
    pub fn new(known: u64, positions: &[u64], removed: &[u64]) -> Self {
        let clients = positions.len() as u64;
        let last =
            positions.iter().zip(0..).filter(|(position, _)| **position > 0).map(|(position, client)| (position - 1) * clients + client);
        let newest = last.max().map_or(known.saturating_sub(1), |last| known + last);
        let atoms = |counts: &[u64]| counts.iter().map(|count| AtomicU64::new(*count)).collect();
        Shared {
            known,
            newest: AtomicU64::new(newest),
            acknowledged: atoms(positions),
            removed: atoms(removed),
            doubted: RwLock::default(),
            doubts: AtomicBool::new(false),
        }
    }

    fn there(&self, number: u64) -> bool {
        let Some(new) = number.checked_sub(self.known) else { return true };
        let clients = self.acknowledged.len() as u64;
        let (client, position) = ((new % clients) as usize, new / clients);
        position < self.acknowledged[client].load(Relaxed) && position >= self.removed[client].load(Relaxed)
    }

    /// Whether these were written is not known.
    pub fn doubt(&self, numbers: &[u64]) {
        self.doubted.write().unwrap_or_else(PoisonError::into_inner).extend(numbers);
        self.doubts.store(true, Release);
    }

    fn doubted(&self, number: u64) -> bool {
        self.doubts.load(Acquire) && self.doubted.read().unwrap_or_else(PoisonError::into_inner).contains(&number)
    }
}

/// One client's own: its dice, and its new keys, `known + position * clients + client`, so that no two clients write the same.
pub struct OwnKeys {
    pub client: u64,
    /// Keys taken so far.
    pub position: u64,
    /// Of these, how many, the first ones, are to be there no more.
    pub removed: u64,
    pub dice: Dice,
}

/// What a thread knows.
pub struct Keys<'a> {
    pub known: u64,
    pub clients: u64,
    pub shared: &'a Shared,
    /// Whether any operation draws from keys that another one writes.
    pub follows: bool,
    /// Keys whose write was not acknowledged before this job: they may be there or not.
    pub indeterminate: &'a HashSet<u64>,
}

impl Keys<'_> {
    fn is_indeterminate(&self, number: u64) -> bool {
        (!self.indeterminate.is_empty() && self.indeterminate.contains(&number)) || self.shared.doubted(number)
    }

    fn number(&self, own: &OwnKeys, position: u64) -> u64 {
        self.known + position * self.clients + own.client
    }

    /// A new key, for this share of the draws; the others take an earlier one of the same client.
    pub fn new_or_earlier(&self, own: &mut OwnKeys, distinct: f64) -> u64 {
        if distinct < 1.0 && own.position > 0 && own.dice.draw() >= distinct {
            let earlier = below(own.position, &mut own.dice);
            return self.number(own, earlier);
        }
        own.position += 1;
        self.number(own, own.position - 1)
    }

    /// Whether there is a new key that was not removed; those that are not sure to be there are passed over.
    pub fn any_left(&self, own: &mut OwnKeys) -> bool {
        while own.removed < own.position && self.is_indeterminate(self.number(own, own.removed)) {
            own.removed += 1;
        }
        own.removed < own.position
    }

    /// The first new key that is there, to be removed. Ask `any_left` before.
    pub fn oldest(&self, own: &mut OwnKeys) -> u64 {
        own.removed += 1;
        if self.follows {
            self.shared.removed[own.client as usize].store(own.removed, Relaxed);
        }
        self.number(own, own.removed - 1)
    }

    /// A key that is there.
    pub fn existing(&self, draw: &mut Draw, dice: &mut Dice) -> u64 {
        if !self.follows {
            return (0..TRIES).find_map(|_| draw.draw(self.known, self.known - 1, dice)).unwrap_or(0);
        }
        for _ in 0..TRIES {
            let newest = self.shared.newest.load(Relaxed);
            let drawn = draw.draw(self.known, newest, dice);
            if let Some(number) = drawn.filter(|number| self.shared.there(*number) && !self.is_indeterminate(*number)) {
                return number;
            }
        }
        below(self.known, dice)
    }

    /// A key was written for certain.
    pub fn acknowledge(&self, number: u64) {
        let Some(new) = number.checked_sub(self.known).filter(|_| self.follows) else { return };
        self.shared.acknowledged[(new % self.clients) as usize].fetch_max(new / self.clients + 1, Relaxed);
        self.shared.newest.fetch_max(number, Relaxed);
    }
}
