//! The clocks of the kernel, in nanoseconds.

use nix::time::ClockId;

/// CLOCK_MONOTONIC, which `Job.start_ns` is of too.
#[inline]
pub fn now() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC)
}

/// Processor time of this thread.
pub fn of_thread() -> u64 {
    nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn nanoseconds(of: ClockId) -> u64 {
    of.now().map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
