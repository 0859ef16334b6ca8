//! The circles of waits: each wants what the next has, and all can have what they have at the same time.
//!
//! A circle is left out if two of its waits exclude each other, because some lock is held in both (a *guard*), or if a
//! smaller circle is in it: if one of them waits for another than the next. So no wait is twice in a circle: who waits
//! alike waits for the same.
//!
//! Short circles come first: all of two waits, then all of three. Guarantee: all, unless it says that there may be more.
//! Cost: exponential in the length of circles, and bounded.

use deadheat_model::StopToken;

use super::graph::Graph;
use super::holding::{HeldLock, Wanted};

/// How many circles are kept, and how many times one is made longer, all together: a tenth of a second.
const MAX_CIRCLES: usize = 1 << 18;
const MAX_STEPS: u64 = 1 << 21;

/// Circles of waits, by their numbers.
pub(super) struct Circles {
    /// The circles.
    pub found: Vec<Vec<u32>>,
    /// Whether these are all.
    pub all: bool,
}

impl Circles {
    /// The circles of so many strands at most.
    pub fn new(graph: &Graph, strands: usize, stop: StopToken) -> Circles {
        let mut search = Search {
            graph,
            found: Vec::new(),
            steps: MAX_STEPS,
            stop,
            length: 2,
            is_cut: true,
        };
        while search.is_cut && search.length <= strands && !search.is_over() {
            search.is_cut = false;
            for first in 0..graph.waits.len() as u32 {
                search.go_on(&mut vec![first]);
            }
            search.length += 1;
        }
        Circles {
            all: !search.is_over(),
            found: search.found,
        }
    }
}

struct Search<'g> {
    graph: &'g Graph,
    found: Vec<Vec<u32>>,
    /// How many more steps there may be.
    steps: u64,
    stop: StopToken,
    /// How long the circles are that are looked for now, and whether there may be longer ones.
    length: usize,
    is_cut: bool,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.steps == 0 || self.found.len() >= MAX_CIRCLES || self.stop.due().is_some()
    }

    /// Makes a chain longer in each way that there is; its first wait has the lowest number.
    fn go_on(&mut self, chain: &mut Vec<u32>) {
        let graph = self.graph;
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        if chain.len() == self.length {
            if may_wait(graph, last, first) {
                self.found.push(chain.clone());
            }
            // Who waits for the end of a strand may wait for that of another.
            self.is_cut |= !waits(graph, last, first);
            return;
        }
        for &next in graph.next(last) {
            if self.steps == 0 {
                return;
            }
            self.steps -= 1;
            if next > first && self.can_join(chain, next) {
                chain.push(next);
                self.go_on(chain);
                chain.pop();
            }
        }
    }

    /// Whether the last of a chain may wait for a wait, which then is not the end of a smaller circle.
    fn can_join(&self, chain: &[u32], next: u32) -> bool {
        let graph = self.graph;
        let (last, earlier) = (chain[chain.len() - 1], &chain[..chain.len() - 1]);
        may_wait(graph, last, next)
            && !chain.contains(&next)
            && !waits(graph, last, chain[0])
            && !earlier.iter().any(|&other| waits(graph, other, next))
            && !chain[1..].iter().any(|&other| waits(graph, next, other))
            && !chain.iter().any(|&other| exclude(graph, other, next))
    }
}

/// Whether a strand in one wait may wait for a strand in another, if it is the right one.
fn may_wait(graph: &Graph, one: u32, other: u32) -> bool {
    matches!(graph.waits[one as usize].wanted, Wanted::End(_)) || waits(graph, one, other)
}

/// Whether any strand in one wait waits for any strand in another.
fn waits(graph: &Graph, one: u32, other: u32) -> bool {
    match graph.waits[one as usize].wanted {
        Wanted::End(_) => false,
        Wanted::Lock { lock, shared } => {
            let wanted = HeldLock { lock, shared };
            let held = &graph.waits[other as usize].held;
            let from = held.partition_point(|held| held.lock < lock);
            held[from..]
                .iter()
                .take(2)
                .any(|held| wanted.excludes(*held))
        }
    }
}

/// Whether two strands cannot be in these waits at the same time: each in another, they cannot both have all their locks;
/// or only one strand is ever in either of them.
fn exclude(graph: &Graph, one: u32, other: u32) -> bool {
    let (one, other) = (&graph.waits[one as usize], &graph.waits[other as usize]);
    if let ([(one, _)], [(other, _)]) = (&one.strands[..], &other.strands[..])
        && one == other
    {
        return true;
    }
    let mut rest = &other.held[..];
    one.held.iter().any(|held| {
        rest = &rest[rest.partition_point(|other| other.lock < held.lock)..];
        rest.iter().take(2).any(|other| held.excludes(*other))
    })
}
