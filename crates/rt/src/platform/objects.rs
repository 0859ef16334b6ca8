//! Whether a piece of memory is a variable of its own, and no part of a larger one: a small global variable of the executable, by the
//! table of symbols in its file, or a block of the heap.
//!
//! Where the file has no such table, or is very long, nobody knows. Cost: the file is read once; 16 bytes for each small variable.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::platform::os;
use crate::platform::world::world;

/// Nobody asks about what is longer than a word.
const SMALL: u64 = 8;

/// Addresses and sizes, sorted.
type Objects = Vec<(u64, u64)>;

static OBJECTS: AtomicPtr<Objects> = AtomicPtr::new(std::ptr::null_mut());

/// See the [module](self).
pub fn is_whole(address: usize, size: usize) -> bool {
    let block = world().blocks.around(address, address);
    if let Some((start, header)) = block {
        return start == address && header.size() == size;
    }
    let object = (address as u64, size as u64);
    objects().binary_search(&object).is_ok()
}

fn objects() -> &'static Objects {
    let mut known = OBJECTS.load(Ordering::Acquire);
    if known.is_null() {
        let file = os::read_all(b"/proc/self/exe\0").unwrap_or_default();
        let mut found = small_objects(&file).unwrap_or_default();
        let bias = bias();
        for (address, _) in &mut found {
            *address = address.wrapping_add(bias);
        }
        found.sort_unstable();
        let new = Box::into_raw(Box::new(found));
        let first = OBJECTS.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire);
        known = match first {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: it stays.
    unsafe { &*known }
}

/// Where the executable lies, less where its file says.
fn bias() -> u64 {
    // SAFETY: the kernel has put the program's headers there.
    unsafe {
        let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
        let count = libc::getauxval(libc::AT_PHNUM) as usize;
        let mut all = (0..count).map(|index| &*headers.add(index));
        let own = all.find(|header| header.p_type == libc::PT_PHDR);
        own.map_or(0, |own| (headers as u64).wrapping_sub(own.p_vaddr))
    }
}

/// The variables that a file's table of symbols has of at most a word: their addresses in the file, and sizes.
fn small_objects(file: &[u8]) -> Option<Objects> {
    const SYMBOLS: u64 = 2;
    const OBJECT: u64 = 1;
    let number = |at: u64, bytes: usize| {
        let at = usize::try_from(at).ok()?;
        let found = file.get(at..at.checked_add(bytes)?)?;
        let digits = found.iter().rev();
        Some(digits.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (sections, length, count) = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?);
    let mut objects = Objects::new();
    for section in (0..count).map(|index| sections.wrapping_add(index * length)) {
        if number(section.wrapping_add(4), 4)? != SYMBOLS {
            continue;
        }
        let start = number(section.wrapping_add(0x18), 8)?;
        let end = start.checked_add(number(section.wrapping_add(0x20), 8)?)?;
        for symbol in (start..end).step_by(24) {
            let kind = number(symbol.wrapping_add(4), 1)? & 15;
            let size = number(symbol.wrapping_add(16), 8)?;
            let is_defined = number(symbol.wrapping_add(6), 2)? != 0;
            if kind == OBJECT && is_defined && (1..=SMALL).contains(&size) {
                objects.push((number(symbol.wrapping_add(8), 8)?, size));
            }
        }
    }
    Some(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[used]
    static mut ONE: u32 = 7;
    #[used]
    static mut PAIR: [u32; 2] = [7, 7];

    #[test]
    fn a_variable_is_told_from_an_element() {
        let (one, pair) = (&raw const ONE as u64, &raw const PAIR as u64);
        let has = |object| objects().binary_search(&object).is_ok();
        assert!(has((one, 4)));
        assert!(has((pair, 8)));
        assert!(!has((pair, 4)) && !has((pair + 4, 4)) && !has((one, 2)));
    }

    #[test]
    fn a_damaged_file_has_no_variables() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        assert!(small_objects(&file).is_some());
        for length in [0, 6, 0x3e, file.len() / 2] {
            assert_eq!(small_objects(&file[..length]), None, "{length}");
        }
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let mut header: Vec<u8> = file[..0x40].to_vec();
            header[random.usize(6..0x40)] = random.u8(..);
            let _ = small_objects(&header);
        }
    }
}
