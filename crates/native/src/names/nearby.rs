//! The line nearest to code that has none: optimisers leave none to what they have moved or merged.
//!
//! Only a line of the same function counts: one of a function that was inlined there, or of the one around, would name code
//! that has nothing to do with the access.

use addr2line::Loader;

/// How far a line is looked for.
const FAR: u64 = 256;

/// The nearest line before the code at an address, or else behind it, where the same function runs innermost; and its file.
pub fn line(code: &Loader, address: u64) -> Option<(String, u32)> {
    let symbol = code.find_symbol_info(address)?.address();
    let function = innermost(code, address)?;
    let (from, to) = (address.saturating_sub(FAR).max(symbol), address + FAR);
    let mut places: Vec<(u64, String, u32)> = code
        .find_location_range(from, to)
        .ok()?
        .filter_map(|(start, _, place)| {
            let line = place.line.filter(|&line| line > 0)?;
            Some((start, place.file?.to_string(), line))
        })
        .collect();
    let behind = |start: u64| start > address;
    places.sort_by_key(|(start, ..)| (behind(*start), start.abs_diff(address)));
    let same = |start: u64| {
        let here = code.find_symbol_info(start);
        here.is_some_and(|here| here.address() == symbol)
            && innermost(code, start).as_ref() == Some(&function)
    };
    let (_, file, line) = places.into_iter().find(|(start, ..)| same(*start))?;
    Some((file, line))
}

/// The function that runs innermost, and how deep it was inlined.
fn innermost(code: &Loader, address: u64) -> Option<(String, usize)> {
    let mut frames = code.find_frames(address).ok()?;
    let function = frames.next().ok()??.function?;
    let name = function.raw_name().ok()?.into_owned();
    let mut depth = 0;
    while let Ok(Some(_)) = frames.next() {
        depth += 1;
    }
    Some((name, depth))
}
