//! What a trace costs on disk, and what it costs to go through it.
//!
//! A time is the best of five passes over the file, which is in the system's cache from the second
//! on. Memory is the peak resident set of a process of its own that makes one pass and nothing else
//! (Linux only); what an engine needs is that less what decoding alone needs, so that the mapped file,
//! which is part of both, does not count.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use deadheat_explain::Judgement;
use deadheat_model::StopToken;
use deadheat_offline::threads::{fasttrack, hb, shb, wcp};
use deadheat_offline::{ENGINES, Engine, Options, Recording, Worth, m2};
use deadheat_trace::{Source, TraceError};
use deadheat_witness::Witnesses;

use crate::generate::{Shape, generate};
use crate::presets::Preset;
use crate::write_trace;

/// Something that goes through a trace.
#[derive(Clone, Copy)]
pub enum Pass {
    /// What all others are compared with.
    Decoding,
    /// Reading all of it into memory.
    Reading,
    /// Judging it by an engine.
    Engine(&'static Engine),
    /// M2, and then the independent check of each witness.
    Verified,
}

impl Pass {
    /// Every one; the first is what the others are compared with.
    pub fn all() -> impl Iterator<Item = Pass> {
        // Those for threads: a trace of this length is beyond the yardstick.
        let engines = ENGINES
            .iter()
            .copied()
            .filter(|engine| engine.worth != Worth::Exact);
        let engines = engines.map(Pass::Engine);
        let first = [Pass::Decoding, Pass::Reading].into_iter();
        first.chain(engines).chain([Pass::Verified])
    }

    /// What the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Decoding => "decoding",
            Pass::Reading => "reading",
            Pass::Engine(engine) => engine.name,
            Pass::Verified => "m2, verified",
        }
    }

    /// Goes through a trace, and gives how many races were found.
    fn run(self, source: &Source) -> Result<usize, Box<dyn Error>> {
        match self {
            Pass::Decoding => decode(source)?,
            Pass::Reading => drop(black_box(source.read_all()?)),
            Pass::Engine(engine) if engine.in_memory => {
                let execution = source.read_all()?;
                let found = engine.ask(Recording::InMemory(&execution), &Options::default())?;
                return Ok(found.races.len());
            }
            Pass::Engine(engine) => {
                let found = engine.ask(Recording::OnDisk(source), &Options::default())?;
                return Ok(found.races.len());
            }
            Pass::Verified => {
                let trace = source.read_all()?;
                let found = m2::ENGINE.ask(Recording::InMemory(&trace), &Options::default())?;
                let checker = Witnesses::new(&trace)?;
                let judgement = Judgement::proven(found, &checker, StopToken::default(), |_| {});
                return match judgement.refused.first() {
                    Some((_, refusal)) => Err(refusal.clone().into()),
                    None => Ok(judgement.races.len()),
                };
            }
        }
        Ok(0)
    }
}

const RUNS: usize = 5;

/// The arguments of the process that makes one pass.
#[derive(clap::Args)]
pub struct OnePass {
    name: String,
    file: PathBuf,
}

/// Makes one pass, and prints how many KiB were resident at most.
pub fn one_pass(arguments: &OnePass) -> Result<(), Box<dyn Error>> {
    let pass = Pass::all().find(|pass| pass.name() == arguments.name);
    let pass = pass.ok_or_else(|| format!("there is no pass called {}", arguments.name))?;
    pass.run(&deadheat_trace::open(&arguments.file)?)?;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{}", peak.ok_or("no VmHWM in /proc/self/status")?);
    Ok(())
}

/// Prints the table.
pub fn print(preset: Preset) -> Result<(), Box<dyn Error>> {
    let shape = preset.shape(0);
    let events = shape.events as f64;
    println!("\nA trace of {} events ({})", shape.events, preset.name);
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("trace.dht");
    let generating = time(|| {
        let sites = generate(shape)?.map(|event| u64::from(event.site().0));
        black_box(sites.sum::<u64>());
        Ok(())
    })?;
    let writing = time(|| Ok(write_trace::write(&shape, &path)?))?;
    let source = deadheat_trace::open(&path)?;
    let bytes = source.bytes() as f64;
    println!("{:<34} {:>9.2} ns/event", "made in", generating / events);
    println!(
        "{:<34} {:>9.2} ns/event",
        "made and written in",
        writing / events
    );
    println!("{:<34} {:>9.2} bytes/event", "on disk", bytes / events);

    print_passes(Pass::all(), &path, events, RUNS)?;
    if preset.name != "100m" {
        println!("A longer one: deadheat-bench traces --preset 100m");
    }
    Ok(())
}

/// Prints what passes over a trace cost, each the best of so many runs.
pub fn print_passes(
    passes: impl Iterator<Item = Pass>,
    path: &Path,
    events: f64,
    runs: usize,
) -> Result<(), Box<dyn Error>> {
    let source = deadheat_trace::open(path)?;
    println!(
        "{:<34} {:>9} {:>15} {:>11} {:>10} {:>15} {:>7}",
        "", "ns/event", "events/s", "× decoding", "peak MiB", "own bytes/event", "races"
    );
    let mut decoding = None;
    for pass in passes {
        let mut shortest = f64::INFINITY;
        let mut races = 0;
        for _ in 0..runs {
            let took = time(|| {
                races = pass.run(&source)?;
                Ok(())
            })?;
            shortest = shortest.min(took);
        }
        let peak = peak(pass, path);
        let &mut (base, least) = decoding.get_or_insert((shortest, peak));
        let own = peak.zip(least).map(|(peak, least)| (peak - least) / events);
        println!(
            "{:<34} {:>9.2} {:>15.0} {:>11.2} {:>10} {:>15} {:>7}",
            pass.name(),
            shortest / events,
            events * 1e9 / shortest,
            shortest / base,
            shown(peak.map(|peak| peak / f64::from(1 << 20))),
            shown(own),
            races,
        );
    }
    Ok(())
}

/// How cost grows with the length of a trace, for the engines whose cost must not grow faster.
pub fn print_growth() -> Result<(), Box<dyn Error>> {
    let engines = [&hb::ENGINE, &fasttrack::ENGINE, &shb::ENGINE, &wcp::ENGINE];
    let passes = engines.map(Pass::Engine);
    let passes = [Pass::Decoding].into_iter().chain(passes);
    let passes: Vec<Pass> = passes.collect();
    println!("\nTraces of growing length: ns/event, and peak MiB");
    print!("{:<14}", "events");
    for pass in &passes {
        print!(" {:>18}", pass.name());
    }
    println!();
    let preset = Preset::named("100m").ok_or("there is no preset 100m")?;
    for events in [2_000_000, 20_000_000, 200_000_000] {
        let shape = Shape {
            events,
            ..preset.shape(0)
        };
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("trace.dht");
        write_trace::write(&shape, &path)?;
        let source = deadheat_trace::open(&path)?;
        print!("{events:<14}");
        for pass in &passes {
            let took = time(|| pass.run(&source).map(drop))?;
            let peak = shown(peak(*pass, &path).map(|peak| peak / f64::from(1 << 20)));
            print!(" {:>9.2} {peak:>8}", took / events as f64);
        }
        println!();
    }
    Ok(())
}

/// Reads every event, and does next to nothing with it.
fn decode(source: &Source) -> Result<(), TraceError> {
    let mut sum = 0_u64;
    let _ = source.for_each(|window| {
        for event in window.events {
            let access = event.access().map_or(0, |access| access.location.0);
            sum = sum.wrapping_add(access ^ u64::from(event.site().0));
        }
        ControlFlow::<()>::Continue(())
    })?;
    black_box(sum);
    Ok(())
}

/// How many ns it takes.
fn time(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_nanos() as f64)
}

/// How many bytes are resident at most in a process that makes the pass; `None` where the system does
/// not tell.
fn peak(pass: Pass, path: &Path) -> Option<f64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["one-pass", pass.name()]).arg(path);
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let kib: f64 = text.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024.0)
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.1}"))
}
