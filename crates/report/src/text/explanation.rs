//! An explanation as people read it: what to fix first and why, and the rest in short.

use deadheat_explain::general::Apart;
use deadheat_model::finding::{Bug, Status, bugs};

use super::others;
use super::style::{BOLD, PLAIN, RED, YELLOW, counted, cut, identity};
use super::trace::{one_line, shown};
use crate::explain::{ExplainReport, GeneralReport, RaceReport};
use crate::sources::Sources;
use crate::words::{self, MAX_NAME};

/// How many numbers of other races of a bug are listed.
const MAX_NUMBERS: usize = 12;

impl ExplainReport {
    /// The report as text: `most` bugs that are not first are shown.
    pub fn text(&self, path: &str, sources: &Sources, most: usize) -> String {
        let mut text = String::new();
        let is_first = |race: &&RaceReport| race.finding.is_first == Some(true);
        let (first, rest): (Vec<_>, Vec<_>) = self.races.iter().partition(is_first);
        if self.every_read_decides() && !rest.is_empty() {
            text += "It is not known which reads decide what the program does, so every read is taken to. Races below \
                     that are not first may be independent of the first ones all the same.\n\n";
        }
        if !first.is_empty() {
            text += &format!("{BOLD}Fix first:{PLAIN}\n");
        }
        let firsts = by_bug(&first);
        let listed = firsts.len().min(most.max(20));
        for bug in &firsts[..listed] {
            text += &self.first(&first, bug, sources);
        }
        if firsts.len() > listed {
            text += &format!("  and {} more, which --json lists\n", firsts.len() - listed);
        }
        if !first.is_empty() {
            text.push('\n');
        }
        if !rest.is_empty() {
            text += &format!("{BOLD}Then look again at the rest:{PLAIN}\n");
            let bugs = by_bug(&rest);
            for bug in bugs.iter().take(most) {
                text += &format!("  {}\n", one_bug(&rest, bug));
            }
            let hidden = bugs.len().saturating_sub(most);
            if hidden > 0 {
                text += &format!("  and {hidden} more; --max-shown shows them\n");
            }
            text.push('\n');
        }
        text += &self.general(most);
        text + &format!(
            "{path}: {}\nJudged {}.\n",
            self.guarantee(),
            self.dependences
        )
    }

    fn first(&self, races: &[&RaceReport], bug: &Bug, sources: &Sources) -> String {
        let race = races[bug.lead];
        let finding = &race.finding;
        let status = finding.status.map_or("", Status::name);
        let mut text = format!(
            "  {RED}{}. {}{PLAIN} ({status}){}\n",
            race.id,
            cut(&words::title(finding), 2 * MAX_NAME),
            identity(finding)
        );
        for line in shown(finding, sources).lines() {
            text += &format!("     {line}\n");
        }
        if finding.count > 1 {
            let least = if self.bounds.is_empty() {
                ""
            } else {
                "at least "
            };
            text += &format!("     {least}{} times\n", finding.count);
        }
        text += match finding.status {
            Some(Status::Predicted) => {
                "     Nothing races in this run; in another order, which has been checked, this one does.\n"
            }
            Some(Status::Actual) => {
                "     First: no race comes before it. What the two are part of ran at the same \
                 time.\n"
            }
            _ => "     First: no race comes before it.\n",
        };
        let rest = bug.others.iter().map(|&other| &races[other].finding);
        for line in others(finding, rest).iter().flat_map(|note| note.lines()) {
            text += &format!("     {line}\n");
        }
        let explains: Vec<&RaceReport> = self
            .races
            .iter()
            .filter(|other| other.artifact_of.contains(&race.id))
            .collect();
        if !explains.is_empty() {
            let longest = explains
                .iter()
                .filter(|other| other.chain.first() == Some(&race.id));
            let longest = longest.max_by_key(|other| other.chain.len());
            let chain = longest.map_or(String::new(), |other| {
                let chain: Vec<String> = other.chain.iter().map(usize::to_string).collect();
                let end = chain.len().min(8);
                let dots = if chain.len() > end { " → …" } else { "" };
                format!(
                    " (one leads to the next: {}{dots})",
                    chain[..end].join(" → ")
                )
            });
            let count = counted(explains.len() as u64, "other race");
            text += &format!("     Explains {count}{chain}.\n");
        }
        text
    }

    fn general(&self, most: usize) -> String {
        let kinds = [
            (
                Apart::Undecided,
                "it was not decided whether the two can run at the same time: perhaps a data race in another \
                 schedule",
            ),
            (
                Apart::WhileReadsAgree,
                "no data race in any order of these events in which each read sees what it saw; what the program does \
                 when one sees another value is not known",
            ),
            (
                Apart::Always,
                "no data race in any order of these events; a bug only if the program is meant to be deterministic",
            ),
        ];
        let mut text = String::new();
        for (apart, meaning) in kinds {
            let of_kind = self.general_races.iter().filter(|race| race.apart == apart);
            let all: Vec<&GeneralReport> = of_kind.collect();
            if all.is_empty() {
                continue;
            }
            text += &format!("{BOLD}Ordered by chance in this run{PLAIN} ({meaning}):\n");
            for general in all.iter().take(most.min(5)) {
                let sure = if general.certain { "" } else { ", perhaps" };
                text += &format!("  {}{sure}\n", one_line(&general.finding, false));
            }
            let hidden = all.len().saturating_sub(most.min(5));
            if hidden > 0 {
                text += &format!("  and {hidden} more, which --json lists\n");
            }
            text.push('\n');
        }
        text
    }
}

fn by_bug(races: &[&RaceReport]) -> Vec<Bug> {
    bugs(races.iter().map(|race| &race.finding))
}

/// A bug that is not first, in a line.
fn one_bug(races: &[&RaceReport], bug: &Bug) -> String {
    let race = races[bug.lead];
    let finding = &race.finding;
    let status = match finding.status {
        Some(Status::Tangled) => format!("{YELLOW}tangled{PLAIN}"),
        status => status.map_or("", Status::name).to_string(),
    };
    let is_predicted = finding.status == Some(Status::Predicted);
    let after: Vec<String> = race.artifact_of.iter().map(usize::to_string).collect();
    let after = match (after.is_empty(), is_predicted) {
        (false, true) => format!(
            ", shown by a checked reordering; perhaps only because of {}",
            after.join(", ")
        ),
        (false, false) => format!(", perhaps only because of {}", after.join(", ")),
        (true, true) => ", shown by a checked reordering".to_string(),
        (true, false) => String::new(),
    };
    let numbers = bug.others.iter().take(MAX_NUMBERS);
    let number = |&other: &usize| format!("{}{}", races[other].id, identity(&races[other].finding));
    let mut numbers: Vec<String> = numbers.map(number).collect();
    if bug.others.len() > MAX_NUMBERS {
        numbers.push("…".to_string());
    }
    let same = match bug.others.len() as u64 {
        0 => String::new(),
        n => format!(
            "; the same bug: {} ({})",
            counted(n, "other race"),
            numbers.join(", ")
        ),
    };
    let line = one_line(finding, false);
    format!(
        "{}. {line} ({status}{after}){same}{}",
        race.id,
        identity(finding)
    )
}
