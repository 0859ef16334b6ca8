//! Which numbers a strand's events have in the whole execution: runs of numbers that follow each other,
//! and the gaps between them.
//!
//! Two columns of numbers: how long each run is, less one; how long each gap is, less one. Runs are
//! what a thread does before another one does something, so there are few where threads keep to
//! themselves.

use super::columns::{get_number, put_number};
use crate::error::BlockProblem;

/// The runs of a block.
#[derive(Default)]
pub(super) struct Runs {
    pub lengths: Vec<u8>,
    pub gaps: Vec<u8>,
}

/// Numbers to runs.
#[derive(Default)]
pub(super) struct RunWriter {
    runs: Runs,
    /// The numbers: from `first` until before `next`, the last `run` of them without a gap.
    first: u64,
    next: u64,
    run: u64,
}

impl RunWriter {
    pub fn is_empty(&self) -> bool {
        self.run == 0
    }

    /// The first number, and one more than the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.next)
    }

    /// Adds a number, larger than those before.
    #[inline]
    pub fn push(&mut self, number: u64) {
        if self.run == 0 {
            self.first = number;
        } else if number != self.next {
            put_number(self.run - 1, &mut self.runs.lengths);
            put_number(number - self.next - 1, &mut self.runs.gaps);
            self.run = 0;
        }
        self.run += 1;
        self.next = number + 1;
    }

    /// The runs. There are some.
    pub fn finish(&mut self) -> &Runs {
        put_number(self.run - 1, &mut self.runs.lengths);
        &self.runs
    }

    /// No numbers any more.
    pub fn clear(&mut self) {
        self.runs.lengths.clear();
        self.runs.gaps.clear();
        self.run = 0;
    }
}

/// A walk along the runs of a block.
pub(super) struct RunCursor {
    /// The number that comes next.
    at: u64,
    /// How many come without a gap.
    run: u64,
    /// How many come in all.
    left: u64,
    end: u64,
    lengths_read: usize,
    gaps_read: usize,
}

const WRONG: BlockProblem = BlockProblem::Content("numbers");

impl RunCursor {
    /// A walk from the beginning; the head of the block says what must come out.
    pub fn new(first: u64, end: u64, count: u32) -> RunCursor {
        RunCursor {
            at: first,
            run: 0,
            left: count.into(),
            end,
            lengths_read: 0,
            gaps_read: 0,
        }
    }

    /// The next numbers without a gap that are below `until`: the first, and how many; nothing if
    /// there are none. That they fit the head is checked on the way.
    #[inline]
    pub fn next(&mut self, runs: &Runs, until: u64) -> Result<Option<(u64, u64)>, BlockProblem> {
        if self.run == 0 {
            if self.left == 0 {
                return Ok(None);
            }
            self.next_run(runs)?;
        }
        if self.at >= until {
            return Ok(None);
        }
        let (at, some) = (self.at, self.run.min(until - self.at));
        self.at += some;
        self.run -= some;
        self.left -= some;
        if self.left == 0 {
            self.check_end(runs)?;
        }
        Ok(Some((at, some)))
    }

    /// Whether all have been taken.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    #[inline]
    fn next_run(&mut self, runs: &Runs) -> Result<(), BlockProblem> {
        let mut lengths = runs.lengths.get(self.lengths_read..).ok_or(WRONG)?;
        if self.lengths_read > 0 {
            let mut gaps = runs.gaps.get(self.gaps_read..).ok_or(WRONG)?;
            let gap = get_number(&mut gaps).ok_or(WRONG)?;
            self.gaps_read = runs.gaps.len() - gaps.len();
            self.at = self
                .at
                .checked_add(gap)
                .and_then(|at| at.checked_add(1))
                .ok_or(WRONG)?;
        }
        let length = get_number(&mut lengths).ok_or(WRONG)?;
        self.lengths_read = runs.lengths.len() - lengths.len();
        let room = self.end.checked_sub(self.at).ok_or(WRONG)?;
        if length >= self.left || self.left > room {
            return Err(WRONG);
        }
        self.run = length + 1;
        Ok(())
    }

    #[cold]
    fn check_end(&self, runs: &Runs) -> Result<(), BlockProblem> {
        let all = self.at == self.end
            && self.lengths_read == runs.lengths.len()
            && self.gaps_read == runs.gaps.len();
        if all { Ok(()) } else { Err(WRONG) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that a walk gives, in steps of `step`.
    fn walked(runs: &Runs, cursor: &mut RunCursor, step: u64) -> Result<Vec<u64>, BlockProblem> {
        let mut numbers = Vec::new();
        let mut until = 0;
        while !cursor.is_done() {
            until += step;
            while let Some((first, count)) = cursor.next(runs, until)? {
                assert!(first + count <= until);
                numbers.extend(first..first + count);
            }
        }
        Ok(numbers)
    }

    #[test]
    fn numbers_come_back_in_windows_of_any_size() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let mut writer = RunWriter::default();
            let mut numbers = vec![rng.u64(0..100)];
            for _ in 0..rng.usize(0..50) {
                let gap = if rng.bool() { 1 } else { rng.u64(1..300) };
                numbers.push(numbers[numbers.len() - 1] + gap);
            }
            numbers.iter().for_each(|&number| writer.push(number));
            let (first, end) = writer.range();
            let count = numbers.len() as u32;
            let runs = writer.finish();
            for step in [1, 7, 64, 100_000] {
                let mut cursor = RunCursor::new(first, end, count);
                assert_eq!(walked(runs, &mut cursor, step), Ok(numbers.clone()));
            }
            // Any other head is found out.
            for (end, count) in [(end + 1, count), (end, count + 1), (end - 1, count)] {
                let mut cursor = RunCursor::new(first, end, count);
                assert_eq!(walked(runs, &mut cursor, 100_000), Err(WRONG));
            }
        }
    }

    #[test]
    fn a_gap_cannot_lead_out_of_all_numbers() {
        for gap in [1 << 40, u64::MAX - 20, u64::MAX - 11, u64::MAX] {
            let mut runs = Runs {
                lengths: vec![0, 0],
                gaps: Vec::new(),
            };
            put_number(gap, &mut runs.gaps);
            let mut cursor = RunCursor::new(10, 100, 2);
            assert_eq!(walked(&runs, &mut cursor, 1000), Err(WRONG), "{gap}");
        }
    }
}
