//! What is wrong with a command line, in one sentence that says what to write instead.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::Arguments;
use crate::output::{complain, complain_of};
use crate::outputs::{is_report, misplaced};

/// The arguments of a command line; one that is wrong ends the command with status 2.
pub fn parse(words: &[OsString]) -> Arguments {
    Arguments::try_parse_from(words).unwrap_or_else(|error| {
        match sentence(&error, words) {
            Some(sentence) => complain_of(sentence),
            // `--help` and `--version`.
            None if !error.use_stderr() => error.exit(),
            None => complain(&error.render().ansi().to_string()),
        }
        std::process::exit(2)
    })
}

/// Names an argument that no option or input is, and what was probably meant; `None` for any other error.
pub fn sentence(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if let Some(sentence) = report_among_inputs(words) {
        return Some(sentence);
    }
    let argument = text(ContextKind::InvalidArg)?;
    let (kind, listed) = match argument.starts_with('-') {
        true => ("option", "its options"),
        false => ("argument", "its arguments"),
    };
    let advice = match text(ContextKind::SuggestedArg) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("`{} --help` lists {listed}", called(words)),
    };
    Some(format!("unexpected {kind} `{argument}`: {advice}"))
}

/// A report's name after an output option and a space, which makes it one input too many.
fn report_among_inputs(words: &[OsString]) -> Option<String> {
    let pair = words.windows(2).find_map(|pair| {
        let option = pair[0].to_str()?;
        let is_output = ["--json", "--sarif", "--html"].contains(&option);
        let file = Path::new(&pair[1]);
        (is_output && is_report(file)).then_some((option, file))
    });
    pair.map(|(option, file)| misplaced(option, file))
}

/// The command that was called: `deadheat run`.
fn called(words: &[OsString]) -> String {
    let command = Arguments::command();
    let is_command = |word: &&OsString| {
        command
            .get_subcommands()
            .any(|known| known.get_name() == **word)
    };
    match words.iter().skip(1).find(is_command) {
        Some(word) => format!("deadheat {}", word.to_string_lossy()),
        None => "deadheat".to_string(),
    }
}
