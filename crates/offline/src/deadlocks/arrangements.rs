//! Who may be in which place of a circle.

use std::ops::ControlFlow;

use super::graph::Graph;
use super::holding::Wanted;

/// A strand for each wait of a circle, all different, and its events there.
pub(super) type Arrangement<'g> = Vec<(u32, &'g [u32])>;

/// Calls with each arrangement of a circle, until it breaks off. Where a strand waits for the end of another, that one is
/// next, and nobody else waits for that end.
pub(super) fn arrangements<'g, B>(
    graph: &'g Graph,
    circle: &[u32],
    mut each: impl FnMut(&Arrangement<'g>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    // Which of its strands each wait has, the first ones for now.
    let mut chosen: Vec<usize> = Vec::new();
    let mut strands: Vec<u32> = Vec::new();
    let mut next = 0;
    loop {
        let place = chosen.len();
        let of = |place: usize| &graph.waits[circle[place] as usize];
        if place < circle.len() && next < of(place).strands.len() {
            let strand = of(place).strands[next].0;
            if strands.contains(&strand) {
                next += 1;
                continue;
            }
            chosen.push(next);
            strands.push(strand);
            next = 0;
            if chosen.len() == circle.len() {
                if fits(graph, circle, &strands) {
                    let members = (0..circle.len()).map(|place| {
                        let (strand, events) = &of(place).strands[chosen[place]];
                        (*strand, &events[..])
                    });
                    each(&members.collect())?;
                }
                next = usize::MAX;
            }
        } else {
            let Some(last) = chosen.pop() else {
                return ControlFlow::Continue(());
            };
            strands.pop();
            next = last + 1;
        }
    }
}

/// Whether those who wait for the end of a strand wait for that of the next, and of nobody else in the circle.
fn fits(graph: &Graph, circle: &[u32], strands: &[u32]) -> bool {
    (0..circle.len()).all(|place| match graph.waits[circle[place] as usize].wanted {
        Wanted::Lock { .. } => true,
        Wanted::End(strand) => strands[(place + 1) % strands.len()] == strand,
    })
}
