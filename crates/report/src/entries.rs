//! The findings of each command's report, as [entries](Entry).

use deadheat_model::EventNumber;
use deadheat_native::{Frame, NativeAccess, NativeRace};
use deadheat_offline::Worth;
use rustc_hash::FxHashSet;

use crate::analyze::{AnalyzeReport, WitnessReport};
use crate::analyze_text::MAX_NAME;
use crate::check::{AccessReport, CheckReport, DeadlockReport, ErrorReport, short_name};
use crate::entry::{Call, Entry, MAX_ENTRIES, Rule, Side, Step, at_the_same_time, more};
use crate::explain::ExplainReport;
use crate::native::identity;
use crate::native_text::{label, notes, title};
use crate::pair::{AccessInTrace, PairReport};
use crate::predict::{PredictedRace, steps};
use crate::remedy::remedy;
use crate::sources::Sources;
use crate::style::cut;

/// How many events of a witness become steps: its last.
const MAX_STEPS: usize = 200;

/// How many steps all witnesses together have, roughly: services take 10 MB of SARIF, compressed.
const MAX_STEPS_TOGETHER: usize = 40_000;

/// Longer places and variables are cut: there is no such file, and very many findings name them again and again.
const MAX_PLACE: usize = 1000;

/// How many steps each of so many witnesses has.
fn most_steps(witnesses: usize) -> usize {
    (MAX_STEPS_TOGETHER / witnesses.clamp(1, MAX_ENTRIES)).clamp(2, MAX_STEPS)
}

/// What is wrong with two accesses of a program.
pub(crate) fn sentence(location: &str, first: &AccessReport, second: &AccessReport) -> String {
    let end = |access: &AccessReport| (access.task.clone(), access.access.to_string());
    let (first, second) = (end(first), end(second));
    at_the_same_time(
        "can",
        location,
        (&first.0, &first.1),
        (&second.0, &second.1),
    )
}

impl CheckReport {
    /// What is to be said if there are more races than entries.
    pub fn more(&self) -> Option<String> {
        let explored = self.explored.as_ref();
        let explored = explored.map_or(0, |explored| explored.races.len());
        more(self.races.len().max(explored))
    }

    /// Its findings: those of the run, then those that only other schedules have.
    pub fn entries(&self) -> Vec<Entry> {
        let races = self.races.iter().take(MAX_ENTRIES).map(|race| {
            let ends = [&race.first, &race.second];
            let entry = self.race(Rule::Race, &race.fingerprint, &race.location, ends);
            let schedule = race.schedule.as_deref().and_then(schedule_note);
            Entry {
                kind: race.kind.clone(),
                count: race.count,
                notes: race.parallel.iter().cloned().chain(schedule).collect(),
                remedy: race.remedy.clone(),
                ..entry
            }
        });
        let mut entries: Vec<Entry> = races.collect();
        let deadlock = self.deadlock.iter().map(|found| self.deadlock(found));
        entries.extend(deadlock);
        entries.extend(self.error.iter().map(|found| self.failure(found)));
        let Some(explored) = &self.explored else {
            return entries;
        };
        let races = explored.races.iter().take(MAX_ENTRIES).map(|race| {
            let ends = [&race.first, &race.second];
            let rule = Rule::PredictedRace;
            Entry {
                kind: race.kind.clone(),
                notes: schedule_note(&race.schedule).into_iter().collect(),
                ..self.race(rule, &race.fingerprint, &race.location, ends)
            }
        });
        let deadlock = explored.deadlock.iter().map(|found| Entry {
            notes: schedule_note(&found.schedule).into_iter().collect(),
            ..self.deadlock(&found.what)
        });
        let errors = explored.errors.iter().map(|found| Entry {
            notes: schedule_note(&found.schedule).into_iter().collect(),
            ..self.failure(&found.what)
        });
        let known: FxHashSet<String> = entries.iter().map(|e| e.fingerprint.clone()).collect();
        let others = races.chain(deadlock).chain(errors);
        let others = others.map(|entry| Entry {
            engine: "explore".to_string(),
            ..entry
        });
        entries.extend(others.filter(|entry| !known.contains(&entry.fingerprint)));
        entries
    }

    fn race(
        &self,
        rule: Rule,
        fingerprint: &str,
        location: &str,
        [first, second]: [&AccessReport; 2],
    ) -> Entry {
        let side = |access: &AccessReport| Side {
            label: format!("{} by {}", access.access, access.task),
            thread: access.task.clone(),
            place: self.place(access.position),
            stack: Vec::new(),
        };
        Entry {
            variable: location.to_string(),
            ..self.entry(
                rule,
                fingerprint,
                sentence(location, first, second),
                vec![side(first), side(second)],
            )
        }
    }

    fn deadlock(&self, deadlock: &DeadlockReport) -> Entry {
        let sides = deadlock.waiting.iter().map(|waiting| Side {
            label: format!("{} waits for {}", waiting.task, waiting.waits_for),
            thread: waiting.task.clone(),
            place: self.place(waiting.position),
            stack: Vec::new(),
        });
        let message = "nobody can go on".to_string();
        self.entry(
            Rule::Deadlock,
            &deadlock.fingerprint,
            message,
            sides.collect(),
        )
    }

    fn failure(&self, error: &ErrorReport) -> Entry {
        let side = |label: String, position| Side {
            label,
            thread: error.task.clone(),
            place: self.place(position),
            stack: Vec::new(),
        };
        let mut sides = vec![side(format!("in {}", error.task), error.position)];
        let first = error.first_set.into_iter();
        sides.extend(first.map(|position| side("set first here".to_string(), position)));
        self.entry(
            Rule::Failure,
            &error.fingerprint,
            error.message.clone(),
            sides,
        )
    }

    fn entry(&self, rule: Rule, fingerprint: &str, message: String, sides: Vec<Side>) -> Entry {
        Entry {
            rule,
            fingerprint: fingerprint.to_string(),
            engine: self.engine.to_string(),
            message,
            kind: String::new(),
            variable: String::new(),
            count: 1,
            sides,
            notes: Vec::new(),
            remedy: None,
            first: None,
            steps: Vec::new(),
            story: None,
            graph: None,
        }
    }

    fn place(&self, at: deadheat_model::SourcePosition) -> String {
        format!("{}:{}:{}", self.program, at.line, at.column)
    }
}

fn schedule_note(schedule: &[String]) -> Option<String> {
    let shown = crate::check_text::shortened(schedule);
    (!schedule.is_empty()).then(|| format!("for example, by the schedule: {shown}"))
}

impl AnalyzeReport {
    /// What is to be said if there are more races than entries.
    pub fn more(&self) -> Option<String> {
        more(self.races.len())
    }

    /// Its races.
    pub fn entries(&self) -> Vec<Entry> {
        let witnesses = self.races.iter().filter(|race| race.witness.is_some());
        let most = most_steps(witnesses.count());
        let races = self.races.iter().take(MAX_ENTRIES).map(|race| {
            let rule = match (self.worth, &race.witness) {
                (Worth::Suspects(_), _) => Rule::Suspect,
                (_, Some(_)) => Rule::PredictedRace,
                _ => Rule::Race,
            };
            pair_entry(rule, self.engine, &race.pair, race.witness.as_ref(), most)
        });
        races.collect()
    }
}

impl ExplainReport {
    /// What is to be said if there are more races than entries.
    pub fn more(&self) -> Option<String> {
        more(self.races.len())
    }

    /// Its races, those to fix first in front.
    pub fn entries(&self) -> Vec<Entry> {
        let witnesses = self.races.iter().filter(|race| race.witness.is_some());
        let most = most_steps(witnesses.count());
        let races = self.races.iter().take(MAX_ENTRIES).map(|race| {
            let rule = match race.status {
                "predicted" => Rule::PredictedRace,
                "tangled" => Rule::Suspect,
                _ => Rule::Race,
            };
            let mut entry = pair_entry(rule, "explain", &race.pair, race.witness.as_ref(), most);
            entry.first = Some(race.is_first);
            entry.notes.push(match (race.is_first, race.status) {
                (true, _) => "fix it first: no other race can have caused it".to_string(),
                (false, "tangled") => "it is not known to be possible at all".to_string(),
                (false, _) => "another race may have caused it".to_string(),
            });
            entry
        });
        let mut entries: Vec<Entry> = races.collect();
        entries.sort_by_key(|entry| entry.first == Some(false));
        entries
    }
}

fn pair_entry(
    rule: Rule,
    engine: &str,
    pair: &PairReport,
    witness: Option<&WitnessReport>,
    most_steps: usize,
) -> Entry {
    let (first, second) = pair.kind.split_once('-').unwrap_or_default();
    let side = |access: &AccessInTrace, kind: &str| Side {
        label: format!(
            "{kind} by {} (event {})",
            short_name(&access.thread),
            access.event
        ),
        thread: short_name(&access.thread),
        place: cut(&access.loc, MAX_PLACE),
        stack: Vec::new(),
    };
    Entry {
        rule,
        fingerprint: pair.fingerprint.clone(),
        engine: engine.to_string(),
        message: pair_sentence(rule == Rule::Suspect, pair),
        kind: pair.kind.clone(),
        variable: cut(&pair.variable, MAX_PLACE),
        count: pair.count,
        sides: vec![side(&pair.first, first), side(&pair.second, second)],
        notes: Vec::new(),
        remedy: None,
        first: None,
        steps: witness.map_or_else(Vec::new, |witness| events(witness, most_steps)),
        story: None,
        graph: None,
    }
}

/// What is wrong with two accesses of a trace.
pub(crate) fn pair_sentence(is_suspect: bool, pair: &PairReport) -> String {
    let (first, second) = pair.kind.split_once('-').unwrap_or_default();
    at_the_same_time(
        if is_suspect { "may" } else { "can" },
        &cut(&pair.variable, MAX_NAME),
        (&short_name(&pair.first.thread), first),
        (&short_name(&pair.second.thread), second),
    )
}

/// The last events of a witness.
fn events(witness: &WitnessReport, most: usize) -> Vec<Step> {
    let trace = witness.spelling.trace();
    let end = witness.spelling.end(witness.proof(), most);
    let step = |number: &EventNumber| {
        let event = trace.event(*number)?;
        Some(Step {
            strand: event.strand(),
            thread: short_name(&trace.names.strand(event.strand())),
            action: cut(&trace.names.action(event.op()).to_string(), MAX_NAME),
            place: cut(&trace.names.site(event.site()), MAX_PLACE),
        })
    };
    end.iter().filter_map(step).collect()
}

/// The races of a program that has run.
pub fn native_entries(races: &[NativeRace], engine: &str, sources: &Sources) -> Vec<Entry> {
    let entry = |race| native_entry(Rule::Race, race, engine, sources);
    races.iter().take(MAX_ENTRIES).map(entry).collect()
}

/// The races of other schedules of a program that has run.
pub fn predicted_entries(predicted: &[PredictedRace], sources: &Sources) -> Vec<Entry> {
    let entry = |predicted: &PredictedRace| {
        let (steps, _) = steps(&predicted.witness);
        let step = |step: crate::predict::StepReport| Step {
            strand: step.strand,
            thread: step.thread,
            action: step.action,
            place: step.loc,
        };
        Entry {
            steps: steps.into_iter().map(step).collect(),
            ..native_entry(Rule::PredictedRace, &predicted.race, "m2", sources)
        }
    };
    predicted.iter().take(MAX_ENTRIES).map(entry).collect()
}

fn native_entry(rule: Rule, race: &NativeRace, engine: &str, sources: &Sources) -> Entry {
    let call = |frame: &Frame| Call {
        function: frame.function.clone(),
        place: frame.location(),
    };
    let side = |access: &NativeAccess| Side {
        label: label(access),
        thread: access.thread.clone(),
        place: access
            .site()
            .map_or_else(|| "?".to_string(), |site| site.location()),
        stack: access.stack.iter().map(|frame| call(frame)).collect(),
    };
    Entry {
        rule,
        fingerprint: identity(race, sources),
        engine: engine.to_string(),
        message: title(race),
        kind: race.kind().to_string(),
        variable: race.variable.clone(),
        count: race.count,
        sides: vec![side(&race.first), side(&race.second)],
        // Stacks are told by themselves.
        notes: about(race),
        remedy: remedy(race),
        first: None,
        steps: Vec::new(),
        story: None,
        graph: None,
    }
}

/// What else is known: where the block came from, who created the threads.
fn about(race: &NativeRace) -> Vec<String> {
    let mut race = race.clone();
    race.first.stack.truncate(1);
    race.second.stack.truncate(1);
    notes(&race, 2)
}
