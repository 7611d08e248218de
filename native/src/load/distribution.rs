//! Which key a request is about, as a number below that of the keys that are there.

use crate::dice::Dice;
use crate::load::zipf::{Exact, Gray, fnv};

/// Of `hotspot`: this share of the draws goes to that share of the keys (YCSB's defaults).
const HOT_DRAWS: f64 = 0.8;
const HOT_KEYS: f64 = 0.2;

/// Of `exponential`: this share of the draws is of that share of the keys, the newest ones (YCSB's defaults).
const NEW_DRAWS: f64 = 0.95;
const NEW_KEYS: f64 = 0.857_142_857_1;

/// A distribution over the keys.
pub enum Draw {
    Uniform,
    /// Zipf's law, key 0 the most frequent.
    Zipf(Exact),
    /// YCSB's scrambled Zipfian: drawn from ten thousand million items, hashed, and folded into the key space.
    Zipfian {
        ranks: Gray,
        space: u64,
    },
    /// The newest key the most frequent.
    Latest(Gray),
    /// One after the other, and again.
    Sequential {
        next: u64,
        step: u64,
    },
    Hotspot,
    /// How far from the newest key: the mean.
    Exponential(f64),
}

impl Draw {
    /// By the name that `Op.keys` has; None for those that do not draw. `space` is that of Zipfian draws: it may have room for keys that are
    /// yet to be inserted. Of sequential keys one in `step` is taken, from `first` on.
    pub fn new(keys: &str, known: u64, space: u64, theta: f64, first: u64, step: u64) -> Option<Self> {
        Some(match keys {
            "uniform" => Draw::Uniform,
            "zipf" => Draw::Zipf(Exact::new(known, theta)),
            "zipfian" => Draw::Zipfian { ranks: Gray::scrambled(theta), space },
            "latest" => Draw::Latest(Gray::new(known, theta)),
            "sequential" => Draw::Sequential { next: first, step },
            "hotspot" => Draw::Hotspot,
            "exponential" => Draw::Exponential(known as f64 * NEW_KEYS / -(1.0 - NEW_DRAWS).ln()),
            _ => return None,
        })
    }

    /// One number. `known` were loaded; those up to `newest` may be there: None is to be drawn again.
    #[inline]
    pub fn draw(&mut self, known: u64, newest: u64, dice: &mut Dice) -> Option<u64> {
        match self {
            Draw::Uniform => Some(below(known, dice)),
            Draw::Zipf(ranks) => Some(ranks.draw(dice)),
            Draw::Zipfian { ranks, space } => Some(fnv(ranks.draw(dice)) % *space).filter(|number| *number <= newest),
            Draw::Latest(ranks) => {
                ranks.grow(newest + 1);
                newest.checked_sub(ranks.draw(dice))
            }
            Draw::Sequential { next, step } => {
                let number = *next % known;
                *next += *step;
                Some(number)
            }
            Draw::Hotspot => {
                let hot = ((known as f64 * HOT_KEYS) as u64).max(1);
                let cold = known - hot;
                Some(if cold == 0 || dice.draw() < HOT_DRAWS { below(hot, dice) } else { hot + below(cold, dice) })
            }
            Draw::Exponential(mean) => newest.checked_sub((-(1.0 - dice.draw()).ln() * *mean) as u64),
        }
    }
}

/// A number from 0 to `most` - 1, each as likely as any other.
#[inline]
pub fn below(most: u64, dice: &mut Dice) -> u64 {
    ((dice.draw() * most as f64) as u64).min(most - 1)
}

/// `count` draws from loaded records alone: for tests of the distributions.
pub fn sample(keys: &str, known: u64, count: usize, seed: u64, theta: f64) -> Option<Vec<u64>> {
    let mut draw = Draw::new(keys, known, known, theta, 0, 1)?;
    let mut dice = Dice(seed);
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        drawn.extend(draw.draw(known, known - 1, &mut dice));
    }
    Some(drawn)
}
