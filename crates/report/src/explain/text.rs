//! An explanation as people read it: what to fix first and why, and the rest in short.

use crate::analyze_text::{MAX_NAME, ends, shown};
use crate::entries::pair_sentence;
use crate::pair::PairReport;
use crate::sources::Sources;
use crate::style::{BOLD, PLAIN, RED, YELLOW, counted, cut, identity};

use super::{ExplainReport, ExplainedReport};

impl ExplainReport {
    /// The report as text: `most` races that are not first are shown. Styled: whoever prints it strips
    /// the colours where they do not belong.
    pub fn text(&self, path: &str, sources: &Sources, most: usize) -> String {
        let mut text = String::new();
        let (first, rest): (Vec<_>, Vec<_>) = self.races.iter().partition(|race| race.is_first);
        if !first.is_empty() {
            text += &format!("{BOLD}Fix first:{PLAIN}\n");
        }
        let listed = first.len().min(most.max(20));
        for race in &first[..listed] {
            text += &self.first(race, sources);
        }
        if first.len() > listed {
            text += &format!("  and {} more, which --json lists\n", first.len() - listed);
        }
        if !first.is_empty() {
            text.push('\n');
        }
        if !rest.is_empty() {
            text += &format!("{BOLD}Then look again at the rest:{PLAIN}\n");
            for race in rest.iter().take(most) {
                text += &format!("  {}. {}\n", race.id, one_line(race));
            }
            let hidden = rest.len().saturating_sub(most);
            if hidden > 0 {
                text += &format!("  and {hidden} more; --max-shown shows them\n");
            }
            text.push('\n');
        }
        text += &self.general(most);
        text + &format!("{path}: {}\nJudged {}.\n", self.guarantee, self.dependences)
    }

    fn first(&self, race: &ExplainedReport, sources: &Sources) -> String {
        let mut text = format!(
            "  {RED}{}. {}{PLAIN} ({}){}\n",
            race.id,
            cut(&pair_sentence(false, &race.pair), 2 * MAX_NAME),
            race.status,
            identity(&race.pair.fingerprint)
        );
        for line in shown(&race.pair, sources).lines() {
            text += &format!("     {line}\n");
        }
        if race.pair.count > 1 {
            let least = if self.bounds.is_empty() {
                ""
            } else {
                "at least "
            };
            text += &format!("     {least}{} times\n", race.pair.count);
        }
        text += match race.status {
            "predicted" => {
                "     Nothing races in this run; in another order, which has been checked, this one does.\n"
            }
            "actual" => {
                "     First: no race comes before it. What the two are part of ran at the same \
                 time.\n"
            }
            _ => "     First: no race comes before it.\n",
        };
        let explains: Vec<&ExplainedReport> = self
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
        if self.general_races.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "{BOLD}Ordered by chance in this run{PLAIN} (no data race; a bug only if the program is \
             meant to be deterministic):\n"
        );
        for general in self.general_races.iter().take(most.min(5)) {
            let sure = if general.certain { "" } else { ", perhaps" };
            text += &format!("  {}{sure}\n", places(&general.pair));
        }
        let hidden = self.general_races.len().saturating_sub(most.min(5));
        if hidden > 0 {
            text += &format!("  and {hidden} more, which --json lists\n");
        }
        text + "\n"
    }
}

fn one_line(race: &ExplainedReport) -> String {
    let status = match race.status {
        "tangled" => format!("{YELLOW}tangled{PLAIN}"),
        status => status.to_string(),
    };
    let after: Vec<String> = race.artifact_of.iter().map(usize::to_string).collect();
    let after = match (after.is_empty(), race.status) {
        (false, "predicted") => format!(
            ", shown by a checked reordering; perhaps only because of {}",
            after.join(", ")
        ),
        (false, _) => format!(", perhaps only because of {}", after.join(", ")),
        (true, "predicted") => ", shown by a checked reordering".to_string(),
        (true, _) => String::new(),
    };
    let identity = identity(&race.pair.fingerprint);
    format!("{} ({status}{after}){identity}", places(&race.pair))
}

/// `write-read on x: T1 writes at 7, T2 reads at 9`.
fn places(pair: &PairReport) -> String {
    let [(first, _), (second, _)] = ends(pair);
    let variable = cut(&pair.variable, MAX_NAME);
    format!("{} on {variable}: {first}, {second}", pair.kind)
}
