//! What `deadheat run --predict` says: the races of the run that happened, and those of others, each with a witness
//! told in the lines of the source.

use deadheat_model::Strand;
use deadheat_native::{Creation, NativeAccess, NativeRace, Place, Recorded, Survey};
use serde::Serialize;

use crate::analyze::{AnalyzeReport, WitnessReport};
use crate::native::{MAY_HAVE, RaceReport, RunReport};
use crate::native_text::{Excerpts, without_lines};
use crate::pair::{AccessInTrace, PairReport};
use crate::sources::{Sources, parts};
use crate::style::{counted, cut, cut_front, length, padded};

/// How many steps of a witness are shown, and how many of its events are looked at for that.
const SHOWN_STEPS: usize = 16;
const SEEN_EVENTS: usize = 4096;
const MAX_TEXT: usize = 60;

/// A race that another schedule would have shown.
#[derive(Clone)]
pub struct PredictedRace {
    /// What races.
    pub race: NativeRace,
    /// The reordering that shows it, which the checker has accepted.
    pub witness: WitnessReport,
}

/// The JSON of `deadheat run --predict`: that of `deadheat run`, and what is predicted.
#[derive(Serialize)]
pub struct PredictReport {
    #[serde(flatten)]
    run: RunReport,
    predicted: Vec<PredictedReport>,
    /// How many pairs of places could not be decided.
    undecided: u64,
    /// Whether no other reordering of what the threads did shows a race that is not listed.
    complete: bool,
}

#[derive(Serialize)]
struct PredictedReport {
    #[serde(flatten)]
    race: RaceReport,
    /// The last steps of the order that shows it.
    witness: Vec<StepReport>,
    verified: bool,
}

/// What one thread does on one line.
#[derive(Serialize)]
pub(crate) struct StepReport {
    #[serde(skip)]
    pub strand: Strand,
    pub thread: String,
    pub loc: String,
    pub action: String,
}

impl PredictReport {
    /// Puts together what happened and what could have. `predictors` are what the predicting engine says of each process; or
    /// why it could not judge one.
    pub fn new(
        happened: &Survey,
        predicted: &[PredictedRace],
        sources: &Sources,
        predictors: Result<&[AnalyzeReport], String>,
    ) -> PredictReport {
        let mut run = RunReport::new(happened, sources);
        let reports = *predictors.as_ref().unwrap_or(&&[][..]);
        let undecided = reports
            .iter()
            .map(|report| report.undecided.len() as u64)
            .sum();
        let decided = predictors.is_ok() && reports.iter().all(|report| report.complete);
        let complete = decided && happened.full.is_none() && !happened.left_behind;
        run.engine = "hb, m2";
        run.guarantee = run.guarantee.replace(MAY_HAVE, "");
        let (another, more) = match happened.races.len() {
            0 => ("a race", "race"),
            _ => ("another race", "more race"),
        };
        run.guarantee += &match (predicted.len() as u64, &predictors) {
            (_, Err(why)) => format!("; what other schedules do could not be predicted: {why}"),
            (0, Ok(_)) if complete => {
                format!("; no other order of what its threads did has {another}")
            }
            (0, Ok(_)) => format!("; no {more} was found in other orders of what its threads did"),
            (count, Ok(_)) => format!(
                "; {} in another order of what its threads did, which is shown and has been checked",
                counted(count, more)
            ),
        };
        if undecided > 0 {
            run.guarantee += &format!(
                "; {} could not be decided",
                counted(undecided, "pair of lines")
            );
        }
        PredictReport {
            run,
            predicted: predicted.iter().map(|race| report(race, sources)).collect(),
            undecided,
            complete,
        }
    }

    /// What the run and the prediction prove.
    pub fn guarantee(&self) -> &str {
        &self.run.guarantee
    }
}

fn report(predicted: &PredictedRace, sources: &Sources) -> PredictedReport {
    let (steps, _) = steps(&predicted.witness);
    PredictedReport {
        race: RaceReport::new(&predicted.race, sources),
        witness: steps,
        verified: true,
    }
}

/// The last steps of a witness, and how many events come before them. Events of one thread on one line that nothing comes
/// between are one step; the last two steps are the race.
pub(crate) fn steps(witness: &WitnessReport) -> (Vec<StepReport>, u64) {
    let spelling = &witness.spelling;
    let trace = spelling.trace();
    let numbers = spelling.end(witness.proof(), SEEN_EVENTS);
    let racing = numbers.len().saturating_sub(2);
    let mut steps: Vec<(u64, StepReport)> = Vec::new();
    for (index, number) in numbers.iter().enumerate() {
        let Some(event) = trace.event(*number) else {
            continue;
        };
        let step = StepReport {
            strand: event.strand(),
            thread: trace.names.strand(event.strand()).into_owned(),
            loc: trace.names.site(event.site()).into_owned(),
            action: trace.names.action(event.op()).to_string(),
        };
        match steps.last_mut() {
            Some((events, last))
                if index < racing && last.strand == step.strand && last.loc == step.loc =>
            {
                *events += 1;
            }
            _ => steps.push((1, step)),
        }
    }
    let last = steps.split_off(steps.len().saturating_sub(SHOWN_STEPS));
    let shown: u64 = last.iter().map(|(events, _)| events).sum();
    let before = spelling.length(witness.proof()) - shown;
    (last.into_iter().map(|(_, step)| step).collect(), before)
}

/// A pair of accesses of a recording, as races of programs are told.
pub fn native_race(pair: &PairReport, recorded: &Recorded) -> NativeRace {
    let (first, second) = pair.kind.split_once('-').unwrap_or_default();
    let access = |access: &AccessInTrace, kind: &str| NativeAccess {
        thread: access.thread.to_string(),
        write: kind == "write",
        what: "access".to_string(),
        stack: recorded
            .frames
            .get(&*access.loc)
            .map_or(Vec::new(), |frames| frames.to_vec()),
        ..NativeAccess::default()
    };
    NativeRace {
        variable: pair.variable.to_string(),
        place: match pair.variable.contains(' ') {
            true => Place::Unknown,
            false => Place::Global,
        },
        count: pair.count,
        first: access(&pair.first, first),
        second: access(&pair.second, second),
        creations: creations(pair, recorded),
        ..NativeRace::default()
    }
}

/// Where the threads of a pair were created.
fn creations(pair: &PairReport, recorded: &Recorded) -> Vec<Creation> {
    let racing = [&*pair.first.thread, &*pair.second.thread];
    let made = recorded.creations.iter();
    made.filter(|creation| racing.contains(&&*creation.thread))
        .cloned()
        .collect()
}

impl Excerpts<'_> {
    /// At most `most` races that happened and as many that could have, and what it all proves.
    pub fn prediction(
        &self,
        happened: &Survey,
        predicted: &[PredictedRace],
        report: &PredictReport,
        most: usize,
    ) -> String {
        let mut text = String::new();
        for race in happened.races.iter().take(most) {
            text += &self.race(race);
        }
        for race in predicted.iter().take(most) {
            let witness = self.witness(&race.witness);
            text += &self.shown(&race.race, "race in another schedule", &[witness]);
        }
        let hidden =
            happened.races.len().saturating_sub(most) + predicted.len().saturating_sub(most);
        if hidden > 0 {
            text += &format!(
                "{} not shown; --json FILE lists all\n",
                counted(hidden as u64, "more race")
            );
        }
        text += without_lines(&happened.races);
        text + &format!("deadheat: {}\n", report.guarantee())
    }

    /// A witness, a line a step.
    fn witness(&self, witness: &WitnessReport) -> String {
        let (steps, before) = steps(witness);
        let mut text = "it happens in this order, which has been checked:".to_string();
        if before > 0 {
            text += &format!("\n  … {} as recorded", counted(before, "event"));
        }
        let threads = steps.iter().map(|step| cut(&step.thread, 20));
        let threads: Vec<String> = threads.collect();
        let places = steps.iter().map(|step| cut_front(&short(&step.loc), 40));
        let places: Vec<String> = places.collect();
        let widest = |texts: &[String]| texts.iter().map(|text| length(text)).max().unwrap_or(0);
        let (wide, long) = (widest(&threads), widest(&places));
        for (index, step) in steps.iter().enumerate() {
            let (file, line, _) = parts(&step.loc);
            let source = line.and_then(|line| self.sources.line(file, line));
            let source = source.unwrap_or_else(|| step.action.clone());
            let mark = if index + 2 >= steps.len() {
                "   <-- race"
            } else {
                ""
            };
            text += &format!(
                "\n  {}  {}  {}{mark}",
                padded(&threads[index], wide),
                padded(&places[index], long),
                cut(source.trim(), MAX_TEXT)
            );
        }
        text
    }
}

/// `file.c:12` of `dir/file.c:12:7`.
fn short(place: &str) -> String {
    let (file, line, _) = parts(place);
    let name = file.rsplit('/').next().unwrap_or(file);
    match line {
        Some(line) => format!("{name}:{line}"),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_short() {
        assert_eq!(short("a/b.c:12:7"), "b.c:12");
        assert_eq!(short("b.c:12"), "b.c:12");
        assert_eq!(short("lib.so+0x1f0"), "lib.so+0x1f0");
    }
}
