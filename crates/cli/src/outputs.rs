//! What every command that finds something can do with it: SARIF, a page, a baseline, suppressions.

use std::path::PathBuf;

use clap::Args;
use deadheat::MAX_REPORT_BYTES;
use deadheat::native::Suppressions;
use deadheat::report::{Baseline, Chapter, Filter, page, sarif};

use crate::files::{of, read, write_with};
use crate::output::complain_of;

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
    pub suppress: Vec<PathBuf>,
}

impl Outputs {
    /// Which findings are left out.
    pub fn filter(&self) -> Result<Filter, String> {
        let mut filter = self.baseline()?;
        if !self.suppress.is_empty() {
            let rules = filter.suppressions.insert(Suppressions::default());
            for file in &self.suppress {
                rules.read(file).map_err(|error| error.to_string())?;
            }
        }
        Ok(filter)
    }

    /// Which findings are left out, suppressions aside.
    pub fn baseline(&self) -> Result<Filter, String> {
        let baseline = self.baseline.as_ref().map(|path| {
            let text = read(path, MAX_REPORT_BYTES)?;
            Baseline::read(&text).map_err(|error| of(path, error))
        });
        Ok(Filter {
            baseline: baseline.transpose()?,
            suppressions: None,
        })
    }

    /// Writes what was asked for, the page last; says whether that worked. `chapters` are asked for again with what only a
    /// page shows.
    #[must_use]
    pub fn write<'c>(&self, chapters: impl Fn(bool) -> Vec<Chapter<'c>>) -> bool {
        let sarif = self.sarif.as_ref().map(|path| {
            let log = sarif(&chapters(false));
            write_with(path, |file| {
                serde_json::to_writer_pretty(&mut *file, &log)?;
                file.write_all(b"\n")
            })
        });
        let sarif = sarif.transpose().map_err(complain_of).is_ok();
        let html = self.html.as_ref().map(|path| {
            let chapters = chapters(true);
            write_with(path, |file| page(&chapters, file))
        });
        html.transpose().map_err(complain_of).is_ok() && sarif
    }
}
