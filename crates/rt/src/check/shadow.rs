//! Shadow memory: from an address of the program to what is known of its word.
//!
//! The simple model: an array with an entry for each eight bytes of the address space; zeros mean that nothing is known.
//!
//! Programs of threads have sixteen bytes for each word, a [`Cell`](crate::check::cell::Cell): so large an array is more than
//! an address space holds, and is made region by region ([`Regions`]). Programs of OpenMP have four, the number of a
//! history, in one mapping ([`Area`]). Both are where the kernel chooses: no layout is assumed, and memory is only taken
//! for what is touched.
//!
//! A bitmap notes which megabytes of an area are in use, so that all entries can be visited. Bit by bit and
//! never taken back: a visit skips pages that are not there.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::check::cell::Cell;
use crate::check::histories::InUse;
use crate::check::strips;
use crate::platform::os::{self, Spin};

/// Programs live below this address.
pub const ADDRESS_BITS: u32 = 47;
const CHUNK_BITS: u32 = 20;
const CHUNK: usize = 1 << CHUNK_BITS;
const PAGE: usize = 4096;
/// From so many whole pages on it is cheaper to give them back than to fill them with zeros.
const MANY_PAGES: usize = 16;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub enum Shadow {
    /// Numbers of histories.
    Numbers(Area),
    Cells(Regions),
}

impl Shadow {
    /// With the numbers of histories. None: the address space is too small or limited.
    pub fn of_numbers() -> Option<Shadow> {
        Some(Shadow::Numbers(Area::new(0, ADDRESS_BITS, 2)?))
    }

    /// With cells. None: the address space is too small or limited.
    pub fn of_cells() -> Option<Shadow> {
        Regions::new().map(Shadow::Cells)
    }

    /// What those need who find an entry by themselves: where the numbers begin, or the table of regions.
    pub fn base(self) -> usize {
        match self {
            Shadow::Numbers(area) => area.base,
            Shadow::Cells(regions) => regions.table as usize,
        }
    }

    /// The number of the word at an address, given where the numbers begin.
    #[inline(always)]
    pub fn cell_at<'a>(base: usize, address: usize) -> &'a AtomicU32 {
        const SIZE: usize = 1 << (ADDRESS_BITS - 1);
        let offset = (address >> 1) & (SIZE - 1) & !3;
        // SAFETY: within the mapping, which lives as long as the process.
        unsafe { &*((base + offset) as *const AtomicU32) }
    }

    /// The number of the word at an address, in a program of OpenMP.
    #[inline]
    pub fn cell<'a>(self, address: usize) -> &'a AtomicU32 {
        match self {
            Shadow::Numbers(area) => Shadow::cell_at(area.base, address),
            Shadow::Cells(_) => os::die("deadheat: numbers are for programs of OpenMP\n"),
        }
    }

    /// A number is about to be used for the first time.
    #[inline]
    pub fn note(self, cell: &AtomicU32) {
        if let Shadow::Numbers(area) = self {
            area.note(cell.as_ptr() as usize);
        }
    }

    /// Something is about to be known of the word at an address.
    #[inline]
    pub fn note_at(self, address: usize) {
        match self {
            Shadow::Numbers(area) => area.note(area.entry(address)),
            Shadow::Cells(regions) => regions.note(address),
        }
    }

    /// Nothing is known of these addresses any more. Both ends are multiples of eight.
    pub fn clear(self, from: usize, to: usize) {
        match self {
            Shadow::Numbers(area) => area.clear(from, to),
            Shadow::Cells(regions) => regions.each(from, to, |area, from, to| area.clear(from, to)),
        }
    }

    /// Calls `each` with the parts of these addresses of which something may be known.
    pub fn resident(self, from: usize, to: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Shadow::Numbers(area) => area.resident(from, to, &mut each),
            Shadow::Cells(regions) => {
                regions.each(from, to, |area, from, to| {
                    area.resident(from, to, &mut each)
                });
            }
        }
    }

    /// Nothing is known of any address any more.
    pub fn forget_all(self) {
        match self {
            Shadow::Numbers(area) => area.forget_all(),
            Shadow::Cells(regions) => regions.all(Area::forget_all),
        }
    }

    /// Visits every number that a word has, of a history or of more marks, and says how many pages it has looked at.
    pub fn visit(self, mut each: impl FnMut(InUse)) -> usize {
        let mut pages = 0;
        match self {
            Shadow::Numbers(area) => area.pages(|page| {
                pages += 1;
                visit_numbers(page, &mut |number| each(InUse::History(number)));
            }),
            Shadow::Cells(regions) => regions.all(|area| {
                area.pages(|page| {
                    pages += 1;
                    cells_of(page).for_each(|cell| {
                        let first = cell.load()[0];
                        if let Some(number) = first.linked() {
                            each(InUse::History(number));
                        } else if let Some(number) = first.has_more() {
                            each(InUse::Others(number));
                        }
                    });
                });
            }),
        }
        pages
    }

    /// Visits every cell in use, in a program of threads.
    pub fn visit_cells(self, mut each: impl FnMut(&Cell)) {
        if let Shadow::Cells(regions) = self {
            regions.all(|area| area.pages(|page| cells_of(page).for_each(&mut each)));
        }
    }
}

fn visit_numbers(page: usize, each: &mut impl FnMut(u32)) {
    let mut last = 0;
    for at in (page..page + PAGE).step_by(4) {
        // SAFETY: within the shadow's mapping.
        let number = unsafe { &*(at as *const AtomicU32) }.load(Ordering::Relaxed);
        if number != last {
            each(number);
            last = number;
        }
    }
}

fn cells_of(page: usize) -> impl Iterator<Item = &'static Cell> {
    // SAFETY: within the shadow's mapping.
    (page..page + PAGE)
        .step_by(size_of::<Cell>())
        .map(|at| unsafe { &*(at as *const Cell) })
}

/// How many bytes of the program a region tells of.
const REGION_BITS: u32 = 36;
const REGION: usize = 1 << REGION_BITS;
const REGIONS: usize = 1 << (ADDRESS_BITS - REGION_BITS);

/// The cells of the whole address space: a table says where those of each region begin. A region that nobody has
/// accessed shares one that is always empty and cannot be written.
#[derive(Clone, Copy, Debug)]
pub struct Regions {
    table: *const AtomicUsize,
    nothing: usize,
    /// Says who may make a region.
    lock: &'static Spin,
}

// SAFETY: the table is of atomics.
unsafe impl Sync for Regions {}
// SAFETY: as above.
unsafe impl Send for Regions {}

impl Regions {
    fn new() -> Option<Regions> {
        static LOCK: Spin = Spin::new();
        let table = os::reserve(REGIONS * 8)? as *const AtomicUsize;
        let nothing = os::reserve_unwritable(2 * REGION)?;
        let regions = Regions {
            table,
            nothing,
            lock: &LOCK,
        };
        (0..REGIONS).for_each(|index| regions.entry(index).store(nothing, Ordering::Relaxed));
        Some(regions)
    }

    fn entry(&self, index: usize) -> &AtomicUsize {
        // SAFETY: within the table.
        unsafe { &*self.table.add(index % REGIONS) }
    }

    /// The cell of the word at an address, to be read only: where nothing is known it may be one that all share.
    #[inline(always)]
    pub fn cell_at<'a>(table: usize, address: usize) -> &'a Cell {
        let region = (address >> REGION_BITS) & (REGIONS - 1);
        // SAFETY: within the table, and then within a mapping that lives as long as the process.
        unsafe {
            let base = (*(table as *const AtomicUsize).add(region)).load(Ordering::Relaxed);
            &*((base + 2 * (address & (REGION - 8))) as *const Cell)
        }
    }

    /// The cell of the word at an address.
    #[inline]
    pub fn cell<'a>(self, address: usize) -> &'a Cell {
        let region = (address >> REGION_BITS) & (REGIONS - 1);
        if self.entry(region).load(Ordering::Relaxed) == self.nothing {
            self.make(region);
        }
        Regions::cell_at(self.table as usize, address)
    }

    /// The cells of so many words from an address on, within a region.
    #[inline]
    pub fn cells<'a>(self, address: usize, words: usize) -> &'a [Cell] {
        // SAFETY: within the region's mapping, which lives as long as the process.
        unsafe { std::slice::from_raw_parts(self.cell(address), words) }
    }

    /// Where the next region begins.
    #[inline]
    pub fn end_of_region(address: usize) -> usize {
        ((address >> REGION_BITS) + 1) << REGION_BITS
    }

    /// The part of the address space of which one bit says that it is in use.
    #[inline(always)]
    pub fn part(address: usize) -> usize {
        address >> (CHUNK_BITS - 1)
    }

    /// The cell of the word at an address is about to be used for the first time.
    #[inline]
    pub fn note(self, address: usize) {
        self.cell(address);
        let area = self.area((address >> REGION_BITS) & (REGIONS - 1));
        area.note(area.entry(address));
    }

    /// The same, if there is a place for it already.
    #[inline]
    pub fn note_if_made(self, address: usize) -> bool {
        let made = self
            .entry((address >> REGION_BITS) & (REGIONS - 1))
            .load(Ordering::Relaxed)
            != self.nothing;
        if made {
            self.note(address);
        }
        made
    }

    #[cold]
    fn make(self, region: usize) {
        let _guard = self.lock.lock();
        if self.entry(region).load(Ordering::Relaxed) == self.nothing {
            let bytes = Area::bytes(REGION_BITS, 4);
            self.entry(region)
                .store(os::reserve_or_die(bytes), Ordering::Release);
        }
    }

    fn area(self, region: usize) -> Area {
        let base = self.entry(region).load(Ordering::Acquire);
        Area::at(base, region << REGION_BITS, REGION_BITS, 4)
    }

    /// The areas of those of these addresses of which anything may be known.
    fn each(self, from: usize, to: usize, mut each: impl FnMut(Area, usize, usize)) {
        let mut at = from;
        while at < to {
            let region = at >> REGION_BITS;
            let end = ((region + 1) << REGION_BITS).min(to);
            if region >= REGIONS {
                return;
            }
            let area = self.area(region);
            if area.base != self.nothing {
                each(area, at, end);
            }
            at = end;
        }
    }

    fn all(self, mut each: impl FnMut(Area)) {
        self.each(0, REGIONS << REGION_BITS, |area, _, _| each(area));
    }
}

/// The shadow of a piece of the address space, in one mapping, with bitmaps behind it.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    base: usize,
    /// The first address it tells of, and how many there are.
    first: usize,
    bits: u32,
    /// The logarithm of an entry's size.
    log: u32,
}

impl Area {
    fn new(first: usize, bits: u32, log: u32) -> Option<Area> {
        let base = os::reserve(Area::bytes(bits, log))?;
        Some(Area::at(base, first, bits, log))
    }

    fn at(base: usize, first: usize, bits: u32, log: u32) -> Area {
        Area {
            base,
            first,
            bits,
            log,
        }
    }

    fn bytes(bits: u32, log: u32) -> usize {
        let area = Area::at(0, 0, bits, log);
        area.size() + area.size() / CHUNK / 8 + area.size() / CHUNK / 64 / 8 + 64
    }

    fn size(self) -> usize {
        1 << (self.bits - 3 + self.log)
    }

    /// A bit for every chunk that is in use.
    fn chunks(self) -> *const AtomicU64 {
        (self.base + self.size()) as *const AtomicU64
    }

    /// A bit for every word of `chunks` that is not 0.
    fn summary(self) -> *const AtomicU64 {
        (self.base + self.size() + self.size() / CHUNK / 8) as *const AtomicU64
    }

    /// Where the entry of an address is.
    #[inline]
    fn entry(self, address: usize) -> usize {
        self.base + (((address - self.first) & ((1 << self.bits) - 1)) >> 3 << self.log)
    }

    #[inline]
    fn note(self, entry: usize) {
        let chunk = (entry - self.base) >> CHUNK_BITS;
        // SAFETY: within the bitmap: an entry lies within the array.
        let word = unsafe { &*self.chunks().add(chunk / 64) };
        let bit = 1 << (chunk % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
            let index = chunk / 64;
            // SAFETY: within the summary, which has a bit for every word.
            let word = unsafe { &*self.summary().add(index / 64) };
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
        }
    }

    fn clear(self, from: usize, to: usize) {
        let first = self.entry(from);
        let end = first + ((to - from) >> 3 << self.log);
        let (page, last_page) = (first.next_multiple_of(PAGE), end & !(PAGE - 1));
        if page + MANY_PAGES * PAGE < last_page {
            zero(first, page);
            // SAFETY: pages of the shadow's own mapping.
            unsafe { os::forget(page, last_page - page) };
            zero(last_page, end);
        } else {
            zero(first, end);
        }
    }

    fn resident(self, from: usize, to: usize, each: &mut impl FnMut(usize, usize)) {
        // How many bytes of the program a chunk tells of.
        let step = CHUNK >> self.log << 3;
        let mut at = from;
        while at < to {
            let chunk = (at - self.first) / step;
            // SAFETY: within the bitmap: a chunk for each piece of the area.
            let word = unsafe { &*self.chunks().add(chunk / 64) };
            let word = word.load(Ordering::Relaxed);
            if word == 0 {
                // Sixty-four at once: programs give back terabytes that they have reserved and hardly used.
                at = self.first + (chunk / 64 + 1) * 64 * step;
                continue;
            }
            let end = (self.first + (chunk + 1) * step).min(to);
            if word & 1 << (chunk % 64) != 0 {
                self.resident_in_chunk(at, end, each);
            }
            at = end;
        }
    }

    fn resident_in_chunk(self, from: usize, to: usize, each: &mut impl FnMut(usize, usize)) {
        // How many bytes of the program a page tells of.
        let step = PAGE >> self.log << 3;
        let page_of = |address| self.entry(address) / PAGE;
        let start = page_of(from);
        let pages = page_of(to - 1) - start + 1;
        let present = present(start * PAGE, pages);
        let first = from & !(step - 1);
        for (page, _) in (0..pages).zip(present).filter(|(_, there)| there & 1 == 1) {
            let (start, end) = (first + page * step, first + (page + 1) * step);
            each(start.max(from), end.min(to));
        }
    }

    fn forget_all(self) {
        self.for_chunks(|chunk| {
            // SAFETY: pages of the shadow's own mapping.
            unsafe { os::forget(chunk, CHUNK) };
        });
    }

    /// Calls `each` with where each megabyte in use begins.
    fn for_chunks(self, mut each: impl FnMut(usize)) {
        let summary = self.size() / CHUNK / 64;
        for_bits(self.summary(), summary, |index| {
            // SAFETY: within the bitmap: the summary has a bit for each of its words.
            for_bits(unsafe { self.chunks().add(index) }, 64, |bit| {
                each(self.base + ((index * 64 + bit) << CHUNK_BITS));
            });
        });
    }

    /// Calls `each` with where each page in use begins.
    fn pages(self, mut each: impl FnMut(usize)) {
        self.for_chunks(|chunk| {
            let present = present(chunk, CHUNK / PAGE);
            for (page, _) in present
                .iter()
                .enumerate()
                .filter(|(_, there)| *there & 1 == 1)
            {
                each(chunk + page * PAGE);
            }
        });
    }
}

/// Of so many pages, whether each is there.
fn present(start: usize, pages: usize) -> [u8; CHUNK / PAGE] {
    let mut present = [0u8; CHUNK / PAGE];
    let place = present.as_mut_ptr() as usize;
    let arguments = [start, pages * PAGE, place, 0, 0, 0];
    // SAFETY: the kernel writes one byte a page.
    if unsafe { os::call(libc::SYS_mincore, arguments) } < 0 {
        present.fill(1);
    }
    present
}

/// The numbers of two neighbouring words, to be changed at once.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a>([&'a AtomicU32; 2]);

impl<'a> Pair<'a> {
    /// Those from an address on, given where the shadow begins. None: they do not lie within a line of the cache, where
    /// the processor changes what it likes at once.
    #[inline(always)]
    pub fn at(base: usize, address: usize) -> Option<Pair<'a>> {
        let cells = [address, address + 8].map(|address| Shadow::cell_at(base, address));
        (cells[0].as_ptr() as usize % 64 != 60).then_some(Pair(cells))
    }

    #[inline(always)]
    pub fn cells(self) -> [&'a AtomicU32; 2] {
        self.0
    }

    #[inline(always)]
    pub fn load(self) -> [u32; 2] {
        self.0.map(|cell| cell.load(Ordering::Relaxed))
    }

    /// Replaces both, if both are as expected. Where not, the first may have been replaced all the same, and both where they may
    /// have others again.
    #[inline(always)]
    pub fn replace(self, old: [u32; 2], new: [u32; 2]) -> bool {
        strips::exchange(self.0[0], || self.exchange(old, new), || self.load() == new)
    }

    #[inline(always)]
    fn exchange(self, old: [u32; 2], new: [u32; 2]) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let both = |numbers: [u32; 2]| u64::from(numbers[1]) << 32 | u64::from(numbers[0]);
            let found: u64;
            // SAFETY: the two lie side by side in the mapping, within a line of the cache: to the processor this is one
            // atomic exchange. Rust's own atomics may not mix sizes.
            unsafe {
                std::arch::asm!(
                    "lock cmpxchg qword ptr [{place}], {new}",
                    place = in(reg) self.0[0].as_ptr(),
                    new = in(reg) both(new),
                    inout("rax") both(old) => found,
                    options(nostack),
                );
            }
            found == both(old)
        }
        #[cfg(not(target_arch = "x86_64"))]
        [0, 1].iter().all(|&at| {
            self.0[at]
                .compare_exchange(old[at], new[at], Ordering::Release, Ordering::Relaxed)
                .is_ok()
        })
    }
}

/// Calls `each` with the places of the bits that are set in a bitmap of the shadow.
fn for_bits(bitmap: *const AtomicU64, bits: usize, mut each: impl FnMut(usize)) {
    for index in 0..bits.div_ceil(64) {
        // SAFETY: the caller's bitmap is that long.
        let word = unsafe { &*bitmap.add(index) };
        let mut bits = word.load(Ordering::Relaxed);
        while bits != 0 {
            each(index * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

/// Fills entries with zeros.
fn zero(from: usize, to: usize) {
    /// From so many bytes on, the processor is told how many there are.
    #[cfg(target_arch = "x86_64")]
    const LONG: usize = 512;
    #[cfg(target_arch = "x86_64")]
    if to - from >= LONG {
        // SAFETY: within the shadow's mapping, of which these bytes are nobody's now.
        unsafe {
            std::arch::asm!(
                "rep stosd",
                inout("rcx") (to - from) / 4 => _,
                inout("rdi") from => _,
                in("eax") 0,
                options(nostack, preserves_flags),
            );
        }
        return;
    }
    for at in (from..to).step_by(4) {
        // SAFETY: within the shadow's mapping.
        unsafe { &*(at as *const AtomicU32) }.store(0, Ordering::Relaxed);
    }
}
