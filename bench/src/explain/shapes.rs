//! How long explaining takes, and how much memory: a mixed execution that grows, and shapes that hurt.
//!
//! Memory is the peak of a process of its own that makes the execution and explains it, less what the
//! events themselves take.

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use deadheat_explain::{Explanation, Limits, explain};
use deadheat_model::{Event, Execution, Location, Lock, Names, Op, ReadKind, Site, Strand};

/// Makes an execution of some size.
type Make = fn(usize) -> Execution;

/// The shapes by name, with the sizes they are measured at.
const SHAPES: [(&str, Make, &[usize]); 7] = [
    ("mixed", mixed, &[1_000_000, 3_000_000, 10_000_000]),
    ("100,000 places", places, &[71]),
    ("1,000 threads", threads, &[1_000]),
    ("1,000 threads, locked", locked_threads, &[1_000]),
    ("one tangle", tangle, &[1_000_000]),
    ("a chain", chain, &[1_000_000]),
    ("one location", one_location, &[1_000_000]),
];

/// An execution in the making.
struct Draft {
    events: Vec<Event>,
    strands: u32,
    locks: u64,
    locations: u64,
    sites: u32,
}

impl Draft {
    fn new(strands: u32) -> Draft {
        Draft {
            events: Vec::new(),
            strands,
            locks: 0,
            locations: 0,
            sites: 0,
        }
    }

    fn add(&mut self, strand: u32, op: Op, site: u32) {
        match op {
            Op::Read(x, _) | Op::Write(x) => self.locations = self.locations.max(x.0 + 1),
            Op::Acquire(l) => self.locks = self.locks.max(l.0 + 1),
            _ => {}
        }
        self.sites = self.sites.max(site + 1);
        self.events.push(Event::new(Strand(strand), op, Site(site)));
    }

    fn locked(&mut self, strand: u32, lock: u64, op: Op, site: u32) {
        self.add(strand, Op::Acquire(Lock(lock)), site);
        self.add(strand, op, site);
        self.add(strand, Op::Release(Lock(lock)), site);
    }

    fn finish(self) -> Execution {
        let unnamed = |count: usize| vec![String::new(); count];
        let names = Names {
            strands: unnamed(self.strands as usize),
            sites: unnamed(self.sites as usize),
            locations: unnamed(self.locations as usize),
            locks: unnamed(self.locks as usize),
            ..Names::default()
        };
        Execution {
            events: self.events,
            names,
        }
    }
}

fn control(location: u64) -> Op {
    Op::Read(Location(location), ReadKind::Control)
}

fn write(location: u64) -> Op {
    Op::Write(Location(location))
}

/// Eight threads with data of their own, data behind locks, and now and then an access to one of eight
/// variables that nothing protects: many of these are ordered by chance, through the locks.
fn mixed(events: usize) -> Execution {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut draft = Draft::new(8);
    while draft.events.len() < events {
        let strand = rng.u32(..8);
        for _ in 0..rng.u32(1..20) {
            let own = 1000 + u64::from(strand) * 10_000 + rng.u64(..10_000);
            let op = if rng.bool() { write(own) } else { control(own) };
            draft.add(strand, op, 100 + strand);
        }
        let lock = rng.u64(..50);
        draft.locked(strand, lock, write(200 + lock), 150);
        if rng.u32(..4) == 0 {
            let location = rng.u64(..8);
            let op = if rng.bool() {
                write(location)
            } else {
                control(location)
            };
            draft.add(strand, op, strand);
        }
    }
    draft.finish()
}

/// Two threads, twenty variables, and n places in each for every variable: all pairs of places race.
fn places(n: usize) -> Execution {
    let mut draft = Draft::new(2);
    for strand in 0..2 {
        for variable in 0..20 {
            for place in 0..n as u32 {
                let site = (strand * 20 + variable) * n as u32 + place;
                draft.add(strand, write(variable.into()), site);
            }
        }
    }
    draft.finish()
}

/// All threads touch ten variables, and nothing orders them.
fn threads(n: usize) -> Execution {
    let mut draft = Draft::new(n as u32);
    for round in 0..20 {
        for strand in 0..n as u32 {
            draft.add(strand, write(round % 10), round as u32);
            draft.add(strand, write(1000 + u64::from(strand)), 50);
        }
    }
    draft.finish()
}

/// All threads take one lock in turn, and touch one variable beside it.
fn locked_threads(n: usize) -> Execution {
    let mut draft = Draft::new(n as u32);
    for round in 0..20 {
        for strand in 0..n as u32 {
            draft.add(strand, control(1), 1);
            draft.locked(strand, 0, write(0), 2);
            if strand % 100 == round % 100 {
                draft.add(strand, write(1), 3);
            }
        }
    }
    draft.finish()
}

/// Two threads answer each other through memory, and both touch everything before and after.
fn tangle(events: usize) -> Execution {
    let mut draft = Draft::new(2);
    let mut round = 0;
    while draft.events.len() < events {
        for strand in 0..2_u32 {
            let (mine, other) = (u64::from(strand), u64::from(1 - strand));
            draft.add(strand, control(other), strand);
            draft.add(strand, write(10 + round % 1000), 10 + strand);
            draft.add(strand, write(mine), 20 + strand);
            draft.locked(strand, mine, write(2000 + mine), 30 + strand);
        }
        round += 1;
    }
    draft.finish()
}

/// Each thread passes on what it saw, to the next, through memory alone.
fn chain(events: usize) -> Execution {
    let mut draft = Draft::new(4);
    for step in 0..events as u64 / 2 {
        let strand = (step % 4) as u32;
        draft.add(strand, control(step), strand);
        draft.add(strand, write(step + 1), 10 + strand);
    }
    draft.finish()
}

/// Two threads, one location, a computation event for each access.
fn one_location(events: usize) -> Execution {
    let mut draft = Draft::new(2);
    while draft.events.len() < events {
        for strand in 0..2_u32 {
            draft.add(strand, write(0), strand);
            draft.locked(strand, strand.into(), write(1 + u64::from(strand)), 2);
        }
    }
    draft.finish()
}

/// The arguments of the process that explains one execution.
#[derive(clap::Args)]
pub struct OneShape {
    name: String,
    size: usize,
}

/// Explains one execution, and prints what is measured.
pub fn one_shape(arguments: &OneShape) -> Result<(), Box<dyn Error>> {
    let shape = SHAPES.iter().find(|(name, ..)| *name == arguments.name);
    let (_, make, _) = shape.ok_or("there is no such shape")?;
    let execution = make(arguments.size);
    let start = Instant::now();
    let Explanation {
        apparent,
        races,
        bounds,
        ..
    } = explain(&execution, &Limits::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    let events = execution.events.len();
    let beside = peak.map(|kib| kib * 1024.0 / events as f64 - 16.0);
    let beside = beside.map_or("–".to_string(), |bytes| format!("{bytes:.0}"));
    let first = races.iter().filter(|race| race.is_first).count();
    let bounds = match bounds.is_empty() {
        true => "none".to_string(),
        false => format!("{bounds:?}"),
    };
    println!(
        "{:<24} {events:>11} {apparent:>11} {:>8} {first:>6} {seconds:>8.2} {:>9.0} {beside:>9}  {bounds}",
        arguments.name,
        races.len(),
        seconds * 1e9 / (events as f64 + apparent as f64),
    );
    Ok(())
}

/// Prints the table.
pub fn print() -> Result<(), Box<dyn Error>> {
    println!("\nExplaining executions of different shapes");
    println!(
        "{:<24} {:>11} {:>11} {:>8} {:>6} {:>8} {:>9} {:>9}  bounds met",
        "shape", "events", "apparent", "places", "first", "seconds", "ns/(e+a)", "bytes/e"
    );
    for (name, _, sizes) in SHAPES {
        for size in sizes {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["one-shape", name, &size.to_string()]);
            let output = command.stderr(Stdio::inherit()).output()?;
            print!("{}", String::from_utf8(output.stdout)?);
        }
    }
    Ok(())
}
