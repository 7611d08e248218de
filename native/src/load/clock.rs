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

/// For how long this thread was ready to run and had no processor; 0 where the kernel does not tell.
pub fn waited_by_thread() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').nth(1).and_then(|waited| waited.parse().ok()).unwrap_or(0)
}

#[inline]
fn nanoseconds(of: ClockId) -> u64 {
    of.now().map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
