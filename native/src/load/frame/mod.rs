//! Finds the replies in a stream of bytes and counts their records. Nothing in the stream is trusted, and nothing of it is kept.
//!
//! A grammar asks for one token after the other, and the reader hands them over: from what was received, in place, or from a small
//! buffer where a token came in parts. So a reply of any length takes a fixed amount of memory.

mod decimal;
mod embedded;
mod grammar;
mod head;
mod http;
mod iproto;
mod memcached;
mod mongo;
mod msgpack;
mod mysql;
mod postgres;
mod resp;

use grammar::Reader;
pub use grammar::{Problem, Reply};
pub use head::{HEAD, Head, shown};

macro_rules! framers {
    ($($name:literal $variant:ident $grammar:ty,)*) => {
        /// The reader of one connection, by its protocol.
        pub enum Framer { $(#[doc = $name] $variant(Reader<$grammar>),)* }

        impl Framer {
            /// By the name that `Job.protocol` has.
            pub fn new(protocol: &str) -> Option<Self> {
                match protocol {
                    $($name => Some(Framer::$variant(Reader::new())),)*
                    _ => None,
                }
            }

            /// Reads to the end of a reply, or of `bytes`: the reply, if one became whole, and how many bytes were read.
            #[inline]
            pub fn feed(&mut self, bytes: &[u8]) -> Result<(Option<Reply>, usize), Problem> {
                match self { $(Framer::$variant(reader) => reader.feed(bytes),)* }
            }
        }
    };
}

framers! {
    "resp" Resp resp::Resp,
    "memcached" Memcached memcached::Memcached,
    "mongo" Mongo mongo::Mongo,
    "iproto" Iproto iproto::Iproto,
    "mysql" Mysql mysql::Mysql,
    "postgres" Postgres postgres::Postgres,
    "http" Http http::Http,
    "embedded" Embedded embedded::Embedded,
}

#[cfg(test)]
mod tests;
