//! Memory that tasks share, element by element or lent out as plain slices, and what makes that sound.
//!
//! Simple model: every element under a lock of its own.
//!
//! Instead there is a lock for each of a few [`Stripes`]. Single reads and writes happen while it is held. A *view* is a
//! loan: it takes the lock of each stripe it touches once when it begins and once when it ends, and hands out a plain slice between.
//! [`Claims`](crate::claims::Claims) refuses a loan that conflicts with another, and a single access that conflicts with a loan: two that
//! conflict meet in the stripe of an element that both touch. So no two threads touch an element at
//! the same time unless both read it, whatever the program does: a race is a wrong result, a report or a refusal, but never undefined
//! behaviour.
//!
//! To the checker a view is an access when it begins, and, if the task has gone on to another step, again when it ends. Why that
//! finds everything: take a view and a conflicting access of another task. If the access is unordered with the view's beginning or
//! with its end, that is found there. If it is ordered before the beginning or after the end, there is no race. What
//! is left is an access after the beginning and before the end: it happens while the view is alive, in every schedule, and the loan
//! refuses it.
//!
//! Cost: a lock for a single access, or for a stripe of a view; a check for each run of elements with an equal past.

#![allow(unsafe_code)]

use std::borrow::Cow;
use std::cell::UnsafeCell;
use std::ops::Range;

use deadheat_model::AccessKind;
use deadheat_order::Step;

use crate::claims::Area;
use crate::fiber::Caller;
use crate::stripes::{MOST, State, Stripes};
use crate::sync::MutexGuard;
use crate::variable::{Part, Variable};
use crate::worker::Worker;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Memory<T> {
    elements: Box<[UnsafeCell<T>]>,
    columns: usize,
    variable: Variable,
    stripes: Stripes,
}

// SAFETY: an element is touched under the lock, or through a loan that excludes conflicting ones. So a value moves
// between threads (`Send`), and several read it at once (`Sync`).
unsafe impl<T: Send + Sync> Sync for Memory<T> {}

impl<T> Memory<T> {
    pub(crate) fn new(
        elements: Vec<T>,
        columns: Option<usize>,
        name: Option<Cow<'static, str>>,
        made: Caller,
    ) -> Memory<T> {
        let variable = Variable::new(name, made, Some(elements.len()), columns);
        Memory::of(elements, columns, variable)
    }

    /// A single value.
    pub(crate) fn single(value: T, name: Option<Cow<'static, str>>, made: Caller) -> Memory<T> {
        Memory::of(vec![value], None, Variable::new(name, made, None, None))
    }

    fn of(elements: Vec<T>, columns: Option<usize>, variable: Variable) -> Memory<T> {
        Memory {
            columns: columns.unwrap_or(elements.len()),
            stripes: Stripes::new(elements.len()),
            elements: elements.into_iter().map(UnsafeCell::new).collect(),
            variable,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        let elements = self.elements.into_vec().into_iter();
        elements.map(UnsafeCell::into_inner).collect()
    }

    /// Lets the checker know of an access to a single element, and makes sure that nothing on loan conflicts with it.
    #[inline]
    fn enter(&self, index: usize, kind: AccessKind, at: Caller) -> MutexGuard<'_, State> {
        assert!(
            index < self.len(),
            "index {index} is out of range for {} elements",
            self.len()
        );
        let stripe = self.stripes.of(index);
        let mut state = self.stripes.lock(stripe);
        if let Some(worker) = Worker::current()
            && worker.task().is_some()
        {
            let part = self.part(stripe);
            let index = index - part.elements.start;
            worker.access_one(&mut state.shadow, &part, index, kind, at);
        }
        match state.claims.is_empty() {
            true => state,
            false => self.unless_on_loan(state, index, kind, at),
        }
    }

    /// Refuses an access to an element that is on loan.
    #[cold]
    fn unless_on_loan<'m>(
        &self,
        state: MutexGuard<'m, State>,
        index: usize,
        kind: AccessKind,
        at: Caller,
    ) -> MutexGuard<'m, State> {
        if let Some(conflict) = state.claims.conflict(&self.element(index), kind) {
            drop(state);
            refuse(at, &conflict);
        }
        state
    }

    fn part(&self, stripe: usize) -> Part<'_> {
        Part {
            variable: &self.variable,
            elements: self.stripes.elements(stripe),
        }
    }

    /// Lets the checker know of an access to the part of an area that lies in a stripe. Gives the step that the task is in.
    fn check(
        &self,
        stripe: usize,
        state: &mut State,
        area: &Area,
        kind: AccessKind,
        at: Caller,
    ) -> Option<Step> {
        let worker = Worker::current()?;
        worker.task()?;
        let (part, columns) = (self.part(stripe), self.columns);
        let (start, end) = (part.elements.start, part.elements.end);
        // Whole rows are one range.
        let (rows, wide) = match area.columns.len() == columns {
            true => (0..1, area.rows.start * columns..area.rows.end * columns),
            false => {
                let first = area.rows.start.max(start / columns);
                let last = area.rows.end.min(end.div_ceil(columns));
                (first..last, area.columns.clone())
            }
        };
        let within = |index: usize| index.clamp(start, end) - start;
        let ranges =
            rows.map(|row| within(wide.start + row * columns)..within(wide.end + row * columns));
        worker.access(&mut state.shadow, &part, ranges, kind, at)
    }

    /// The stripes that an area touches.
    fn stripes(&self, area: &Area) -> Range<usize> {
        let Area { rows, columns } = area;
        match rows.is_empty() || columns.is_empty() {
            true => self.stripes.around(0..0),
            false => {
                let last = (rows.end - 1) * self.columns + columns.end;
                self.stripes
                    .around(rows.start * self.columns + columns.start..last)
            }
        }
    }

    fn element(&self, index: usize) -> Area {
        let (row, column) = (index / self.columns, index % self.columns);
        Area {
            rows: row..row + 1,
            columns: column..column + 1,
        }
    }

    #[track_caller]
    pub(crate) fn get(&self, index: usize, at: Caller) -> T
    where
        T: Copy,
    {
        let _state = self.enter(index, AccessKind::Read, at);
        // SAFETY: under the lock, and nobody has it on loan to write.
        unsafe { *self.elements[index].get() }
    }

    pub(crate) fn replace(&self, index: usize, value: T, at: Caller) -> T {
        let state = self.enter(index, AccessKind::Write, at);
        // SAFETY: under the lock, and nobody has it on loan.
        let old = unsafe { self.elements[index].get().replace(value) };
        drop(state);
        old
    }

    /// Lends out an area, which is inside.
    pub(crate) fn lend(&self, area: Area, kind: AccessKind, at: Caller) -> Loan<'_, T> {
        let stripes = self.stripes(&area);
        let (mut number, mut step, mut conflict) = (0, None, None);
        // Where there is a conflict the rest is still checked: all races are reported.
        for stripe in stripes.clone() {
            let mut state = self.stripes.lock(stripe);
            step = self.check(stripe, &mut state, &area, kind, at);
            conflict = conflict.or_else(|| state.claims.conflict(&area, kind));
            if stripe == stripes.start {
                // Loans that begin in different stripes have different numbers.
                number = state.claims.number() * MOST as u64 + stripe as u64;
            }
            state.claims.lend(number, area.clone(), kind, at);
        }
        if let Some(conflict) = conflict {
            for stripe in stripes {
                self.stripes.lock(stripe).claims.end(number);
            }
            refuse(at, &conflict);
        }
        let start = area.rows.start * self.columns + area.columns.start;
        let elements = &self.elements[start.min(self.len())..];
        Loan {
            memory: self,
            first: UnsafeCell::raw_get(elements.as_ptr()),
            area,
            kind,
            number,
            step,
            at,
        }
    }
}

/// Something on loan conflicts with an access.
fn refuse(at: Caller, conflict: &str) -> ! {
    panic!("{}: {conflict}", crate::error::place(at));
}

/// An area on loan.
#[derive(Debug)]
pub(crate) struct Loan<'m, T> {
    memory: &'m Memory<T>,
    first: *mut T,
    area: Area,
    kind: AccessKind,
    number: u64,
    /// The step that the task was in.
    step: Option<Step>,
    at: Caller,
}

// SAFETY: a loan to read is a shared slice, one to write an exclusive one; the memory is shared.
unsafe impl<T: Send + Sync> Send for Loan<'_, T> {}
// SAFETY: the same.
unsafe impl<T: Send + Sync> Sync for Loan<'_, T> {}

impl<T> Loan<'_, T> {
    pub(crate) fn rows(&self) -> usize {
        self.area.rows.len()
    }

    /// A row of the area, by its number in the area.
    #[inline]
    fn row(&self, row: usize) -> *mut T {
        assert!(row < self.rows(), "row {row} of {} rows", self.rows());
        // SAFETY: the area is inside of the memory, and so is each of its rows.
        unsafe { self.first.add(row * self.memory.columns) }
    }

    /// A row of the area.
    #[inline]
    pub(crate) fn read(&self, row: usize) -> &[T] {
        // SAFETY: the elements are on loan to us: nobody writes them but through this loan, which is borrowed.
        unsafe { std::slice::from_raw_parts(self.row(row), self.area.columns.len()) }
    }

    /// A row of the area, on loan to be written.
    #[inline]
    pub(crate) fn write(&mut self, row: usize) -> &mut [T] {
        assert_eq!(self.kind, AccessKind::Write);
        // SAFETY: the elements are on loan to us to be written: nobody else touches them, and this loan is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.row(row), self.area.columns.len()) }
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let memory = self.memory;
        let task = Worker::current().and_then(Worker::monitored);
        let is_in_another_step = match (self.step, task) {
            (Some(step), Some((_, task))) => task.get().task.step() != step,
            _ => false,
        };
        for stripe in memory.stripes(&self.area) {
            let mut state = memory.stripes.lock(stripe);
            state.claims.end(self.number);
            if is_in_another_step {
                memory.check(stripe, &mut state, &self.area, self.kind, self.at);
            }
        }
    }
}
