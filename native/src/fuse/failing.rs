//! Which of the calls that reach a disk fail, and how.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How a call fails.
#[derive(Clone, Copy, PartialEq)]
pub enum Failure {
    Write,
    Sync,
    Read,
    /// What needs a new block finds none; what has its block is written, and of what needs several the first is.
    Full,
    /// Half of it is written.
    Short,
}

/// Which of the calls that can fail in one way do.
#[derive(Clone)]
pub struct Failing {
    pub failure: Failure,
    nth: u64,
    pub lasting: bool,
    calls: u64,
    struck: u64,
    /// The first call that failed was done in part: what is left of it fails when it is asked for.
    pub begun: bool,
}

impl Failing {
    pub fn new(kind: &str, nth: u64, lasting: bool) -> PyResult<Self> {
        let failure = match kind {
            "eio_write" => Failure::Write,
            "eio_sync" => Failure::Sync,
            "eio_read" => Failure::Read,
            "enospc" => Failure::Full,
            "short_write" => Failure::Short,
            _ => return Err(PyValueError::new_err(format!("no such failure: {kind}"))),
        };
        Ok(Failing { failure, nth, lasting, calls: 0, struck: 0, begun: false })
    }

    /// Calls so far, and those of them that failed.
    pub fn counts(self) -> (u64, u64) {
        (self.calls, self.struck)
    }

    /// Whether the next call fails.
    fn is_due(&self) -> bool {
        self.calls + 1 == self.nth || self.lasting && self.calls + 1 > self.nth
    }

    /// Count a call. Returns whether it fails.
    pub fn strikes(&mut self) -> bool {
        let strikes = self.is_due();
        self.calls += 1;
        self.struck += u64::from(strikes);
        strikes
    }
}

/// How a write comes to the disk.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Through,
    /// From the page cache, some time after a program wrote to its memory: it has its blocks already, and is written whole or not at all.
    Back,
    /// Past the page cache.
    Direct,
}

impl Way {
    /// By the flags that the file was opened with.
    pub fn of(flags: i32) -> Self {
        if flags & libc::O_DIRECT != 0 { Way::Direct } else { Way::Through }
    }
}
