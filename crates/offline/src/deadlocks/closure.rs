//! Deadlocks that keep the order of critical sections (Tunç, Mathur, Pavlogiannis, Viswanathan, PLDI 2023): whether some
//! of very many events can all be next, in an order that has sections of one lock as the trace has them.
//!
//! Simple model: take the least set of events that has what each event in it needs, all before the events that are to be
//! next, and of two sections of one lock the whole of the earlier. In the order of the trace it is a witness, unless one of
//! the events that are to be next is in it. The set only grows with these events, so of a strand's events one that is in it
//! is in the sets of all later ones, too: go on to the strand's first that is not. Each event is left behind once.
//!
//! Guarantee: finds the first such deadlock, if there is one. Cost: for each event that is left behind, and for each section
//! that is completed, some look-ups for each strand.

use super::hunt::Member;
use crate::m2::skeleton::{Cut, Link, NEVER, Skeleton};
use deadheat_model::StopToken;

/// A section of some strand: where it begins and ends in the strand's chain, and the number of the event that begins it.
#[derive(Clone, Copy)]
struct OwnSection {
    acquire: u32,
    release: u32,
    number: u32,
}

/// The sections of a trace, by lock and strand.
pub(super) struct Sections {
    by_lock: Vec<Vec<(u32, Vec<OwnSection>)>>,
}

impl Sections {
    /// Those of a trace.
    pub fn new(skeleton: &Skeleton) -> Sections {
        let by_lock = (0..skeleton.locks() as u32).map(|lock| {
            let mut sections = skeleton.sections(lock).to_vec();
            sections.sort_by_key(|section| section.strand);
            let by_strand = sections.chunk_by(|a, b| a.strand == b.strand);
            let by_strand = by_strand.map(|own| {
                let sections = own.iter().map(|section| OwnSection {
                    acquire: section.acquire,
                    release: section.release,
                    number: section.number,
                });
                (own[0].strand, sections.collect())
            });
            by_strand.collect()
        });
        Sections {
            by_lock: by_lock.collect(),
        }
    }

    /// The last section of a lock that a strand has begun in a cut.
    fn last(&self, lock: u32, strand: u32, length: u32) -> Option<OwnSection> {
        let of_lock = &self.by_lock[lock as usize];
        let at = of_lock.binary_search_by_key(&strand, |(strand, _)| *strand);
        last_begun(&of_lock[at.ok()?].1, length)
    }

    /// Completes each section of a cut that comes before another of the same lock. What cannot be completed has no other
    /// behind it.
    pub fn complete(&self, skeleton: &Skeleton, cut: &mut Cut) {
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for strand in 0..cut.len() as u32 {
                let length = cut[strand as usize];
                let held = skeleton.held(strand, length);
                for &lock in skeleton.locksets.locks(held).iter() {
                    let Some(open) = self.last(lock, strand, length) else {
                        continue;
                    };
                    let mut others = self.by_lock[lock as usize].iter();
                    let is_before_another = others.any(|(other, sections)| {
                        let last = last_begun(sections, cut[*other as usize]);
                        last.is_some_and(|last| last.number > open.number)
                    });
                    if is_before_another && open.release != NEVER {
                        skeleton.join(cut, strand, open.release + 1);
                        grown = true;
                    }
                }
            }
        }
    }
}

/// The first events, one of each member, of which none is in a set of events: that of what all of them need, which
/// `complete` makes larger. Nothing if there are none, or it is time to stop. The set, and which event of each member.
///
/// Whatever events of the members before these one chooses, one of them is in the set of all.
pub(super) fn first_apart(
    skeleton: &Skeleton,
    members: &[Member],
    stop: StopToken,
    complete: impl Fn(&mut Cut),
) -> Option<(Vec<usize>, Cut)> {
    let mut cut = vec![0; skeleton.strands()];
    let mut at = vec![0; members.len()];
    loop {
        if stop.due().is_some() {
            return None;
        }
        for (member, &at) in members.iter().zip(&at) {
            skeleton.join(&mut cut, member.strand, member.links[at].index);
        }
        complete(&mut cut);
        let mut moved = false;
        for (member, at) in members.iter().zip(&mut at) {
            let length = cut[member.strand as usize];
            let is_in = |link: &Link| link.index < length;
            if is_in(&member.links[*at]) {
                moved = true;
                *at += member.links[*at..].partition_point(is_in);
                if *at == member.links.len() {
                    return None;
                }
            }
        }
        if !moved {
            return Some((at, cut));
        }
    }
}

fn last_begun(sections: &[OwnSection], length: u32) -> Option<OwnSection> {
    let begun = sections.partition_point(|section| section.acquire < length);
    sections[..begun].last().copied()
}
