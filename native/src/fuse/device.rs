//! When a device would have answered: computed from its sheet and from when each request arrived, by no clock of its own.

use std::time::Duration;

use pyo3::prelude::*;

/// What requests of one direction take.
#[derive(Clone, Copy, FromPyObject)]
pub struct Direction {
    /// Microseconds until it begins at another place than the one where the last request ended.
    elsewhere_us: f64,
    /// The fewest microseconds from its begin to its answer, wherever it is.
    at_least_us: f64,
    bytes_per_second: f64,
    /// It begins once fewer requests than these are served.
    at_once: usize,
}

#[derive(Clone, Copy, FromPyObject)]
pub struct Sheet {
    read: Direction,
    write: Direction,
    /// Of a hard disk: how long the platter takes to come round again to where a write ended that the next one follows too late.
    rotation_us: f64,
    flush_us: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Asked {
    Read { offset: u64, length: u64 },
    Write { offset: u64, length: u64 },
    Flush,
}

/// What a device is doing. All times are since any one moment.
#[pyclass]
pub struct DeviceTimes {
    sheet: Sheet,
    /// When what was asked for will have been answered, as far as that is still to come.
    ends: Vec<Duration>,
    /// When the last request began to be served.
    begun: Duration,
    /// Until when bytes are on their way: requests are served at once, and share the rate.
    moving: Duration,
    /// The place where the last request ended.
    place: u64,
}

fn micros(number: f64) -> Duration {
    Duration::from_nanos((number * 1e3).round() as u64)
}

impl DeviceTimes {
    pub fn new(sheet: Sheet) -> Self {
        DeviceTimes { sheet, ends: Vec::new(), begun: Duration::ZERO, moving: Duration::ZERO, place: 0 }
    }

    /// When a request is answered. Requests are served in the order in which they are asked for here.
    pub fn answered(&mut self, arrived: Duration, asked: Asked) -> Duration {
        self.ends.retain(|end| *end > arrived);
        self.ends.sort_unstable();
        let end = match asked {
            Asked::Flush => self.ends.last().copied().unwrap_or(arrived) + micros(self.sheet.flush_us),
            Asked::Read { offset, length } => {
                let begin = self.begin(arrived, self.sheet.read.at_once);
                let waits = if offset == self.place { Duration::ZERO } else { micros(self.sheet.read.elsewhere_us) };
                self.move_bytes(self.sheet.read, begin, waits, offset, length)
            }
            Asked::Write { offset, length } => {
                let begin = self.begin(arrived, self.sheet.write.at_once);
                let waits = if offset == self.place { self.round(begin) } else { micros(self.sheet.write.elsewhere_us) };
                self.move_bytes(self.sheet.write, begin, waits, offset, length)
            }
        };
        self.ends.push(end);
        end
    }

    /// The moment at which fewer than `at_once` are served, and all that came before have begun.
    fn begin(&mut self, arrived: Duration, at_once: usize) -> Duration {
        let free = if self.ends.len() < at_once { arrived } else { self.ends[self.ends.len() - at_once] };
        self.begun = self.begun.max(free);
        self.begun
    }

    /// Until the platter is where the last bytes were moved; nothing if it is still there.
    fn round(&self, begin: Duration) -> Duration {
        let (rotation, late) = (micros(self.sheet.rotation_us), begin.saturating_sub(self.moving));
        if rotation.is_zero() || late.is_zero() {
            return Duration::ZERO;
        }
        let beyond = Duration::from_nanos((late.as_nanos() % rotation.as_nanos()) as u64);
        rotation - beyond
    }

    fn move_bytes(&mut self, each: Direction, begin: Duration, waits: Duration, offset: u64, length: u64) -> Duration {
        self.moving = self.moving.max(begin + waits) + Duration::from_secs_f64(length as f64 / each.bytes_per_second);
        self.place = offset + length;
        self.moving.max(begin + micros(each.at_least_us))
    }
}

/// For tests, which have a clock of their own: times in microseconds.
#[pymethods]
impl DeviceTimes {
    #[new]
    fn of(sheet: Sheet) -> Self {
        DeviceTimes::new(sheet)
    }

    fn read(&mut self, arrived_us: f64, offset: u64, length: u64) -> f64 {
        self.answered(micros(arrived_us), Asked::Read { offset, length }).as_secs_f64() * 1e6
    }

    fn write(&mut self, arrived_us: f64, offset: u64, length: u64) -> f64 {
        self.answered(micros(arrived_us), Asked::Write { offset, length }).as_secs_f64() * 1e6
    }

    fn flush(&mut self, arrived_us: f64) -> f64 {
        self.answered(micros(arrived_us), Asked::Flush).as_secs_f64() * 1e6
    }
}
