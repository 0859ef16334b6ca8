//! Which areas of an array are lent out as plain slices, now.
//!
//! Simple model: a list of borrows, as in a `RefCell`, but of areas: any number may read an area, or one may write it.
//!
//! This is what keeps a racy program memory-safe: whoever would get a slice that another still has is refused,
//! in every run, checked or not. Programs without races are never refused for what other tasks do.
//!
//! Cost: as long as the list of what is lent out at the moment.

use std::ops::Range;

use deadheat_model::AccessKind;

use crate::error::place;
use crate::fiber::Caller;

/// Some neighbouring columns of some neighbouring rows; an array without rows is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Area {
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

impl Area {
    fn overlaps(&self, other: &Area) -> bool {
        let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        overlap(&self.rows, &other.rows) && overlap(&self.columns, &other.columns)
    }
}

impl std::fmt::Display for Area {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.rows == (0..1) {
            true => write!(f, "[{:?}]", self.columns),
            false => write!(f, "[{:?}][{:?}]", self.rows, self.columns),
        }
    }
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Claims {
    live: Vec<Claim>,
    next: u64,
}

#[derive(Debug)]
struct Claim {
    number: u64,
    area: Area,
    kind: AccessKind,
    at: Caller,
}

impl Claims {
    /// Whether nothing is lent out.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// What is lent out and conflicts with an access.
    pub(crate) fn conflict(&self, area: &Area, kind: AccessKind) -> Option<String> {
        let conflicts = |claim: &&Claim| {
            claim.area.overlaps(area)
                && (kind == AccessKind::Write || claim.kind == AccessKind::Write)
        };
        let claim = self.live.iter().find(conflicts)?;
        Some(format!(
            "a {kind} of {area} overlaps {}, which a view that is still alive {}s, made at {}. If another task has \
             that view, this is a race; if this task has it, drop it first",
            claim.area,
            claim.kind,
            place(claim.at)
        ))
    }

    /// A number that no other loan has here.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Lends out an area that nothing conflicts with, to a loan of a number.
    pub(crate) fn lend(&mut self, number: u64, area: Area, kind: AccessKind, at: Caller) {
        self.live.push(Claim {
            number,
            area,
            kind,
            at,
        });
    }

    /// A loan has ended.
    pub(crate) fn end(&mut self, number: u64) {
        // The latest is most often the first to end.
        if let Some(index) = self.live.iter().rposition(|claim| claim.number == number) {
            self.live.swap_remove(index);
        }
    }
}
