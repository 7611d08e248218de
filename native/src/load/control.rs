//! What the threads of a job and the one that started it share: when to begin, and when to end.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use crate::load::clock;

/// Between two looks at whether all threads are there.
const POLL: Duration = Duration::from_micros(20);

#[derive(Default)]
pub struct Control {
    /// Send no more.
    pub halt: AtomicBool,
    /// Do not wait for replies either.
    pub abandon: AtomicBool,
    /// Threads that may begin.
    ready: AtomicUsize,
    /// When the first one of them saw that all may; 0: none did yet.
    begun: AtomicU64,
}

impl Control {
    /// The same moment for all threads, when all of them are there. The rate of a job is the sum of its clients' own: of clients that began
    /// at different times it would be a sum of rates that the store never had at once.
    pub fn common_start(&self, threads: usize) -> u64 {
        self.ready.fetch_add(1, Relaxed);
        while self.ready.load(Relaxed) < threads && !self.halt.load(Relaxed) {
            sleep(POLL);
        }
        let now = clock::now();
        self.begun.compare_exchange(0, now, Relaxed, Relaxed).map_or_else(|first| first, |_| now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_begin_at_once() {
        let control = Control::default();
        let begun: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|late| {
                    let control = &control;
                    scope.spawn(move || {
                        sleep(Duration::from_millis(10 * late));
                        (clock::now(), control.common_start(4))
                    })
                })
                .collect();
            let seen: Vec<(u64, u64)> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
            assert!(seen.iter().all(|(there, begun)| there <= begun), "no time has begun before the last one is there");
            seen.into_iter().map(|(_, begun)| begun).collect()
        });
        assert_eq!(begun, vec![begun[0]; 4]);
    }

    #[test]
    fn a_job_that_is_stopped_waits_for_no_thread() {
        let control = Control::default();
        control.halt.store(true, Relaxed);
        assert!(control.common_start(2) > 0);
    }
}
