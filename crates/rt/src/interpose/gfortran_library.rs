//! Functions of gfortran's library that read and write what the program points at: `print *, x`, `read (*, *) a`.

use super::calls::calls;
use super::memory::{reads, writes};

/// An array, as gfortran describes it.
#[repr(C)]
struct Array {
    first: usize,
    offset: usize,
    element_size: usize,
    version: i32,
    rank: i8,
    kind: i8,
    attribute: i16,
    span: usize,
}

/// One of its dimensions.
#[repr(C)]
struct Dimension {
    stride: isize,
    lower: isize,
    upper: isize,
}

/// Tells of an array's elements, those that lie side by side together.
fn touch(array: usize, pc: usize, tell: fn(usize, usize, usize)) {
    // SAFETY: what compiled code says of an array, with its dimensions behind it.
    let (array, dimensions) = unsafe {
        let array = &*(array as *const Array);
        let dimensions = (&raw const *array).add(1).cast::<Dimension>();
        let rank = usize::try_from(array.rank).unwrap_or(0);
        (array, std::slice::from_raw_parts(dimensions, rank))
    };
    let count = |dimension: &Dimension| {
        let last = dimension.upper.saturating_add(1);
        usize::try_from(last.saturating_sub(dimension.lower)).unwrap_or(0)
    };
    let mut size = array.element_size;
    let mut apart = dimensions;
    while let [dimension, rest @ ..] = apart
        && dimension.stride.checked_mul(array.element_size as isize) == Some(size as isize)
    {
        size = size.saturating_mul(count(dimension));
        apart = rest;
    }
    let pieces: usize = apart.iter().map(count).product();
    if size == 0 || array.first == 0 {
        return;
    }
    for piece in 0..pieces {
        let mut rest = piece;
        let mut from = array.first;
        for dimension in apart {
            let index = (rest % count(dimension)) as isize;
            rest /= count(dimension);
            let step = dimension.stride.wrapping_mul(array.element_size as isize);
            from = from.wrapping_add_signed(index.wrapping_mul(step));
        }
        tell(from, size, pc);
    }
}

/// A number of 32 bits.
fn int(word: usize) -> usize {
    usize::try_from(word as i32).unwrap_or(0)
}

calls! { (pc, _result)
    _gfortran_transfer_integer_write(statement, value, kind) { reads(value, int(kind), pc) } {};
    _gfortran_transfer_real_write(statement, value, kind) { reads(value, int(kind), pc) } {};
    _gfortran_transfer_logical_write(statement, value, kind) { reads(value, int(kind), pc) } {};
    _gfortran_transfer_complex_write(statement, value, kind) { reads(value, 2 * int(kind), pc) } {};
    _gfortran_transfer_character_write(statement, text, length) { reads(text, length, pc) } {};
    _gfortran_transfer_array_write(statement, array, kind, length) { touch(array, pc, reads) } {};
    _gfortran_transfer_integer(statement, value, kind) {} { writes(value, int(kind), pc) };
    _gfortran_transfer_real(statement, value, kind) {} { writes(value, int(kind), pc) };
    _gfortran_transfer_logical(statement, value, kind) {} { writes(value, int(kind), pc) };
    _gfortran_transfer_complex(statement, value, kind) {} { writes(value, 2 * int(kind), pc) };
    _gfortran_transfer_character(statement, text, length) {} { writes(text, length, pc) };
    _gfortran_transfer_array(statement, array, kind, length) {} { touch(array, pc, writes) };
}
