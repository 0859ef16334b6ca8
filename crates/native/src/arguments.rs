//! What a compiler's command line asks for: which steps it runs, on which inputs.
//!
//! A command line is read, never rewritten: everything goes on to the compiler as it came, and what
//! checking needs is added. Only three questions matter: does it compile C or C++, does it link, and what
//! has the user already said about debugging, sanitizers and the kind of output.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The answer about one command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// C-family sources are compiled or preprocessed.
    pub compiles: bool,
    /// Those sources.
    pub sources: Vec<PathBuf>,
    /// Fortran sources are compiled or preprocessed.
    pub compiles_fortran: bool,
    /// An executable or shared object is linked.
    pub links: bool,
    /// A shared object or relocatable file, which gets its hooks from the executable.
    pub without_runtime: bool,
    /// Linked with nothing loaded at run time (`-static`, `-static-pie`): the option.
    pub is_static: Option<&'static str>,
    /// With OpenMP.
    pub openmp: bool,
    /// For a 32-bit machine.
    pub is_32_bit: bool,
    /// Says something about debug information.
    pub has_debug_option: bool,
    /// Wants every symbol of a shared object defined when it is linked.
    pub forbids_undefined: bool,
    /// With optimisation (`-O1` and above).
    pub optimises: bool,
    /// Code is made when everything is linked (`-flto`).
    pub optimises_when_linking: bool,
    /// The C++ library becomes part of the executable (`-static-libstdc++`), as far as it is called.
    pub holds_cxx_library: bool,
    /// Another sanitizer with a runtime of its own: its name.
    pub other_sanitizer: Option<&'static str>,
    /// A sanitizer that works beside this command, such as `undefined`: the compiler links what that needs.
    pub has_companion: bool,
    /// Says last that these sources are not to be checked (`-fno-sanitize=thread`, or `all`).
    pub refuses_checking: bool,
    /// A `-x` is still in force at the end: what follows would be taken for a source.
    pub language_is_forced: bool,
}

/// Options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-h",
    "-l",
    "-A",
    "-F",
    "-G",
    "-V",
    "-b",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-arch",
    "-target",
    "-include",
    "-imacros",
    "-include-pch",
    "-J",
    "-module-dir",
    "-Xflang",
    "-mmlir",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-ivfsoverlay",
    "-cxx-isystem",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xarch_host",
    "-mllvm",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-framework",
    "-rpath",
    "-soname",
    "-wrapper",
    "-gcc-toolchain",
    "-plugin-arg",
    "--sysroot",
    "--param",
    "--include",
    "--output",
    "--library-directory",
    "--include-directory",
    "--define-macro",
    "--undefine-macro",
    "--language",
    "-fplugin-arg",
    "-specs",
];

/// Options after which no code is made or nothing is linked.
const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--precompile",
    "--preprocess",
    "--assemble",
    "--compile",
    "-emit-ast",
    "-rewrite-objc",
    "--analyze",
];

/// Options that make the compiler tell about itself and do nothing else.
const ONLY_TELLS: &[&str] = &[
    "--version",
    "--help",
    "-dumpversion",
    "-dumpmachine",
    "-dumpspecs",
    "-dumpfullversion",
    "-###",
];

/// Endings of files in the languages that clang and gcc instrument.
const SOURCES: &[&str] = &[
    "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "m", "mi", "mm", "M", "mii",
    "cppm", "ixx",
];

/// Endings of Fortran sources; in capitals, they are preprocessed.
const FORTRAN: &[&str] = &[
    "f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "f18", "fpp",
];

/// Whether a file is a Fortran source, by its name.
pub fn is_fortran(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    FORTRAN.contains(&&*ending.to_ascii_lowercase())
}

/// Endings of headers, which are precompiled and never linked.
const HEADERS: &[&str] = &["h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"];

impl Arguments {
    /// Reads a command line. Response files (`@file`) are looked into; one that cannot be read is left to the
    /// compiler.
    pub fn of(arguments: &[OsString]) -> Arguments {
        let mut found = Arguments::default();
        let (mut stops_before_linking, mut only_tells) = (false, false);
        let (mut inputs, mut headers) = (0, 0);
        let mut language: Option<String> = None;
        let mut rest: VecDeque<OsString> = arguments.iter().cloned().collect();
        let mut response_files = 0;
        while let Some(argument) = rest.pop_front() {
            let text = argument.to_string_lossy().into_owned();
            let next = |rest: &mut VecDeque<OsString>| {
                let value = rest.pop_front();
                value.map(|value| value.to_string_lossy().into_owned())
            };
            if let Some(path) = text.strip_prefix('@') {
                // A response file that names itself must not be followed forever.
                response_files += 1;
                if response_files <= 100
                    && let Ok(content) = std::fs::read_to_string(path)
                {
                    for word in words(&content).into_iter().rev() {
                        rest.push_front(word.into());
                    }
                    continue;
                }
            }
            match text.as_str() {
                "-x" | "--language" => language = next(&mut rest).filter(|name| name != "none"),
                "-Xlinker" => {
                    if let Some(value) = next(&mut rest) {
                        found.note_linker_option(&value);
                    }
                }
                "-z" => found.forbids_undefined |= next(&mut rest).as_deref() == Some("defs"),
                _ if WITH_VALUE.contains(&text.as_str()) => {
                    next(&mut rest);
                }
                _ if NO_LINK.contains(&text.as_str()) => stops_before_linking = true,
                _ if ONLY_TELLS.contains(&text.as_str()) || text.starts_with("-print-") => {
                    only_tells = true
                }
                _ if text.starts_with("--print-") || text.starts_with("--help=") => {
                    only_tells = true
                }
                "-shared" | "--shared" | "-r" => found.without_runtime = true,
                "-static" | "--static" => found.is_static = Some("-static"),
                "-static-pie" => found.is_static = Some("-static-pie"),
                "-m32" | "-mx32" | "-m16" => found.is_32_bit = true,
                "-fopenmp" => found.openmp = true,
                "-fno-openmp" => found.openmp = false,
                "-static-libstdc++" => found.holds_cxx_library = true,
                "-O0" => found.optimises = false,
                _ if text.starts_with("-O") => found.optimises = true,
                "-fno-lto" => found.optimises_when_linking = false,
                _ if text.starts_with("-flto") => found.optimises_when_linking = true,
                "-" => {
                    inputs += found.note_input(Path::new("-"), language.as_deref(), &mut headers)
                }
                _ if text.starts_with("-x") => {
                    language = Some(text[2..].to_string()).filter(|name| name != "none");
                }
                _ if text.starts_with("-Wl,") => {
                    let mut before = "";
                    for option in text[4..].split(',') {
                        found.note_linker_option(option);
                        found.forbids_undefined |= before == "-z" && option == "defs";
                        before = option;
                    }
                }
                _ if text.starts_with("-fsanitize=") => found.note_sanitizers(&text[11..]),
                _ if text.starts_with("-fno-sanitize=") => {
                    let mut names = text[14..].split(',');
                    found.refuses_checking |= names.any(|name| name == "thread" || name == "all");
                }
                _ if text.starts_with("-g") && !text.starts_with("-gcc-") => {
                    found.has_debug_option = true
                }
                _ if text.starts_with("-l") => inputs += 1,
                _ if text.starts_with('-') => {}
                _ => {
                    inputs +=
                        found.note_input(Path::new(&argument), language.as_deref(), &mut headers)
                }
            }
        }
        if only_tells {
            return Arguments::default();
        }
        found.links = inputs > headers && !stops_before_linking;
        found.language_is_forced = language.is_some();
        found
    }

    /// Counts one input; says whether it is one that can be linked in the end.
    fn note_input(&mut self, path: &Path, language: Option<&str>, headers: &mut usize) -> usize {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let (source, header) = match language {
            Some(language) => (
                !language.starts_with("assembler") && !language.starts_with('f'),
                language.ends_with("-header"),
            ),
            None => (SOURCES.contains(&ending), HEADERS.contains(&ending)),
        };
        self.compiles |= source || header;
        self.compiles_fortran |= match language {
            Some(language) => language.starts_with('f'),
            None => is_fortran(path),
        };
        if source {
            self.sources.push(path.to_path_buf());
        }
        *headers += header as usize;
        1
    }

    fn note_linker_option(&mut self, option: &str) {
        match option {
            "-shared" | "-r" | "--relocatable" => self.without_runtime = true,
            "--no-undefined" | "-no-undefined" => self.forbids_undefined = true,
            _ => {}
        }
    }

    fn note_sanitizers(&mut self, names: &str) {
        for name in names.split(',') {
            let known = [
                "address",
                "memory",
                "leak",
                "hwaddress",
                "dataflow",
                "fuzzer",
            ];
            if let Some(other) = known.into_iter().find(|other| *other == name) {
                self.other_sanitizer = Some(other);
            }
            match name {
                "thread" => self.refuses_checking = false,
                _ => self.has_companion = true,
            }
        }
    }
}

/// The words of a response file: separated by blanks, with quotes and backslashes as a shell has them.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', q) if q != Some('\'') => {
                if let Some(c) = characters.next() {
                    word.get_or_insert_default().push(c);
                }
            }
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Arguments {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Arguments::of(&arguments)
    }

    #[test]
    fn the_steps_of_a_command_line() {
        let steps = |line| (of(line).compiles, of(line).links);
        assert_eq!(steps("-c a.c -o a.o"), (true, false));
        assert_eq!(steps("a.c b.cpp -o a"), (true, true));
        assert_eq!(steps("a.o b.o -o a -lm"), (false, true));
        assert_eq!(steps("-E -x c++ -"), (true, false));
        assert_eq!(steps("-x c - -o a"), (true, true));
        assert_eq!(steps("-M a.c"), (true, false));
        assert_eq!(steps("-c start.S"), (false, false));
        assert_eq!(steps("-x assembler a.c -c"), (false, false));
        assert_eq!(steps("header.h"), (true, false));
        assert_eq!(steps("--version"), (false, false));
        assert_eq!(steps("-v"), (false, false));
        assert_eq!(steps("-print-search-dirs"), (false, false));
        assert_eq!(steps("a.c --version"), (false, false));
        assert_eq!(steps("-include a.c -MF b.c"), (false, false));
        assert_eq!(steps("-Wl,--version -lfoo"), (false, true));
    }

    #[test]
    fn kinds_of_output() {
        assert!(of("-shared a.o -o liba.so").without_runtime);
        assert!(of("-r a.o b.o -o c.o").without_runtime);
        assert!(of("-Wl,-r a.o").without_runtime);
        assert!(!of("-rdynamic a.o").without_runtime);
        assert_eq!(of("-static a.o").is_static, Some("-static"));
        assert_eq!(of("-static-libgcc a.o").is_static, None);
        assert!(of("-m32 a.c").is_32_bit);
        assert!(of("-shared a.o -Wl,--no-undefined").forbids_undefined);
        assert!(of("-shared a.o -Wl,-z,defs").forbids_undefined);
        assert!(of("-shared a.o -z defs").forbids_undefined);
        assert!(!of("-shared a.o -Wl,-z,now").forbids_undefined);
        assert!(of("-x c++ a.c").language_is_forced);
        assert!(of("-xc++ a.c").language_is_forced);
        assert!(!of("-x c++ a.c -x none b.o").language_is_forced);
    }

    #[test]
    fn what_the_user_said_already() {
        assert!(of("-g0 -c a.c").has_debug_option);
        assert!(of("-ggdb3 -c a.c").has_debug_option);
        assert!(!of("-O2 -c a.c").has_debug_option);
        assert_eq!(
            of("-fsanitize=undefined,address a.c").other_sanitizer,
            Some("address")
        );
        assert_eq!(of("-fsanitize=undefined a.c").other_sanitizer, None);
        assert_eq!(of("-fsanitize=thread a.c").other_sanitizer, None);
        assert!(of("-fsanitize=thread,undefined a.c").has_companion);
        assert!(!of("-fsanitize=thread a.c").has_companion);
        assert!(of("-fsanitize=thread -fno-sanitize=thread a.c").refuses_checking);
        assert!(of("-fno-sanitize=undefined,all a.c").refuses_checking);
        assert!(!of("-fno-sanitize=thread -fsanitize=thread a.c").refuses_checking);
        assert!(!of("-fno-sanitize=undefined a.c").refuses_checking);
    }

    #[test]
    fn response_files_are_looked_into() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        let outer = directory.path().join("outer");
        std::fs::write(&inner, "-shared 'a b.c'\n").unwrap();
        std::fs::write(&outer, format!("-c @{}", inner.display())).unwrap();
        let found = of(&format!("@{}", outer.display()));
        assert!(found.compiles && !found.links && found.without_runtime);
        // One that names itself ends, one that does not exist is an input like any other.
        std::fs::write(&inner, format!("@{}", inner.display())).unwrap();
        of(&format!("@{}", inner.display()));
        assert_eq!(words(r#"a "b c"\ d 'e\f' """#), ["a", "b c d", "e\\f", ""]);
    }
}
