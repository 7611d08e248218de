//! What can be done to a disk, and the log of it.

use std::ffi::{OsStr, OsString};

use fuser::RenameFlags;
use serde::{Deserialize, Serialize};

use super::inode::{Made, Number};

/// Files and directories by their numbers, and others by their directories and names.
type About<'a> = ([Option<Number>; 2], [Option<(Number, &'a OsStr)>; 2]);

/// One change, or an event between changes.
#[derive(Clone, Serialize, Deserialize)]
pub enum Change {
    Made {
        parent: Number,
        name: OsString,
        made: Made,
    },
    Linked {
        number: Number,
        parent: Number,
        name: OsString,
    },
    Removed {
        parent: Number,
        name: OsString,
    },
    Renamed {
        from: Number,
        name: OsString,
        to: Number,
        new: OsString,
        #[serde(with = "bits")]
        flags: RenameFlags,
    },
    Described {
        number: Number,
        mode: u32,
        uid: u32,
        gid: u32,
    },
    Wrote {
        number: Number,
        offset: u64,
        data: Box<[u8]>,
    },
    Resized {
        number: Number,
        size: u64,
    },
    Allocated {
        number: Number,
        from: u64,
        to: u64,
        mode: i32,
    },
    Closed {
        number: Number,
    },
    Synced {
        number: Number,
        data_only: bool,
    },
    /// All was made durable.
    AllSynced,
    /// The journal was committed for want of space.
    Committed,
    /// A client says that something happened: a request was sent, or its reply received.
    Marked {
        mark: u64,
    },
    /// It was synced, and told that this failed. Writes that fail change nothing, and are not written down.
    SyncFailed {
        number: Number,
    },
}

/// How the flags of a rename are written down.
mod bits {
    use fuser::RenameFlags;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(flags: &RenameFlags, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(flags.bits())
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<RenameFlags, D::Error> {
        u32::deserialize(from).map(RenameFlags::from_bits_retain)
    }
}

impl Change {
    /// Whether it makes anything durable: a state that was possible before need not be after.
    pub fn is_barrier(&self) -> bool {
        matches!(self, Change::Synced { .. } | Change::AllSynced | Change::Committed)
    }

    /// The numbers and the names that it has.
    pub fn about(&self) -> About<'_> {
        match self {
            Change::Made { parent, .. } => ([Some(*parent), None], [None, None]),
            Change::Linked { number, parent, .. } => ([Some(*number), Some(*parent)], [None, None]),
            Change::Removed { parent, name } => ([Some(*parent), None], [Some((*parent, name)), None]),
            Change::Renamed { from, name, to, new, .. } => ([Some(*from), Some(*to)], [Some((*from, name)), Some((*to, new))]),
            Change::Described { number, .. }
            | Change::Wrote { number, .. }
            | Change::Resized { number, .. }
            | Change::Allocated { number, .. }
            | Change::Closed { number }
            | Change::SyncFailed { number }
            | Change::Synced { number, .. } => ([Some(*number), None], [None, None]),
            Change::AllSynced | Change::Committed | Change::Marked { .. } => ([None, None], [None, None]),
        }
    }

    /// The file whose pages it wrote, and the bytes from and to.
    pub fn wrote(&self) -> Option<(Number, u64, u64)> {
        match self {
            Change::Wrote { number, offset, data } => Some((*number, *offset, offset + data.len() as u64)),
            _ => None,
        }
    }
}

/// The changes so far.
#[derive(Clone)]
pub struct Log {
    pub changes: Vec<Change>,
    /// Bytes of what was written.
    pub bytes: u64,
    /// The most bytes that are kept; with more the log is of no use.
    limit: u64,
}

impl Log {
    pub fn new(limit: u64) -> Self {
        Log { changes: Vec::new(), bytes: 0, limit }
    }

    /// More was written than is kept.
    pub fn overflowed(&self) -> bool {
        self.bytes > self.limit
    }

    pub fn add(&mut self, change: Change) {
        self.bytes += change.wrote().map_or(0, |(_, from, to)| to.saturating_sub(from));
        self.changes.push(change);
    }
}
