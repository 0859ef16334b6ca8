//! Whether one event can come before another: every order that synchronisation allows, tried one after
//! the other.
//!
//! Simple model, and the whole of it: do what can come next, whatever is read; a state is visited once.
//! To put b before a, a waits until b is done, and must then still be possible. The problem is NP-hard
//! (theorem 5.1), so there is a limit on the states visited.

use deadheat_model::{EventNumber, Flag, Op, Strand};
use deadheat_witness::{Obstacle, Recording, State};
use rustc_hash::FxHashSet;

/// See the [module](self).
pub(crate) struct Orders<'r, 't> {
    recording: &'r Recording<'t>,
    /// Who does something, and the events of each.
    strands: Vec<(Strand, Vec<EventNumber>)>,
    flags: Vec<Flag>,
}

impl<'r, 't> Orders<'r, 't> {
    pub(crate) fn new(recording: &'r Recording<'t>) -> Orders<'r, 't> {
        let mut strands: Vec<(Strand, Vec<EventNumber>)> = Vec::new();
        let mut flags = Vec::new();
        for (event, number) in recording.trace.events.iter().zip(1..) {
            match strands
                .iter_mut()
                .find(|(strand, _)| *strand == event.strand())
            {
                Some((_, events)) => events.push(number),
                None => strands.push((event.strand(), vec![number])),
            }
            if let Op::Post(flag) = event.op() {
                flags.push(flag);
            }
        }
        flags.sort_unstable();
        flags.dedup();
        Orders {
            recording,
            strands,
            flags,
        }
    }

    /// Whether some order has `first` before `second`; nothing if the states do not suffice to tell.
    pub(crate) fn can_precede(
        &self,
        first: EventNumber,
        second: EventNumber,
        states: &mut u64,
    ) -> Option<bool> {
        let mut seen = FxHashSet::default();
        let mut open = vec![(State::default(), false)];
        while let Some((state, done)) = open.pop() {
            if !seen.insert(self.key(&state, done)) {
                continue;
            }
            *states = states.checked_sub(1)?;
            for (strand, events) in &self.strands {
                let Some(&next) = events.get(state.done(*strand) as usize) else {
                    continue;
                };
                if next == second && !done {
                    continue;
                }
                // What a read sees does not matter here.
                if !matches!(
                    state.allows(self.recording, next),
                    Ok(()) | Err(Obstacle::Observes { .. })
                ) {
                    continue;
                }
                if next == second {
                    return Some(true);
                }
                let mut state = state.clone();
                state.perform(self.recording, next);
                open.push((state, done || next == first));
            }
        }
        Some(false)
    }

    fn key(&self, state: &State, done: bool) -> Vec<u32> {
        let strands = self.strands.iter().map(|(strand, _)| state.done(*strand));
        let on = self.flags.iter().map(|&flag| state.is_on(flag).into());
        strands.chain(on).chain([done.into()]).collect()
    }
}
