//! Four bytes of length and MessagePack: the protocol of `storeproof.embedded`, which hosts embedded libraries.

use super::grammar::{Grammar, LARGEST, Next, Problem, Want};
use super::msgpack;

/// `[0, count, value]`, whose value is not looked at; `[1, kind, message]` is an error.
#[derive(Default)]
pub struct Embedded {
    left: u64,
    marker: Option<u8>,
    at: At,
}

#[derive(Default, Clone, Copy)]
enum At {
    #[default]
    Length,
    Reply,
    Status,
    Count,
    Rest {
        count: i64,
        error: bool,
    },
}

impl Embedded {
    fn take(&mut self, bytes: usize) -> Result<Next, Problem> {
        self.left = self.left.checked_sub(bytes as u64).ok_or("a reply that is longer than it says")?;
        Ok(Next::Want(Want::Take(bytes)))
    }

    fn rest(&mut self, count: i64, error: bool) -> Result<Next, Problem> {
        if self.left == 0 {
            return Err("a reply without a value");
        }
        self.at = At::Rest { count, error };
        Ok(Next::Want(Want::Skip(self.left)))
    }

    fn see(&mut self, item: msgpack::Item) -> Result<Next, Problem> {
        use msgpack::Item;
        self.at = match (self.at, item) {
            (At::Reply, Item::Array(3)) => At::Status,
            (At::Status, Item::Number(0)) => At::Count,
            (At::Status, Item::Number(1)) => return self.rest(0, true),
            (At::Count, Item::Number(count)) => return self.rest(count, false),
            _ => return Err("not the reply of a host of an embedded store"),
        };
        self.take(1)
    }
}

impl Grammar for Embedded {
    fn start(&mut self) -> Want {
        *self = Embedded::default();
        Want::Take(4)
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Length => {
                self.left = token.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                if self.left > LARGEST {
                    return Err("a length that cannot be");
                }
                self.at = At::Reply;
                self.take(1)
            }
            At::Rest { count, error } => Ok(Next::Done { count, error }),
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
