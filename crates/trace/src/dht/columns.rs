//! Columns of bytes, compressed where that pays, and numbers in them.
//!
//! A column in a file is its plain length, its stored length (both as [`put_number`] writes numbers),
//! and the stored bytes: the plain ones if the lengths are equal, else a zstd frame. Before a column is
//! decompressed, its plain length is compared with what its reader allows.

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use crate::error::BlockProblem;

/// Columns below this are stored as they are.
const WORTH_COMPRESSING: usize = 48;

/// Appends columns.
pub(super) struct ColumnWriter {
    compressor: Compressor<'static>,
    scratch: Vec<u8>,
}

impl ColumnWriter {
    pub fn new() -> std::io::Result<ColumnWriter> {
        let mut compressor = Compressor::new(1)?;
        // Short repetitions in columns that are mostly chance take longer to undo than they save.
        compressor.set_parameter(CParameter::MinMatch(7))?;
        Ok(ColumnWriter {
            compressor,
            scratch: Vec::new(),
        })
    }

    /// Appends a column to `out`.
    pub fn put(&mut self, column: &[u8], out: &mut Vec<u8>) {
        self.put_at_least(0, column, out);
    }

    /// Appends a column to `out`, as it is if it would take less than `least` bytes.
    pub fn put_at_least(&mut self, least: usize, column: &[u8], out: &mut Vec<u8>) {
        put_number(column.len() as u64, out);
        let stored = self
            .compressed(column)
            .filter(|stored| stored.len() >= least);
        let stored = stored.unwrap_or(column);
        put_number(stored.len() as u64, out);
        out.extend_from_slice(stored);
    }

    /// The column compressed, if that saves enough to be worth the time it takes to undo.
    fn compressed(&mut self, column: &[u8]) -> Option<&[u8]> {
        if column.len() < WORTH_COMPRESSING {
            return None;
        }
        self.scratch
            .resize(zstd::zstd_safe::compress_bound(column.len()), 0);
        let compressor = &mut self.compressor;
        let stored = compressor
            .compress_to_buffer(column, &mut self.scratch)
            .ok()?;
        (stored < column.len() - column.len() / 4).then(|| &self.scratch[..stored])
    }
}

/// Takes columns off a payload, in the order in which they were put.
pub(super) struct ColumnReader<'a> {
    rest: &'a [u8],
    decompressor: &'a mut Decompressor<'static>,
    /// How many were taken.
    taken: usize,
}

impl<'a> ColumnReader<'a> {
    pub fn new(payload: &'a [u8], decompressor: &'a mut Decompressor<'static>) -> ColumnReader<'a> {
        ColumnReader {
            rest: payload,
            decompressor,
            taken: 0,
        }
    }

    /// A number that stands between columns.
    pub fn number(&mut self, what: &'static str, most: u64) -> Result<usize, BlockProblem> {
        let value = get_number(&mut self.rest).ok_or(BlockProblem::Content(what))?;
        match value <= most {
            true => Ok(value as usize),
            false => Err(BlockProblem::Count { what, value, most }),
        }
    }

    /// The next column, which has at most `most` bytes, put into `column`.
    pub fn take(
        &mut self,
        what: &'static str,
        most: usize,
        column: &mut Vec<u8>,
    ) -> Result<(), BlockProblem> {
        let length = self.number(what, most as u64)?;
        let stored = self.number(what, self.rest.len() as u64)?;
        let (bytes, rest) = self
            .rest
            .split_at_checked(stored)
            .ok_or(BlockProblem::CutOff)?;
        self.rest = rest;
        if stored == length {
            column.clear();
            column.extend_from_slice(bytes);
        } else {
            column.resize(length, 0);
            let made = self
                .decompressor
                .decompress_to_buffer(bytes, &mut column[..]);
            if made.ok() != Some(length) {
                return Err(BlockProblem::Column(self.taken));
            }
        }
        self.taken += 1;
        Ok(())
    }

    /// How many bytes come behind what was taken.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// There must be nothing left.
    pub fn finish(self) -> Result<(), BlockProblem> {
        match self.rest {
            [] => Ok(()),
            _ => Err(BlockProblem::Content("bytes")),
        }
    }
}

/// Seven bits a byte, the lowest first; all but the last byte have their highest bit set.
#[inline]
pub(super) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The way back; nothing if the bytes end too early or make more than 64 bits.
#[inline]
pub(super) fn get_number(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(first.into());
    }
    get_long_number(bytes)
}

/// The same where lengths cannot be foreseen: no branch depends on the length, if it is from two to eight
/// bytes.
#[inline]
pub(super) fn get_number_of_any_length(bytes: &mut &[u8]) -> Option<u64> {
    let Some(chunk) = bytes.first_chunk::<8>() else {
        return get_number(bytes);
    };
    if chunk[0] < 0x80 {
        *bytes = &bytes[1..];
        return Some(chunk[0].into());
    }
    let chunk = u64::from_le_bytes(*chunk);
    let ends = !chunk & 0x8080_8080_8080_8080;
    if ends == 0 {
        return get_long_number(bytes);
    }
    let last_bit = ends.trailing_zeros();
    // The groups of seven bits are pushed together: pairs, then pairs of pairs, then those.
    let groups = chunk & (u64::MAX >> (63 - last_bit)) & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = groups & 0x007f_007f_007f_007f | (groups & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    let number = fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4;
    *bytes = &bytes[last_bit as usize / 8 + 1..];
    Some(number)
}

fn get_long_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A difference as a number that is small if the difference is, either way.
#[inline]
pub(super) fn fold(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The way back.
#[inline]
pub(super) fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_differences_come_back() {
        for shift in 0..64 {
            for near in [-1, 0, 1] {
                let number = (1_u64 << shift).wrapping_add_signed(near);
                let mut bytes = Vec::new();
                put_number(number, &mut bytes);
                let mut rest = &bytes[..];
                assert_eq!(get_number(&mut rest), Some(number));
                assert_eq!(rest, b"");
                bytes.extend_from_slice(&[0x80; 9]);
                let mut rest = &bytes[..];
                assert_eq!(get_number_of_any_length(&mut rest), Some(number));
                assert_eq!(rest, [0x80; 9]);
                bytes.truncate(bytes.len() - 9);
                assert_eq!(get_number(&mut &bytes[..bytes.len() - 1]), None);
                assert_eq!(unfold(fold(number as i64)), number as i64);
            }
        }
        assert_eq!(get_number(&mut &[0xff; 10][..]), None);
        assert_eq!(get_number(&mut &[0xff; 9][..]), None);
    }

    #[test]
    fn columns_come_back_and_are_bounded() {
        let columns = [vec![], vec![7; 1000], (0..200).collect(), vec![1, 2, 3]];
        let mut payload = Vec::new();
        let mut writer = ColumnWriter::new().unwrap();
        for column in &columns {
            writer.put(column, &mut payload);
        }
        assert!(payload.len() < 300, "{}", payload.len());
        let mut decompressor = Decompressor::new().unwrap();
        let mut reader = ColumnReader::new(&payload, &mut decompressor);
        let mut taken = Vec::new();
        for column in &columns {
            reader.take("x", 1000, &mut taken).unwrap();
            assert_eq!(taken, *column);
        }
        assert_eq!(reader.finish(), Ok(()));
        let mut reader = ColumnReader::new(&payload, &mut decompressor);
        reader.take("x", 0, &mut taken).unwrap();
        let problem = reader.take("x", 999, &mut taken).unwrap_err();
        assert!(
            problem
                .to_string()
                .contains("says 1000, and there can be at most 999")
        );
    }
}
