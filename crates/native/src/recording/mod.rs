//! What a program did, from the tapes that it left to a trace.
//!
//! Two passes over a tape: the first finds which pieces of memory are touched together ([`grain`]) and who there is ([`contents`]); the second
//! puts everything in order ([`order`]), gives it a name ([`memory`], [`places`]) and writes it down as operations
//! of a trace ([`lowering`], [`tasks`], [`locals`]).
//!
//! Guarantee: the trace is one that could have happened, and says of every access of recorded code which bytes it touched,
//! and where in the source it stands. Cost: memory for the names, and what [`grain`] needs.

mod contents;
mod grain;
mod locals;
mod lowering;
mod memory;
mod order;
mod places;
mod tape;
mod tasks;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadheat_model::finding::{Creation, Frame, Place};
use deadheat_model::words::Table;
use deadheat_model::{Event, Finding, Location, Op, ReadKind, Site, SiteKind, Strand};
use deadheat_tape::{AccessSite, AtomicDetail, LockDetail, NewMemory, Stamped, TaskAction};
use deadheat_trace::TraceError;
use deadheat_trace::dht::{OrderedWriter, Writer};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::findings::Process;
use crate::mailbox::Mailbox;
use crate::suppressions::Suppressions;

use crate::symbols::Symbols;
use contents::Contents;
use grain::{Grain, NONE, UNCHECKED};
use locals::Locals;
use lowering::{Lowering, Naming, ordering};
use memory::Memory;
use order::{Order, Step};
use places::Places;
use tape::{Stamp, Tape, acquires};
use tasks::Tasks;

/// What a recording turned out to be.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// How many events the trace has.
    pub events: u64,
    /// How many threads.
    pub threads: u64,
    /// How many tasks of OpenMP.
    pub tasks: u64,
    /// The recording was given up before the program's end, for want of room.
    pub full: bool,
    /// What the program does not want to hear of.
    pub suppressions: Suppressions,
    /// The calls at each place of the trace, innermost first: as far as they were inlined there.
    pub frames: FxHashMap<String, Arc<[Arc<Frame>]>>,
    /// Where each thread was created, and by whom, as far as that was seen.
    pub creations: Vec<Creation>,
    /// The number of the process.
    pub process: u64,
}

impl Recorded {
    /// Adds to a finding of the trace what is known of the run: the calls that led to each side, where the threads were
    /// created. The numbers of events mean nothing once the trace is gone.
    pub fn complete(&self, finding: &mut Finding) {
        for side in &mut finding.sides {
            side.event = 0;
            let place = side.place.as_str();
            if let Some(stack) = self.frames.get(place) {
                side.stack = stack.clone();
            }
        }
        let racing = |creation: &&Creation| {
            let mut sides = finding.sides.iter();
            sides.any(|side| side.thread == creation.thread)
        };
        let creations: Vec<Creation> = self.creations.iter().filter(racing).cloned().collect();
        finding.creations = creations.into();
    }
}

/// Why a recording could not become a trace.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The tape cannot be read.
    #[error("the recording in `{}` cannot be read: {error}", path.display())]
    Tape {
        /// The tape.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Somebody has cut the tape.
    #[error(
        "the recording in `{}` was cut while the program ran ({missing} of its pieces are gone): nothing can be said about the run",
        path.display()
    )]
    Cut {
        /// The tape.
        path: PathBuf,
        /// How many chunks are not there.
        missing: u64,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// How many steps are written before somebody is told.
const PART: u64 = 1 << 16;

/// Writes what a process has recorded as a trace; nothing if it has recorded nothing. `progress` is told how much is done, from 0 to 1.
pub fn write_trace(
    (tape, mailbox): (&Path, &Mailbox),
    process: &Process,
    trace: &Path,
    mut progress: impl FnMut(f64),
) -> Result<Option<Recorded>, RecordingError> {
    let Some(tape) = Tape::open(tape, mailbox, process.stream)? else {
        return Ok(None);
    };
    let contents = Contents::of(&tape);
    let writer = Writer::create(trace)?;
    for thread in &contents.threads {
        writer.name(Table::Strands, thread)?;
    }
    let mut lowering = Lowering::default();
    lowering.has_fences = contents.has_fences;
    let mut scribe = Scribe {
        names: Names {
            writer: &writer,
            process,
            symbols: Symbols::default(),
            memory: Memory::default(),
        },
        grain: contents.grain,
        acquired: contents.acquired,
        has_tasks: contents.has_tasks,
        places: Places::default(),
        lowering,
        events: Vec::new(),
        ordered: OrderedWriter::new(&writer),
        created: FxHashSet::default(),
        living: FxHashSet::default(),
        locals: Locals::default(),
        tasks: Tasks::default(),
        several: false,
        count: 0,
        creations: Vec::new(),
        ops: Vec::new(),
        touched: Vec::new(),
    };
    let mut order = Order::new(&tape);
    let mut done = 0;
    while let Some((thread, step, calls)) = order.step() {
        scribe.step(thread, step, calls)?;
        done += 1;
        if done % PART == 0 {
            progress(done as f64 / contents.steps.max(done) as f64);
        }
    }
    let recorded = Recorded {
        events: scribe.count,
        threads: contents.threads.len() as u64,
        tasks: scribe.tasks.task_count,
        full: tape.end().is_some(),
        suppressions: process.suppressions.clone(),
        creations: scribe.creations(&contents.threads),
        process: process.pid,
        frames: std::mem::take(&mut scribe.places.frames),
    };
    scribe.flush()?;
    scribe.ordered.finish()?;
    // A trace that ends before the program did has no end: so nobody takes it for a whole one.
    if !recorded.full {
        writer.finish()?;
    }
    Ok(Some(recorded))
}

fn thread_name(number: u32) -> String {
    match number {
        0 => "main".to_string(),
        _ => format!("T{number}"),
    }
}

/// Writes the trace, step by step.
struct Scribe<'w> {
    names: Names<'w>,
    grain: Grain,
    acquired: FxHashSet<u64>,
    has_tasks: bool,
    places: Places,
    lowering: Lowering,
    /// What has not been handed over yet.
    events: Vec<Event>,
    ordered: OrderedWriter<'w>,
    created: FxHashSet<Strand>,
    living: FxHashSet<Strand>,
    locals: Locals,
    tasks: Tasks,
    /// Whether there has been a second thread.
    several: bool,
    count: u64,
    /// A thread, who created it, and where.
    creations: Vec<(Strand, Strand, Site)>,
    ops: Vec<(Strand, Op)>,
    touched: Vec<Location>,
}

struct Names<'w> {
    writer: &'w Writer,
    process: &'w Process,
    symbols: Symbols,
    memory: Memory,
}

impl Names<'_> {
    /// A new location: so many bytes at an address.
    fn location(&mut self, address: u64, size: u64) -> Result<u64, TraceError> {
        let place = (address, size);
        let name = self.memory.name(&mut self.symbols, self.process, place);
        self.writer.name(Table::Locations, &name)
    }
}

impl Naming for Names<'_> {
    type Error = TraceError;

    fn number(&mut self, table: Table, address: u64, what: &str) -> Result<u64, TraceError> {
        let name = match address {
            0 => what.to_string(),
            _ => {
                let place = (address, 0);
                let name = self.memory.name(&mut self.symbols, self.process, place);
                match what {
                    "" => name,
                    what => format!("{name} ({what})"),
                }
            }
        };
        self.writer.name(table, &name)
    }
}

impl Scribe<'_> {
    fn step(&mut self, thread: u32, step: Step, calls: &[u64]) -> Result<(), TraceError> {
        if let Step::Stamp(Stamp {
            what: Stamped::Run,
            address,
            ..
        }) = step
        {
            self.tasks.run(thread, address);
            return Ok(());
        }
        let strand = self.tasks.running(thread);
        if self.tasks.is_over(strand) && !step.is_about_memory() {
            return Ok(());
        }
        match step {
            Step::Access { address, code } => self.access(strand, address, code, calls),
            Step::Stack { address, size } => {
                self.names.memory.stack(address, size, &thread_name(thread));
                self.locals.stack(address, size, Strand(thread));
                Ok(())
            }
            Step::Stamp(stamped) => {
                self.ops.clear();
                match stamped.what {
                    Stamped::Task => self.task(strand, &stamped, calls)?,
                    _ => self.stamped(strand, &stamped, calls)?,
                }
                if acquires(stamped.what) {
                    let read = self.locals.read(strand);
                    self.ops.extend(read.map(|op| (strand, op)));
                }
                if self.ops.is_empty() {
                    return Ok(());
                }
                let mut site = self.site(stamped.pc, calls)?;
                if stamped.what == Stamped::Freed {
                    site = self
                        .places
                        .special(site, SiteKind::Free, self.names.writer)?;
                }
                for (strand, op) in std::mem::take(&mut self.ops) {
                    if let Op::Fork(child) = op {
                        self.creations.push((child, strand, site));
                    }
                    self.event(strand, op, site)?;
                }
                Ok(())
            }
        }
    }

    /// How the threads, which have these names, came to be.
    fn creations(&self, threads: &[String]) -> Vec<Creation> {
        let name = |strand: Strand| threads.get(strand.0 as usize).cloned();
        let calls = self.places.calls();
        let creations = self.creations.iter().map(|&(child, parent, site)| {
            let stack = calls.get(&site).cloned().unwrap_or_default();
            Some(Creation {
                thread: name(child)?.into(),
                parent: name(parent)?.into(),
                place: Arc::new(
                    Frame::of_program(&stack).map_or_else(Place::unknown, Frame::place),
                ),
                stack,
                // When a race is found, the whole run is over.
                finished: false,
            })
        });
        creations.flatten().collect()
    }

    fn site(&mut self, pc: u64, calls: &[u64]) -> Result<Site, TraceError> {
        let names = &mut self.names;
        self.places
            .site(&mut names.symbols, names.process, names.writer, pc, calls)
    }

    fn event(&mut self, strand: Strand, op: Op, site: Site) -> Result<(), TraceError> {
        self.events.push(Event::new(strand, op, site));
        self.count += 1;
        match self.events.len() < deadheat_trace::WINDOW {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.ordered.write(&self.events)?;
        self.events.clear();
        Ok(())
    }

    /// The locations that a piece of memory consists of.
    fn touch(&mut self, address: u64, size: u64) -> Result<(), TraceError> {
        self.touched.clear();
        let touched = &mut self.touched;
        let mut is_new = false;
        self.grain.each(address, size, |_, number| {
            is_new |= *number == NONE;
            if *number != UNCHECKED {
                touched.push(Location(u64::from(number.wrapping_sub(1))));
            }
        });
        match is_new {
            true => self.touch_new(address, size),
            false => Ok(()),
        }
    }

    /// The same where some of them are new: they are named by their first bytes and how many they are.
    fn touch_new(&mut self, address: u64, size: u64) -> Result<(), TraceError> {
        let mut starts = Vec::new();
        self.grain.each(address, size, |at, _| starts.push(at));
        starts.push(address.saturating_add(size));
        self.touched.clear();
        let (names, touched) = (&mut self.names, &mut self.touched);
        let mut failure = Ok(());
        let mut index = 0;
        self.grain.each(address, size, |at, number| {
            index += 1;
            if *number == NONE {
                match names.location(at, starts[index] - at) {
                    Ok(new) => *number = new as u32 + 1,
                    Err(error) => failure = Err(error),
                }
            }
            if *number != UNCHECKED {
                touched.push(Location(u64::from(number.wrapping_sub(1))));
            }
        });
        failure
    }

    fn access(
        &mut self,
        strand: Strand,
        address: u64,
        code: AccessSite,
        calls: &[u64],
    ) -> Result<(), TraceError> {
        let mut site = self.site(code.pc, calls)?;
        if code.of_lock {
            site = self
                .places
                .special(site, SiteKind::LockLife, self.names.writer)?;
        }
        self.touch(address, code.size)?;
        for index in 0..self.touched.len() {
            let location = self.touched[index];
            let op = match code.write {
                true => Op::Write(location),
                // What a value decides is not known: it may decide anything.
                false => Op::Read(location, ReadKind::Control),
            };
            self.event(strand, op, site)?;
        }
        // Tasks run on one another's stacks.
        let other = match self.has_tasks {
            false => self.locals.other(strand, address),
            true => None,
        };
        match other {
            Some(owner) if code.write => {
                let names = &mut self.names;
                let letter = self.locals.write(owner, strand, || {
                    let [owner, writer] = [owner, strand].map(|strand| thread_name(strand.0));
                    let what = format!("what {writer} writes to the stack of {owner}");
                    names.number(Table::Locations, 0, &what).map(Location)
                })?;
                self.event(strand, letter, site)
            }
            _ => Ok(()),
        }
    }

    /// Puts what something with a stamp stands for into `ops`.
    fn stamped(
        &mut self,
        strand: Strand,
        stamped: &Stamp,
        calls: &[u64],
    ) -> Result<(), TraceError> {
        let Stamp { address, size, .. } = *stamped;
        let (names, ops) = (&mut self.names, &mut self.ops);
        let other = Strand(address as u32);
        match stamped.what {
            Stamped::Run | Stamped::Task => {}
            Stamped::Freed => {
                if self.several {
                    self.touch(address, size)?;
                    let writes = self
                        .touched
                        .iter()
                        .map(|location| (strand, Op::Write(*location)));
                    self.ops.extend(writes);
                }
            }
            Stamped::Allocated => {
                self.renew(address, size);
                let stack = places::stack(stamped.pc, calls);
                let names = &mut self.names;
                let content = names.symbols.content(names.process, stack, size);
                names.memory.allocate(address, size, content);
            }
            Stamped::New => self.new_memory(stamped),
            Stamped::Lock => {
                let write = LockDetail::from(stamped.detail).exclusive;
                self.lowering.lock(strand, address, write, names, ops)?;
            }
            Stamped::Unlock => {
                // Who gets a lock of OpenMP may say so before the one who gives it back.
                let openmp = LockDetail::from(stamped.detail).openmp;
                let late = openmp && !self.lowering.holds(strand, address);
                if !late {
                    let promise = || self.tasks.new_promise();
                    self.lowering.kept_until(strand, address, promise, ops);
                    self.lowering.unlock(strand, address, ops);
                }
            }
            Stamped::Take => self
                .lowering
                .semaphore(strand, address, false, names, ops)?,
            Stamped::Give => self.lowering.semaphore(strand, address, true, names, ops)?,
            Stamped::Arrive | Stamped::Leave => {
                let arrives = stamped.what == Stamped::Arrive;
                let round = (address, stamped.detail);
                self.lowering.barrier(strand, round, arrives, names, ops)?;
            }
            Stamped::Acquire => self.lowering.acquire(strand, address, ops),
            Stamped::Release | Stamped::ReleaseMore => {
                // What nobody acquires orders nothing.
                if self.acquired.contains(&address) {
                    let more = stamped.what == Stamped::ReleaseMore;
                    self.lowering.release(strand, address, more, names, ops)?;
                }
            }
            Stamped::Atomic => {
                let Ok(atomic) = AtomicDetail::try_from(stamped.detail) else {
                    return Ok(());
                };
                self.touch(address, atomic.size)?;
                let how = (atomic.kind, ordering(atomic.order));
                let variable = (address, &self.touched[..]);
                let (names, ops) = (&mut self.names, &mut self.ops);
                self.lowering.atomic(strand, variable, how, names, ops)?;
            }
            Stamped::Fence => {
                let order = ordering(stamped.detail);
                self.lowering.fence(strand, order, names, ops)?;
            }
            Stamped::Create => {
                self.several = true;
                self.created.insert(other);
                ops.push((strand, Op::Fork(other)));
            }
            Stamped::Join => {
                if self.tasks.close(other) {
                    self.living.remove(&other);
                    self.lowering.end(other, ops);
                }
                ops.push((strand, Op::Join(other)));
            }
            Stamped::Begin => {
                if address == 0 {
                    self.several |= !self.living.is_empty();
                    let living = &self.living;
                    self.lowering.begin_unknown(strand, living, names, ops)?;
                } else if !self.created.contains(&strand) {
                    // One of OpenMP's own: what it does, it does as a task.
                    self.tasks.close(strand);
                    return Ok(());
                }
                self.living.insert(strand);
            }
            Stamped::End => {
                self.lowering.end(strand, ops);
                self.living.remove(&strand);
                self.tasks.close(strand);
            }
            Stamped::Destroy => self.lowering.forget(address, 1),
        }
        Ok(())
    }

    /// Puts what a strand of OpenMP does into `ops`.
    fn task(&mut self, strand: Strand, stamped: &Stamp, calls: &[u64]) -> Result<(), TraceError> {
        let Ok(action) = TaskAction::try_from(stamped.detail) else {
            return Ok(());
        };
        self.several = true;
        let number = stamped.address;
        match action {
            TaskAction::Task | TaskAction::Member => {
                self.site(stamped.pc, calls)?;
                let place = self.places.name(stamped.pc);
                let (kind, name) = self.tasks.name(strand, action, number, place);
                let created = Strand(self.names.writer.strand_of(kind, &name)? as u32);
                self.tasks
                    .create(strand, action, number, created, &mut self.ops);
            }
            _ => {
                if action == TaskAction::End {
                    match self.tasks.is_member(strand) {
                        true => self.lowering.keep(strand, &mut self.ops),
                        false => self.lowering.end(strand, &mut self.ops),
                    }
                }
                self.tasks.act(strand, action, number, &mut self.ops);
            }
        }
        Ok(())
    }

    /// Memory is as new, for one of several reasons.
    fn new_memory(&mut self, stamped: &Stamp) {
        let Stamp { address, size, .. } = *stamped;
        self.renew(address, size);
        match NewMemory::try_from(stamped.detail) {
            Ok(NewMemory::Mapped) => self.names.memory.map(address, size),
            Ok(NewMemory::Runtime) => self.names.memory.hand_out(address, size),
            Ok(NewMemory::Unchecked) => self
                .grain
                .each(address, size, |_, number| *number = UNCHECKED),
            Ok(NewMemory::Stack) | Err(_) => {}
        }
    }

    /// A piece of memory is something new.
    fn renew(&mut self, address: u64, size: u64) {
        self.grain.each(address, size, |_, number| *number = NONE);
        self.lowering.forget(address, size);
    }
}

#[cfg(test)]
mod tests;
