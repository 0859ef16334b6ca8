//! Memory that tasks share, element by element or lent out as plain slices, and what makes that sound.
//!
//! Simple model: every element under a lock of its own.
//!
//! Instead there is one lock for the bookkeeping. Single reads and writes happen while it is held. A *view* is a
//! loan: it takes the lock once, when it begins and when it ends, and hands out a plain slice between. [`Claims`] refuses
//! a loan that conflicts with another, and a single access that conflicts with a loan. So no two threads touch an element at
//! the same time unless both read it, whatever the program does: a race is a wrong result, a report or a refusal, but never undefined
//! behaviour.
//!
//! To the checker a view is an access when it begins, and, if the task has gone on to another step, again when it ends. Why that
//! finds everything: take a view and a conflicting access of another task. If the access is unordered with the view's beginning or
//! with its end, that is found there. If it is ordered before the beginning or after the end, there is no race. What
//! is left is an access after the beginning and before the end: it happens while the view is alive, in every schedule, and the loan
//! refuses it.
//!
//! Cost: a lock for a single access, or for the whole of a view; a check for each run of elements with an equal past.

#![allow(unsafe_code)]

use std::borrow::Cow;
use std::cell::UnsafeCell;

use deadheat_model::AccessKind;
use deadheat_order::Step;

use crate::claims::{Area, Claims};
use crate::fiber::Caller;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::variable::{Shadow, Variable};
use crate::worker::Worker;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Memory<T> {
    elements: Box<[UnsafeCell<T>]>,
    columns: usize,
    variable: Variable,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    claims: Claims,
    shadow: Option<Shadow>,
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
            elements: elements.into_iter().map(UnsafeCell::new).collect(),
            variable,
            state: Mutex::default(),
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

    /// Lets the checker know of an access, and makes sure that nothing on loan conflicts with it.
    fn enter(
        &self,
        area: &Area,
        kind: AccessKind,
        at: Caller,
    ) -> (MutexGuard<'_, State>, Option<Step>) {
        let mut state = lock(&self.state);
        let step = self.check(&mut state, area, kind, at);
        (refuse(state, area, kind, at), step)
    }

    /// The same for a single element.
    #[inline]
    fn enter_one(&self, index: usize, kind: AccessKind, at: Caller) -> MutexGuard<'_, State> {
        assert!(
            index < self.len(),
            "index {index} is out of range for {} elements",
            self.len()
        );
        let mut state = lock(&self.state);
        if let Some(worker) = Worker::current()
            && worker.task().is_some()
        {
            worker.access_one(&mut state.shadow, &self.variable, index, kind, at);
        }
        match state.claims.is_empty() {
            true => state,
            false => refuse(state, &self.element(index), kind, at),
        }
    }

    fn check(&self, state: &mut State, area: &Area, kind: AccessKind, at: Caller) -> Option<Step> {
        let worker = Worker::current()?;
        worker.task()?;
        let columns = self.columns;
        // Whole rows are one range.
        let (rows, wide) = match area.columns.len() == columns {
            true => (0..1, area.rows.start * columns..area.rows.end * columns),
            false => (area.rows.clone(), area.columns.clone()),
        };
        let ranges = rows.map(|row| wide.start + row * columns..wide.end + row * columns);
        worker.access(&mut state.shadow, &self.variable, ranges, kind, at)
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
        let _state = self.enter_one(index, AccessKind::Read, at);
        // SAFETY: under the lock, and nobody has it on loan to write.
        unsafe { *self.elements[index].get() }
    }

    pub(crate) fn replace(&self, index: usize, value: T, at: Caller) -> T {
        let state = self.enter_one(index, AccessKind::Write, at);
        // SAFETY: under the lock, and nobody has it on loan.
        let old = unsafe { self.elements[index].get().replace(value) };
        drop(state);
        old
    }

    /// Lends out an area, which is inside.
    pub(crate) fn lend(&self, area: Area, kind: AccessKind, at: Caller) -> Loan<'_, T> {
        let (mut state, step) = self.enter(&area, kind, at);
        let number = state.claims.lend(area.clone(), kind, at);
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

/// Panics if something on loan conflicts with an access.
fn refuse<'m>(
    state: MutexGuard<'m, State>,
    area: &Area,
    kind: AccessKind,
    at: Caller,
) -> MutexGuard<'m, State> {
    if let Some(conflict) = state.claims.conflict(area, kind) {
        drop(state);
        panic!("{}: {conflict}", crate::error::place(at));
    }
    state
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
        let mut state = lock(&self.memory.state);
        state.claims.end(self.number);
        if let (Some(step), Some(worker)) = (self.step, Worker::current())
            && let Some((_, task)) = worker.monitored()
            && task.get().task.step() != step
        {
            self.memory
                .check(&mut state, &self.area, self.kind, self.at);
        }
    }
}
