//! A file as bytes.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a file: mapped, or given.
pub(super) enum Bytes {
    Mapped(Mmap),
    Given(Vec<u8>),
}

impl Bytes {
    /// Maps a file.
    #[allow(unsafe_code)]
    pub fn map(file: &File) -> io::Result<Bytes> {
        // SAFETY: the map is read only and stays private to this module as a slice. What it asks for
        // beyond that is that nobody changes the file meanwhile: a `Writer` only ever appends, behind
        // what is mapped here, and a finished trace is not written to again. As with every program that
        // maps its input, somebody else who overwrites or cuts the file while it is read is not
        // guarded against.
        unsafe { Mmap::map(file) }.map(Bytes::Mapped)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Given(bytes) => bytes,
        }
    }
}
