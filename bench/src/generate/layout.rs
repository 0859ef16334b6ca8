//! Whose the variables are: first those that all read, then each thread's own, then each lock's, then
//! those that are handed over, at the end the racy ones.

use super::heap::{FIELDS, Heap};
use super::{CELLS, PROTECTED, RACES_EACH, SHARED, Shape};

/// Where each kind of variables is.
pub struct Layout {
    /// What all threads read.
    pub shared: Heap,
    /// By thread: what is its own.
    pub own: Vec<Heap>,
    /// By lock: what it protects.
    pub protected: Vec<Heap>,
    /// How many objects are handed over.
    pub cells: u64,
    /// Their first variable.
    pub first_in_cells: u64,
    /// How many variables are racy.
    pub racy: u64,
    /// The first of them.
    pub first_racy: u64,
}

impl Layout {
    /// A thread alone has nobody to share with.
    pub fn new(shape: &Shape) -> Layout {
        let racy = racy(shape);
        let rest = shape.variables - racy;
        let locks = u64::from(shape.locks);
        let in_sections = match locks {
            0 => 0,
            _ => ((rest as f64 * PROTECTED) as u64).max(locks.min(rest / 2)),
        };
        let (shared, cells) = match shape.threads {
            1 => (0, 0),
            _ => {
                let written = rest.min(shape.events - 2 * shape.forks());
                let shared = (SHARED * written as f64) as u64;
                (shared, (in_sections / 10).min(CELLS))
            }
        };
        let first_racy = shape.variables - racy;
        let first_in_cells = first_racy - cells * (FIELDS + 1);
        let first_protected = first_racy - in_sections;
        Layout {
            shared: Heap::full(0, shared),
            own: evenly(shape.threads, shared, first_protected),
            protected: by_use(shape.locks, first_protected, first_in_cells),
            cells,
            first_in_cells,
            racy,
            first_racy,
        }
    }
}

/// As many as make few racy accesses of each.
fn racy(shape: &Shape) -> u64 {
    if shape.threads == 1 || shape.racy_share == 0.0 {
        return 0;
    }
    let accesses = (shape.racy_share * shape.accesses()) as u64;
    let most = (shape.variables / 20).max(1);
    let racy = (accesses / (2 * RACES_EACH)).clamp(1, most);
    racy.min(shape.variables)
}

fn evenly(threads: u32, start: u64, end: u64) -> Vec<Heap> {
    let all = u128::from(end - start);
    let bound = |thread: u32| start + (all * u128::from(thread) / u128::from(threads)) as u64;
    let heap = |thread| Heap::new(bound(thread), bound(thread + 1));
    (0..threads).map(heap).collect()
}

/// A lock is taken by the square of a random number ([`skewed`](super::heap::skewed)): each has about
/// as many variables as it is taken times, and at least one if there are enough.
fn by_use(locks: u32, start: u64, end: u64) -> Vec<Heap> {
    let each = u64::from(end - start >= u64::from(locks));
    let more = (end - start - each * u64::from(locks)) as f64;
    let bound = |lock: u32| {
        let below = f64::from(lock) / f64::from(locks);
        start + each * u64::from(lock) + (more * below.sqrt()) as u64
    };
    let heap = |lock| Heap::new(bound(lock), bound(lock + 1));
    (0..locks).map(heap).collect()
}
