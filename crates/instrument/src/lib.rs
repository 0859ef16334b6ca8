//! The plug-in by which clang marks what a program's source accesses, and checks as little of it as will do.
//!
//! It is written against LLVM's own analyses (dominators, loops, scalar evolution, captured pointers), which only C++ has: see
//! `pass/`, one idea a file, of which `mark.h` comes first. A plug-in fits one version of clang. Where the headers of
//! that version were missing when this crate was built there is none, and clang's own pass does the work.

/// The version of clang that the plug-in fits.
pub const CLANG: u32 = parse(env!("DEADHEAT_PLUGIN_VERSION"));

/// The plug-in, a shared object for `-fpass-plugin`, if there is one.
#[cfg(plugin)]
pub const PLUGIN: Option<&[u8]> = Some(include_bytes!(env!("DEADHEAT_PLUGIN")));
/// The plug-in, a shared object for `-fpass-plugin`, if there is one.
#[cfg(not(plugin))]
pub const PLUGIN: Option<&[u8]> = None;

const fn parse(number: &str) -> u32 {
    match u32::from_str_radix(number, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version is a number"),
    }
}
