//! Checked memory as the checker sees it: a name, a number of elements, and what is known of each.

use std::borrow::Cow;
use std::ops::Range;

use deadheat_model::{AccessKind, Location, Op, ReadKind};
use deadheat_online::{Conflict, drdp, spd3};
use deadheat_order::{Step, Task};

use crate::error::place;
use crate::fiber::Caller;
use crate::histories::Histories;
use crate::monitor::{EngineTables, Monitor};
use crate::options::Check;
use crate::races::RacePair;
use crate::sync::{Mutex, lock};
use crate::worker::Worker;

/// A piece of checked memory, as runs know it.
#[derive(Debug)]
pub(crate) struct Variable {
    label: Label,
    /// The last run that has met it, and the location of its first element there.
    first: Mutex<Option<(u64, u64)>>,
}

/// What a piece of checked memory is called, and how large it is.
#[derive(Clone, Debug)]
struct Label {
    name: Option<Cow<'static, str>>,
    made: Caller,
    /// How many elements; none for a single value.
    length: Option<usize>,
    /// How many columns, if it has rows.
    columns: Option<usize>,
}

impl Variable {
    pub(crate) fn new(
        name: Option<Cow<'static, str>>,
        made: Caller,
        length: Option<usize>,
        columns: Option<usize>,
    ) -> Variable {
        Variable {
            label: Label {
                name,
                made,
                length,
                columns,
            },
            first: Mutex::new(None),
        }
    }

    /// The location of its first element in a run.
    fn first(&self, monitor: &Monitor) -> u64 {
        let mut first = lock(&self.first);
        match *first {
            Some((run, location)) if run == monitor.id => location,
            _ => {
                let location = lock(&monitor.variables).add(&self.label);
                *first = Some((monitor.id, location));
                location
            }
        }
    }
}

impl Label {
    fn elements(&self) -> usize {
        self.length.unwrap_or(1)
    }

    /// What an element is called.
    fn element(&self, index: usize) -> String {
        let name = match &self.name {
            Some(name) => name.to_string(),
            None => format!("(made at {})", place(self.made)),
        };
        match (self.length, self.columns) {
            (None, _) => name,
            (_, Some(columns)) => {
                let (row, column) = (index / columns, index % columns);
                format!("{name}[{row}][{column}]")
            }
            (_, None) => format!("{name}[{index}]"),
        }
    }
}

/// The variables of a run.
#[derive(Default)]
pub(crate) struct Variables {
    /// By the number of their first location.
    known: Vec<(u64, Label)>,
    locations: u64,
}

impl Variables {
    fn add(&mut self, label: &Label) -> u64 {
        let first = self.locations;
        self.known.push((first, label.clone()));
        self.locations += label.elements() as u64;
        first
    }

    /// What a location is called.
    pub(crate) fn name(&self, location: Location) -> String {
        let after = self
            .known
            .partition_point(|(first, _)| *first <= location.0);
        let (first, label) = &self.known[after - 1];
        label.element((location.0 - first) as usize)
    }

    /// What all locations are called.
    pub(crate) fn names(&self) -> Vec<String> {
        let all = self.known.iter();
        let names =
            all.flat_map(|(_, label)| (0..label.elements()).map(|index| label.element(index)));
        names.collect()
    }
}

/// Some neighbouring elements of a variable.
pub(crate) struct Part<'v> {
    pub(crate) variable: &'v Variable,
    pub(crate) elements: Range<usize>,
}

/// What one run knows about some neighbouring elements of a variable.
#[derive(Debug)]
pub(crate) struct Shadow {
    run: u64,
    first: u64,
    histories: CheckerHistories,
}

#[derive(Debug)]
enum CheckerHistories {
    Nothing,
    Spd3(Histories<Spd3History>),
    Drdp(Histories<drdp::History>),
}

/// SPD3's cell, and where in the source each of its three steps accessed.
#[derive(Clone, PartialEq, Debug, Default)]
struct Spd3History {
    cell: spd3::Cell,
    sites: [u32; 3],
}

impl Spd3History {
    /// Where the access was that a conflict is about.
    fn site(&self, conflict: &Conflict) -> u32 {
        let [_, first, _] = self.cell.steps();
        match conflict.kind {
            AccessKind::Write => self.sites[0],
            AccessKind::Read if conflict.step == first => self.sites[1],
            AccessKind::Read => self.sites[2],
        }
    }

    /// The step has accessed at a site: wherever the cell has it.
    fn mark(&mut self, step: Step, kind: AccessKind, site: u32) {
        let [writer, first, second] = self.cell.steps();
        match kind {
            AccessKind::Write if writer == step => self.sites[0] = site,
            AccessKind::Read if first == step => self.sites[1] = site,
            AccessKind::Read if second == step => self.sites[2] = site,
            _ => {}
        }
        for (slot, kept) in [writer, first, second].into_iter().enumerate() {
            if kept.is_none() {
                // So that equal cells are equal.
                self.sites[slot] = 0;
            }
        }
    }
}

impl Shadow {
    fn new(monitor: &Monitor, part: &Part) -> Shadow {
        let length = part.elements.len();
        Shadow {
            run: monitor.id,
            first: part.variable.first(monitor) + part.elements.start as u64,
            histories: match monitor.check {
                Check::Off => CheckerHistories::Nothing,
                Check::Spd3 => CheckerHistories::Spd3(Histories::new(length)),
                Check::Drdp => CheckerHistories::Drdp(Histories::new(length)),
            },
        }
    }
}

/// An access that is being checked.
struct Access<'m> {
    monitor: &'m Monitor,
    task: Task,
    kind: AccessKind,
    site: u32,
    /// The location of the part's first element.
    first: u64,
}

impl Access<'_> {
    fn found(&self, run: &Range<usize>, conflict: Conflict, earlier: u32) {
        lock(&self.monitor.races).add(RacePair {
            location: Location(self.first + run.start as u64),
            elements: run.len() as u64,
            steps: [conflict.step, self.task.step()],
            kinds: [conflict.kind, self.kind],
            sites: [earlier, self.site],
        });
    }

    /// Checks elements with one history; says whether there was no race.
    #[inline]
    fn spd3(
        &self,
        engine: &mut spd3::Worker,
        run: &Range<usize>,
        history: &mut Spd3History,
    ) -> bool {
        let (step, before) = (self.task.step(), history.clone());
        let mut races = false;
        let tree = &self.monitor.structure.tree;
        engine.check_alone(tree, step, self.kind, &mut history.cell, |conflict| {
            races = true;
            self.found(run, conflict, before.site(&conflict));
        });
        history.mark(step, self.kind, self.site);
        !races
    }

    /// The same.
    #[inline]
    fn drdp(
        &self,
        engine: &mut drdp::Checker,
        run: &Range<usize>,
        history: &mut drdp::History,
    ) -> bool {
        let mut races = false;
        let structure = &self.monitor.structure;
        let access = (self.kind, self.site);
        engine.check(structure, &self.task, access, history, |conflict| {
            races = true;
            self.found(run, conflict, conflict.mark);
        });
        !races
    }
}

impl Worker {
    /// The task accesses elements, counted from the first of a part. Gives the step it is in. The shadow is the
    /// caller's alone.
    pub(crate) fn access(
        &self,
        shadow: &mut Option<Shadow>,
        part: &Part,
        ranges: impl Iterator<Item = Range<usize>> + Clone,
        kind: AccessKind,
        at: Caller,
    ) -> Option<Step> {
        let indices = ranges.clone().flatten();
        self.check(
            shadow,
            part,
            indices,
            kind,
            at,
            |access, engine| match engine {
                (EngineTables::Spd3(engine), CheckerHistories::Spd3(histories)) => {
                    histories.visit(ranges, |run, history| access.spd3(engine, &run, history));
                }
                (EngineTables::Drdp(engine), CheckerHistories::Drdp(histories)) => {
                    histories.visit(ranges, |run, history| access.drdp(engine, &run, history));
                }
                _ => {}
            },
        )
    }

    /// The same for a single element.
    #[inline]
    pub(crate) fn access_one(
        &self,
        shadow: &mut Option<Shadow>,
        part: &Part,
        index: usize,
        kind: AccessKind,
        at: Caller,
    ) {
        let run = index..index + 1;
        self.check(
            shadow,
            part,
            run.clone(),
            kind,
            at,
            |access, engine| match engine {
                (EngineTables::Spd3(engine), CheckerHistories::Spd3(histories)) => {
                    histories.visit_one(index, |history| {
                        access.spd3(engine, &run, history);
                    });
                }
                (EngineTables::Drdp(engine), CheckerHistories::Drdp(histories)) => {
                    histories.visit_one(index, |history| {
                        access.drdp(engine, &run, history);
                    });
                }
                _ => {}
            },
        );
    }

    #[inline]
    fn check(
        &self,
        shadow: &mut Option<Shadow>,
        part: &Part,
        indices: impl Iterator<Item = usize>,
        kind: AccessKind,
        at: Caller,
        check: impl FnOnce(&Access, (&mut EngineTables, &mut CheckerHistories)),
    ) -> Option<Step> {
        let (monitor, state) = self.monitored()?;
        let state = state.get();
        let shadow = match shadow {
            Some(shadow) if shadow.run == monitor.id => shadow,
            _ => shadow.insert(Shadow::new(monitor, part)),
        };
        let mut tables = self.tables.borrow_mut();
        let access = Access {
            monitor,
            task: state.task,
            kind,
            site: tables.site(monitor, at),
            first: shadow.first,
        };
        if monitor.events.is_some() {
            let ops = indices.map(|index| {
                let location = Location(access.first + index as u64);
                match kind {
                    AccessKind::Read => Op::Read(location, ReadKind::Control),
                    AccessKind::Write => Op::Write(location),
                }
            });
            monitor.record_all(state.number, ops, access.site);
        }
        check(&access, (&mut tables.engine, &mut shadow.histories));
        Some(access.task.step())
    }
}
