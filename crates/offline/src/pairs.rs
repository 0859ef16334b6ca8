//! All pairs of places that race, once it is known who comes before whom.
//!
//! Accesses are put together by location, node (a run of accesses of one strand that nothing
//! interrupts), place and kind; then every two nodes that touch a location are compared.

use deadheat_model::{
    AccessKind, EventNumber, Location, Race, RacingAccess, Site, StopPoll, Strand,
};
use rustc_hash::FxHashMap;

/// The most races that are kept of one location.
const MAX_RACES: usize = 1000;

/// How many pairs are compared, all locations together, before each location is left at the races
/// it has.
const MAX_COMPARED: usize = 50_000_000;

/// A node's number. Nodes are numbered in the order of the execution.
pub type Node = usize;

/// Accesses of one node to one location at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub struct Group {
    pub location: Location,
    pub node: Node,
    pub site: Site,
    pub kind: AccessKind,
    pub strand: Strand,
    /// The first of the accesses.
    pub first: EventNumber,
    /// How many there are.
    pub count: u64,
}

impl Group {
    fn access(&self) -> RacingAccess {
        RacingAccess {
            event: self.first,
            strand: self.strand,
            site: self.site,
            kind: self.kind,
        }
    }

    fn conflicts_with(&self, other: &Group) -> bool {
        self.kind == AccessKind::Write || other.kind == AccessKind::Write
    }
}

/// The races among some accesses.
pub struct Races {
    /// One for each location and pair of places, in the order of the second access.
    pub found: Vec<Race>,
    /// Whether these are all.
    pub complete: bool,
}

/// Finds the races among accesses, given whether a node comes before one with a higher number; `before`
/// adds to what has been compared if it has to look at more than these two. A location that races has
/// at least one.
///
/// `known` gives a node that is known to race at a location, if that is known: very many accesses are
/// then not all compared to find one race. When it is time to stop, each location that is known to race gets one.
pub fn races(
    mut accesses: Vec<Group>,
    known: impl Fn(Location) -> Option<Node>,
    mut before: impl FnMut(Node, Node, &mut usize) -> bool,
    poll: &mut StopPoll,
) -> Races {
    let mut races = Races {
        found: Vec::new(),
        complete: true,
    };
    let mut compared = 0;
    sort(&mut accesses);
    let by_location = accesses.chunk_by(|a, b| a.location == b.location);
    for groups in by_location.filter(|groups| is_shared(groups)) {
        let known = known(groups[0].location);
        let mut found: FxHashMap<_, Race> = FxHashMap::default();
        let nodes: Vec<&[Group]> = groups.chunk_by(|a, b| a.node == b.node).collect();
        'location: for (index, node) in nodes.iter().enumerate() {
            for other in &nodes[..index] {
                let enough = found.len() >= MAX_RACES || compared >= MAX_COMPARED;
                if poll.stops() || enough && (known.is_some() || !found.is_empty()) {
                    races.complete = false;
                    break 'location;
                }
                compared += 1;
                if parallel(node, other, &mut before, &mut compared) {
                    compared += node.len() * other.len();
                    add_races(node, other, &mut found);
                }
            }
        }
        // Too many to compare them all: those with the one that is known to race are enough.
        let here = nodes.iter().find(|node| Some(node[0].node) == known);
        if let (true, Some(here)) = (found.is_empty(), here) {
            for other in &nodes {
                let (node, other) = match here[0].node < other[0].node {
                    true => (other, here),
                    false => (here, other),
                };
                if parallel(node, other, &mut before, &mut compared) {
                    add_races(node, other, &mut found);
                    break;
                }
            }
        }
        races.found.extend(found.into_values());
    }
    races.found.sort_by_key(Race::key);
    races
}

/// Whether more than one strand touches a location.
fn is_shared(groups: &[Group]) -> bool {
    groups.iter().any(|group| group.strand != groups[0].strand)
}

/// Whether nothing orders two nodes, the first of which has the higher number.
fn parallel(
    node: &[Group],
    other: &[Group],
    before: &mut impl FnMut(Node, Node, &mut usize) -> bool,
    compared: &mut usize,
) -> bool {
    node[0].strand != other[0].strand && !before(other[0].node, node[0].node, compared)
}

/// Puts the accesses of one node to one location at one place together, location by location.
fn sort(accesses: &mut Vec<Group>) {
    accesses.sort_unstable();
    accesses.dedup_by(|later, group| {
        let place = |group: &Group| (group.location, group.node, group.site, group.kind);
        let same = place(later) == place(group);
        if same {
            group.count += later.count;
        }
        same
    });
}

/// Adds the races between the accesses of two nodes that nothing orders.
fn add_races(
    node: &[Group],
    other: &[Group],
    found: &mut FxHashMap<[(Site, AccessKind); 2], Race>,
) {
    for group in node {
        for other in other.iter().filter(|other| group.conflicts_with(other)) {
            let mut pair = [group.access(), other.access()];
            pair.sort();
            let [first, second] = pair;
            let new = Race {
                location: group.location,
                first,
                second,
                count: 0,
            };
            let race = found.entry(new.ends()).or_insert(new);
            race.count += group.count * other.count;
            if new.key() < race.key() {
                (race.first, race.second) = (first, second);
            }
        }
    }
}
