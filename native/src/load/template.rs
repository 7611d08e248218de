//! Requests made by writing into a template what differs from one to the next.

use crate::load::job::{Job, Op, Patch, Template};
use crate::load::zipf::fnv;

const WRITE_ID: usize = 16;

/// One client's next request, and what its write id is made of.
#[derive(Clone, Copy)]
pub struct Author {
    pub client: usize,
    /// Of the request on its connection, from 1.
    pub id: u64,
    /// Of the request in the client's write ids.
    pub sequence: u64,
}

impl Author {
    /// `cccc:sssssssssss`.
    #[inline]
    pub fn write_id(&self) -> [u8; WRITE_ID] {
        let mut id = [b':'; WRITE_ID];
        digits(self.client as u64 + 1, &mut id[..4]);
        digits(self.sequence, &mut id[5..]);
        id
    }
}

/// Where the id stands in the frame of a reply.
#[derive(Clone, Copy)]
pub struct IdPlace {
    offset: usize,
    width: usize,
    little: bool,
}

impl IdPlace {
    /// What a reply says, from its first bytes; None where it is too short.
    pub fn read(&self, head: &[u8]) -> Option<u64> {
        let bytes = head.get(self.offset..self.offset + self.width)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    }

    /// What it says of the request with this number.
    pub fn of(&self, id: u64) -> u64 {
        id % modulus(self.width)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Key,
    KeyLittle,
    KeyBig,
    IdLittle,
    IdBig,
    WriteId,
    Filler,
}

struct Slot {
    offset: usize,
    width: usize,
    kind: Kind,
    /// Its text is written as two hexadecimal digits a character.
    hex: bool,
    item: usize,
    shift: u64,
}

/// One template, as one thread writes into it.
pub struct Request {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    /// For each client its own bytes; empty where no client has any.
    own: Vec<Vec<(usize, Vec<u8>)>>,
    /// For keys below this, where that matters.
    below: u64,
    pub id_place: Option<IdPlace>,
    signed: bool,
    /// For each record of the batch where its filler begins; empty where there is no filler.
    places: Vec<u64>,
    /// What is to be written as hexadecimal digits.
    text: Vec<u8>,
}

impl Request {
    fn new(template: &Template, batch: usize, own: Vec<Vec<(usize, Vec<u8>)>>) -> Self {
        let slots: Vec<Slot> = template
            .slots
            .iter()
            .map(|slot| {
                let hex = slot.kind.ends_with("-hex");
                let kind = match slot.kind.trim_end_matches("-hex") {
                    "key" => Kind::Key,
                    "key-le" => Kind::KeyLittle,
                    "key-be" => Kind::KeyBig,
                    "id-le" => Kind::IdLittle,
                    "id-be" => Kind::IdBig,
                    "write-id" => Kind::WriteId,
                    _ => Kind::Filler,
                };
                Slot { offset: slot.offset, width: slot.width, kind, hex, item: slot.item, shift: slot.shift }
            })
            .collect();
        let filled = slots.iter().any(|slot| slot.kind == Kind::Filler);
        let id_place =
            template.id_reply.as_ref().map(|(offset, width, order)| IdPlace { offset: *offset, width: *width, little: order == "le" });
        Request {
            bytes: template.request.clone(),
            signed: filled || slots.iter().any(|slot| slot.kind == Kind::WriteId),
            text: vec![0; slots.iter().filter(|slot| slot.hex).map(|slot| slot.width / 2).max().unwrap_or(0)],
            slots,
            own,
            below: template.below,
            id_place,
            places: vec![0; if filled { batch } else { 0 }],
        }
    }

    /// All templates of an operation.
    pub fn all(job: &Job, number: usize, op: &Op) -> Vec<Self> {
        let own = |template: usize| {
            let of_client = |patches: &Vec<Patch>| {
                let mine = patches.iter().filter(|patch| patch.op == number && patch.template == template);
                mine.map(|patch| (patch.offset, patch.data.clone())).collect()
            };
            let mut all: Vec<Vec<(usize, Vec<u8>)>> = vec![Vec::new(); job.positions.len()];
            job.clients.iter().zip(&job.patches).for_each(|(client, patches)| all[*client] = of_client(patches));
            if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
        };
        op.templates.iter().enumerate().map(|(place, template)| Request::new(template, op.batch, own(place))).collect()
    }

    /// Whether it is for this key.
    pub fn is_for(&self, key: u64) -> bool {
        self.below == 0 || key < self.below
    }

    /// The request about these keys; None where one is too large for its slot.
    #[inline]
    pub fn write(&mut self, job: &Job, author: Author, keys: &[u64]) -> Option<&[u8]> {
        if let Some(own) = self.own.get(author.client) {
            for (offset, data) in own {
                self.bytes[*offset..*offset + data.len()].copy_from_slice(data);
            }
        }
        let write_id = if self.signed { author.write_id() } else { [0; WRITE_ID] };
        for (place, key) in self.places.iter_mut().zip(keys) {
            *place = u64::from(place_of(job, *key, &write_id));
        }
        for slot in &self.slots {
            let written = &mut self.bytes[slot.offset..slot.offset + slot.width];
            let bytes = if slot.hex { &mut self.text[..slot.width / 2] } else { &mut *written };
            let fits = match slot.kind {
                Kind::Key => digits(shown(job, *keys.get(slot.item)?), bytes),
                Kind::KeyLittle => little(*keys.get(slot.item)?, bytes),
                Kind::KeyBig => big(*keys.get(slot.item)?, bytes),
                Kind::IdLittle => little(author.id % modulus(slot.width), bytes),
                Kind::IdBig => big(author.id % modulus(slot.width), bytes),
                Kind::WriteId => {
                    bytes.copy_from_slice(&write_id);
                    true
                }
                Kind::Filler => {
                    fill(job, self.places[slot.item] + slot.shift, bytes);
                    true
                }
            };
            if !fits {
                return None;
            }
            if slot.hex {
                hex(&self.text, written);
            }
        }
        Some(&self.bytes)
    }
}

/// What ids of this width are counted by; those of eight bytes never come round.
fn modulus(width: usize) -> u64 {
    1u64.checked_shl(8 * width as u32).unwrap_or(u64::MAX)
}

/// Decimal digits, with zeros before them; false where there is no room.
#[inline]
fn digits(mut number: u64, bytes: &mut [u8]) -> bool {
    for byte in bytes.iter_mut().rev() {
        *byte = b'0' + (number % 10) as u8;
        number /= 10;
    }
    number == 0
}

/// Two digits a character, in lower case.
fn hex(text: &[u8], bytes: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, character) in bytes.chunks_exact_mut(2).zip(text) {
        pair[0] = DIGITS[usize::from(character >> 4)];
        pair[1] = DIGITS[usize::from(character & 15)];
    }
}

fn little(number: u64, bytes: &mut [u8]) -> bool {
    let width = bytes.len();
    bytes.copy_from_slice(&number.to_le_bytes()[..width]);
    width == 8 || number >> (8 * width) == 0
}

fn big(number: u64, bytes: &mut [u8]) -> bool {
    let width = bytes.len();
    bytes.copy_from_slice(&number.to_be_bytes()[8 - width..]);
    width == 8 || number >> (8 * width) == 0
}

/// The number that a key shows: `storeproof.records.keys.key_of`.
#[inline]
fn shown(job: &Job, key: u64) -> u64 {
    if job.key_hashed { fnv(key) } else { key }
}

/// `storeproof.records.filler.place_of`.
#[inline]
pub fn place_of(job: &Job, key: u64, write_id: &[u8; WRITE_ID]) -> u32 {
    let mut text = [0u8; 32 + 20 + 1 + WRITE_ID];
    let (key, mut at) = (shown(job, key), job.key_prefix.len());
    text[..at].copy_from_slice(&job.key_prefix);
    let width = match job.key_digits {
        0 => key.checked_ilog10().unwrap_or(0) as usize + 1,
        width => width,
    };
    digits(key, &mut text[at..at + width]);
    at += width + 1; // a zero byte between them
    text[at..at + WRITE_ID].copy_from_slice(write_id);
    crc32fast::hash(&text[..at + WRITE_ID])
}

/// `storeproof.records.filler.pick`.
#[inline]
pub fn pick(place: u32, among: u64) -> usize {
    ((u64::from(place) * among) >> 32) as usize
}

/// `storeproof.records.filler.bytes_at`.
#[inline]
fn fill(job: &Job, place: u64, bytes: &mut [u8]) {
    let at = (place & job.mask) as usize;
    for part in bytes.chunks_mut(job.mask as usize + 1) {
        part.copy_from_slice(&job.filler[at..at + part.len()]);
    }
}
