//! RESP 2 and 3, which Redis and Valkey speak.

use super::decimal;
use super::grammar::{Grammar, KEPT, LARGEST, Next, Problem, Want};

/// Arrays within arrays; deeper ones no command answers with.
const DEEPEST: usize = 16;

/// Nil counts 0, a string 1, an integer its value, an array or set its entries but for nils and empty arrays, which stand for what is not
/// there, and a map its pairs; an error within an array is one.
#[derive(Default)]
pub struct Resp {
    /// Elements that are still to come, for each open array.
    left: [u64; DEEPEST],
    depth: usize,
    started: bool,
    /// The reply is an array or a set.
    listed: bool,
    bulk: Option<u64>,
    count: i64,
    error: bool,
}

impl Resp {
    /// An element is whole, and with it all arrays whose last one it was.
    fn close(&mut self) -> Next {
        while self.depth > 0 {
            let left = &mut self.left[self.depth - 1];
            *left -= 1;
            if *left > 0 {
                return Next::Want(Want::LINE);
            }
            self.depth -= 1;
        }
        Next::Done { count: self.count, error: self.error }
    }

    /// Nothing is in the place of an entry.
    fn absent(&mut self) {
        if self.listed && self.depth == 1 {
            self.count -= 1;
        }
    }

    fn nil(&mut self) -> Next {
        self.absent();
        self.leaf(0)
    }

    fn leaf(&mut self, count: i64) -> Next {
        self.begin(count);
        self.close()
    }

    /// The count is that of the outermost element.
    fn begin(&mut self, count: i64) {
        if !self.started {
            self.count = count;
            self.started = true;
        }
    }

    fn open(&mut self, entries: i64, each: u64) -> Result<Next, Problem> {
        let Ok(size) = u64::try_from(entries) else {
            return if entries == -1 { Ok(self.nil()) } else { Err("an array of negative length") };
        };
        if size > LARGEST {
            return Err("an array that is too long");
        }
        self.listed |= !self.started && each == 1;
        self.begin(entries);
        if size == 0 {
            self.absent();
            return Ok(self.close());
        }
        if self.depth == DEEPEST {
            return Err("arrays within arrays, too deep");
        }
        self.left[self.depth] = size * each;
        self.depth += 1;
        Ok(Next::Want(Want::LINE))
    }

    fn text(&mut self, length: i64) -> Result<Next, Problem> {
        let Ok(size) = u64::try_from(length) else {
            return if length == -1 { Ok(self.nil()) } else { Err("a string of negative length") };
        };
        if size > LARGEST {
            return Err("a length that cannot be");
        }
        self.begin(1);
        self.bulk = Some(size);
        // Short ones are taken with their line's end in one token.
        Ok(Next::Want(if size + 2 <= KEPT as u64 { Want::Take(size as usize + 2) } else { Want::Skip(size) }))
    }

    fn bulk_end(&mut self, token: &[u8], size: u64) -> Result<Next, Problem> {
        if token.is_empty() {
            return Ok(Next::Want(Want::Take(2)));
        }
        self.bulk = None;
        debug_assert!(token.len() == 2 || token.len() as u64 == size + 2);
        if !token.ends_with(b"\r\n") {
            return Err("a string that is longer than it says");
        }
        Ok(self.close())
    }
}

impl Grammar for Resp {
    fn start(&mut self) -> Want {
        (self.depth, self.started, self.listed, self.bulk, self.count, self.error) = (0, false, false, None, 0, false);
        Want::LINE
    }

    fn next(&mut self, token: &[u8]) -> Result<Next, Problem> {
        if let Some(size) = self.bulk {
            return self.bulk_end(token, size);
        }
        let (kind, rest) = token.split_first().ok_or("an empty line")?;
        if *kind == b'-' {
            self.error = true;
            return Ok(self.leaf(0));
        }
        if *kind == b'+' {
            return Ok(self.leaf(1));
        }
        let line = rest.strip_suffix(b"\r\n").ok_or("a line that does not end as one")?;
        match *kind {
            b'_' => Ok(self.nil()),
            b'#' => Ok(self.leaf(i64::from(line == b"t"))),
            b',' | b'(' => Ok(self.leaf(1)),
            b':' | b'$' | b'=' | b'!' | b'*' | b'~' | b'%' => {
                let number = decimal::signed(line).ok_or("not a number")?;
                match *kind {
                    b':' => Ok(self.leaf(number)),
                    b'*' | b'~' => self.open(number, 1),
                    b'%' => self.open(number, 2),
                    kind => {
                        self.error |= kind == b'!';
                        self.text(number)
                    }
                }
            }
            b'>' => Err("an unsolicited message"),
            _ => Err("a reply of no known type"),
        }
    }
}
