//! One connection: what is in flight on it, and what of a request was not sent yet.

use std::collections::VecDeque;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

use crate::load::frame::{Framer, Head};
use crate::load::keys::OwnKeys;
use crate::load::template::Author;

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
    /// The first bytes of a reply that came in parts.
    pub head: Head,
    pub own: OwnKeys,
    pub next: Author,
    pub ok: u64,
    pub requests: u64,
    /// When the last reply came.
    pub last: u64,
    /// When each of the first requests in flight had its reply, and `ok` then.
    pub settled: Option<(u64, u64)>,
    pub errors_in_a_row: u32,
    /// Frames of the reply that is under way, where one has several, and whether one of them was an error.
    pub frames: u32,
    pub failed: bool,
    keys: Vec<u64>,
    free: Vec<usize>,
    outgoing: Vec<u8>,
}

impl Connection {
    /// `sequence`: of its first request; `batch`: keys of a request, at most.
    pub fn new(fd: RawFd, framer: Framer, own: OwnKeys, sequence: u64, pipeline: usize, batch: usize) -> Self {
        Connection {
            fd,
            state: State::Open,
            silent: false,
            queued: false,
            idle_since: 0,
            flights: VecDeque::with_capacity(pipeline),
            due: Vec::new(),
            framer,
            head: Head::new(),
            next: Author { client: own.client as usize, id: 1, sequence },
            own,
            ok: 0,
            requests: 0,
            last: 0,
            settled: None,
            errors_in_a_row: 0,
            frames: 0,
            failed: false,
            keys: vec![0; pipeline * batch],
            free: (0..pipeline).map(|slot| slot * batch).collect(),
            outgoing: Vec::new(),
        }
    }

    /// Room for the keys of one more request; there is some while less than `pipeline` are in flight.
    #[inline]
    pub fn room(&mut self) -> Option<usize> {
        self.free.pop()
    }

    #[inline]
    pub fn give_back(&mut self, place: usize) {
        self.free.push(place);
    }

    #[inline]
    pub fn keys(&self, place: usize, number: usize) -> &[u64] {
        &self.keys[place..place + number]
    }

    /// What draws the keys of a request, and where they go.
    #[inline]
    pub fn drawing(&mut self, place: usize, number: usize) -> (&mut OwnKeys, &mut [u64]) {
        (&mut self.own, &mut self.keys[place..place + number])
    }

    /// The next request was made.
    #[inline]
    pub fn advance(&mut self) {
        self.next.id += 1;
        self.next.sequence += 1;
    }

    /// Sends, without waiting; what does not go now is kept. Ok(false): some was kept.
    pub fn send(&mut self, bytes: &[u8]) -> Result<bool, Errno> {
        let sent = if self.outgoing.is_empty() { send_some(self.fd, bytes)? } else { 0 };
        self.outgoing.extend_from_slice(&bytes[sent..]);
        Ok(self.outgoing.is_empty())
    }

    /// Sends what was kept. Ok(false): some still is.
    pub fn send_rest(&mut self) -> Result<bool, Errno> {
        let sent = send_some(self.fd, &self.outgoing)?;
        self.outgoing.drain(..sent);
        Ok(self.outgoing.is_empty())
    }

    /// Whether something waits to be sent.
    pub fn is_sending(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Nothing may be there before anything was asked.
    pub fn is_quiet(&self) -> bool {
        recv(self.fd, &mut [0], MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_PEEK) == Err(Errno::EAGAIN)
    }

    /// What came; None where nothing did, 0 bytes at the end of the connection.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        match recv(self.fd, buffer, MsgFlags::MSG_DONTWAIT) {
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            other => other.map(Some),
        }
    }
}

#[inline]
fn send_some(fd: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(fd, bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
        other => other,
    }
}
