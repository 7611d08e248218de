//! MessagePack, one item after the other: what each is, without its content.

/// An item; entries and content follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    Number(i64),
    /// Nil, a truth, a fraction, a number beyond 63 bits: whole.
    Other,
    /// Text, binary or extension: this many bytes follow.
    Bytes(u64),
    Array(u64),
    Map(u64),
}

/// How many bytes after the marker say what the item is.
pub fn more(marker: u8) -> Option<usize> {
    Some(match marker {
        0xc1 => return None,
        0xc4 | 0xc7 | 0xcc | 0xd0 | 0xd9 => 1,
        0xc5 | 0xc8 | 0xcd | 0xd1 | 0xda | 0xdc | 0xde => 2,
        0xc6 | 0xc9 | 0xca | 0xce | 0xd2 | 0xdb | 0xdd | 0xdf => 4,
        0xcb | 0xcf | 0xd3 => 8,
        _ => 0,
    })
}

/// The item that a marker and the bytes after it make.
pub fn item(marker: u8, bytes: &[u8]) -> Item {
    let number = bytes.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    match marker {
        0x00..=0x7f => Item::Number(i64::from(marker)),
        0x80..=0x8f => Item::Map(u64::from(marker & 0x0f)),
        0x90..=0x9f => Item::Array(u64::from(marker & 0x0f)),
        0xa0..=0xbf => Item::Bytes(u64::from(marker & 0x1f)),
        0xc4..=0xc6 | 0xd9..=0xdb => Item::Bytes(number),
        0xc7..=0xc9 => Item::Bytes(number + 1),
        0xcc..=0xcf => i64::try_from(number).map_or(Item::Other, Item::Number),
        0xd0 => Item::Number(i64::from(number as i8)),
        0xd1 => Item::Number(i64::from(number as i16)),
        0xd2 => Item::Number(i64::from(number as i32)),
        0xd3 => Item::Number(number as i64),
        0xd4..=0xd8 => Item::Bytes((1 << (marker - 0xd4)) + 1),
        0xdc | 0xdd => Item::Array(number),
        0xde | 0xdf => Item::Map(number),
        0xe0..=0xff => Item::Number(i64::from(marker as i8)),
        0xc0..=0xc3 | 0xca | 0xcb => Item::Other,
    }
}
