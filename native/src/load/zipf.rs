//! Zipf's distribution: as YCSB draws it, and exactly.

use crate::dice::Dice;

/// Items that YCSB's scrambled draws are taken from, whatever the key space, and the sum of their weights as it was published.
const SCRAMBLED: u64 = 10_000_000_000;
const SCRAMBLED_THETA: f64 = 0.99;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Terms that are added one by one; the rest of the sum is had by Euler and Maclaurin's formula, to 12 digits and more.
const TERMS: u64 = 1_000;

/// The sum of 1 / i^theta for i from 1 to n.
pub fn zeta(n: u64, theta: f64) -> f64 {
    let terms = n.min(TERMS);
    let mut sum: f64 = (1..=terms).map(|i| (i as f64).powf(-theta)).sum();
    if n > terms {
        sum += zeta_between(terms as f64, n as f64, theta);
    }
    sum
}

/// The terms after `low` up to `high`.
fn zeta_between(low: f64, high: f64, theta: f64) -> f64 {
    let area = if theta == 1.0 { (high / low).ln() } else { (high.powf(1.0 - theta) - low.powf(1.0 - theta)) / (1.0 - theta) };
    let ends = (high.powf(-theta) - low.powf(-theta)) / 2.0;
    let slopes = theta / 12.0 * (low.powf(-theta - 1.0) - high.powf(-theta - 1.0));
    area + ends + slopes
}

/// The generator of Gray and others ("Quickly generating billion-record synthetic databases", 1994), which YCSB uses: ranks 0 to n - 1,
/// the first two of them exactly as often as they should be. For 0 < theta < 1.
#[derive(Clone)]
pub struct Gray {
    items: u64,
    theta: f64,
    zeta: f64,
    eta: f64,
}

impl Gray {
    pub fn new(items: u64, theta: f64) -> Self {
        Gray::with_zeta(items, theta, zeta(items, theta))
    }

    fn with_zeta(items: u64, theta: f64, zeta: f64) -> Self {
        let two = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - theta)) / (1.0 - two / zeta);
        Gray { items, theta, zeta, eta }
    }

    /// What the scrambled draws begin with.
    pub fn scrambled(theta: f64) -> Self {
        let items = SCRAMBLED + 1; // its range has both ends
        Gray::with_zeta(items, theta, if theta == SCRAMBLED_THETA { SCRAMBLED_ZETA } else { zeta(items, theta) })
    }

    /// As many items as there are by now.
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            let zeta = self.zeta + ((self.items + 1)..=items).map(|i| (i as f64).powf(-self.theta)).sum::<f64>();
            *self = Gray::with_zeta(items, self.theta, zeta);
        }
    }

    pub fn draw(&self, dice: &mut Dice) -> u64 {
        let u = dice.draw();
        let uz = u * self.zeta;
        if uz < 1.0 {
            return 0;
        }
        if uz < 1.0 + 0.5f64.powf(self.theta) {
            return 1;
        }
        let rank = self.items as f64 * (self.eta * u - self.eta + 1.0).powf(1.0 / (1.0 - self.theta));
        (rank as u64).min(self.items - 1)
    }
}

/// Rejection-inversion (Hörmann and Derflinger 1996): every rank from 0 to n - 1 exactly as often as it should be. For theta > 0.
pub struct Exact {
    items: f64,
    theta: f64,
    low: f64,
    high: f64,
    shortcut: f64,
}

impl Exact {
    pub fn new(items: u64, theta: f64) -> Self {
        let mut made = Exact { items: items as f64, theta, low: 0.0, high: 0.0, shortcut: 0.0 };
        made.low = made.area(1.5) - 1.0;
        made.high = made.area(made.items + 0.5);
        made.shortcut = 2.0 - made.inverse(made.area(2.5) - 2f64.powf(-theta));
        made
    }

    /// The integral of x^-theta from 1 to x.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let exponent = (1.0 - self.theta) * log;
        if exponent.abs() < 1e-8 { log * (1.0 + exponent / 2.0) } else { log * exponent.exp_m1() / exponent }
    }

    fn inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.theta)).max(-1.0);
        let log = if scaled.abs() < 1e-8 { area * (1.0 - scaled / 2.0) } else { area * scaled.ln_1p() / scaled };
        log.exp()
    }

    pub fn draw(&self, dice: &mut Dice) -> u64 {
        loop {
            let u = self.high + dice.draw() * (self.low - self.high);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.items);
            if k - x <= self.shortcut || u >= self.area(k + 0.5) - k.powf(-self.theta) {
                return k as u64 - 1;
            }
        }
    }
}

/// YCSB's hash of a number: 64-bit FNV over its eight bytes, the lowest first, each one mixed in before the multiplication; then without
/// its sign.
pub fn fnv(number: u64) -> u64 {
    let hash =
        number.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211));
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_agrees_with_the_published_one() {
        assert!((zeta(SCRAMBLED, SCRAMBLED_THETA) - SCRAMBLED_ZETA).abs() < 1e-6);
        let slow: f64 = (1..=50_000u64).map(|i| (i as f64).powf(-0.99)).sum();
        assert!((zeta(50_000, 0.99) - slow).abs() < 1e-9);
        let harmonic: f64 = (1..=50_000u64).map(|i| 1.0 / i as f64).sum();
        assert!((zeta(50_000, 1.0) - harmonic).abs() < 1e-9);
    }

    #[test]
    fn the_hash_names_the_first_keys_of_ycsb() {
        assert_eq!(fnv(0), 6_284_781_860_667_377_211);
        assert_eq!(fnv(1), 8_517_097_267_634_966_620);
    }

    #[test]
    fn a_generator_that_grew_is_one_that_was_made_so() {
        let mut grown = Gray::new(1_000, 0.99);
        grown.grow(5_000);
        let made = Gray::new(5_000, 0.99);
        assert!((grown.zeta - made.zeta).abs() < 1e-9 && (grown.eta - made.eta).abs() < 1e-9);
    }

    #[test]
    fn ranks_come_as_often_as_they_should() {
        const DRAWS: u32 = 400_000;
        for theta in [0.5, 0.99, 1.0, 1.5] {
            let exact = Exact::new(100, theta);
            let mut dice = Dice(7);
            let mut seen = [0u32; 100];
            for _ in 0..DRAWS {
                seen[exact.draw(&mut dice) as usize] += 1;
            }
            for rank in [0, 1, 2, 9, 99] {
                let share = (rank as f64 + 1.0).powf(-theta) / zeta(100, theta);
                let expected = share * f64::from(DRAWS);
                let deviation = (f64::from(seen[rank]) - expected).abs() / (expected * (1.0 - share)).sqrt();
                assert!(deviation < 5.0, "theta {theta}, rank {rank}: {} instead of {expected:.0}", seen[rank]);
            }
        }
    }
}
