//! What every command that finds something can do with it: SARIF, a page, a baseline, suppressions.

use std::path::PathBuf;

use clap::Args;
use deadheat::Verdict;
use deadheat::report::{Chapter, Filter, page, sarif};

use crate::output::{warn_of, written};
use crate::search::Search;

/// Where findings go besides the terminal, and which of them count.
#[derive(Args)]
#[command(next_help_heading = "Findings")]
pub struct Outputs {
    /// Write the findings as SARIF 2.1.0 to FILE, for code scanning services and editors
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write the findings as a page for a browser to FILE, which needs no other
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Leave out findings that FILE knows, which an earlier run wrote with --json or --sarif; the exit status is about the
    /// others
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Leave out races that FILE names; ThreadSanitizer's format works, too
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,
}

impl Outputs {
    /// Which findings are left out.
    pub fn filter(&self) -> Result<Filter, String> {
        deadheat::read_filter(self.baseline.as_deref(), &self.suppress)
    }

    /// Delivers verdicts in every form that was asked for; says whether that worked.
    #[must_use]
    pub fn deliver(
        &self,
        search: &Search,
        quiet: bool,
        command: &str,
        verdicts: &[impl Verdict],
        most: usize,
    ) -> bool {
        let text = || verdicts.iter().map(|verdict| verdict.text(most)).collect();
        let reports = verdicts.iter().flat_map(Verdict::reports);
        search.deliver(quiet, command, reports, text) & self.write(verdicts)
    }

    /// Writes what was asked for besides, the page last; says whether that worked.
    pub fn write(&self, verdicts: &[impl Verdict]) -> bool {
        let warnings = verdicts.iter().filter_map(Verdict::warning);
        warnings.for_each(warn_of);
        let sarif_written = self.sarif.as_ref().is_none_or(|path| {
            let chapters: Vec<Chapter> = verdicts.iter().map(Verdict::chapter).collect();
            written(path, |file| sarif(&chapters, file))
        });
        let page_written = self.html.as_ref().is_none_or(|path| {
            let chapters: Vec<Chapter> = verdicts.iter().map(Verdict::illustrated).collect();
            written(path, |file| page(&chapters, file))
        });
        sarif_written && page_written
    }
}
