//! Vector clocks that are kept by the thousand: each shares with the others what they have in common.
//!
//! Simple model: a [`Clock`](crate::Clock), copied whenever it is kept.
//!
//! The idea: times lie in a tree by strand number, sixteen to a node, and a node never changes once
//! two clocks have it. A copy is one pointer. Joining skips what both share, and takes over whole
//! nodes of the other clock where these are ahead, so clocks that learn from each other come to share.
//!
//! Cost: a look-up goes down log16(strands) nodes; a join visits the nodes in which the two differ; a
//! change copies at most one path.

use std::sync::Arc;

use deadheat_model::Strand;

use crate::Time;

const WIDTH: usize = 16;

/// How much of every strand comes before a point, made to be kept.
#[derive(Clone, Debug, Default)]
pub struct PersistentClock {
    root: Option<Arc<Node>>,
    /// How many levels of inner nodes there are above the times.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Times([Time; WIDTH]),
    Inner([Option<Arc<Node>>; WIDTH]),
}

impl PersistentClock {
    /// How much of a strand comes before.
    #[inline]
    pub fn get(&self, strand: Strand) -> Time {
        let index = strand.index();
        if self.height < 8 && index >> (4 * (self.height + 1)) != 0 {
            return 0;
        }
        let mut node = match &self.root {
            Some(root) => root,
            None => return 0,
        };
        let mut level = self.height;
        loop {
            match &**node {
                Node::Times(times) => return times[index % WIDTH],
                Node::Inner(children) => match &children[digit(index, level)] {
                    Some(child) => node = child,
                    None => return 0,
                },
            }
            level = level.saturating_sub(1);
        }
    }

    /// Raises how much of a strand comes before to at least so much.
    pub fn raise(&mut self, strand: Strand, time: Time) {
        if self.get(strand) >= time {
            return;
        }
        let index = strand.index();
        let mut height = self.height;
        while index >> (4 * (height + 1)) != 0 {
            height += 1;
        }
        self.grow(height);
        let mut slot = &mut self.root;
        for level in (0..=self.height).rev() {
            let node = slot.get_or_insert_with(|| Arc::new(Node::empty(level)));
            match Arc::make_mut(node) {
                Node::Times(times) => {
                    times[index % WIDTH] = time;
                    return;
                }
                Node::Inner(children) => slot = &mut children[digit(index, level)],
            }
        }
    }

    /// What comes before the other point comes before this one too.
    pub fn join(&mut self, other: &PersistentClock) {
        let Some(theirs) = &other.root else { return };
        if self.height >= other.height {
            let levels = self.height - other.height;
            let lifted = lift(theirs, levels);
            join(&mut self.root, &lifted);
        } else {
            self.grow(other.height);
            join(&mut self.root, theirs);
        }
    }

    /// Whether everything that comes before this point comes before the other.
    pub fn within(&self, other: &PersistentClock) -> bool {
        let mut within = true;
        self.ahead_of(other, |_, _| {
            within = false;
            false
        });
        within
    }

    /// Calls `each` with every strand of which more comes before this point than before the other, and
    /// with how much, as long as it says so.
    pub fn ahead_of(&self, other: &PersistentClock, mut each: impl FnMut(Strand, Time) -> bool) {
        let Some(mine) = &self.root else { return };
        let height = self.height.max(other.height);
        let mine = lift(mine, height - self.height);
        let theirs = other.root.as_ref();
        let theirs = theirs.map(|root| lift(root, height - other.height));
        ahead_of(&mine, theirs.as_ref(), 0, height, &mut each);
    }

    fn grow(&mut self, height: u32) {
        if let Some(root) = &self.root {
            self.root = Some(lift(root, height.saturating_sub(self.height)));
        }
        self.height = self.height.max(height);
    }
}

impl Node {
    fn empty(level: u32) -> Node {
        match level {
            0 => Node::Times([0; WIDTH]),
            _ => Node::Inner([const { None }; WIDTH]),
        }
    }
}

/// Which child of a node at this level leads to a strand.
#[inline]
fn digit(index: usize, level: u32) -> usize {
    (index >> (4 * level)) % WIDTH
}

/// The same times under so many more levels.
fn lift(node: &Arc<Node>, levels: u32) -> Arc<Node> {
    let mut node = node.clone();
    for _ in 0..levels {
        let mut children = [const { None }; WIDTH];
        children[0] = Some(node);
        node = Arc::new(Node::Inner(children));
    }
    node
}

/// Whether no time of a node is above the other's. Both are on one level.
fn is_within(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    match (&**a, &**b) {
        (Node::Times(a), Node::Times(b)) => a.iter().zip(b).all(|(a, b)| a <= b),
        (Node::Inner(a), Node::Inner(b)) => a.iter().zip(b).all(|(a, b)| match (a, b) {
            (None, _) => true,
            (Some(a), Some(b)) => is_within(a, b),
            (Some(_), None) => false,
        }),
        _ => false,
    }
}

fn join(mine: &mut Option<Arc<Node>>, theirs: &Arc<Node>) {
    let Some(node) = mine else {
        *mine = Some(theirs.clone());
        return;
    };
    if is_within(theirs, node) {
        return;
    }
    if is_within(node, theirs) {
        *node = theirs.clone();
        return;
    }
    match (Arc::make_mut(node), &**theirs) {
        (Node::Times(mine), Node::Times(theirs)) => {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = (*mine).max(*theirs);
            }
        }
        (Node::Inner(mine), Node::Inner(theirs)) => {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                if let Some(theirs) = theirs {
                    join(mine, theirs);
                }
            }
        }
        // Both are on one level.
        _ => {}
    }
}

/// Says whether to go on.
fn ahead_of(
    mine: &Arc<Node>,
    theirs: Option<&Arc<Node>>,
    first: usize,
    level: u32,
    each: &mut impl FnMut(Strand, Time) -> bool,
) -> bool {
    if theirs.is_some_and(|theirs| Arc::ptr_eq(mine, theirs)) {
        return true;
    }
    match &**mine {
        Node::Times(mine) => mine.iter().enumerate().all(|(place, &time)| {
            let before = match theirs.map(|node| &**node) {
                Some(Node::Times(theirs)) => theirs[place],
                _ => 0,
            };
            time <= before || each(Strand((first + place) as u32), time)
        }),
        Node::Inner(mine) => mine.iter().enumerate().all(|(place, child)| {
            let Some(child) = child else { return true };
            let theirs = match theirs.map(|node| &**node) {
                Some(Node::Inner(theirs)) => theirs[place].as_ref(),
                _ => None,
            };
            let first = first + (place << (4 * level));
            ahead_of(child, theirs, first, level.saturating_sub(1), each)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Model = BTreeMap<u32, Time>;

    fn check(clock: &PersistentClock, model: &Model, strands: &[u32]) {
        for &strand in strands {
            let expected = model.get(&strand).copied().unwrap_or(0);
            assert_eq!(clock.get(Strand(strand)), expected, "strand {strand}");
        }
    }

    /// Many clocks that learn from each other, against maps that are copied.
    #[test]
    fn a_persistent_clock_does_what_a_map_does() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let most = rng.choice([3, 20, 300, 5000, u32::MAX]).unwrap_or(3);
            let strands: Vec<u32> = (0..12).map(|_| rng.u32(..most)).collect();
            let mut clocks = vec![(PersistentClock::default(), Model::new()); 5];
            for _ in 0..200 {
                let (a, b) = (rng.usize(..5), rng.usize(..5));
                match rng.u32(..4) {
                    0 | 1 => {
                        let strand = strands[rng.usize(..strands.len())];
                        let time = rng.u32(1..30);
                        clocks[a].0.raise(Strand(strand), time);
                        let mine = clocks[a].1.entry(strand).or_default();
                        *mine = (*mine).max(time);
                    }
                    2 => {
                        let (theirs, times) = clocks[b].clone();
                        clocks[a].0.join(&theirs);
                        for (strand, time) in times {
                            let mine = clocks[a].1.entry(strand).or_default();
                            *mine = (*mine).max(time);
                        }
                    }
                    _ => clocks[a] = clocks[b].clone(),
                }
                for (clock, model) in &clocks {
                    check(clock, model, &strands);
                }
                let mut ahead = Model::new();
                clocks[a].0.ahead_of(&clocks[b].0, |strand, time| {
                    ahead.insert(strand.0, time);
                    true
                });
                let mut expected = clocks[a].1.clone();
                expected
                    .retain(|strand, time| *time > clocks[b].1.get(strand).copied().unwrap_or(0));
                assert_eq!(ahead, expected);
                assert_eq!(clocks[a].0.within(&clocks[b].0), expected.is_empty());
            }
        }
    }
}
