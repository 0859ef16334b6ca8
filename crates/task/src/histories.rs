//! What is known of each element of an array, where neighbours mostly have the same past.
//!
//! Simple model: a `Vec` with a history for each element.
//!
//! Views touch whole ranges, so neighbours have equal histories: a page of elements is kept as a few runs, and a range is checked
//! run by run. A page with many runs falls apart into one history for each element, and becomes a run again when all of it is
//! accessed at once and ends up equal. In the same way all of the array is one history until a part of it is accessed. What an access does to a history depends on nothing else, so a few
//! answers are remembered while ranges are visited: the rows of a block mostly have the same few pasts.
//!
//! Cost: a check of a range is a check for each run in it, and a comparison where the same past was met just before. A page
//! of 512 elements takes one history at least and 512 at most, an array that is only accessed as a whole takes one.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

/// How many elements share a page.
const PAGE: usize = 512;

/// How many runs a page may have.
const FEW: usize = 64;

/// How many answers are remembered.
const ANSWERS: usize = 4;

/// For a range of so few elements, answers are not remembered: that takes two copies.
const SHORT: usize = 4;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Histories<H> {
    length: usize,
    extent: Extent<H>,
}

#[derive(Debug)]
enum Extent<H> {
    /// All elements have the same history.
    Whole(H),
    Pages(Vec<Page<H>>),
}

#[derive(Debug)]
enum Page<H> {
    Few(SmallVec<[Run<H>; 1]>),
    Each(Box<[H]>),
}

/// Neighbours with the same history.
#[derive(Clone, Debug)]
struct Run<H> {
    /// One past the last of them, in the page.
    end: u16,
    history: H,
}

impl<H: Default + Clone + PartialEq> Histories<H> {
    /// No element of so many was accessed.
    pub(crate) fn new(length: usize) -> Histories<H> {
        Histories {
            length,
            extent: Extent::Whole(H::default()),
        }
    }

    /// The pages, for an access to a part.
    fn pages(&mut self) -> &mut Vec<Page<H>> {
        if let Extent::Whole(history) = &self.extent {
            let page = |number: usize| {
                let end = (self.length - number * PAGE).min(PAGE) as u16;
                let history = history.clone();
                Page::Few(smallvec![Run { end, history }])
            };
            self.extent = Extent::Pages((0..self.length.div_ceil(PAGE)).map(page).collect());
        }
        match &mut self.extent {
            Extent::Pages(pages) => pages,
            Extent::Whole(_) => unreachable!("pages were made"),
        }
    }

    /// After an access to all: makes the array one again if it is.
    fn unite(&mut self) {
        if let Extent::Pages(pages) = &self.extent
            && let Some((first, others)) = pages.split_first()
            && let Some(history) = first.history()
            && others.iter().all(|page| page.history() == Some(history))
        {
            self.extent = Extent::Whole(history.clone());
        }
    }

    /// Calls `check` with the histories of some ranges, from left to right: once for each run, with its elements, but not where
    /// the same was done to an equal history just before. `check` says whether it may be left out the next time.
    pub(crate) fn visit(
        &mut self,
        ranges: impl Iterator<Item = Range<usize>>,
        mut check: impl FnMut(Range<usize>, &mut H) -> bool,
    ) {
        let mut answers = Answers::default();
        for range in ranges {
            let all = range == (0..self.length);
            if let Extent::Whole(history) = &mut self.extent
                && all
            {
                answers.apply(history, |history| check(range, history));
                continue;
            }
            let pages = self.pages();
            let mut from = range.start;
            while from < range.end {
                let number = from / PAGE;
                let start = number * PAGE;
                let to = range.end.min(start + PAGE);
                pages[number].visit(from - start..to - start, |run, history| {
                    let run = start + run.start..start + run.end;
                    match range.len() <= SHORT {
                        true => _ = check(run, history),
                        false => answers.apply(history, |history| check(run, history)),
                    }
                });
                from = to;
            }
            if all {
                self.unite();
            }
        }
    }
}

impl<H: Default + Clone + PartialEq> Histories<H> {
    /// Calls `check` with the history of a single element.
    #[inline]
    pub(crate) fn visit_one(&mut self, index: usize, mut check: impl FnMut(&mut H)) {
        if let Extent::Whole(history) = &mut self.extent
            && self.length == 1
        {
            return check(history);
        }
        let (number, index) = (index / PAGE, index % PAGE);
        match &mut self.pages()[number] {
            Page::Each(each) if each.len() > 1 => check(&mut each[index]),
            page => page.visit(index..index + 1, |_, history| check(history)),
        }
    }
}

/// What was done to a few histories: each before and after.
struct Answers<H> {
    known: [Option<(H, H)>; ANSWERS],
    oldest: usize,
}

impl<H> Default for Answers<H> {
    fn default() -> Answers<H> {
        Answers {
            known: [const { None }; ANSWERS],
            oldest: 0,
        }
    }
}

impl<H: Clone + PartialEq> Answers<H> {
    /// Does to a history what was done to an equal one, or else what `check` does.
    fn apply(&mut self, history: &mut H, check: impl FnOnce(&mut H) -> bool) {
        let mut known = self.known.iter().flatten();
        if let Some((_, after)) = known.find(|(before, _)| before == history) {
            *history = after.clone();
            return;
        }
        let before = history.clone();
        if check(history) {
            self.known[self.oldest % ANSWERS] = Some((before, history.clone()));
            self.oldest += 1;
        }
    }
}

impl<H: Default + Clone + PartialEq> Page<H> {
    /// That of all its elements, if they have the same.
    fn history(&self) -> Option<&H> {
        match self {
            Page::Few(runs) if runs.len() == 1 => Some(&runs[0].history),
            _ => None,
        }
    }

    fn visit(&mut self, range: Range<usize>, mut access: impl FnMut(Range<usize>, &mut H)) {
        match self {
            Page::Each(each) => {
                for index in range.clone() {
                    access(index..index + 1, &mut each[index]);
                }
                if range.len() == each.len() && each.iter().all(|history| *history == each[0]) {
                    let end = each.len() as u16;
                    let history = std::mem::take(&mut each[0]);
                    *self = Page::Few(smallvec![Run { end, history }]);
                }
            }
            Page::Few(runs) => {
                let first = split(runs, range.start);
                let last = split(runs, range.end);
                let mut start = range.start;
                for run in &mut runs[first..last] {
                    let end = run.end as usize;
                    access(start..end, &mut run.history);
                    start = end;
                }
                // Neighbours that have become equal: inside the range, and at its ends.
                let mut kept = first.saturating_sub(1);
                let end = (last + 1).min(runs.len());
                for next in kept + 1..end {
                    match runs[kept].history == runs[next].history {
                        true => runs[kept].end = runs[next].end,
                        false => {
                            kept += 1;
                            runs.swap(kept, next);
                        }
                    }
                }
                runs.drain(kept + 1..end);
                if runs.len() > FEW {
                    *self = Page::Each(spread(runs));
                }
            }
        }
    }
}

/// Makes sure that a run begins at an index, and gives its number.
fn split<H: Clone>(runs: &mut SmallVec<[Run<H>; 1]>, index: usize) -> usize {
    let number = runs.partition_point(|run| run.end as usize <= index);
    if number == runs.len() {
        return number;
    }
    let start = match number {
        0 => 0,
        _ => runs[number - 1].end as usize,
    };
    if start == index {
        return number;
    }
    let left = Run {
        end: index as u16,
        history: runs[number].history.clone(),
    };
    runs.insert(number, left);
    number + 1
}

fn spread<H: Clone>(runs: &[Run<H>]) -> Box<[H]> {
    let mut start = 0;
    let each = runs.iter().flat_map(|run| {
        let length = run.end as usize - start;
        start = run.end as usize;
        std::iter::repeat_n(run.history.clone(), length)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simple model, on random ranges; what an access does depends on the history alone, as a checker's does.
    #[test]
    fn runs_do_what_a_vector_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut few, mut each, mut whole) = (0, 0, 0);
        let rounds = if cfg!(miri) { 2 } else { 300 };
        for _ in 0..rounds {
            let length = rng.usize(1..2000);
            let mut histories = Histories::<u32>::new(length);
            let mut model = vec![0u32; length];
            let wide = match rng.bool() {
                true => rng.usize(1..=length),
                false => rng.usize(1..5),
            };
            for _ in 0..2 * rounds {
                let start = rng.usize(..length);
                let end = (start + rng.usize(..=wide)).min(length);
                let range = if rng.u8(..50) == 0 {
                    0..length
                } else {
                    start..end
                };
                let value = rng.u32(..64);
                let becomes = |old: u32| if old == 4 { old } else { value };
                let repeats = rng.bool();
                let mut seen = 0;
                if range.len() == 1 && rng.bool() {
                    histories.visit_one(start, |history| {
                        assert_eq!(*history, model[start]);
                        *history = becomes(*history);
                    });
                    model[start] = becomes(model[start]);
                    continue;
                }
                histories.visit([range.clone()].into_iter(), |run, history| {
                    assert!(model[run.clone()].iter().all(|model| model == history));
                    *history = becomes(*history);
                    seen += run.len();
                    repeats
                });
                assert!(seen == range.len() || (repeats && seen < range.len()));
                if range.len() == length && length > PAGE {
                    whole += u32::from(matches!(histories.extent, Extent::Whole(_)));
                }
                for old in &mut model[range.clone()] {
                    *old = becomes(*old);
                }
            }
            let mut all = Vec::new();
            for page in histories.pages() {
                match page {
                    Page::Few(runs) => {
                        all.extend(spread(runs));
                        few += 1;
                    }
                    Page::Each(histories) => {
                        all.extend(histories.iter().copied());
                        each += 1;
                    }
                }
            }
            assert_eq!(all, model);
        }
        assert!(
            cfg!(miri) || few > 50 && each > 50 && whole > 50,
            "{few} {each} {whole}"
        );
    }
}
