//! How the kernel lays out the records of a tracepoint: the `format` files of tracefs.

use std::collections::HashMap;

/// Where a number lies in a record.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    offset: usize,
    bytes: usize,
    signed: bool,
}

/// One tracepoint.
#[derive(Debug)]
pub struct Format {
    /// Of its records: the first two bytes of each.
    pub id: u16,
    places: Vec<Place>,
}

impl Format {
    /// `text`: the file; `fields`: those that are read, by their place here. None: the file is none, or has no such field.
    pub fn parse(text: &str, fields: &[&str]) -> Option<Format> {
        let mut id = None;
        let mut known = HashMap::new();
        for line in text.lines().map(str::trim) {
            if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some((name, place)) = line.strip_prefix("field:").and_then(field) {
                known.insert(name, place);
            }
        }
        let places = fields.iter().map(|name| known.get(name).copied()).collect::<Option<_>>()?;
        Some(Format { id: id?, places })
    }

    /// One of the fields as a number; a signed one keeps its sign as two's complement. A text is the number of its first eight bytes.
    pub fn number(&self, record: &[u8], field: usize) -> Option<u64> {
        let place = self.places.get(field)?;
        let bytes = record.get(place.offset..place.offset + place.bytes.min(8))?;
        let mut number = [if place.signed && bytes.last()? & 0x80 != 0 { 0xff } else { 0 }; 8];
        number[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(number))
    }
}

/// Of `long long pos; offset:24; size:8; signed:1;`: the name and the place.
fn field(line: &str) -> Option<(&str, Place)> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?;
    let name = declared.split('[').next()?.split_whitespace().last()?;
    let mut of = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
    let (offset, bytes, signed) = (of("offset:")?, of("size:")?, of("signed:")?);
    let text = declared.contains('[');
    Some((name, Place { offset, bytes, signed: signed == 1 && !text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: ext4_x\nID: 1232\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:ino_t ino;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n\
        \tfield:char rwbs[10];\toffset:20;\tsize:10;\tsigned:0;\n\nprint fmt: \"x\"\n";

    /// Offsets differ between kernels; each is read from the file.
    #[test]
    fn fields_are_found_by_name() {
        let format = Format::parse(TEXT, &["ret", "ino", "rwbs"]).expect("a format");
        let mut record = [0u8; 30];
        record[8] = 7;
        record[16..20].copy_from_slice(&(-5i32).to_le_bytes());
        record[20..23].copy_from_slice(b"FF\0");
        assert_eq!(format.id, 1232);
        assert_eq!(format.number(&record, 0).map(|number| number as i64), Some(-5));
        assert_eq!(format.number(&record, 1), Some(7));
        assert_eq!(format.number(&record, 2), Some(0x4646));
        assert_eq!(format.number(&record[..12], 1), None, "a record that is cut off has no number");
    }

    /// A kernel without the field is not read by guesses.
    #[test]
    fn a_field_that_is_missing_is_an_error() {
        assert!(Format::parse(TEXT, &["ino", "position"]).is_none());
        assert!(Format::parse("field:int a;\toffset:0;\tsize:4;\tsigned:1;", &["a"]).is_none());
    }
}
