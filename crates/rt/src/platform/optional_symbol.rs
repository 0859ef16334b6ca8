//! Symbols that a program may have: a weak one that nobody defines is at 0.
//!
//! Only assembly refers to them. `.weak` says so of the object that it stands in alone, so that a symbol declared in Rust would have to be
//! used in that object only, which Rust does not promise.

/// The address of a symbol, or 0.
macro_rules! optional_symbol {
    ($name:literal) => {{
        let address: usize;
        // SAFETY: reads where the linker has put the address.
        unsafe {
            std::arch::asm!(concat!(".weak ", $name), concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address, options(pure, readonly, nostack, preserves_flags));
        }
        address
    }};
}

pub(crate) use optional_symbol;
