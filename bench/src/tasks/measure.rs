//! One run in a process of its own: its time, its peak of memory, its verdict.

use std::error::Error;
use std::process::Command;

use clap::Args;
use deadheat_task::{Check, Options};

use super::kernels::{Job, KERNELS, Size};
use super::shapes::SHAPES;

/// Runs one kernel or shape, and prints seconds, megabytes and a verdict
#[derive(Args)]
pub struct OneTask {
    /// Which
    name: String,

    /// How large
    #[arg(long, value_enum, default_value = "medium")]
    size: Size,

    /// How many workers
    #[arg(long, default_value_t = super::WORKERS)]
    workers: usize,

    /// What checks it
    #[arg(long, default_value = "off", value_parser = ["off", "spd3", "drdp"])]
    check: String,

    /// With a task for each particle (moldyn), village (health) or square (nqueens), as the papers' programs have it
    #[arg(long)]
    fine: bool,

    /// How large a shape is, instead of as in the table
    #[arg(long)]
    count: Option<usize>,

    /// With its seeded race
    #[arg(long)]
    racy: bool,

    /// Prints the report
    #[arg(long)]
    report: bool,
}

/// What one run took.
pub struct Measurement {
    pub seconds: f64,
    pub megabytes: f64,
    pub verdict: String,
}

pub fn one_task(arguments: &OneTask) -> Result<(), Box<dyn Error>> {
    let check = match &*arguments.check {
        "spd3" => Check::Spd3,
        "drdp" => Check::Drdp,
        _ => Check::Off,
    };
    let job = Job {
        size: arguments.size,
        fine: arguments.fine,
        racy: arguments.racy,
    };
    let kernel = KERNELS.iter().find(|kernel| kernel.name == arguments.name);
    let shape = SHAPES.iter().find(|shape| shape.name == arguments.name);
    let options = Options::new().workers(arguments.workers).check(check);
    let outcome = options.run(|| match (kernel, shape) {
        (Some(kernel), _) => (kernel.run)(&job),
        (None, Some(shape)) => (shape.run)(arguments.count.unwrap_or(shape.count)),
        (None, None) => panic!("there is no kernel and no shape called {}", arguments.name),
    });
    let report = &outcome.report;
    if arguments.report {
        println!("{report}");
    }
    let done = outcome.result?;
    let verdict = match (check, report.races.len()) {
        (Check::Off, _) => "unchecked",
        (_, 0) if report.deterministic => "deterministic",
        _ => "racy",
    };
    let right = if done.right || arguments.racy {
        ""
    } else {
        ", and WRONG"
    };
    println!("{} {} {verdict}{right}", done.seconds, peak_megabytes());
    Ok(())
}

/// The most memory that this process has had.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

impl Measurement {
    /// The fastest of several runs of medium size, each in a process of its own.
    pub fn best_of(
        runs: u32,
        name: &str,
        fine: bool,
        workers: usize,
        check: Check,
    ) -> Result<Measurement, Box<dyn Error>> {
        let mut best: Option<Measurement> = None;
        for _ in 0..runs {
            let one = Measurement::take(name, fine, workers, check)?;
            best = match best {
                Some(best) if best.seconds <= one.seconds => Some(best),
                _ => Some(one),
            };
        }
        best.ok_or_else(|| "nothing was run".into())
    }

    fn take(
        name: &str,
        fine: bool,
        workers: usize,
        check: Check,
    ) -> Result<Measurement, Box<dyn Error>> {
        let output = Command::new(std::env::current_exe()?)
            .args(["one-task", name, "--check", check.name()])
            .args(["--workers", &workers.to_string()])
            .args(fine.then_some("--fine"))
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name}: {text}{errors}").into());
        }
        let mut words = text.trim().splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        Ok(Measurement {
            seconds: next().parse()?,
            megabytes: next().parse()?,
            verdict: next().to_string(),
        })
    }
}
