//! HTTP/1.1.

use super::decimal;
use super::grammar::{Grammar, KEPT, LARGEST, Next, Problem, Want};

/// Counts 1, and 0 for what was not found (404); 400 and above are errors else.
#[derive(Default)]
pub struct Http {
    status: u64,
    length: Option<u64>,
    chunked: bool,
    at: At,
}

#[derive(Default, Clone, Copy)]
enum At {
    #[default]
    Status,
    Header,
    Body,
    Size,
    Chunk,
    ChunkEnd,
    Trailer,
}

impl Http {
    fn line(&mut self, at: At) -> Next {
        self.at = at;
        Next::Want(Want::LINE)
    }

    fn status(&mut self, line: &[u8]) -> Result<Next, Problem> {
        let rest = line.strip_prefix(b"HTTP/1.1 ").ok_or("not the beginning of a reply")?;
        let sound = rest.len() == 3 || rest.get(3) == Some(&b' ');
        let status = rest.get(..3).filter(|_| sound).and_then(decimal::unsigned);
        self.status = status.filter(|status| (100..600).contains(status)).ok_or("not a status")?;
        Ok(self.line(At::Header))
    }

    fn header(&mut self, line: &[u8]) -> Result<Next, Problem> {
        if line.is_empty() {
            return self.body();
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or("a header without a name")?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = decimal::unsigned(value).ok_or("not a length")?;
            if self.length.is_some_and(|before| before != length) {
                return Err("two lengths");
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err("an encoding of no known kind");
            }
            self.chunked = true;
        }
        Ok(self.line(At::Header))
    }

    /// After the headers.
    fn body(&mut self) -> Result<Next, Problem> {
        if self.status < 200 {
            (self.length, self.chunked) = (None, false);
            return Ok(self.line(At::Status)); // the reply itself follows
        }
        if matches!(self.status, 204 | 304) {
            return Ok(self.done());
        }
        if self.chunked {
            return Ok(self.line(At::Size));
        }
        self.at = At::Body;
        let length = self.length.ok_or("a reply without a length")?;
        if length > LARGEST {
            return Err("a length that cannot be");
        }
        Ok(Next::Want(Want::Skip(length)))
    }

    fn size(&mut self, line: &[u8]) -> Result<Next, Problem> {
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size = decimal::hexadecimal(digits).filter(|size| *size <= LARGEST).ok_or("not the size of a chunk")?;
        if size == 0 {
            return Ok(self.line(At::Trailer));
        }
        self.at = At::Chunk;
        Ok(Next::Want(Want::Skip(size)))
    }

    fn done(&self) -> Next {
        Next::Done { count: i64::from(self.status != 404), error: self.status >= 400 && self.status != 404 }
    }
}

impl Grammar for Http {
    fn start(&mut self) -> Want {
        *self = Http::default();
        Want::LINE
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        match self.at {
            At::Body => return Ok(self.done()),
            At::Chunk => {
                self.at = At::ChunkEnd;
                return Ok(Next::Want(Want::Take(2)));
            }
            At::ChunkEnd if token == b"\r\n" => return Ok(self.line(At::Size)),
            At::ChunkEnd => return Err("a chunk that is longer than it says"),
            _ => {}
        }
        let Some(line) = token.strip_suffix(b"\r\n") else {
            // The rest of a long header was not shown; nothing that matters is that long.
            return match self.at {
                At::Header | At::Trailer if token.len() == KEPT => Ok(self.line(self.at)),
                _ => Err("a line that does not end as one"),
            };
        };
        match self.at {
            At::Status => self.status(line),
            At::Header => self.header(line),
            At::Size => self.size(line),
            _ if line.is_empty() => Ok(self.done()),
            _ => Ok(self.line(At::Trailer)),
        }
    }
}
