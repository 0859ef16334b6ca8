//! What belongs to a library rather than to the program: types that the standard library or the system's headers declare.
//! What they keep inside has names that no user of theirs has written.

use gimli::AttributeValue;

use super::dies::{Die, Dies, Entry};
use crate::symbols::tidy_path;

/// Whether all in this outermost namespace is a library's.
pub fn is_namespace(name: &[u8]) -> bool {
    let known: [&[u8]; 6] = [
        b"std",
        b"core",
        b"alloc",
        b"__gnu_cxx",
        b"__cxxabiv1",
        b"hashbrown",
    ];
    known.contains(&name)
}

/// Whether a type is a library's.
pub fn declares(dies: &mut Dies, die: Die, entry: &Entry) -> bool {
    if dies.index.is_in_library(die) {
        return true;
    }
    let Some(AttributeValue::FileIndex(file)) = entry.attr_value(gimli::DW_AT_decl_file) else {
        return false;
    };
    if let Some(&known) = dies.system_files.get(&(die.unit, file)) {
        return known;
    }
    let is_system = path(dies, die.unit, file).is_some_and(|path| is_system(&path));
    dies.system_files.insert((die.unit, file), is_system);
    is_system
}

fn is_system(path: &str) -> bool {
    path.starts_with("/usr/")
        || path.starts_with("/lib")
        || path.contains("/rustlib/src/rust/library/")
        || path.starts_with("/rustc/") && path.contains("/library/")
}

/// The path of a unit's file.
pub fn path(dies: &mut Dies, number: u32, file: u64) -> Option<String> {
    let unit = dies.unit(number)?;
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(file)?;
    let text = |value| {
        let text = dies.dwarf.attr_string(&unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let mut path = text(file.path_name())?;
    let directory = file.directory(header).and_then(text);
    let compiled = unit
        .comp_dir
        .map(|text| text.to_string_lossy().into_owned());
    for above in [directory, compiled].into_iter().flatten() {
        if !path.starts_with('/') {
            path = format!("{above}/{path}");
        }
    }
    Some(tidy_path(&path))
}
