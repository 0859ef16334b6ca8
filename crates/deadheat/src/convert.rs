//! `deadheat convert`: a trace in another format.

use std::path::Path;

use deadheat_model::StopToken;
use deadheat_trace::text::TextFormat;
use deadheat_trace::{Format, Source, TraceError, save};

use crate::reading::{Reading, read};
use crate::{Step, Watch};

/// How a trace is to be converted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvertOptions {
    /// Write what RAPID's own readers accept.
    pub rapid: bool,
    /// Leave out events that could not have happened.
    pub repair: bool,
}

impl ConvertOptions {
    /// Whether a file of this name can be written; if not, why.
    pub fn check(&self, output: &Path) -> Result<(), String> {
        match Format::of_name(output) {
            None => {
                let path = output.to_path_buf();
                Err(TraceError::UnknownFormat { path }.to_string())
            }
            Some(Format::Text(TextFormat::Std | TextFormat::Csv)) => Ok(()),
            Some(_) if self.rapid => Err(format!(
                "--rapid writes .std and .csv files, and `{}` is neither",
                output.display()
            )),
            Some(_) => Ok(()),
        }
    }
}

/// Writes a trace to another file, whose name says its format. Tells what was left out, if something was.
pub fn convert(
    source: &Source,
    output: &Path,
    options: &ConvertOptions,
    watch: Watch,
) -> Result<Option<String>, TraceError> {
    let reading = |done| watch(Step::Reading(done));
    if options.rapid {
        deadheat_trace::convert_for_rapid(source, output, reading)?;
    } else if !options.repair {
        deadheat_trace::convert(source, output, reading)?;
    } else if let Ok(reading) = read(source, true, StopToken::default(), watch)? {
        let Reading { execution, repair } = reading;
        save(output, &execution)?;
        return Ok(repair);
    }
    Ok(None)
}
