//! What is left out of a report: what a baseline knows, and what suppressions name.

use std::rc::Rc;

use deadheat_native::{Frame, NativeAccess, NativeRace, Suppressions};
use serde::Serialize;

use crate::baseline::Baseline;
use crate::sources::parts;
use crate::style::counted;

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
    pub fn knows(&self, fingerprint: &str, left_out: &mut LeftOut) -> bool {
        let knows = |baseline: &Baseline| baseline.knows(fingerprint);
        let known = self.baseline.as_ref().is_some_and(knows);
        if let Some(count) = left_out.known.as_mut().filter(|_| known) {
            *count += 1;
        }
        known
    }

    /// Whether a race of these places is to be shown; otherwise it is counted.
    pub fn keeps(
        &self,
        fingerprint: &str,
        variable: &str,
        places: [&str; 2],
        left_out: &mut LeftOut,
    ) -> bool {
        let covers = |rules: &Suppressions| rules.cover(&race(variable, places));
        if self.suppressions.as_ref().is_some_and(covers) {
            *left_out.suppressed.get_or_insert(0) += 1;
            return false;
        }
        !self.knows(fingerprint, left_out)
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

/// A race as rules look at it: files are all that is known of the calls.
fn race(variable: &str, places: [&str; 2]) -> NativeRace {
    let [first, second] = places.map(|place| NativeAccess {
        stack: vec![Rc::new(Frame {
            file: Some(parts(place).0.to_string()),
            ..Frame::default()
        })],
        ..NativeAccess::default()
    });
    NativeRace {
        variable: variable.to_string(),
        first,
        second,
        ..NativeRace::default()
    }
}
