//! The sections of a file that its DWARF is in.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fs::File;
use std::os::unix::fs::FileExt;

use gimli::{DwarfSections, EndianSlice, LittleEndian};
use object::{Object, ObjectSection, ObjectSegment};

/// More entries than this are not read.
const MOST: usize = 1 << 30;

/// A piece of a section.
pub type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// What a file says of its names and types.
pub struct Sections {
    dwarf: DwarfSections<Vec<u8>>,
    /// Where the file's pieces lie in memory, how long they are, and where in the file.
    segments: Vec<(u64, u64, u64)>,
}

impl Sections {
    /// Of an executable or library; none if it says nothing.
    pub fn read(path: &str) -> Option<Sections> {
        let content = std::fs::read(path).ok()?;
        let file = object::File::parse(&*content).ok()?;
        if !file.is_little_endian() {
            return None;
        }
        let section = |name: &str| {
            let data = file.section_by_name(name)?.uncompressed_data().ok()?;
            Some(Cow::into_owned(data))
        };
        let sections =
            DwarfSections::load(|id| Ok::<_, Infallible>(section(id.name()).unwrap_or_default()));
        let Ok(sections) = sections;
        let entries = section(gimli::SectionId::DebugInfo.name())?.len();
        let segments = file.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (segment.address(), length, offset)
        });
        let sections = Sections {
            dwarf: sections,
            segments: segments.collect(),
        };
        (0 < entries && entries <= MOST).then_some(sections)
    }

    /// To read in.
    pub fn dwarf(&self) -> gimli::Dwarf<Slice<'_>> {
        let slice = |section| EndianSlice::new(Vec::as_slice(section), LittleEndian);
        self.dwarf.borrow(slice)
    }

    /// Where the call before an address goes, if it says so itself (x86-64).
    pub fn call_target(&self, path: &str, return_address: u64) -> Option<u64> {
        const LENGTH: u64 = 5;
        let call = return_address.checked_sub(LENGTH)?;
        let mut segments = self.segments.iter();
        let (start, _, offset) = segments
            .find(|(start, length, _)| call.checked_sub(*start).is_some_and(|at| at < *length))?;
        let mut bytes = [0; LENGTH as usize];
        let file = File::open(path).ok()?;
        file.read_exact_at(&mut bytes, offset + (call - start))
            .ok()?;
        let [0xe8, distance @ ..] = bytes else {
            return None;
        };
        Some(return_address.wrapping_add_signed(i32::from_le_bytes(distance).into()))
    }
}
