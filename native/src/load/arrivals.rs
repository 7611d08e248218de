//! Open loop: the schedule of send times, which does not wait for replies.

use crate::dice::Dice;

/// The scheduled times of one thread, one after the other.
pub struct Arrivals {
    /// Nanoseconds from the start.
    pub next: f64,
    gap: f64,
    dice: Option<Dice>,
}

impl Arrivals {
    /// Thread `thread` of `threads`, which share `rate` requests per second; with exponential gaps where there are dice, else even ones.
    pub fn new(rate: f64, thread: usize, threads: usize, dice: Option<Dice>) -> Self {
        let gap = threads as f64 * 1e9 / rate;
        let mut made = Arrivals { next: gap * thread as f64 / threads as f64, gap, dice };
        if made.dice.is_some() {
            made.next = 0.0;
            made.advance();
        }
        made
    }

    pub fn advance(&mut self) {
        self.next += match &mut self.dice {
            Some(dice) => -(1.0 - dice.draw()).ln() * self.gap,
            None => self.gap,
        };
    }

    /// How many are due before this time, the next one included.
    pub fn due_before(&mut self, end: f64) -> u64 {
        const COUNTED: f64 = 1e7;
        if (end - self.next) / self.gap > COUNTED {
            return ((end - self.next) / self.gap) as u64; // for so large a number the mean is exact enough
        }
        let mut due = 0;
        while self.next < end {
            due += 1;
            self.advance();
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seed: Option<u64>, number: usize) -> Vec<f64> {
        let mut arrivals = Arrivals::new(1000.0, 0, 1, seed.map(Dice));
        let next = |_| {
            arrivals.advance();
            arrivals.next
        };
        (0..number).map(next).collect()
    }

    #[test]
    fn times_are_those_of_the_seed() {
        assert_eq!(times(Some(1), 1000), times(Some(1), 1000));
        assert_ne!(times(Some(1), 1000), times(Some(2), 1000));
    }

    #[test]
    fn gaps_are_exponential_with_the_mean_of_the_rate() {
        let times = times(Some(1), 20_000);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((times[times.len() - 1] / 20e9 - 1.0).abs() < 0.05);
        let longer = gaps.iter().filter(|gap| **gap > 1e6).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1f64).exp()).abs() < 0.02, "{longer} of the gaps are longer than their mean");
    }

    #[test]
    fn even_gaps_are_shared_by_the_threads() {
        assert!(times(None, 100).windows(2).all(|pair| pair[1] - pair[0] == 1e6));
        let first = |thread| Arrivals::new(1000.0, thread, 4, None).next;
        assert_eq!([first(0), first(1), first(3)], [0.0, 1e6, 3e6]);
    }
}
