//! Lanes of `simd` that meet: each is a task of its own, in a `finish` of the strand that runs them.
//!
//! Only lanes of which compiled code has computed that they meet are told of, and of those only the two accesses.

use deadheat_order::FinishPast;

use super::descriptions::Kind;
use super::strand::{Aside, Strand};
use super::tasks;
use crate::check::origin::Stack;
use crate::output::recording;

/// See the [module](self).
#[derive(Debug)]
pub struct Lanes {
    past: FinishPast,
    /// What the strand is outside the present lane.
    aside: Option<Aside>,
    /// As a phase of its own: see [`settled`](super::settled).
    id: u32,
}

impl Strand {
    /// A lane does something. Says whether it is the first.
    pub fn begin_lane(&mut self, stack: Stack, number: u64) -> bool {
        if recording::on() {
            return false;
        }
        let is_first = self.lanes.is_none();
        if is_first {
            self.settle();
            let past = tasks().structure.begin_finish(&mut self.order);
            let Some(past) = tasks().or_drop(past) else {
                return false;
            };
            self.note_step();
            self.lanes = Some(Box::new(Lanes {
                past,
                aside: None,
                id: tasks().new_phase(),
            }));
        }
        self.end_lane();
        let Some(id) = self.lanes.as_ref().map(|lanes| lanes.id) else {
            return is_first;
        };
        let spawned = tasks().structure.spawn(&mut self.order);
        self.note_step();
        if let Some(order) = tasks().or_drop(spawned) {
            let descriptions = &tasks().descriptions;
            let lane = descriptions.add(Kind::Iterations, self.description, stack, number, 1);
            let aside = self.step_aside((order, self.heard.inherit()), lane, id);
            if let Some(lanes) = &mut self.lanes {
                lanes.aside = Some(aside);
            }
        }
        is_first
    }

    fn end_lane(&mut self) {
        if let Some(lanes) = &mut self.lanes
            && let Some(aside) = lanes.aside.take()
        {
            tasks().structure.end(&self.order, Some(&mut lanes.past));
            self.step_back(aside);
        }
    }

    /// All lanes have ended. Says whether there were any.
    pub fn end_lanes(&mut self) -> bool {
        self.end_lane();
        let Some(lanes) = self.lanes.take() else {
            return false;
        };
        tasks().or_drop(tasks().structure.end_finish(&mut self.order, lanes.past));
        self.note_step();
        true
    }
}
