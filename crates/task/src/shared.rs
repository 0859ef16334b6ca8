//! Checked memory: `Shared`, `SharedSlice`, `SharedGrid`, and views of them.

use std::borrow::Cow;
use std::ops::{Bound, Deref, DerefMut, Range, RangeBounds};
use std::panic::Location;

use deadheat_model::AccessKind::{Read, Write};

use crate::claims::Area;
use crate::memory::{Loan, Memory};

/// A value that tasks share.
///
/// ```
/// use deadheat_task::{Check, Options, Shared, finish};
///
/// let outcome = Options::new().check(Check::Spd3).run(|| {
///     let total = Shared::named("total", 0);
///     finish(|s| s.spawn(|| total.set(3)));
///     total.get()
/// });
/// assert!(outcome.report.races.is_empty());
/// assert_eq!(outcome.result.unwrap(), 3);
/// ```
#[derive(Debug)]
pub struct Shared<T>(Memory<T>);

impl<T> Shared<T> {
    /// A value; reports call it by where it was made.
    #[track_caller]
    pub fn new(value: T) -> Shared<T> {
        Shared(Memory::single(value, None, Location::caller()))
    }

    /// A value with a name for reports.
    #[track_caller]
    pub fn named(name: impl Into<Cow<'static, str>>, value: T) -> Shared<T> {
        Shared(Memory::single(value, Some(name.into()), Location::caller()))
    }

    /// Reads it.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.0.get(0, Location::caller())
    }

    /// Writes it.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.0.replace(0, value, Location::caller()));
    }

    /// Writes it, and gives what was there.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.0.replace(0, value, Location::caller())
    }

    /// The value, which nobody shares any more.
    pub fn into_inner(self) -> T {
        match self.0.into_vec().pop() {
            Some(value) => value,
            None => unreachable!("there is one value"),
        }
    }
}

/// An array that tasks share.
///
/// Elements can be read and written one by one. A *view* is checked once for its whole range and is a plain slice.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{SharedSlice, par_for};
///
/// let numbers = SharedSlice::new((0..1000).collect::<Vec<u64>>());
/// let sums = SharedSlice::new(vec![0; 10]);
/// par_for(0..10, |part| {
///     let numbers = numbers.read(part * 100..part * 100 + 100);
///     sums.set(part, numbers.iter().sum());
/// });
/// assert_eq!(sums.read(..).iter().sum::<u64>(), 499_500);
/// # });
/// ```
#[derive(Debug)]
pub struct SharedSlice<T>(Memory<T>);

impl<T> SharedSlice<T> {
    /// An array; reports call it by where it was made.
    #[track_caller]
    pub fn new(elements: Vec<T>) -> SharedSlice<T> {
        SharedSlice(Memory::new(elements, None, None, Location::caller()))
    }

    /// An array with a name for reports.
    #[track_caller]
    pub fn named(name: impl Into<Cow<'static, str>>, elements: Vec<T>) -> SharedSlice<T> {
        let name = Some(name.into());
        SharedSlice(Memory::new(elements, None, name, Location::caller()))
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads an element. Panics if there is none, or another view writes it.
    #[track_caller]
    pub fn get(&self, index: usize) -> T
    where
        T: Copy,
    {
        self.0.get(index, Location::caller())
    }

    /// Writes an element. Panics if there is none, or a view has it.
    #[track_caller]
    pub fn set(&self, index: usize, value: T) {
        drop(self.0.replace(index, value, Location::caller()));
    }

    /// Writes an element, and gives what was there.
    #[track_caller]
    pub fn replace(&self, index: usize, value: T) -> T {
        self.0.replace(index, value, Location::caller())
    }

    /// A range to be read, as a plain slice. Panics if it is not inside, or if another view writes some of it.
    #[track_caller]
    pub fn read(&self, range: impl RangeBounds<usize>) -> ReadView<'_, T> {
        let area = self.area(range);
        ReadView(self.0.lend(area, Read, Location::caller()))
    }

    /// A range to be read and written, as a plain slice. Panics if it is not inside, or if another view has some of it.
    #[track_caller]
    pub fn write(&self, range: impl RangeBounds<usize>) -> WriteView<'_, T> {
        let area = self.area(range);
        WriteView(self.0.lend(area, Write, Location::caller()))
    }

    #[track_caller]
    fn area(&self, range: impl RangeBounds<usize>) -> Area {
        Area {
            rows: 0..1,
            columns: inside(range, self.len()),
        }
    }

    /// The elements, which nobody shares any more.
    pub fn into_vec(self) -> Vec<T> {
        self.0.into_vec()
    }
}

/// A matrix that tasks share.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{SharedGrid, par_for};
///
/// let table = SharedGrid::new(10, 10, vec![0; 100]);
/// par_for(0..10, |row| {
///     for (column, product) in table.write_row(row).iter_mut().enumerate() {
///         *product = row * column;
///     }
/// });
/// assert_eq!(table.get(7, 8), 56);
/// # });
/// ```
#[derive(Debug)]
pub struct SharedGrid<T>(Memory<T>);

impl<T> SharedGrid<T> {
    /// A matrix, row by row; reports call it by where it was made. Panics if the number of elements is not right.
    #[track_caller]
    pub fn new(rows: usize, columns: usize, elements: Vec<T>) -> SharedGrid<T> {
        SharedGrid::make(rows, columns, elements, None)
    }

    /// A matrix with a name for reports.
    #[track_caller]
    pub fn named(
        name: impl Into<Cow<'static, str>>,
        rows: usize,
        columns: usize,
        elements: Vec<T>,
    ) -> SharedGrid<T> {
        SharedGrid::make(rows, columns, elements, Some(name.into()))
    }

    #[track_caller]
    fn make(
        rows: usize,
        columns: usize,
        elements: Vec<T>,
        name: Option<Cow<'static, str>>,
    ) -> SharedGrid<T> {
        assert_eq!(
            Some(elements.len()),
            rows.checked_mul(columns),
            "a matrix of {rows} rows and {columns} columns"
        );
        SharedGrid(Memory::new(
            elements,
            Some(columns),
            name,
            Location::caller(),
        ))
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.0.len().checked_div(self.columns()).unwrap_or(0)
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Reads an element. Panics if there is none, or another view writes it.
    #[track_caller]
    pub fn get(&self, row: usize, column: usize) -> T
    where
        T: Copy,
    {
        self.0.get(self.index(row, column), Location::caller())
    }

    /// Writes an element. Panics if there is none, or a view has it.
    #[track_caller]
    pub fn set(&self, row: usize, column: usize, value: T) {
        drop(
            self.0
                .replace(self.index(row, column), value, Location::caller()),
        );
    }

    /// A row to be read, as a plain slice.
    #[track_caller]
    pub fn read_row(&self, row: usize) -> ReadView<'_, T> {
        let area = self.area(row..=row, ..);
        ReadView(self.0.lend(area, Read, Location::caller()))
    }

    /// A row to be read and written, as a plain slice.
    #[track_caller]
    pub fn write_row(&self, row: usize) -> WriteView<'_, T> {
        let area = self.area(row..=row, ..);
        WriteView(self.0.lend(area, Write, Location::caller()))
    }

    /// Some columns of some rows to be read, row by row.
    #[track_caller]
    pub fn read(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> ReadBlock<'_, T> {
        let area = self.area(rows, columns);
        ReadBlock(self.0.lend(area, Read, Location::caller()))
    }

    /// Some columns of some rows to be read and written, row by row.
    #[track_caller]
    pub fn write(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> WriteBlock<'_, T> {
        let area = self.area(rows, columns);
        WriteBlock(self.0.lend(area, Write, Location::caller()))
    }

    /// The elements row by row, which nobody shares any more.
    pub fn into_vec(self) -> Vec<T> {
        self.0.into_vec()
    }

    #[track_caller]
    fn index(&self, row: usize, column: usize) -> usize {
        assert!(
            row < self.rows() && column < self.columns(),
            "[{row}][{column}] is out of range for {} rows of {}",
            self.rows(),
            self.columns()
        );
        row * self.columns() + column
    }

    #[track_caller]
    fn area(&self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Area {
        Area {
            rows: inside(rows, self.rows()),
            columns: inside(columns, self.columns()),
        }
    }
}

/// A range, which must be inside of so many elements.
#[track_caller]
fn inside(range: impl RangeBounds<usize>, length: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => length,
    };
    assert!(
        start <= end && end <= length,
        "{start}..{end} is out of range: there are {length}"
    );
    start..end
}

/// A range that is read; a plain slice.
#[derive(Debug)]
pub struct ReadView<'m, T>(Loan<'m, T>);

impl<T> Deref for ReadView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.read(0)
    }
}

/// A range that is read and written; a plain slice.
#[derive(Debug)]
pub struct WriteView<'m, T>(Loan<'m, T>);

impl<T> Deref for WriteView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.read(0)
    }
}

impl<T> DerefMut for WriteView<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.write(0)
    }
}

/// A block of a matrix that is read: rows, which are plain slices.
#[derive(Debug)]
pub struct ReadBlock<'m, T>(Loan<'m, T>);

impl<T> ReadBlock<'_, T> {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// A row, by its number in the block.
    #[track_caller]
    pub fn row(&self, row: usize) -> &[T] {
        self.0.read(row)
    }
}

/// A block of a matrix that is read and written: rows, which are plain slices.
#[derive(Debug)]
pub struct WriteBlock<'m, T>(Loan<'m, T>);

impl<T> WriteBlock<'_, T> {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// A row, by its number in the block.
    #[track_caller]
    pub fn row(&self, row: usize) -> &[T] {
        self.0.read(row)
    }

    /// A row to be written, by its number in the block.
    #[track_caller]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        self.0.write(row)
    }
}
