//! Which compiler does the work: clang (from 14, 19 preferred) or gcc; for Fortran, flang (from 19) or gfortran.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use crate::driver::Language;
use crate::flang::Flang;

/// Which options a compiler understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// clang, from version 14.
    Clang,
    /// gcc.
    Gcc,
    /// flang, from version 19.
    Flang,
    /// gfortran.
    Gfortran,
}

/// A compiler on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// What is run.
    pub path: PathBuf,
    /// Which options it takes.
    pub family: Family,
}

/// Why no compiler was found.
#[derive(Debug, Error)]
pub enum NoCompiler {
    /// There is none.
    #[error(
        "there is no C or C++ compiler here: install clang (from 14; Debian and Ubuntu: `apt install clang-19`, \
         or `clang`) or gcc (`apt install gcc g++`), or name one with DEADHEAT_CC and DEADHEAT_CXX"
    )]
    None,
    /// There is none for Fortran.
    #[error(
        "there is no Fortran compiler here: install flang with the clang of its version (Debian and Ubuntu: `apt install flang-19 \
         clang-19`) or gfortran, or name one with DEADHEAT_FC"
    )]
    NoFortran,
    /// flang's code needs clang.
    #[error(
        "flang's code is instrumented by the clang of its version: install clang {0}, or choose gfortran by DEADHEAT_FC"
    )]
    NoClang(u32),
    /// The one that was asked for is not there.
    #[error("`{name}`, chosen by {by}, is not there: give a path or the name of a program in PATH")]
    NotThere {
        /// What was asked for.
        name: String,
        /// The option or variable that asked.
        by: &'static str,
    },
    /// The one that was asked for is none that is known.
    #[error(
        "`{name}`, chosen by {by}, is none of clang, gcc, flang and gfortran, or not for this language"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The option or variable that asked.
        by: &'static str,
    },
}

/// Versions of clang that are looked for, the best known first.
pub const CLANG_VERSIONS: [u32; 8] = [19, 20, 21, 18, 17, 16, 15, 14];

/// What flang is called, the best known first.
const FLANGS: [&str; 6] = [
    "flang-new-19",
    "flang-19",
    "flang-20",
    "flang-21",
    "flang",
    "flang-new",
];
/// The oldest flang that is of use.
const OLDEST_FLANG: u32 = 19;

/// The oldest clang whose instrumentation is complete.
const OLDEST_CLANG: u32 = 14;

impl Compiler {
    /// The compiler for a language: the one named by `with`, or by the environment, or the best there is.
    pub fn find(language: Language, with: Option<&str>) -> Result<Compiler, NoCompiler> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let chosen = match (with, language) {
            (Some(name), _) => Some((name.to_string(), "--with")),
            (None, Language::Fortran) => variable("DEADHEAT_FC").map(|name| (name, "DEADHEAT_FC")),
            (None, Language::C) => variable("DEADHEAT_CC").map(|name| (name, "DEADHEAT_CC")),
            (None, Language::Cxx) => {
                let own = variable("DEADHEAT_CXX").map(|name| (name, "DEADHEAT_CXX"));
                own.or_else(|| variable("DEADHEAT_CC").map(|name| (name, "DEADHEAT_CC")))
            }
        };
        match chosen {
            Some((name, by)) => Compiler::named(&name, by, language),
            None if language == Language::Fortran => {
                Compiler::best_for_fortran().ok_or(NoCompiler::NoFortran)
            }
            None => Compiler::best(language).ok_or(NoCompiler::None),
        }
    }

    fn named(name: &str, by: &'static str, language: Language) -> Result<Compiler, NoCompiler> {
        let asked = for_language(name, language);
        let path = in_path(asked.as_ref()).or_else(|| in_path(name.as_ref()));
        let path = path.ok_or_else(|| NoCompiler::NotThere {
            name: name.to_string(),
            by,
        })?;
        let is_right = |family: &Family| {
            let is_for_fortran = matches!(family, Family::Flang | Family::Gfortran);
            is_for_fortran == (language == Language::Fortran)
        };
        let family = family_of(&path).filter(is_right);
        let family = family.ok_or_else(|| NoCompiler::Unknown {
            name: name.to_string(),
            by,
        })?;
        Ok(Compiler { path, family })
    }

    /// gfortran, if it is there.
    pub fn gfortran() -> Option<Compiler> {
        let path = in_path("gfortran".as_ref())?;
        let family = Family::Gfortran;
        Some(Compiler { path, family })
    }

    fn best_for_fortran() -> Option<Compiler> {
        let flangs = FLANGS.iter().filter_map(|name| in_path(name.as_ref()));
        let mut flangs = flangs.map(|path| Compiler {
            path,
            family: Family::Flang,
        });
        flangs
            .find(|flang| {
                flang
                    .flang()
                    .is_ok_and(|flang| flang.version >= OLDEST_FLANG)
            })
            .or_else(Compiler::gfortran)
    }

    /// This flang, with its clang.
    pub fn flang(&self) -> Result<Flang, NoCompiler> {
        let version = number_after(&version_text(&self.path).unwrap_or_default(), "version ");
        let version = version.unwrap_or_default();
        let numbered = in_path(format!("clang-{version}").as_ref());
        let plain =
            || in_path("clang".as_ref()).filter(|path| clang_version(path) == Some(version));
        let clang = numbered
            .or_else(plain)
            .ok_or(NoCompiler::NoClang(version))?;
        Ok(Flang {
            path: self.path.clone(),
            clang,
            version,
        })
    }

    /// Which version of clang it is: by its name, or as it says.
    pub fn clang_version(&self) -> Option<u32> {
        if self.family != Family::Clang {
            return None;
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let by_name = name
            .rsplit_once('-')
            .and_then(|(_, number)| number.parse().ok());
        by_name.or_else(|| clang_version(&self.path))
    }

    fn best(language: Language) -> Option<Compiler> {
        let clang = match language {
            Language::Cxx => "clang++",
            _ => "clang",
        };
        let versions = CLANG_VERSIONS.into_iter();
        let mut numbered =
            versions.filter_map(|version| in_path(format!("{clang}-{version}").as_ref()));
        if let Some(path) = numbered.next() {
            let family = Family::Clang;
            return Some(Compiler { path, family });
        }
        if let Some(path) = in_path(clang.as_ref())
            && clang_version(&path).is_some_and(|version| version >= OLDEST_CLANG)
        {
            let family = Family::Clang;
            return Some(Compiler { path, family });
        }
        let others: &[&str] = match language {
            Language::Cxx => &["g++", "c++"],
            _ => &["gcc", "cc"],
        };
        others.iter().find_map(|name| {
            let path = in_path(name.as_ref())?;
            let family = family_of(&path)?;
            Some(Compiler { path, family })
        })
    }
}

/// `clang-19` asked to compile C++ is `clang++-19`, `gcc` is `g++`.
fn for_language(name: &str, language: Language) -> String {
    if language != Language::Cxx {
        return name.to_string();
    }
    let (directory, file) = match name.rsplit_once('/') {
        Some((directory, file)) => (format!("{directory}/"), file),
        None => (String::new(), name),
    };
    let file = match file {
        _ if file.contains("++") => file.to_string(),
        "cc" => "c++".to_string(),
        _ if file.contains("clang") => file.replacen("clang", "clang++", 1),
        _ => file.replacen("gcc", "g++", 1),
    };
    directory + &file
}

/// The file a shell would run for this name.
fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return is_program(path).then(|| path.to_path_buf());
    }
    let directories = std::env::var_os("PATH")?;
    std::env::split_paths(&directories)
        .map(|directory| directory.join(path))
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Which family a compiler is of: by its name, or by what it says of itself.
fn family_of(path: &Path) -> Option<Family> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    if name.contains("flang") {
        return Some(Family::Flang);
    }
    if name.contains("gfortran") {
        return Some(Family::Gfortran);
    }
    if name.contains("clang") {
        return Some(Family::Clang);
    }
    if name.contains("gcc") || name.contains("g++") {
        return Some(Family::Gcc);
    }
    let text = version_text(path)?;
    match text {
        _ if text.contains("flang") => Some(Family::Flang),
        _ if text.contains("clang") => Some(Family::Clang),
        _ if text.contains("GNU Fortran") => Some(Family::Gfortran),
        _ if text.contains("Free Software Foundation") => Some(Family::Gcc),
        _ => None,
    }
}

fn version_text(path: &Path) -> Option<String> {
    let output = Command::new(path).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number after "clang version".
fn clang_version(path: &Path) -> Option<u32> {
    number_after(&version_text(path)?, "clang version ")
}

fn number_after(text: &str, words: &str) -> Option<u32> {
    let (_, number) = text.split_once(words)?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_choice_serves_both_languages() {
        let cxx = |name| for_language(name, Language::Cxx);
        assert_eq!(cxx("clang-19"), "clang++-19");
        assert_eq!(cxx("/opt/gcc/bin/gcc-12"), "/opt/gcc/bin/g++-12");
        assert_eq!(cxx("g++"), "g++");
        assert_eq!(cxx("clang++"), "clang++");
        assert_eq!(cxx("cc"), "c++");
        assert_eq!(for_language("gcc", Language::C), "gcc");
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named_with_who_chose_it() {
        let error = Compiler::find(Language::C, Some("no-such-compiler")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("`no-such-compiler`") && text.contains("--with"),
            "{text}"
        );
    }
}
