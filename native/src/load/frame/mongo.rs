//! `OP_MSG`, which MongoDB speaks: a header, and one document in BSON.

use super::grammar::{Grammar, KEPT, LARGEST, Next, Problem, Want};

const OP_MSG: u32 = 2013;
const CHECKSUM: u32 = 1;
const MORE_TO_COME: u32 = 2;

/// Counts the documents of the cursor's batch, else `n`, else 1. What is not `ok: 1`, or names an error, is one.
#[derive(Default)]
pub struct Mongo {
    left: u64,
    checksum: u64,
    at: At,
    level: Level,
    /// Of the element that is being read.
    kind: u8,
    name: Name,
    batch: Option<i64>,
    n: Option<i64>,
    ok: bool,
    error: bool,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum At {
    #[default]
    Header,
    Flags,
    Document,
    Kind,
    Name,
    Length,
    Value,
    Pattern,
    Options,
    Checksum,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Level {
    #[default]
    Top,
    Cursor,
    Batch,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Name {
    #[default]
    Other,
    Ok,
    N,
    Cursor,
    Batch,
}

impl Mongo {
    fn take(&mut self, bytes: usize) -> Result<Next, Problem> {
        self.left = self.left.checked_sub(bytes as u64).ok_or("a document that is longer than its message")?;
        Ok(Next::Want(Want::Take(bytes)))
    }

    fn element(&mut self) -> Result<Next, Problem> {
        self.at = At::Kind;
        self.take(1)
    }

    fn skip(&mut self, bytes: u64) -> Result<Next, Problem> {
        self.left = self.left.checked_sub(bytes).ok_or("a document that is longer than its message")?;
        self.at = At::Value;
        Ok(Next::Want(Want::Skip(bytes)))
    }

    /// Up to a zero byte.
    fn text(&self) -> Want {
        Want::Until(0, self.left.min(KEPT as u64) as usize)
    }

    /// The length of a line is known once it was read.
    fn line(&mut self, token: &[u8]) -> Result<(), Problem> {
        self.left = self.left.checked_sub(token.len() as u64).ok_or("a document that is longer than its message")?;
        if token.last() == Some(&0) { Ok(()) } else { Err("a name that does not end") }
    }

    fn header(&mut self, token: &[u8]) -> Result<Next, Problem> {
        let (length, code) = (number(&token[..4]), number(&token[12..16]));
        self.left = u64::from(length).checked_sub(16).filter(|left| *left <= LARGEST).ok_or("a length that cannot be")?;
        if code != OP_MSG {
            return Err("a message of another kind than OP_MSG");
        }
        self.at = At::Flags;
        self.take(5)
    }

    fn flags(&mut self, token: &[u8]) -> Result<Next, Problem> {
        let flags = number(&token[..4]);
        if flags & MORE_TO_COME != 0 || flags & 0xfffc != 0 || token[4] != 0 {
            return Err("an OP_MSG that is no reply");
        }
        self.checksum = if flags & CHECKSUM != 0 { 4 } else { 0 };
        self.at = At::Document;
        self.take(4)
    }

    fn kind(&mut self, kind: u8) -> Result<Next, Problem> {
        if kind != 0 {
            self.kind = kind;
            self.at = At::Name;
            return Ok(Next::Want(self.text()));
        }
        match self.level {
            Level::Batch => self.level = Level::Cursor,
            Level::Cursor => self.level = Level::Top,
            Level::Top if self.left != self.checksum => return Err("a document that is shorter than its message"),
            Level::Top => {
                self.at = At::Checksum;
                return Ok(Next::Want(Want::Skip(self.checksum)));
            }
        }
        self.element()
    }

    fn name(&mut self, token: &[u8]) -> Result<Next, Problem> {
        self.line(token)?;
        self.name = match (self.level, &token[..token.len() - 1]) {
            (Level::Top, b"ok") => Name::Ok,
            (Level::Top, b"n") => Name::N,
            (Level::Top, b"cursor") if self.kind == 3 => Name::Cursor,
            (Level::Top, b"writeErrors" | b"writeConcernError" | b"errmsg") => {
                self.error = true;
                Name::Other
            }
            (Level::Cursor, b"firstBatch" | b"nextBatch") if self.kind == 4 => Name::Batch,
            _ => Name::Other,
        };
        if self.level == Level::Batch {
            self.batch = self.batch.map(|batch| batch + 1);
        }
        let length = match self.kind {
            2..=5 | 13..=15 | 12 => {
                self.at = At::Length;
                return self.take(4);
            }
            11 => {
                self.at = At::Pattern;
                return Ok(Next::Want(self.text()));
            }
            1 | 9 | 17 | 18 => 8,
            8 => 1,
            16 => 4,
            7 => 12,
            19 => 16,
            6 | 10 | 127 | 255 => 0,
            _ => return Err("a BSON element of no known type"),
        };
        if length == 0 || self.name == Name::Other {
            return self.skip(length);
        }
        self.at = At::Value;
        self.take(length as usize)
    }

    fn length(&mut self, token: &[u8]) -> Result<Next, Problem> {
        let length = u64::from(number(token));
        let after = match self.kind {
            3 | 4 | 15 => length.checked_sub(4).filter(|after| *after > 0).ok_or("a length that cannot be")?,
            5 => length + 1,
            12 => length + 12,
            _ => length,
        };
        match self.name {
            Name::Cursor => self.level = Level::Cursor,
            Name::Batch => {
                self.level = Level::Batch;
                self.batch = Some(0);
            }
            _ => return self.skip(after),
        }
        self.element()
    }

    fn value(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match (self.name, integer(self.kind, token)) {
            (Name::Ok, found) => self.ok = found == Some(1),
            (Name::N, found) => self.n = found,
            _ => {}
        }
        self.element()
    }
}

impl Grammar for Mongo {
    fn start(&mut self) -> Want {
        *self = Mongo::default();
        Want::Take(16)
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Header => self.header(token),
            At::Flags => self.flags(token),
            At::Document if u64::from(number(token)) + self.checksum != self.left + 4 => Err("a document that does not fill its message"),
            At::Document => self.element(),
            At::Kind => self.kind(token[0]),
            At::Name => self.name(token),
            At::Length => self.length(token),
            At::Value => self.value(token),
            At::Pattern => {
                self.line(token)?;
                self.at = At::Options;
                Ok(Next::Want(self.text()))
            }
            At::Options => {
                self.line(token)?;
                self.element()
            }
            At::Checksum => {
                let count = self.batch.or(self.n).unwrap_or(1);
                Ok(Next::Done { count, error: self.error || !self.ok })
            }
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// A number of any type, or a truth; what was skipped is none.
fn integer(kind: u8, bytes: &[u8]) -> Option<i64> {
    match (kind, bytes.len()) {
        (1, 8) => Some(f64::from_le_bytes(bytes.try_into().ok()?) as i64),
        (8, 1) => Some(i64::from(bytes[0])),
        (16, 4) => Some(i64::from(i32::from_le_bytes(bytes.try_into().ok()?))),
        (18, 8) => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
