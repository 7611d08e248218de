//! The records in a perf ring (include/uapi/linux/perf_event.h): of a tracepoint, with process, thread, time and raw data.

use std::collections::HashMap;

use crate::tracing::format::Format;

/// Kinds of records.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;

/// The header: kind, flags, length.
const HEADER: usize = 8;

/// Before the raw data of a sample, after its header: process, thread, time, and the length of the data.
const BEFORE: usize = 20;

/// What the tracepoints say that are read, and the fields of each, in the order of `Record::fields`.
pub const POINTS: [(&str, Point, &[&str]); 12] = [
    ("ext4/ext4_sync_file_enter", Point::SyncBegins, &["ino"]),
    ("ext4/ext4_sync_file_exit", Point::SyncEnds, &["ino"]),
    ("ext4/ext4_da_write_end", Point::Written, &["ino", "copied"]),
    ("ext4/ext4_write_end", Point::Written, &["ino", "copied"]),
    ("ext4/ext4_allocate_inode", Point::Created, &["ino", "dir"]),
    ("iomap/iomap_dio_rw_begin", Point::DirectBegins, &["ino", "pos", "count", "ki_flags"]),
    ("iomap/iomap_iter", Point::LookedUp, &["ino", "pos", "flags"]),
    ("iomap/iomap_dio_complete", Point::DirectEnds, &["ino", "pos", "ret"]),
    ("block/block_bio_queue", Point::Queued, &["sector", "nr_sector", "rwbs"]),
    ("block/block_rq_issue", Point::Issued, &["sector", "bytes", "rwbs"]),
    ("block/block_rq_requeue", Point::Requeued, &["sector", "nr_sector", "rwbs"]),
    ("block/block_rq_complete", Point::Completed, &["sector", "nr_sector", "rwbs"]),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    SyncBegins,
    SyncEnds,
    Written,
    Created,
    DirectBegins,
    LookedUp,
    DirectEnds,
    Queued,
    Issued,
    Requeued,
    Completed,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    pub time: u64,
    pub pid: u32,
    pub tid: u32,
    pub point: Point,
    pub fields: [u64; 4],
}

/// By the id of a tracepoint, what it says and how.
pub struct Formats(HashMap<u16, (Point, usize, Format)>);

impl Formats {
    /// `texts`: the format file of each of `POINTS`, by name. Err: the name of one that is missing, or cannot be read.
    pub fn new(texts: &HashMap<String, String>) -> Result<Formats, &'static str> {
        let mut known = HashMap::new();
        for (name, point, fields) in POINTS {
            let format = texts.get(name).and_then(|text| Format::parse(text, fields)).ok_or(name)?;
            known.insert(format.id, (point, fields.len(), format));
        }
        Ok(Formats(known))
    }

    /// Appends what a part of a ring says, from the beginning of a record to the end of one. Returns how many records the kernel says that it
    /// dropped, and those that cannot be read.
    pub fn read(&self, mut ring: &[u8], found: &mut Vec<Record>) -> u64 {
        let mut lost = 0;
        while !ring.is_empty() {
            let length = word(ring, 4).map_or(0, |word| (word >> 16) as usize);
            if length < HEADER || length > ring.len() {
                return lost + 1; // what follows begins nowhere
            }
            let (record, rest) = ring.split_at(length);
            ring = rest;
            match word(record, 0) {
                Some(SAMPLE) => match self.sample(record) {
                    Some(record) => found.push(record),
                    None => lost += 1,
                },
                Some(LOST) => lost += long(record, HEADER + 8).unwrap_or(1),
                _ => (),
            }
        }
        lost
    }

    fn sample(&self, record: &[u8]) -> Option<Record> {
        let body = &record[HEADER..];
        let raw = body.get(BEFORE..)?;
        let id = u16::from_le_bytes([*raw.first()?, *raw.get(1)?]);
        let (point, number, format) = self.0.get(&id)?;
        let mut fields = [0; 4];
        for (place, field) in fields.iter_mut().enumerate().take(*number) {
            *field = format.number(raw, place)?;
        }
        Some(Record { time: long(body, 8)?, pid: word(body, 0)?, tid: word(body, 4)?, point: *point, fields })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> Formats {
        let text = |number: usize, fields: &[&str]| {
            let places =
                fields.iter().enumerate().map(|(place, name)| format!("field:u64 {name};\toffset:{};\tsize:8;\tsigned:0;", 8 + 8 * place));
            format!("ID: {number}\n{}", places.collect::<Vec<_>>().join("\n"))
        };
        let texts = POINTS.iter().enumerate().map(|(number, (name, _, fields))| (name.to_string(), text(number + 1, fields))).collect();
        Formats::new(&texts).unwrap_or_else(|name| panic!("{name}"))
    }

    fn sample(id: u16, pid: u32, tid: u32, time: u64, fields: &[u64]) -> Vec<u8> {
        let mut raw = vec![0; 8];
        raw[..2].copy_from_slice(&id.to_le_bytes());
        fields.iter().for_each(|field| raw.extend(field.to_le_bytes()));
        let length = (HEADER + BEFORE + raw.len()) as u16;
        let mut record = [&SAMPLE.to_le_bytes()[..], &[0, 0], &length.to_le_bytes(), &pid.to_le_bytes(), &tid.to_le_bytes()].concat();
        record.extend(time.to_le_bytes());
        record.extend((raw.len() as u32).to_le_bytes());
        record.extend(raw);
        record
    }

    /// Each with its process, thread, time and fields, in their order.
    #[test]
    fn samples_are_read() {
        let mut found = Vec::new();
        let ring = [sample(1, 5, 6, 100, &[42]), sample(3, 5, 7, 200, &[43, 600])].concat();
        assert_eq!(formats().read(&ring, &mut found), 0);
        let second = Record { time: 200, pid: 5, tid: 7, point: Point::Written, fields: [43, 600, 0, 0] };
        assert_eq!(found, [Record { time: 100, pid: 5, tid: 6, point: Point::SyncBegins, fields: [42, 0, 0, 0] }, second]);
    }

    /// What the kernel dropped is counted, and so is what cannot be read.
    #[test]
    fn lost_records_are_counted() {
        let mut dropped = [&LOST.to_le_bytes()[..], &[0, 0], &24u16.to_le_bytes()].concat();
        dropped.extend(1u64.to_le_bytes());
        dropped.extend(17u64.to_le_bytes());
        let unknown = sample(99, 1, 1, 1, &[]);
        let mut found = Vec::new();
        assert_eq!(formats().read(&[dropped, unknown, vec![0; 8]].concat(), &mut found), 19);
        assert!(found.is_empty());
    }

    /// A kernel without one of the tracepoints cannot be read.
    #[test]
    fn a_missing_tracepoint_is_named() {
        assert_eq!(Formats::new(&HashMap::new()).err(), Some("ext4/ext4_sync_file_enter"));
    }
}
