//! What several engines say about one trace, side by side: who misses what, and what nobody confirms.
//!
//! Two engines agree on a race if both have one at the same two places in the source. Only engines all
//! of whose races can happen have something to miss; only those with witnesses confirm.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::Finding;
use deadheat_model::finding::Place;
use deadheat_offline::{ENGINES, Worth};

use super::style::{BOLD, PLAIN, RED, counted, grouped, listed, padded, time};
use super::trace::one_line;
use crate::analyze::AnalyzeReport;

/// How many races of a list are shown.
const SHOWN: usize = 5;

/// The two places of a race, in no order.
type Places<'r> = [&'r Place; 2];

fn places(finding: &Finding) -> Places<'_> {
    let mut places = [0, 1].map(|side| &*finding.sides[side.min(finding.sides.len() - 1)].place);
    places.sort();
    places
}

/// What several engines say about one trace.
pub struct Comparison<'r> {
    reports: &'r [AnalyzeReport],
    /// Races that can happen: a report of each, and who has it.
    real: BTreeMap<Places<'r>, (&'r Finding, Vec<&'static str>)>,
    /// The races with witnesses.
    confirmed: BTreeSet<Places<'r>>,
    /// Whether an engine with witnesses was asked.
    confirms: bool,
}

impl<'r> Comparison<'r> {
    /// Compares reports on one trace.
    pub fn new(reports: &'r [AnalyzeReport]) -> Comparison<'r> {
        let mut real: BTreeMap<Places<'_>, (&Finding, Vec<&str>)> = BTreeMap::new();
        let mut confirmed = BTreeSet::new();
        for report in reports {
            for race in &report.races {
                let places = places(race);
                if report.worth.is_real() {
                    let (_, engines) = real.entry(places).or_insert((race, Vec::new()));
                    if !engines.contains(&report.engine) {
                        engines.push(report.engine);
                    }
                }
                if race.proof.is_some() {
                    confirmed.insert(places);
                }
            }
        }
        Comparison {
            reports,
            real,
            confirmed,
            confirms: reports.iter().any(|report| report.worth.is_shown()),
        }
    }

    /// The races that can happen and are not in a report.
    fn missed(&self, report: &AnalyzeReport) -> Vec<Places<'r>> {
        let own: BTreeSet<Places<'_>> = report.races.iter().map(places).collect();
        let real = self.real.keys().copied();
        real.filter(|places| !own.contains(places)).collect()
    }

    /// The races of a report without witnesses that no other has shown; nothing if none was asked to.
    fn not_confirmed(&self, report: &'r AnalyzeReport) -> Option<Vec<Places<'r>>> {
        let doubtful = !report.worth.is_real() && report.worth != Worth::Exact;
        let own: BTreeSet<Places<'r>> = report.races.iter().map(places).collect();
        (doubtful && self.confirms).then(|| own.difference(&self.confirmed).copied().collect())
    }

    /// All of it as text, the guarantee of the strongest engine at the end.
    pub fn text(&self, path: &str) -> String {
        let mut text = self.table();
        text.push('\n');
        let missed = self.reports.iter().map(|r| (r.engine, self.missed(r)));
        for (engines, missed) in grouped_by_list(missed) {
            let misses = verb(&engines, "misses", "miss");
            let races = counted(missed.len() as u64, "race");
            text += &format!("{RED}{}{PLAIN} {misses} {races}:\n", listed(&engines));
            text += &shown(&missed, |places| {
                let (pair, by) = self.real.get(&places)?;
                Some(format!("{}; found by {}", one_line(pair, true), listed(by)))
            });
        }
        let doubtful = self.reports.iter();
        let doubtful = doubtful.filter_map(|r| Some((r.engine, self.not_confirmed(r)?)));
        for (engines, doubtful) in grouped_by_list(doubtful) {
            let has = verb(&engines, "has", "have");
            let reports = counted(doubtful.len() as u64, "report");
            text += &format!(
                "{BOLD}{}{PLAIN} {has} {reports} that no witness confirms:\n",
                listed(&engines)
            );
            text += &shown(&doubtful, |places| {
                let mut races = self.reports.iter().flat_map(|report| &report.races);
                races
                    .find(|race| self::places(race) == places)
                    .map(|race| one_line(race, true))
            });
        }
        if let Some(strongest) = self.reports.iter().max_by_key(|r| strength(r)) {
            let engine = strongest.engine;
            text += &format!("{path}, by {engine}: {}\n", strongest.guarantee());
        }
        text
    }

    fn table(&self) -> String {
        let mut head = vec!["engine", "races", "racy variables", "time", "misses"];
        let undecided = self.reports.iter().any(|r| !r.undecided.is_empty());
        if undecided {
            head.push("undecided");
        }
        if self.confirms {
            head.push("not confirmed");
        }
        let number = |n: usize| grouped(n as u64);
        let rows = self.reports.iter().map(|report| {
            let mut row = vec![
                report.engine.to_string(),
                number(report.races.len()),
                grouped(report.variables),
                time(report.seconds),
                number(self.missed(report).len()),
            ];
            if undecided {
                row.push(match report.worth.is_shown() {
                    true => number(report.undecided.len()),
                    false => String::new(),
                });
            }
            if self.confirms {
                let doubtful = self.not_confirmed(report);
                row.push(doubtful.map_or(String::new(), |doubtful| number(doubtful.len())));
            }
            row
        });
        let head: Vec<String> = head.into_iter().map(str::to_string).collect();
        let rows: Vec<Vec<String>> = rows.collect();
        let all = || std::iter::once(&head).chain(&rows);
        let width = |column: usize| all().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let lines = all().map(|row| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => padded(cell, width),
                _ => format!("{cell:>width$}"),
            });
            let cells: Vec<String> = cells.collect();
            cells.join("  ").trim_end().to_string() + "\n"
        });
        lines.collect()
    }
}

/// Engines with the same list, that list being not empty; in the order in which they come.
fn grouped_by_list<'r>(
    lists: impl Iterator<Item = (&'static str, Vec<Places<'r>>)>,
) -> Vec<(Vec<&'static str>, Vec<Places<'r>>)> {
    let mut groups: Vec<(Vec<&str>, Vec<Places<'_>>)> = Vec::new();
    for (engine, list) in lists.filter(|(_, list)| !list.is_empty()) {
        match groups.iter_mut().find(|(_, same)| *same == list) {
            Some((engines, _)) => engines.push(engine),
            None => groups.push((vec![engine], list)),
        }
    }
    groups
}

/// The first few of a list, a line each.
fn shown<'r>(list: &[Places<'r>], line: impl Fn(Places<'r>) -> Option<String>) -> String {
    let lines = list.iter().take(SHOWN);
    let lines = lines.filter_map(|&places| Some(format!("  {}\n", line(places)?)));
    let mut text: String = lines.collect();
    if list.len() > SHOWN {
        let hidden = grouped((list.len() - SHOWN) as u64);
        text += &format!("  … and {hidden} more\n");
    }
    text + "\n"
}

fn verb(engines: &[&str], one: &'static str, many: &'static str) -> &'static str {
    match engines {
        [_] => one,
        _ => many,
    }
}

/// The more it finds and shows, the stronger.
fn strength(report: &AnalyzeReport) -> (bool, bool, u8, usize) {
    let worth = match report.worth {
        Worth::Suspects(_) => 0,
        Worth::FirstIsReal => 1,
        Worth::FirstIsRealOrDeadlock => 2,
        Worth::AllAreReal => 3,
        Worth::Exact => 4,
        Worth::AllAreShown => 5,
        Worth::AllAreDecided => 6,
    };
    let place = ENGINES
        .iter()
        .position(|engine| engine.name == report.engine);
    // Of engines that are worth the same, the one to be preferred.
    let place = ENGINES.len() - place.unwrap_or(ENGINES.len());
    let exact = report.worth == Worth::Exact && report.complete;
    (exact, report.complete, worth, place)
}
