//! The protocol of MySQL and MariaDB: packets with three bytes of length and a sequence number.

use super::grammar::{Grammar, KEPT, Next, Problem, Want};

/// The payload of a packet that the next one continues.
const FULL: usize = 0xff_ffff;
const MORE_RESULTS: u16 = 0x0008;
/// The longest EOF packet of the older kind; the OK packet that took its place has 7 bytes or more.
const EOF: usize = 5;

/// Counts rows, and affected rows where there are none to see; of several statements in one request the sum.
#[derive(Default)]
pub struct Mysql {
    sequence: u8,
    length: usize,
    at: At,
    stage: Stage,
    /// The packet continues the one before, whose kind is known.
    continued: bool,
    columns: u64,
    count: i64,
    end: Option<bool>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum At {
    #[default]
    Header,
    Payload,
    Rest,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Stage {
    #[default]
    First,
    Columns,
    /// Between columns and rows, where an EOF packet of the older kind may stand.
    Between,
    Rows,
}

impl Mysql {
    fn header(&mut self, token: &[u8]) -> Result<Next, Problem> {
        self.length = usize::from(token[0]) | usize::from(token[1]) << 8 | usize::from(token[2]) << 16;
        if token[3] != self.sequence.wrapping_add(1) {
            return Err("a packet out of sequence");
        }
        self.sequence = token[3];
        if self.continued {
            return Ok(self.rest(0));
        }
        if self.length == 0 {
            return Err("an empty packet");
        }
        self.at = At::Payload;
        Ok(Next::Want(Want::Take(self.length.min(KEPT))))
    }

    /// What of the packet was not shown.
    fn rest(&mut self, shown: usize) -> Next {
        self.at = At::Rest;
        Next::Want(Want::Skip((self.length - shown) as u64))
    }

    fn payload(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match (self.stage, token[0]) {
            (Stage::First, 0x00) => self.okay(token)?,
            (_, 0xff) => self.end = Some(true),
            (Stage::First, 0xfb) => return Err("a request for a file"),
            (Stage::First, _) => {
                self.columns = encoded(&mut &token[..]).filter(|columns| (1..=4096).contains(columns)).ok_or("no number of columns")?;
                self.stage = Stage::Columns;
            }
            (Stage::Columns, _) => {
                self.columns -= 1;
                if self.columns == 0 {
                    self.stage = Stage::Between;
                }
            }
            (Stage::Between, 0xfe) if self.length <= EOF => self.stage = Stage::Rows,
            (Stage::Rows, 0xfe) if self.length <= EOF => {
                let status = token.get(3..5).ok_or("an EOF packet that is too short")?;
                self.statement(u16::from_le_bytes([status[0], status[1]]));
            }
            (Stage::Between | Stage::Rows, 0xfe) if self.length < FULL => self.okay(token)?,
            (Stage::Between | Stage::Rows, _) => {
                self.count += 1;
                self.stage = Stage::Rows;
            }
        }
        Ok(self.rest(token.len()))
    }

    fn okay(&mut self, token: &[u8]) -> Result<(), Problem> {
        let mut rest = &token[1..];
        let affected = encoded(&mut rest).and_then(|affected| i64::try_from(affected).ok());
        let (affected, _) = affected.zip(encoded(&mut rest)).ok_or("an OK packet that is too short")?;
        let status = rest.get(..2).ok_or("an OK packet that is too short")?;
        self.count = self.count.saturating_add(affected);
        self.statement(u16::from_le_bytes([status[0], status[1]]));
        Ok(())
    }

    /// The end of a statement's answer.
    fn statement(&mut self, status: u16) {
        self.stage = Stage::First;
        if status & MORE_RESULTS == 0 {
            self.end = Some(false);
        }
    }
}

impl Grammar for Mysql {
    fn start(&mut self) -> Want {
        *self = Mysql::default();
        Want::Take(4)
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Header => self.header(token),
            At::Payload => self.payload(token),
            At::Rest => {
                self.continued = self.length == FULL;
                if let (Some(error), false) = (self.end, self.continued) {
                    return Ok(Next::Done { count: self.count, error });
                }
                self.at = At::Header;
                Ok(Next::Want(Want::Take(4)))
            }
        }
    }
}

/// A length-encoded integer, taken from the front.
fn encoded(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    let size = match first {
        0..=0xfa => {
            *bytes = rest;
            return Some(u64::from(*first));
        }
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        0xfb | 0xff => return None,
    };
    let number = rest.get(..size)?.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    *bytes = &rest[size..];
    Some(number)
}
