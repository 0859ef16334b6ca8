//! What users write, as values: engines, schedules, durations, sizes.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use deadheat_lang::{NotASchedule, Schedule};
use deadheat_offline::{ENGINES, Engine};

use crate::files::read_text;

/// The engine of a name, or what there is.
pub fn engine_named(name: &str) -> Result<&'static Engine, String> {
    Engine::named(name).ok_or_else(|| {
        let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        format!(
            "there is no engine `{name}`; there are {}",
            names.join(", ")
        )
    })
}

/// Engines to be asked: `hb,m2`, or `all`.
#[derive(Clone, Default)]
pub enum EngineChoice {
    /// The strongest that can judge the execution.
    #[default]
    Strongest,
    /// All that can judge it.
    All,
    /// These, in this order.
    These(Vec<&'static Engine>),
}

impl EngineChoice {
    /// Whether an engine may be among them.
    pub fn may_be(&self, name: &str) -> bool {
        match self {
            EngineChoice::Strongest | EngineChoice::All => true,
            EngineChoice::These(engines) => engines.iter().any(|engine| engine.name == name),
        }
    }
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineChoice, String> {
        let mut engines: Vec<&'static Engine> = Vec::new();
        for name in text.split(',').map(str::trim) {
            if name == "all" {
                return Ok(EngineChoice::All);
            }
            let engine = engine_named(name)?;
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        Ok(EngineChoice::These(engines))
    }
}

/// Who takes the next step: `depth-first`, `random:SEED` or `trace:FILE`.
#[derive(Clone)]
pub enum ScheduleChoice {
    /// A child as soon as it is started.
    DepthFirst,
    /// Anybody who can, by this seed.
    Random(u64),
    /// As the file says.
    Trace(PathBuf),
}

impl FromStr for ScheduleChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ScheduleChoice, String> {
        match text.split_once(':') {
            None if text == "depth-first" => Ok(ScheduleChoice::DepthFirst),
            Some(("random", seed)) => match seed.parse() {
                Ok(seed) => Ok(ScheduleChoice::Random(seed)),
                Err(_) => Err(format!(
                    "the seed `{seed}` is not a number from 0 to 2^64-1"
                )),
            },
            Some(("trace", file)) if !file.is_empty() => Ok(ScheduleChoice::Trace(file.into())),
            _ => Err("expected depth-first, random:SEED or trace:FILE".to_string()),
        }
    }
}

impl ScheduleChoice {
    /// How many bytes of a schedule are read.
    const MAX_BYTES: usize = 256 << 20;

    /// The schedule itself.
    pub fn read(&self) -> Result<Schedule, String> {
        Ok(match self {
            ScheduleChoice::DepthFirst => Schedule::DepthFirst,
            ScheduleChoice::Random(seed) => Schedule::Random(*seed),
            ScheduleChoice::Trace(file) => {
                let schedule = read_text(file, Self::MAX_BYTES)?.parse();
                let told = |error: NotASchedule| format!("`{}`, {error}", file.display());
                Schedule::Recorded(schedule.map_err(told)?)
            }
        })
    }
}

/// A number of seconds: `60` or `0.5`.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(seconds)) => Ok(seconds),
        _ => Err("expected a number of seconds, such as 60 or 0.5".to_string()),
    }
}

/// A number of bytes: `4096`, `512M`, `2G`.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = unit.zip(digits.parse::<u64>().ok());
    let bytes = bytes.and_then(|(shift, number)| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, such as 4096, 512M or 2G".to_string())
}
