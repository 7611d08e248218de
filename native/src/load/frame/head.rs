//! The first bytes of a reply: its id is among them, and they are what an error shows.

/// Bytes of a reply that are kept.
pub const HEAD: usize = 200;

/// Those of the reply that is under way on one connection, as far as it came in parts.
pub struct Head {
    bytes: Box<[u8; HEAD]>,
    length: usize,
}

impl Head {
    pub fn new() -> Self {
        Head { bytes: Box::new([0; HEAD]), length: 0 }
    }

    /// More of a reply that is not whole.
    pub fn keep(&mut self, part: &[u8]) {
        let more = part.len().min(HEAD - self.length);
        self.bytes[self.length..self.length + more].copy_from_slice(&part[..more]);
        self.length += more;
    }

    /// The first bytes of a reply whose last part is `part`, which is shown in place where it is all there is.
    #[inline]
    pub fn of<'a>(&'a mut self, part: &'a [u8]) -> &'a [u8] {
        if self.length == 0 {
            return &part[..part.len().min(HEAD)];
        }
        self.keep(part);
        &self.bytes[..std::mem::take(&mut self.length)]
    }
}

/// The first bytes of a reply, printable.
pub fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(HEAD)].escape_ascii().to_string()
}
