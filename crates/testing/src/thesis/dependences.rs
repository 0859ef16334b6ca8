//! Dependences between computation events that G leaves unordered, direct and transitive (algorithms
//! 7.1 to 7.4).
//!
//! A direct dependence leads from one event to another that conflicts with it; its direction is known
//! only if the complete order is. A chain of direct dependences makes a transitive one if all events
//! along it are unordered with each other: then the last of them may have been done after the first.

use super::{Detail, View};

/// The direct dependences out of each event, sorted by where they lead.
pub(crate) struct Dependences {
    out: Vec<Vec<u32>>,
}

/// Which of the two relations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Shared-data dependence.
    Data,
    /// Event-control dependence.
    Control,
}

impl Dependences {
    pub(crate) fn direct(view: &View, detail: Detail, kind: Kind) -> Dependences {
        let mut out = vec![Vec::new(); view.events.len()];
        for pair in &view.pairs {
            let [forward, back] = match (kind, detail.control_reads) {
                (Kind::Data, _) => [true; 2],
                (Kind::Control, false) => pair.flows,
                (Kind::Control, true) => pair.controls,
            };
            // `a` began first: if the two did not overlap, nothing can have gone back.
            let back = back && (!detail.complete_order || view.overlap(pair.a, pair.b));
            if forward {
                out[pair.a as usize].push(pair.b);
            }
            if back {
                out[pair.b as usize].push(pair.a);
            }
        }
        for targets in &mut out {
            targets.sort_unstable();
        }
        Dependences { out }
    }

    /// The direct ones, as pairs.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = self.out.iter().zip(0..);
        from.flat_map(|(targets, from)| targets.iter().map(move |&to| (from, to)))
    }

    /// The transitive ones, as pairs; direct ones may be among them. Gives up, and says so by nothing,
    /// after so many steps.
    pub(crate) fn transitive(&self, view: &View, mut steps: u64) -> Option<Vec<(u32, u32)>> {
        let mut found = Vec::new();
        let mut visited = vec![u32::MAX; self.out.len()];
        for origin in 0..self.out.len() as u32 {
            // The path, and for each of its events how far its dependences have been followed.
            let mut path = vec![(origin, 0)];
            visited[origin as usize] = origin;
            while let Some((at, next)) = path.last_mut() {
                let (at, step) = (*at, *next);
                let Some(&to) = self.out[at as usize].get(step) else {
                    path.pop();
                    continue;
                };
                *next += 1;
                steps = steps.checked_sub(path.len() as u64)?;
                let fits = visited[to as usize] != origin
                    && path.iter().all(|&(before, _)| view.unordered(before, to));
                if fits {
                    visited[to as usize] = origin;
                    if path.len() > 1 {
                        found.push((origin, to));
                    }
                    path.push((to, 0));
                }
            }
        }
        Some(found)
    }
}
