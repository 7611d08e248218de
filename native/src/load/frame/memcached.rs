//! The text protocol of Memcached.

use super::decimal;
use super::grammar::{Grammar, LARGEST, Next, Problem, Want};

/// Counts the values up to `END`; what was stored, deleted or counted is 1, and what was not, or was not there, 0.
#[derive(Default)]
pub struct Memcached {
    values: i64,
    inside: Inside,
}

#[derive(Default, PartialEq)]
enum Inside {
    #[default]
    Line,
    Value,
    End,
}

impl Memcached {
    fn value(&mut self, rest: &[u8]) -> Result<Next, Problem> {
        let mut fields = rest.split(|byte| *byte == b' ');
        let (key, flags, length) = (fields.next(), fields.next(), fields.next());
        let (unique, more) = (fields.next(), fields.next());
        let sound = key.is_some_and(|key| !key.is_empty())
            && flags.is_some_and(|flags| decimal::unsigned(flags).is_some())
            && unique.is_none_or(|unique| decimal::unsigned(unique).is_some())
            && more.is_none();
        let length = length.and_then(decimal::unsigned).filter(|length| sound && *length <= LARGEST);
        self.inside = Inside::Value;
        self.values += 1;
        Ok(Next::Want(Want::Skip(length.ok_or("a value without a sound length")?)))
    }
}

impl Grammar for Memcached {
    fn start(&mut self) -> Want {
        *self = Memcached::default();
        Want::LINE
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.inside {
            Inside::Value => {
                self.inside = Inside::End;
                return Ok(Next::Want(Want::Take(2)));
            }
            Inside::End => {
                self.inside = Inside::Line;
                return if token == b"\r\n" { Ok(Next::Want(Want::LINE)) } else { Err("a value that is longer than it says") };
            }
            Inside::Line => {}
        }
        if token == b"ERROR\r\n" || token.starts_with(b"CLIENT_ERROR ") || token.starts_with(b"SERVER_ERROR ") {
            return Ok(Next::Done { count: self.values, error: true });
        }
        let line = token.strip_suffix(b"\r\n").ok_or("a line that does not end as one")?;
        if let Some(rest) = line.strip_prefix(b"VALUE ") {
            return self.value(rest);
        }
        let count = match line {
            b"END" => self.values,
            _ if self.values > 0 => return Err("values without an end"),
            b"STORED" | b"DELETED" | b"OK" | b"TOUCHED" => 1,
            b"NOT_FOUND" | b"NOT_STORED" | b"EXISTS" => 0,
            number if number.len() <= 20 && !number.is_empty() && number.iter().all(u8::is_ascii_digit) => 1,
            _ => return Err("a line of no known kind"),
        };
        Ok(Next::Done { count, error: false })
    }
}
