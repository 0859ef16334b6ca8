//! Which processes of a run were not checked, and why, as far as that can be known.
//!
//! A checked process says what it becomes by `exec`, and what it starts: if that was built for checking, it has to report
//! itself. What programs start that were not built for checking is known only if it reports.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use deadheat_model::guarantee::{Obstacle, Unchecked};
use deadheat_tape::findings::Ending;
use object::{Object, ObjectSymbol};

use crate::findings::{Findings, Process};

impl Findings {
    /// What was not checked of a run of this program: each program once for each reason.
    pub fn unchecked(&self, program: &OsStr) -> Vec<Unchecked> {
        let mut unchecked = Vec::new();
        for process in &self.processes {
            if let Some(why) = process.unchecked {
                unchecked.push(Unchecked {
                    program: process.program.clone(),
                    why,
                });
            }
            let silent = self.silent(process);
            unchecked.extend(silent.map(|program| Unchecked {
                program: program.to_string(),
                why: Obstacle::Silent,
            }));
        }
        if self.processes.is_empty() {
            let built = executable(program).is_some_and(|path| is_built_for_checking(&path));
            unchecked.push(Unchecked {
                program: program.to_string_lossy().into_owned(),
                why: match built {
                    true => Obstacle::Silent,
                    false => Obstacle::NotBuilt,
                },
            });
        }
        unchecked.sort();
        unchecked.dedup();
        unchecked
    }

    /// The programs that a process has started, or become, and that should have reported themselves.
    fn silent<'f>(&'f self, process: &'f Process) -> impl Iterator<Item = &'f str> {
        let became = process
            .end
            .as_ref()
            .is_some_and(|end| end.how == Ending::Exec);
        let last = process
            .started
            .iter()
            .rposition(|started| started.pid == process.pid);
        let started = process.started.iter().enumerate();
        let started = started.filter(move |(index, started)| match started.pid == process.pid {
            // What came before was tried in vain.
            true => became && Some(*index) == last,
            false => true,
        });
        let silent = started.filter(|(_, started)| {
            let mut others = self.processes.iter();
            let reported = others.any(|other| {
                other.pid == started.pid && other.stream > process.stream && !other.forked
            });
            !reported && {
                let path = executable(OsStr::new(&started.program));
                path.is_some_and(|path| is_built_for_checking(&path))
            }
        });
        silent.map(|(_, started)| started.program.as_str())
    }
}

/// The file that is run under a name.
fn executable(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let directories = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&directories).map(|directory| directory.join(name));
    files.find(|file| file.is_file())
}

/// Whether a file is an executable that carries the runtime.
fn is_built_for_checking(path: &Path) -> bool {
    let Ok(content) = std::fs::read(path) else {
        return false;
    };
    let Ok(file) = object::File::parse(&*content) else {
        return false;
    };
    let mut symbols = file.dynamic_symbols().chain(file.symbols());
    symbols.any(|symbol| symbol.is_definition() && symbol.name() == Ok("__tsan_init"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_system_was_not_built_for_checking() {
        let shell = executable(OsStr::new("sh")).unwrap();
        assert!(shell.is_absolute() && !is_built_for_checking(&shell));
        assert!(!is_built_for_checking(Path::new("/no/such/program")));
        assert!(!is_built_for_checking(Path::new("/etc/passwd")));
    }
}
