//! The protocol of PostgreSQL: messages of a type and a length, up to `ReadyForQuery`.

use super::decimal;
use super::grammar::{Grammar, KEPT, LARGEST, Next, Problem, Want};

/// Counts rows, and where there are none to see the numbers that the commands' tags end with.
#[derive(Default)]
pub struct Postgres {
    kind: u8,
    at: At,
    rows: i64,
    tags: i64,
    error: bool,
}

#[derive(Default, Clone, Copy)]
enum At {
    #[default]
    Header,
    Tag,
    Ready,
    Body,
}

impl Postgres {
    fn header(&mut self, token: &[u8]) -> Result<Next, Problem> {
        self.kind = token[0];
        let length = token[1..].iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let body = length.checked_sub(4).filter(|body| *body <= LARGEST).ok_or("a length that cannot be")?;
        (self.at, self.rows) = match self.kind {
            b'D' => (At::Body, self.rows + 1),
            b'C' if (1..=KEPT as u64).contains(&body) => {
                self.at = At::Tag;
                return Ok(Next::Want(Want::Take(body as usize)));
            }
            b'Z' if body == 1 => {
                self.at = At::Ready;
                return Ok(Next::Want(Want::Take(1)));
            }
            b'E' => {
                self.error = true;
                (At::Body, self.rows)
            }
            // Parse, bind and close done, no data, parameters, description, suspended, empty query, notice, parameter's status, notification
            b'1' | b'2' | b'3' | b'n' | b't' | b'T' | b's' | b'I' | b'N' | b'S' | b'A' => (At::Body, self.rows),
            _ => return Err("a message of no known type"),
        };
        Ok(Next::Want(Want::Skip(body)))
    }

    fn tag(&mut self, token: &[u8]) -> Result<Next, Problem> {
        let text = token.strip_suffix(b"\0").ok_or("a tag that does not end")?;
        let number = text.rsplit(|byte| *byte == b' ').next().and_then(decimal::unsigned);
        self.tags = self.tags.saturating_add(number.unwrap_or(0) as i64);
        Ok(self.message())
    }

    fn message(&mut self) -> Next {
        self.at = At::Header;
        Next::Want(Want::Take(5))
    }
}

impl Grammar for Postgres {
    fn start(&mut self) -> Want {
        *self = Postgres::default();
        Want::Take(5)
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Header => self.header(token),
            At::Tag => self.tag(token),
            At::Body => Ok(self.message()),
            At::Ready if !matches!(token[0], b'I' | b'T' | b'E') => Err("ready in no known state"),
            At::Ready => Ok(Next::Done { count: if self.rows > 0 { self.rows } else { self.tags }, error: self.error }),
        }
    }
}
