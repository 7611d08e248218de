//! IPROTO, which Tarantool speaks: a length, a header and a body in MessagePack.

use super::grammar::{Grammar, LARGEST, Next, Problem, Want};
use super::msgpack;

const CODE: i64 = 0x00;
const DATA: i64 = 0x30;
/// Of the code of a reply that failed.
const FAILED: i64 = 0x8000;
/// The code of a message that is sent before the reply, by `box.session.push`.
const CHUNK: i64 = 0x80;
const NIL: u8 = 0xc0;
const FALSE: u8 = 0xc2;

/// Counts the entries of the array under `DATA`, the tuples; a reply without one counts 0, and so does one whose only entry is nil or false,
/// which is what a function answers that found nothing.
#[derive(Default)]
pub struct Iproto {
    left: u64,
    marker: Option<u8>,
    at: At,
    /// Pairs of the map that are still to come.
    pairs: u64,
    /// Of the value that is passed over: items that are still to come.
    pending: u64,
    code: Option<i64>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum At {
    #[default]
    Length,
    Header,
    HeaderKey,
    HeaderValue(i64),
    Body,
    BodyKey,
    BodyValue(i64),
    Only,
    Passed,
    Rest(i64),
}

impl Iproto {
    fn take(&mut self, bytes: usize) -> Result<Next, Problem> {
        self.left = self.left.checked_sub(bytes as u64).ok_or("a reply that is longer than it says")?;
        Ok(Next::Want(Want::Take(bytes)))
    }

    fn rest(&mut self, count: i64) -> Result<Next, Problem> {
        self.at = At::Rest(count);
        Ok(Next::Want(Want::Skip(self.left)))
    }

    /// After one pair of the header, or its beginning.
    fn header(&mut self) -> Result<Next, Problem> {
        if self.pairs > 0 {
            self.at = At::HeaderKey;
            return self.take(1);
        }
        let code = self.code.ok_or("a header without a code")?;
        if code == CHUNK {
            return Err("an unsolicited message");
        }
        if code & FAILED != 0 || self.left == 0 {
            return self.rest(0);
        }
        self.at = At::Body;
        self.take(1)
    }

    /// After one pair of the body, or its beginning.
    fn body(&mut self) -> Result<Next, Problem> {
        if self.pairs == 0 {
            return if self.left == 0 { self.rest(0) } else { Err("a reply that is shorter than it says") };
        }
        self.at = At::BodyKey;
        self.take(1)
    }

    fn see(&mut self, item: msgpack::Item) -> Result<Next, Problem> {
        use msgpack::Item;
        match (self.at, item) {
            (At::Header, Item::Map(pairs)) => {
                self.pairs = pairs;
                self.header()
            }
            (At::HeaderKey, Item::Number(key)) => {
                self.at = At::HeaderValue(key);
                self.take(1)
            }
            (At::HeaderValue(key), Item::Number(value)) => {
                if key == CODE {
                    self.code = Some(value);
                }
                self.pairs -= 1;
                self.header()
            }
            (At::Body, Item::Map(pairs)) => {
                self.pairs = pairs;
                self.body()
            }
            (At::BodyKey, Item::Number(key)) => {
                self.at = At::BodyValue(key);
                self.take(1)
            }
            (At::BodyValue(DATA), Item::Array(1)) => {
                self.at = At::Only;
                self.take(1)
            }
            (At::BodyValue(DATA), Item::Array(entries)) if entries <= self.left => self.rest(entries as i64),
            (At::BodyValue(key), _) if key != DATA => {
                self.pending = 1;
                self.pass(item)
            }
            (At::Passed, _) => self.pass(item),
            _ => Err("not the reply of a Tarantool"),
        }
    }

    /// One item of a value that is of no interest.
    fn pass(&mut self, item: msgpack::Item) -> Result<Next, Problem> {
        use msgpack::Item;
        self.at = At::Passed;
        self.pending -= 1;
        match item {
            Item::Array(entries) => self.pending += entries,
            Item::Map(pairs) => self.pending += 2 * pairs,
            Item::Bytes(bytes) => {
                self.left = self.left.checked_sub(bytes).ok_or("a reply that is longer than it says")?;
                return Ok(Next::Want(Want::Skip(bytes)));
            }
            Item::Number(_) | Item::Other => {}
        }
        self.passed()
    }

    fn passed(&mut self) -> Result<Next, Problem> {
        if self.pending > self.left {
            return Err("a reply that is longer than it says");
        }
        if self.pending > 0 {
            return self.take(1);
        }
        self.pairs -= 1;
        self.body()
    }
}

impl Grammar for Iproto {
    fn start(&mut self) -> Want {
        *self = Iproto::default();
        Want::Take(5)
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Length => {
                let (marker, bytes) = token.split_first().ok_or("no length")?;
                self.left = bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                if *marker != 0xce || self.left > LARGEST {
                    return Err("a length that cannot be");
                }
                self.at = At::Header;
                self.take(1)
            }
            At::Rest(count) => Ok(Next::Done { count, error: self.code.is_some_and(|code| code & FAILED != 0) }),
            At::Only => self.rest(i64::from(!matches!(token, [NIL] | [FALSE]))),
            At::Passed if token.is_empty() => self.passed(), // text that was skipped
            _ => match self.marker.take() {
                Some(marker) => self.see(msgpack::item(marker, token)),
                None => {
                    let marker = token[0];
                    match msgpack::more(marker).ok_or("no MessagePack")? {
                        0 => self.see(msgpack::item(marker, &[])),
                        more => {
                            self.marker = Some(marker);
                            self.take(more)
                        }
                    }
                }
            },
        }
    }
}
