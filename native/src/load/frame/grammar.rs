//! How a protocol is read: a grammar asks for one token after the other, and the reader hands them over.

/// Bytes of one reply; what claims to be longer is no reply. MongoDB's limit of a message is 48 MB.
pub const LARGEST: u64 = 64 << 20;

/// Bytes of the longest line of a protocol that has lines.
const LINE: usize = 8192;

/// Bytes of a token that are kept: of a line the first ones.
pub const KEPT: usize = 512;

/// Why a stream cannot be read on.
pub type Problem = &'static str;

/// What a grammar wants to see next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want {
    /// This many bytes, at most `KEPT`.
    Take(usize),
    /// All up to and with this byte, at most this many; only the first `KEPT` of them are shown.
    Until(u8, usize),
    /// This many bytes, unseen.
    Skip(u64),
}

impl Want {
    pub const LINE: Want = Want::Until(b'\n', LINE);
}

/// What a token led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The reply goes on.
    Want(Want),
    /// It is whole.
    Done { count: i64, error: bool },
}

/// One protocol: how a reply is read, token by token.
pub trait Grammar: Default {
    /// What a reply begins with.
    fn start(&mut self) -> Want;
    /// After what was wanted, which is empty where it was skipped.
    fn next(&mut self, token: &[u8]) -> Result<Next, Problem>;
}

/// One whole reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Records, rows or whatever the protocol counts; 0 for an error.
    pub count: i64,
    /// The store says that it failed.
    pub error: bool,
    /// In bytes.
    pub length: u64,
}

/// Reads the replies of one connection.
pub struct Reader<G> {
    grammar: G,
    want: Want,
    length: u64,
    /// Bytes of the token that came before, and those of them that are kept.
    before: usize,
    carried: usize,
    /// Apart from the rest: it is hardly ever needed, and what is needed for every reply lies closer together without it.
    carry: Box<[u8; KEPT]>,
}

impl<G: Grammar> Reader<G> {
    pub fn new() -> Self {
        let mut grammar = G::default();
        let want = grammar.start();
        Reader { grammar, want, length: 0, before: 0, carried: 0, carry: Box::new([0; KEPT]) }
    }

    /// Reads to the end of a reply, or of `bytes`: the reply, if one became whole, and how many bytes were read.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(Option<Reply>, usize), Problem> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let (used, whole) = match self.want {
                Want::Take(wanted) => {
                    let used = rest.len().min(wanted - self.before);
                    (used, self.before + used == wanted)
                }
                Want::Until(last, _) => match rest.iter().position(|byte| *byte == last) {
                    Some(found) => (found + 1, true),
                    None => (rest.len(), false),
                },
                Want::Skip(wanted) => {
                    let used = (rest.len() as u64).min(wanted);
                    self.want = Want::Skip(wanted - used);
                    (used as usize, used == wanted)
                }
            };
            at += used;
            self.length += used as u64;
            if self.length > LARGEST {
                return Err("a reply that does not end");
            }
            if matches!(self.want, Want::Until(_, most) if self.before + used + usize::from(!whole) > most) {
                return Err("a line that does not end");
            }
            let skipped = matches!(self.want, Want::Skip(_));
            if !skipped && (self.carried > 0 || !whole) {
                let room = (KEPT - self.carried).min(used);
                self.carry[self.carried..self.carried + room].copy_from_slice(&rest[..room]);
                self.carried += room;
                self.before += used;
            }
            if !whole {
                return Ok((None, at));
            }
            let token = match (skipped, self.carried) {
                (true, _) => &[],
                (false, 0) => &rest[..used.min(KEPT)],
                (false, carried) => &self.carry[..carried],
            };
            let next = self.grammar.next(token)?;
            (self.before, self.carried) = (0, 0);
            match next {
                Next::Want(want) => match want {
                    Want::Take(wanted) if wanted > KEPT => return Err("a field that is too long"),
                    Want::Skip(wanted) if wanted.saturating_add(self.length) > LARGEST => return Err("a length that cannot be"),
                    _ => self.want = want,
                },
                Next::Done { count, error } => {
                    let length = std::mem::take(&mut self.length);
                    self.want = self.grammar.start();
                    return Ok((Some(Reply { count: if error { 0 } else { count }, error, length }), at));
                }
            }
        }
    }
}
