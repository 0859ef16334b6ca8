//! `deadheat completions` and `deadheat man`: made from the definitions of the arguments.

use std::io::stdout;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::output::print_with;
use crate::status::Status;

/// Print completions for a shell
///
/// Exit status: 0 done, 2 bad input.
#[derive(Args)]
#[command(after_help = "\
Examples:
  deadheat completions bash > ~/.local/share/bash-completion/completions/deadheat
  deadheat completions zsh > ~/.zfunc/_deadheat
  deadheat completions fish > ~/.config/fish/completions/deadheat.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Write man pages
///
/// One for the command and one for each of its commands, into an existing directory. Exit status: 0 done, 2
/// bad input.
#[derive(Args)]
#[command(after_help = "\
Examples:
  deadheat man ~/.local/share/man/man1; man deadheat-analyze")]
pub struct Man {
    /// The directory
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// Prints completions.
pub fn completions(arguments: &Completions) -> Result<Status, String> {
    let mut script = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "deadheat", &mut script);
    Ok(Status::Clean.unless(print_with(stdout(), |to| to.write_all(&script))))
}

/// Writes man pages.
pub fn man(arguments: &Man) -> Result<Status, String> {
    let directory = &arguments.directory;
    let written = clap_mangen::generate_to(crate::Arguments::command(), directory);
    written.map_err(|error| format!("cannot write to `{}`: {error}", directory.display()))?;
    Ok(Status::Clean)
}
