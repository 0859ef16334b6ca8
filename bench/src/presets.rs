//! Shapes with names: the rows of Table 1 of m2, and two that measurements are made with.
//!
//! Events, threads, variables and locks are the table's (rounded, as it gives them). It does not give
//! the rest. Here a tenth of the events are acquires and releases where there are locks, two thirds of
//! the accesses read, and a bounded number of accesses can race, so that there are some tens of racy
//! pairs of sites however long the trace is.

use crate::generate::Shape;

/// A shape with a name.
#[derive(Clone, Copy)]
pub struct Preset {
    /// What it is asked for by.
    pub name: &'static str,
    events: u64,
    threads: u32,
    variables: u64,
    locks: u32,
    sites: u32,
}

const fn row(
    name: &'static str,
    events: u64,
    threads: u32,
    variables: u64,
    locks: u32,
    sites: u32,
) -> Preset {
    Preset {
        name,
        events,
        threads,
        variables,
        locks,
        sites,
    }
}

/// All there are.
pub const PRESETS: [Preset; 21] = [
    row("array", 44, 2, 30, 2, 30),
    row("critical", 49, 3, 30, 0, 30),
    row("airtickets", 116, 2, 46, 0, 60),
    row("account", 125, 3, 41, 3, 60),
    row("pingpong", 126, 4, 54, 0, 60),
    row("bbuffer", 322, 2, 73, 2, 100),
    row("mergesort", 3_000, 4, 621, 3, 200),
    row("bubblesort", 4_000, 10, 196, 3, 200),
    row("raytracer", 16_000, 2, 3_000, 8, 300),
    row("ftpserver", 48_000, 10, 5_000, 304, 1_000),
    row("moldyn", 164_000, 2, 1_000, 2, 500),
    row("derby", 1_000_000, 3, 185_000, 1_000, 2_000),
    row("jigsaw", 3_000_000, 13, 103_000, 280, 2_000),
    row("bufwriter", 11_000_000, 5, 56, 1, 300),
    row("hsqldb", 18_000_000, 43, 946_000, 412, 4_000),
    row("cryptorsa", 57_000_000, 7, 1_000_000, 8_000, 4_000),
    row("eclipse", 86_000_000, 14, 10_000_000, 8_000, 8_000),
    row("xalan", 122_000_000, 6, 4_000_000, 2_000, 4_000),
    row("lusearch", 216_000_000, 7, 5_000_000, 118, 4_000),
    row("3m", 3_000_000, 8, 50_000, 500, 2_000),
    row("100m", 100_000_000, 8, 50_000, 500, 2_000),
];

/// No more accesses than this can race, and no larger a share of them.
const MOST_RACY: f64 = 1_000.0;
const MOST_RACY_SHARE: f64 = 0.1;

impl Preset {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Preset> {
        PRESETS.into_iter().find(|preset| preset.name == name)
    }

    /// What its traces are like.
    pub fn shape(self, seed: u64) -> Shape {
        Shape {
            events: self.events,
            threads: self.threads,
            variables: self.variables,
            locks: self.locks,
            sites: self.sites,
            nesting: 3,
            sync_share: 0.1,
            read_share: 0.66,
            racy_share: (MOST_RACY / self.events as f64).min(MOST_RACY_SHARE),
            seed,
        }
    }
}
