//! One connection: what is in flight on it, and what of a request was not sent yet.

use std::collections::VecDeque;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

use crate::dice::Dice;
use crate::wire::frame::Framer;
use crate::wire::keys::New;
use crate::wire::pump::HEAD;

/// A request that waits for its reply. The second one of an operation has the times of the first.
#[derive(Clone, Copy)]
pub struct Flight {
    pub op: usize,
    pub id: u64,
    /// When it should have been sent; in a closed loop when it was.
    pub intended: u64,
    pub sent: u64,
    /// Where its keys are.
    pub place: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum State {
    Open,
    /// It sends no more, and is sound.
    Ended,
    Broken,
}

/// Nothing of it grows beyond what `pipeline` requests take.
pub struct Connection {
    pub fd: RawFd,
    pub state: State,
    pub silent: bool,
    /// It stands in the queue of those that may take a request, in an open loop.
    pub queued: bool,
    /// Since when.
    pub idle_since: u64,
    pub flights: VecDeque<Flight>,
    /// Second requests of operations whose first was answered: to be sent before anything else, and not in flight yet.
    pub due: Vec<Flight>,
    pub framer: Framer,
    pub new: New,
    pub dice: Dice,
    /// Requests sent, and the sequence of the next one's stamp.
    pub id: u64,
    pub sequence: u64,
    pub ok: u64,
    pub requests: u64,
    /// When the last reply came.
    pub last: u64,
    pub errors_in_a_row: u32,
    /// Frames of the reply that is under way, where one has several, and whether one of them was an error.
    pub frames: u32,
    pub failed: bool,
    /// The first bytes of a reply that came in parts.
    pub head: Head,
    keys: Vec<u64>,
    free: Vec<usize>,
    batch: usize,
    unsent: Vec<u8>,
}

impl Connection {
    pub fn new(fd: RawFd, framer: Framer, new: New, dice: Dice, sequence: u64, pipeline: usize, batch: usize) -> Self {
        Connection {
            fd,
            state: State::Open,
            silent: false,
            queued: false,
            idle_since: 0,
            flights: VecDeque::with_capacity(pipeline),
            due: Vec::new(),
            framer,
            new,
            dice,
            id: 0,
            sequence,
            ok: 0,
            requests: 0,
            last: 0,
            errors_in_a_row: 0,
            frames: 0,
            failed: false,
            head: Head { bytes: Box::new([0; HEAD]), length: 0 },
            keys: vec![0; pipeline * batch],
            free: (0..pipeline).map(|slot| slot * batch).collect(),
            batch,
            unsent: Vec::new(),
        }
    }

    /// Room for the keys of one more request; there is some while less than `pipeline` are in flight.
    pub fn room(&mut self) -> Option<usize> {
        self.free.pop()
    }

    pub fn give_back(&mut self, place: usize) {
        self.free.push(place);
    }

    pub fn keys(&self, place: usize, number: usize) -> &[u64] {
        &self.keys[place..place + number]
    }

    pub fn set_key(&mut self, place: usize, item: usize, key: u64) {
        debug_assert!(item < self.batch);
        self.keys[place + item] = key;
    }

    /// Sends, without waiting; what does not go now is kept. Ok(false): some was kept.
    pub fn send(&mut self, bytes: &[u8]) -> Result<bool, Errno> {
        let sent = if self.unsent.is_empty() { send_some(self.fd, bytes)? } else { 0 };
        self.unsent.extend_from_slice(&bytes[sent..]);
        Ok(self.unsent.is_empty())
    }

    /// Sends what was kept. Ok(false): some still is.
    pub fn send_rest(&mut self) -> Result<bool, Errno> {
        let sent = send_some(self.fd, &self.unsent)?;
        self.unsent.drain(..sent);
        Ok(self.unsent.is_empty())
    }

    /// Whether something waits to be sent.
    pub fn is_sending(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Nothing may be there before anything was asked.
    pub fn is_quiet(&self) -> bool {
        recv(self.fd, &mut [0], MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_PEEK) == Err(Errno::EAGAIN)
    }

    /// What came; None where nothing did, 0 bytes at the end of the connection.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        match recv(self.fd, buffer, MsgFlags::MSG_DONTWAIT) {
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            other => other.map(Some),
        }
    }
}

fn send_some(fd: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(fd, bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
        other => other,
    }
}

/// The first bytes of a reply.
pub struct Head {
    bytes: Box<[u8; HEAD]>,
    length: usize,
}

impl Head {
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
