//! A window of consecutive events, put together from the blocks of all strands.
//!
//! No merging: a block knows the numbers of its events, so each is copied to where its number says. A
//! bit for each slot tells whether two blocks claim it, or none.

use std::collections::VecDeque;

use deadheat_model::{Event, Op, Site, Strand};

use super::block::EventBlock;
use super::reader::BlockRef;
use super::runs::RunCursor;
use crate::WINDOW;
use crate::error::{BlockProblem, HeaderProblem, TraceError};

/// Which slots of a window are filled.
pub(super) struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    pub fn new() -> SlotSet {
        SlotSet {
            words: vec![0; WINDOW / 64],
        }
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Fills slots; gives one that was filled before, if there is.
    #[inline]
    pub fn fill(&mut self, from: usize, length: usize) -> Result<(), usize> {
        let (mut at, end) = (from, from + length);
        while at < end {
            let (word, bit) = (at / 64, at % 64);
            let some = (64 - bit).min(end - at);
            let mask = (u64::MAX >> (64 - some)) << bit;
            let before = self.words[word] & mask;
            if before != 0 {
                return Err(word * 64 + before.trailing_zeros() as usize);
            }
            self.words[word] |= mask;
            at += some;
        }
        Ok(())
    }

    /// The first slot that is not filled; the number of slots if all are.
    pub fn first_hole(&self) -> usize {
        let full = self.words.iter().position(|&word| word != u64::MAX);
        full.map_or(WINDOW, |at| {
            at * 64 + self.words[at].trailing_ones() as usize
        })
    }
}

/// A block of which a part has been used.
struct OpenBlock<'a> {
    at: &'a BlockRef,
    cursor: RunCursor,
    block: EventBlock,
    /// How many of its events were taken.
    taken: usize,
}

/// Fills window after window.
pub(super) struct Filler<'a> {
    /// Those that are not yet open, by their first event.
    blocks: &'a [BlockRef],
    opened: usize,
    open: Vec<OpenBlock<'a>>,
    covered: SlotSet,
    /// Blocks whose memory can be used again.
    pub spare: VecDeque<EventBlock>,
    /// The number of the next window's first event.
    start: u64,
    events: u64,
}

impl<'a> Filler<'a> {
    /// Fills windows with the first `events` events of these blocks, which are in order of their first
    /// events.
    pub fn new(blocks: &'a [BlockRef], events: u64) -> Filler<'a> {
        Filler {
            blocks,
            opened: 0,
            open: Vec::new(),
            covered: SlotSet::new(),
            spare: VecDeque::new(),
            start: 0,
            events,
        }
    }

    /// Fills the next window; says whether there was one. `decoded` gives the blocks, which are asked
    /// for in order.
    pub fn fill(
        &mut self,
        window: &mut Vec<Event>,
        mut decoded: impl FnMut(usize, &mut VecDeque<EventBlock>) -> Result<EventBlock, TraceError>,
    ) -> Result<bool, TraceError> {
        let end = self.events.min(self.start + WINDOW as u64);
        let length = (end - self.start) as usize;
        if length == 0 {
            return Ok(false);
        }
        let nothing = Event::new(Strand::MAIN, Op::Begin, Site(0));
        window.resize(length, nothing);
        while let Some(at) = self.blocks.get(self.opened)
            && at.head.first < end
        {
            let block = decoded(self.opened, &mut self.spare)?;
            let cursor = EventBlock::cursor(&at.head);
            self.open.push(OpenBlock {
                at,
                cursor,
                block,
                taken: 0,
            });
            self.opened += 1;
        }
        self.covered.clear();
        for open in &mut self.open {
            let done = open.copy(self.start, window, &mut self.covered);
            done.map_err(|problem| open.at.error(problem))?;
        }
        let hole = self.covered.first_hole();
        if hole < length {
            let event = self.start + hole as u64 + 1;
            return Err(HeaderProblem::Hole { event }.into());
        }
        let done = self.open.extract_if(.., |open| open.cursor.is_done());
        self.spare.extend(done.map(|open| open.block));
        self.start = end;
        Ok(true)
    }
}

impl OpenBlock<'_> {
    /// Copies what falls into the window.
    fn copy(
        &mut self,
        start: u64,
        window: &mut [Event],
        covered: &mut SlotSet,
    ) -> Result<(), BlockProblem> {
        let end = start + window.len() as u64;
        let EventBlock { events, runs } = &self.block;
        while let Some((number, length)) = self.cursor.next(runs, end)? {
            let (from, length) = ((number - start) as usize, length as usize);
            covered.fill(from, length).map_err(|slot| {
                let event = start + slot as u64 + 1;
                BlockProblem::Duplicate { event }
            })?;
            let slots = &mut window[from..from + length];
            let events = &events[self.taken..self.taken + length];
            match (slots, events) {
                // A run is often one event: not worth a call.
                ([slot], [event]) => *slot = *event,
                (slots, events) => slots.copy_from_slice(events),
            }
            self.taken += length;
        }
        Ok(())
    }
}
