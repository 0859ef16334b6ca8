//! What is left out of a report: what a baseline knows, and what suppressions name.

use deadheat_model::Finding;
use deadheat_native::Suppressions;
use serde::Serialize;

use crate::baseline::Baseline;
use crate::text::style::{counted, listed};

/// How many rules that matched nothing are named.
const MAX_RULES: usize = 5;

/// Which findings are not to be shown, and do not count.
#[derive(Debug, Default)]
pub struct Filter {
    /// An earlier run's findings.
    pub baseline: Option<Baseline>,
    /// Rules that name findings; none if nobody asked.
    pub suppressions: Option<Suppressions>,
}

/// How many findings were left out; nothing of what was not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Because the baseline knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
    /// Because a rule names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<u64>,
}

impl Filter {
    /// What to count from.
    pub fn start(&self) -> LeftOut {
        LeftOut {
            known: self.baseline.as_ref().map(|_| 0),
            suppressed: self.suppressions.as_ref().map(|_| 0),
        }
    }

    /// Whether the baseline knows a finding; if so, it is counted.
    pub fn knows(&self, finding: &Finding, left_out: &mut LeftOut) -> bool {
        let knows = |baseline: &Baseline| baseline.knows(finding.identity);
        let known = self.baseline.as_ref().is_some_and(knows);
        if let Some(count) = left_out.known.as_mut().filter(|_| known) {
            *count += 1;
        }
        known
    }

    /// The rules that have matched nothing, in a sentence.
    pub fn unused(&self) -> Option<String> {
        let rules = self.suppressions.iter().flat_map(Suppressions::unused);
        let rules: Vec<&str> = rules.collect();
        let shown = rules.iter().take(MAX_RULES).copied();
        let mut shown: Vec<String> = shown.map(str::to_string).collect();
        let more = rules.len().saturating_sub(MAX_RULES) as u64;
        if more > 0 {
            shown.push(counted(more, "other rule"));
        }
        (!rules.is_empty()).then(|| format!("no finding matched {}", listed(&shown)))
    }

    /// Whether a finding is to be shown; otherwise it is counted.
    pub fn keeps(&self, finding: &Finding, left_out: &mut LeftOut) -> bool {
        let covers = |rules: &Suppressions| rules.cover(finding);
        if self.suppressions.as_ref().is_some_and(covers) {
            *left_out.suppressed.get_or_insert(0) += 1;
            return false;
        }
        !self.knows(finding, left_out)
    }
}

impl LeftOut {
    /// What is to be added to a sentence about all findings.
    pub fn sentence(&self) -> String {
        let clause = |count: Option<u64>, why: &str| match count {
            None | Some(0) => String::new(),
            Some(count) => format!("; left out: {} that {why}", counted(count, "finding")),
        };
        clause(self.known, "the baseline knows") + &clause(self.suppressed, "suppressions name")
    }
}
