//! `deadheat verify`: are the witnesses in a report true?

use deadheat_model::{EventNumber, StopReason, StopToken};
use deadheat_report::VerifyReport;
use deadheat_trace::{Source, TraceError};
use deadheat_witness::{NotATrace, ReportError, verify_report};
use thiserror::Error;

use crate::Watch;
use crate::files::TraceFailure;
use crate::reading::read;

/// The most bytes of a report that are read.
pub const MAX_REPORT_BYTES: usize = deadheat_witness::MAX_REPORT_BYTES;

/// Why a report could not be checked.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace could not have happened.
    #[error("the trace cannot be checked: {0}")]
    Impossible(NotATrace),
    /// There was no time to read the trace.
    #[error("stopped while the trace was read ({0}): nothing was checked")]
    Stopped(StopReason),
    /// The report is not one about this trace.
    #[error(transparent)]
    Report(ReportError),
}

impl TraceFailure for VerifyError {
    fn unreadable(&self) -> Option<&TraceError> {
        match self {
            VerifyError::Trace(error) => Some(error),
            _ => None,
        }
    }

    fn event(&self) -> Option<EventNumber> {
        match self {
            VerifyError::Impossible(refused) => Some(refused.event),
            _ => None,
        }
    }
}

/// Checks every witness of a report, as `deadheat analyze --json` prints it, against the trace. Nothing
/// of the report is believed. Once it is stopped, the rest is not checked. `repairs`
/// as for the analysis that made the report.
pub fn verify(
    report: &str,
    trace: &Source,
    repairs: bool,
    stop: StopToken,
    watch: Watch,
) -> Result<VerifyReport, VerifyError> {
    let reading = read(trace, repairs, stop, watch)?;
    let execution = reading.map_err(VerifyError::Stopped)?.execution;
    let verification = verify_report(report, &execution, stop).map_err(|error| match error {
        ReportError::NotATrace(refused) => VerifyError::Impossible(refused),
        _ => VerifyError::Report(error),
    })?;
    Ok(VerifyReport::new(&verification))
}
