//! How replies are read, whatever pieces they come in.

use super::grammar::LARGEST;
use super::{Framer, Problem, Reply};

/// What is read of these bytes in pieces of one size.
fn read(protocol: &str, bytes: &[u8], piece: usize) -> (Vec<Reply>, Option<Problem>) {
    let mut framer = Framer::new(protocol).expect("a protocol");
    let mut seen = Vec::new();
    for part in bytes.chunks(piece) {
        let mut rest = part;
        while !rest.is_empty() {
            match framer.feed(rest) {
                Ok((reply, used)) => {
                    seen.extend(reply);
                    rest = &rest[used..];
                }
                Err(problem) => return (seen, Some(problem)),
            }
        }
    }
    (seen, None)
}

/// All of it is one reply.
fn one(protocol: &str, bytes: &[u8], count: i64, error: bool) {
    let reply = Reply { count, error, length: bytes.len() as u64 };
    for piece in 1..=bytes.len() {
        assert_eq!(read(protocol, bytes, piece), (vec![reply], None), "{protocol}, {}, in pieces of {piece}", bytes.escape_ascii());
    }
    let twice = [bytes, bytes].concat();
    assert_eq!(read(protocol, &twice, twice.len()), (vec![reply, reply], None), "{protocol}, twice");
}

/// It cannot be read.
fn none(protocol: &str, bytes: &[u8]) {
    for piece in [1, 2, 3, bytes.len()] {
        let (seen, problem) = read(protocol, bytes, piece);
        assert!(seen.is_empty() && problem.is_some(), "{protocol}, {}: {seen:?}", bytes.escape_ascii());
    }
}

#[test]
fn resp() {
    one("resp", b"+OK\r\n", 1, false);
    one("resp", b"-ERR no\r\n", 0, true);
    one("resp", b":-12\r\n", -12, false);
    one("resp", b"$5\r\nhe\r\no\r\n", 1, false);
    one("resp", b"$0\r\n\r\n", 1, false);
    one("resp", b"$-1\r\n", 0, false);
    one("resp", b"*3\r\n$1\r\na\r\n$-1\r\n*2\r\n:1\r\n_\r\n", 2, false);
    one("resp", b"*2\r\n+QUEUED\r\n-ERR no\r\n", 0, true);
    one("resp", b"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", 2, false);
    one("resp", &[b"$2000\r\n".as_slice(), &[b'x'; 2000], b"\r\n"].concat(), 1, false);
    none("resp", b"\r\n");
    none("resp", b"$1x\r\n");
    none("resp", b"$3\r\nabcde");
    none("resp", &[b'+'; 10_000]);
}

#[test]
fn memcached() {
    one("memcached", b"VALUE a 0 3\r\nEND\r\nVALUE b 1 0 77\r\n\r\nEND\r\n", 2, false);
    one("memcached", b"END\r\n", 0, false);
    one("memcached", b"STORED\r\n", 1, false);
    one("memcached", b"NOT_FOUND\r\n", 0, false);
    one("memcached", b"SERVER_ERROR out of memory\r\n", 0, true);
    none("memcached", b"VALUE a 0 1\r\nx\r\nSTORED\r\n");
    none("memcached", b"VALUE a 0\r\n");
}

#[test]
fn mysql() {
    one("mysql", b"\x07\0\0\x01\0\x03\0\x02\0\0\0", 3, false);
    one("mysql", b"\x03\0\0\x01\xff\x15\x04", 0, true);
    // Two rows between EOF packets of the older kind, and one before an OK packet of the newer.
    one(
        "mysql",
        b"\x01\0\0\x01\x01\x01\0\0\x02c\x05\0\0\x03\xfe\0\0\x02\0\x02\0\0\x04\x01a\x02\0\0\x05\x01b\x05\0\0\x06\xfe\0\0\x02\0",
        2,
        false,
    );
    one("mysql", b"\x01\0\0\x01\x01\x01\0\0\x02c\x02\0\0\x03\x01a\x07\0\0\x04\xfe\0\0\x02\0\0\0", 1, false);
    // Of two statements the sum.
    one("mysql", b"\x07\0\0\x01\0\x01\0\x0a\0\0\0\x07\0\0\x02\0\x02\0\x02\0\0\0", 3, false);
    none("mysql", b"\x07\0\0\x02\0\x03\0\x02\0\0\0");
}

#[test]
fn a_row_of_many_packets_is_one_row() {
    let full = 0xff_ffffusize;
    let mut bytes = b"\x01\0\0\x01\x01\x01\0\0\x02c\xff\xff\xff\x03".to_vec();
    bytes.resize(bytes.len() + full, b'x');
    bytes.extend_from_slice(b"\x02\0\0\x04\xfe\xfe\x07\0\0\x05\xfe\0\0\x02\0\0\0");
    let (seen, problem) = read("mysql", &bytes, 1 << 16);
    assert_eq!((seen.len(), seen[0].count, problem), (1, 1, None));
}

#[test]
fn postgres() {
    one("postgres", b"2\0\0\0\x04D\0\0\0\x06\0\x01D\0\0\0\x06\0\x01C\0\0\0\x0dSELECT 2\0Z\0\0\0\x05I", 2, false);
    one("postgres", b"C\0\0\0\x0fINSERT 0 5\0Z\0\0\0\x05I", 5, false);
    one("postgres", b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05T", 0, false);
    one("postgres", b"E\0\0\0\x08Sno\0Z\0\0\0\x05E", 0, true);
    none("postgres", b"Z\0\0\0\x04");
}

#[test]
fn http() {
    one("http", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", 1, false);
    one("http", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 0, false);
    one("http", b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\nX: y\r\n\r\n", 0, true);
    one("http", b"HTTP/1.1 204 No\r\n\r\n", 1, false);
    none("http", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n");
    none("http", b"HTTP/1.1 200 OK\r\n\r\n");
}

#[test]
fn iproto_and_embedded() {
    one("iproto", b"\xce\0\0\0\x0b\x82\0\0\x01\x07\x81\x30\x92\x01\xa1x", 2, false);
    one("iproto", b"\xce\0\0\0\x0c\x82\0\0\x01\x07\x81\x42\x81\0\xa2xy", 0, false);
    one("iproto", b"\xce\0\0\0\x05\x81\0\xcd\x80\x03", 0, true);
    one("embedded", b"\0\0\0\x04\x93\0\x05\x90", 5, false);
    one("embedded", b"\0\0\0\x07\x93\0\x02\x92\x91\x01\xc0", 2, false);
    one("embedded", b"\0\0\0\x06\x93\x01\xa1a\xa1b", 0, true);
    none("iproto", b"\xce\0\0\0\x04\x81\0\xcd\x80");
    none("embedded", b"\0\0\0\x04\x94\0\x05\x90");
}

#[test]
fn what_never_ends_is_given_up() {
    let mut framer = Framer::new("resp").expect("a protocol");
    let part = b":1\r\n".repeat(1 << 14);
    let mut read = framer.feed(b"*60000000\r\n").map(|(_, used)| used as u64);
    while let Ok(before) = read {
        assert!(before <= LARGEST, "it is read on and on");
        read = framer.feed(&part).map(|(_, used)| before + used as u64);
    }
}
