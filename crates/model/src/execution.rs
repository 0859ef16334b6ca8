//! An execution: events in the order they happened, and the names of what they mention.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{Event, Location, Region, Semaphore, Site, Strand};

/// A place in a source text. Lines and columns count from 1; a column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// Where the marked text starts, in bytes from the beginning of the source.
    #[serde(skip)]
    pub offset: u32,
    /// How many bytes are marked.
    #[serde(skip)]
    pub length: u32,
}

/// How a strand came to be, which says who can wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StrandKind {
    /// The first strand.
    Main,
    /// A task of `async`: waited for by the enclosing `finish`.
    Async,
    /// A task of `future`: as `async`, and by `get`.
    Future,
    /// A thread: waited for by `join`.
    Thread,
}

/// Who a strand is.
#[derive(Clone, Debug)]
pub struct StrandInfo {
    /// The strand that started it; none for the first.
    pub parent: Option<Strand>,
    /// Which child of its parent it is, from 1, in the parent's order. 0 for the first strand.
    pub ordinal: u32,
    /// How it was started.
    pub kind: StrandKind,
}

/// What a location is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LocationName {
    /// A variable.
    Variable(String),
    /// An element of an array.
    Element(String, u64),
    /// A cell made while the program ran.
    Cell {
        /// The line that made it.
        line: u32,
        /// It was the n-th cell made by that line, from 1.
        ordinal: u32,
    },
}

impl fmt::Display for LocationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocationName::Variable(name) => f.write_str(name),
            LocationName::Element(name, index) => write!(f, "{name}[{index}]"),
            LocationName::Cell { line, ordinal } => write!(f, "alloc@{line}#{ordinal}"),
        }
    }
}

/// What the numbers in events stand for.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// By [`Strand`] number.
    pub strands: Vec<StrandInfo>,
    /// By [`Site`] number.
    pub sites: Vec<SourcePosition>,
    /// The names of the locations that events mention.
    pub locations: FxHashMap<Location, LocationName>,
    /// What a semaphore starts with, where that is not 0.
    pub semaphores: FxHashMap<Semaphore, u64>,
    /// Promises numbered below this exist from the start; the others are made by an event.
    pub declared_promises: u64,
    /// The locations of an allocated region, first and count, where the source knows them.
    pub regions: FxHashMap<Region, (Location, u64)>,
}

impl Tables {
    /// The path by which a strand was started: which child of the first strand, which child of
    /// that one, and so on.
    pub fn strand_path(&self, strand: Strand) -> Vec<u32> {
        let mut ordinals = Vec::new();
        let mut at = strand;
        while let Some(info) = self.strands.get(at.index()) {
            let Some(parent) = info.parent else { break };
            ordinals.push(info.ordinal);
            at = parent;
        }
        ordinals.reverse();
        ordinals
    }

    /// The path as a name: `main`, `main/1`, `main/1/2`.
    pub fn strand_name(&self, strand: Strand) -> String {
        path_name(&self.strand_path(strand))
    }

    /// What a location is called; its number where it has no name.
    pub fn location_name(&self, location: Location) -> LocationName {
        match self.locations.get(&location) {
            Some(name) => name.clone(),
            None => LocationName::Variable(format!("0x{:x}", location.0)),
        }
    }

    /// Where a site is.
    pub fn position(&self, site: Site) -> Option<SourcePosition> {
        self.sites.get(site.0 as usize).copied()
    }
}

/// The name of the strand that a path leads to.
pub fn path_name(path: &[u32]) -> String {
    let ordinals = path.iter().map(|ordinal| format!("/{ordinal}"));
    std::iter::once("main".to_string())
        .chain(ordinals)
        .collect()
}

/// The events of one execution in the order in which they happened, numbered from 1.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// What happened.
    pub events: Vec<Event>,
    /// What the numbers mean.
    pub tables: Tables,
}
