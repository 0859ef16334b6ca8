//! The events of each strand, in its order.

use deadheat_model::{Execution, Strand};

/// Which of an execution's events are whose, by their indices.
pub(crate) struct ByStrand {
    /// Where in `indices` a strand's events begin, by the strand's number; and the end.
    starts: Vec<usize>,
    indices: Vec<u32>,
}

impl ByStrand {
    pub(crate) fn new(execution: &Execution) -> ByStrand {
        let strands = || execution.events.iter().map(|event| event.strand().index());
        let most = strands().max().map_or(0, |most| most + 1);
        // How many each has, then where each one's next event goes.
        let mut next = vec![0; most];
        strands().for_each(|strand| next[strand] += 1);
        let mut starts = Vec::with_capacity(most + 1);
        let mut start = 0;
        for next in &mut next {
            starts.push(start);
            start += std::mem::replace(next, start);
        }
        starts.push(start);
        let mut indices = vec![0; start];
        for (index, strand) in strands().enumerate() {
            indices[next[strand]] = index as u32;
            next[strand] += 1;
        }
        ByStrand { starts, indices }
    }

    /// The indices of a strand's events.
    pub(crate) fn of(&self, strand: Strand) -> &[u32] {
        match self.starts.get(strand.index()..strand.index() + 2) {
            Some(&[start, end]) => &self.indices[start..end],
            _ => &[],
        }
    }
}
