//! A server that answers every request with the same reply, unread: the rate against it is the client's ceiling.
//!
//! What a connection asks for first is in `storeproof/load/wire/null_server.py`. It is one thread, and ends when its input does.

use std::io::{self, ErrorKind, Read, Write, stdin};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use pyo3::prelude::*;

const BUFFER: usize = 1 << 16;
const EVENTS: usize = 256;
/// Bytes of a request or a reply.
const LONGEST: usize = 1 << 26;
/// Frames of a reply, each of which may have an id.
const MOST_PLACES: usize = 1 << 10;
/// Numbers at the beginning of a connection, four bytes each.
const NUMBERS: usize = 5;
/// Sent to a connection that may begin.
const READY: &[u8] = b"!";

/// What one connection is answered.
struct Wanted {
    /// Bytes of a request.
    request: usize,
    reply: Vec<u8>,
    /// Where the id stands in a request, and where it goes in the reply.
    id_at: usize,
    id: Vec<u8>,
    places: Vec<usize>,
}

impl Wanted {
    /// From the first bytes of a connection; None where more are to come.
    fn read(head: &[u8]) -> Result<Option<Self>, &'static str> {
        let number = |place: usize| {
            head.get(4 * place..4 * place + 4).map(|four| four.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
        };
        let Some(count) = number(NUMBERS - 1) else { return Ok(None) };
        if count > MOST_PLACES {
            return Err("too many places");
        }
        let numbers: Option<Vec<usize>> = (0..NUMBERS + count).map(number).collect();
        let Some(numbers) = numbers else { return Ok(None) };
        let (request, reply, id_at, width, places) = (numbers[0], numbers[1], numbers[2], numbers[3], &numbers[NUMBERS..]);
        let sound = (1..=LONGEST).contains(&request) && (1..=LONGEST).contains(&reply) && id_at + width <= request;
        if !sound || places.iter().any(|place| place + width > reply) {
            return Err("no such request or reply");
        }
        let rest = &head[4 * numbers.len()..];
        Ok((rest.len() >= reply).then(|| Wanted {
            request,
            reply: rest[..reply].to_vec(),
            id_at,
            id: vec![0; width],
            places: places.to_vec(),
        }))
    }
}

struct Connection {
    stream: TcpStream,
    /// What came before the wanted reply was known.
    head: Vec<u8>,
    wanted: Option<Wanted>,
    /// Bytes of the request that is under way.
    came: usize,
    outgoing: Vec<u8>,
}

impl Connection {
    /// Takes in what came. Ok(false): it has ended.
    fn receive(&mut self, buffer: &mut [u8], out: &mut Vec<u8>) -> io::Result<bool> {
        let length = match self.stream.read(buffer) {
            Err(failure) if passing(&failure) => return Ok(true),
            other => other?,
        };
        out.clear();
        match &mut self.wanted {
            Some(wanted) => answer(wanted, &mut self.came, &buffer[..length], out),
            None => {
                self.head.extend_from_slice(&buffer[..length]);
                self.wanted = Wanted::read(&self.head).map_err(io::Error::other)?;
                if self.wanted.is_some() {
                    self.head = Vec::new();
                    out.extend_from_slice(READY);
                }
            }
        }
        let sent = self.send(out)?;
        self.outgoing.extend_from_slice(&out[sent..]);
        Ok(length > 0)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.is_empty() {
            true => Ok(0),
            false => self.stream.write(bytes).or_else(|failure| if passing(&failure) { Ok(0) } else { Err(failure) }),
        }
    }

    /// Sends what was kept.
    fn send_rest(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.outgoing);
        let sent = self.send(&rest)?;
        self.outgoing.extend_from_slice(&rest[sent..]);
        Ok(())
    }

    /// What it is watched for: while something waits to be sent nothing more is read.
    fn interest(&self) -> EpollFlags {
        if self.outgoing.is_empty() { EpollFlags::EPOLLIN } else { EpollFlags::EPOLLOUT }
    }
}

/// A reply for every request that these bytes end.
fn answer(wanted: &mut Wanted, came: &mut usize, mut bytes: &[u8], out: &mut Vec<u8>) {
    while !bytes.is_empty() {
        let (part, rest) = bytes.split_at(bytes.len().min(wanted.request - *came));
        let from = wanted.id_at.max(*came);
        let to = (wanted.id_at + wanted.id.len()).min(*came + part.len());
        if from < to {
            wanted.id[from - wanted.id_at..to - wanted.id_at].copy_from_slice(&part[from - *came..to - *came]);
        }
        *came += part.len();
        bytes = rest;
        if *came == wanted.request {
            *came = 0;
            let begin = out.len();
            out.extend_from_slice(&wanted.reply);
            for place in &wanted.places {
                out[begin + place..begin + place + wanted.id.len()].copy_from_slice(&wanted.id);
            }
        }
    }
}

fn passing(failure: &io::Error) -> bool {
    matches!(failure.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// `storeproof.native.NullServer`.
#[pyclass(frozen)]
pub struct NullServer {
    listener: TcpListener,
}

#[pymethods]
impl NullServer {
    #[new]
    fn new() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(NullServer { listener })
    }

    #[getter]
    fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Until standard input ends.
    fn serve(&self, py: Python<'_>) -> io::Result<()> {
        py.detach(|| serve(&self.listener))
    }
}

const INPUT: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

fn serve(listener: &TcpListener) -> io::Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(stdin().as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, INPUT))?;
    epoll.add(listener.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let (mut buffer, mut out) = (vec![0; BUFFER], Vec::new());
    let mut events = [EpollEvent::empty(); EVENTS];
    loop {
        let happened = match epoll.wait(&mut events, EpollTimeout::NONE) {
            Err(Errno::EINTR) => 0,
            other => other?,
        };
        for event in &events[..happened] {
            match event.data() {
                INPUT => return Ok(()),
                LISTENER => accept(listener, &epoll, &mut connections)?,
                place => attend(&epoll, &mut connections[place as usize], event, &mut buffer, &mut out)?,
            }
        }
    }
}

fn accept(listener: &TcpListener, epoll: &Epoll, connections: &mut Vec<Option<Connection>>) -> io::Result<()> {
    let stream = match listener.accept() {
        Err(failure) if passing(&failure) || failure.kind() == ErrorKind::ConnectionAborted => return Ok(()),
        other => other?.0,
    };
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let place = connections.iter().position(Option::is_none).unwrap_or(connections.len());
    epoll.add(stream.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, place as u64))?;
    if place == connections.len() {
        connections.push(None);
    }
    connections[place] = Some(Connection { stream, head: Vec::new(), wanted: None, came: 0, outgoing: Vec::new() });
    Ok(())
}

/// What the kernel says of a connection; one that fails is closed, and its client sees that.
fn attend(epoll: &Epoll, place: &mut Option<Connection>, event: &EpollEvent, buffer: &mut [u8], out: &mut Vec<u8>) -> io::Result<()> {
    let Some(connection) = place else { return Ok(()) };
    let before = connection.interest();
    let goes_on = match before {
        EpollFlags::EPOLLOUT => connection.send_rest().map(|()| !event.events().contains(EpollFlags::EPOLLERR)),
        _ => connection.receive(buffer, out),
    };
    if !goes_on.unwrap_or(false) {
        *place = None; // closed, and so no longer watched
    } else if connection.interest() != before {
        epoll.modify(connection.stream.as_fd(), &mut EpollEvent::new(connection.interest(), event.data()))?;
    }
    Ok(())
}
