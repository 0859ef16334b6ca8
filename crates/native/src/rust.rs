//! Rust programs: cargo, with what checking needs added.
//!
//! rustc instruments as clang does, if asked to (`-Zsanitizer=thread`), and leaves linking to whatever is called in place of
//! the linker: here that is `deadheat cc`, which adds the runtime. The standard library has to be instrumented as well,
//! or its locks and channels would not be seen to order anything: cargo builds it anew (`-Zbuild-std`). Both
//! flags need a nightly toolchain and the sources of the standard library.
//!
//! Everything is built for the host *as a target*, so that build scripts and macros, which run inside the
//! compiler, stay as they are.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::SystemTime;

use serde_json::Value;
use thiserror::Error;

use crate::runtime::{Runtime, RuntimeError};

/// Why cargo could not be called so.
#[derive(Debug, Error)]
pub enum RustError {
    /// What cargo is to do is not said.
    #[error(
        "cargo deadheat knows run, test, build, bench and nextest, as in `cargo deadheat test`"
    )]
    NoSubcommand,
    /// There is no such toolchain.
    #[error(
        "Rust programs need a nightly toolchain: `rustup toolchain install nightly --component rust-src` (DEADHEAT_TOOLCHAIN \
         names another)"
    )]
    NoToolchain,
    /// The standard library cannot be built.
    #[error(
        "the toolchain `{0}` has no sources of the standard library: `rustup component add rust-src --toolchain {0}`"
    )]
    NoSources(String),
    /// The runtime cannot be unpacked.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The program would be for another machine.
    #[error(
        "`--target {target}`: programs are checked on the machine that builds them, which is `{host}`"
    )]
    Target {
        /// What was asked for.
        target: String,
        /// What can be had.
        host: String,
    },
    /// The command's other name cannot be made.
    #[error("`{}` cannot be made: {error}", path.display())]
    Link {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// cargo did not start.
    #[error("cargo could not be started: {0}")]
    Start(io::Error),
}

/// A toolchain that can instrument.
struct Toolchain {
    /// What comes before all other arguments of its commands.
    name: Option<String>,
    host: String,
}

/// The words by which cargo runs or builds something.
const SUBCOMMANDS: [&str; 8] = ["run", "r", "test", "t", "build", "b", "bench", "nextest"];

/// What is for `deadheat run`, and what for cargo, if cargo is told what to do.
pub fn cargo_words(words: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let mut places = words.iter();
    let place = places.position(|word| SUBCOMMANDS.iter().any(|known| word == known));
    Some(words.split_at(place?))
}

/// Calls cargo. `own` is the path of this command; the words are first options of `deadheat run`, which programs and
/// tests are run by, then cargo's.
pub fn cargo(own: &Path, words: &[OsString]) -> Result<ExitStatus, RustError> {
    let (options, arguments) = cargo_words(words).ok_or(RustError::NoSubcommand)?;
    let toolchain = Toolchain::find()?;
    let own_target = target(arguments);
    if let Some(target) = own_target.as_ref().filter(|own| **own != toolchain.host) {
        return Err(RustError::Target {
            target: target.clone(),
            host: toolchain.host,
        });
    }
    let linker = linker(own)?;
    let mut command = toolchain.cargo();
    let words_before = match arguments.first() {
        // `cargo nextest run`
        Some(word) if word == "nextest" => 2,
        _ => 1,
    };
    let (subcommand, rest) = arguments.split_at(words_before.min(arguments.len()));
    // Programs may want either way to panic.
    command.args(subcommand).arg("-Zbuild-std=std,panic_abort");
    if own_target.is_none() {
        command.args(["--target", &toolchain.host]);
    }
    let host = &toolchain.host;
    let runner = runner(own, &absolute(options));
    command.arg("--config");
    command.arg(format!("target.{host}.runner={}", array(&runner)));
    match given_flags("CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS") {
        // Flags of the environment take the place of all others.
        Some(given) => {
            command.env(
                "CARGO_ENCODED_RUSTFLAGS",
                flags(given, &linker).join("\x1f"),
            );
        }
        // Those of a target are added to its own, and take the place of those for all.
        None => {
            let key = format!("target.{host}.rustflags");
            let given = match toolchain.configured(&key) {
                Some(_) => Vec::new(),
                None => toolchain.configured("build.rustflags").unwrap_or_default(),
            };
            command.arg("--config");
            command.arg(format!("{key}={}", array(&flags(given, &linker))));
        }
    }
    let given = given_flags("CARGO_ENCODED_RUSTDOCFLAGS", "RUSTDOCFLAGS");
    let given = given.or_else(|| toolchain.configured("build.rustdocflags"));
    let flags = flags(given.unwrap_or_default(), &linker);
    command.env("CARGO_ENCODED_RUSTDOCFLAGS", flags.join("\x1f"));
    for (variable, value) in LINES {
        if std::env::var_os(variable).is_none() {
            command.env(variable, value);
        }
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    command.env(CARGO_SINCE, now.unwrap_or_default().as_nanos().to_string());
    command.args(rest);
    command.status().map_err(RustError::Start)
}

/// When cargo began, in nanoseconds since 1970: what is written since then by one program of several is not for the next one to
/// write over.
pub const CARGO_SINCE: &str = "DEADHEAT_CARGO_SINCE";

/// Reports need lines, whatever the profile.
const LINES: [(&str, &str); 2] = [
    ("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

/// The options of `deadheat run` that name files, in the same word or in the next one.
const INPUTS: [&str; 2] = ["--baseline", "--suppress"];

/// Those that name files in the same word only; `-` is standard output.
const OUTPUTS: [&str; 3] = ["--json", "--sarif", "--html"];

/// The same options, whose files do not depend on the directory that cargo runs a program in.
fn absolute(options: &[OsString]) -> Vec<OsString> {
    let whole = |file: &str| std::path::absolute(file).unwrap_or_else(|_| file.into());
    let mut is_file = false;
    let options = options.iter().map(|option| {
        let text = option.to_string_lossy();
        let was_file = std::mem::replace(&mut is_file, INPUTS.contains(&&*text));
        match text.split_once('=') {
            _ if was_file => whole(&text).into(),
            Some((name, file))
                if INPUTS.contains(&name) || OUTPUTS.contains(&name) && file != "-" =>
            {
                format!("{name}={}", whole(file).display()).into()
            }
            _ => option.clone(),
        }
    });
    options.collect()
}

/// An array of TOML: its strings are JSON's.
fn array(words: &[String]) -> String {
    serde_json::to_string(words).unwrap_or_default()
}

/// The target that the user has named, if any.
fn target(arguments: &[OsString]) -> Option<String> {
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let mut words = words.take_while(|word| word != "--");
    while let Some(word) = words.next() {
        if word == "--target" {
            return words.next().map(String::from);
        }
        if let Some(target) = word.strip_prefix("--target=") {
            return Some(target.to_string());
        }
    }
    None
}

impl Toolchain {
    fn cargo(&self) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args(self.name.iter().map(|name| format!("+{name}")));
        cargo
    }

    /// What the user's files of configuration say of some flags, if anything.
    fn configured(&self, key: &str) -> Option<Vec<String>> {
        let mut cargo = self.cargo();
        cargo.args(["-Zunstable-options", "config", "get", "--format=json-value"]);
        let output = cargo.arg(key).output().ok()?;
        let said = output.status.success().then_some(output.stdout)?;
        match serde_json::from_slice(&said).ok()? {
            Value::String(flags) => Some(flags.split_whitespace().map(str::to_string).collect()),
            flags => serde_json::from_value(flags).ok(),
        }
    }

    fn find() -> Result<Toolchain, RustError> {
        let chosen = std::env::var("DEADHEAT_TOOLCHAIN").ok();
        // What cargo would take here may do.
        let names = match chosen {
            Some(name) => vec![Some(name)],
            None => vec![None, Some("nightly".to_string())],
        };
        for name in names {
            let ask = |question: &[&str]| {
                let mut rustc = Command::new("rustc");
                rustc.args(name.iter().map(|name| format!("+{name}")));
                let output = rustc.args(question).output().ok()?;
                let said = String::from_utf8(output.stdout).ok()?;
                output.status.success().then_some(said)
            };
            let Some(host) = ask(&["-vV"]).and_then(|said| nightly_host(&said)) else {
                continue;
            };
            let sysroot = ask(&["--print", "sysroot"]).unwrap_or_default();
            let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
            return match sources.exists() {
                true => Ok(Toolchain { name, host }),
                false => Err(RustError::NoSources(
                    name.unwrap_or_else(|| "nightly".to_string()),
                )),
            };
        }
        Err(RustError::NoToolchain)
    }
}

/// The host that a nightly rustc builds for; none if it is no nightly one.
fn nightly_host(said: &str) -> Option<String> {
    let line = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let release = line("release:")?;
    let can = release.contains("nightly") || release.contains("dev");
    can.then_some(line("host:")?.trim().to_string())
}

/// The command by another name, under which it is the compiler.
fn linker(own: &Path) -> Result<PathBuf, RustError> {
    let runtime = Runtime::unpack()?;
    let path = runtime.archive.with_file_name("deadheat-cc");
    if std::fs::read_link(&path).is_ok_and(|target| target == own) {
        return Ok(path);
    }
    // Another that does the same may be at work: it appears whole or not at all.
    let new = path.with_extension(std::process::id().to_string());
    let _ = std::fs::remove_file(&new);
    let made = std::os::unix::fs::symlink(own, &new).and_then(|()| std::fs::rename(&new, &path));
    made.map_err(|error| RustError::Link {
        path: path.clone(),
        error,
    })?;
    Ok(path)
}

/// The user's own flags, one by one.
fn given_flags(encoded: &str, plain: &str) -> Option<Vec<String>> {
    if let Ok(flags) = std::env::var(encoded) {
        let flags = flags.split('\x1f').filter(|flag| !flag.is_empty());
        return Some(flags.map(str::to_string).collect());
    }
    let flags = std::env::var(plain).ok()?;
    Some(flags.split_whitespace().map(str::to_string).collect())
}

/// These and what checking needs.
fn flags(mut flags: Vec<String>, linker: &Path) -> Vec<String> {
    let own = [
        "-Zsanitizer=thread",
        // As for clang: reads that a write follows, and no vectors wider than what is told.
        "-Cllvm-args=-tsan-instrument-read-before-write",
        "-Cllvm-args=-enable-interleaved-mem-accesses=false",
        "-Cno-vectorize-slp",
        // The runtime is ours.
        "-Zexternal-clangrt",
        &format!("-Clinker={}", linker.display()),
        "-Clink-arg=-Wl,--defsym=__deadheat_is_rust=1",
        // rustix makes system calls itself, which nobody sees, unless it is told to leave them to the C library.
        "--cfg=rustix_use_libc",
        // The runtime has parts of a standard library of its own; the program's is taken.
        "-Clink-arg=-Wl,-z,muldefs",
    ];
    flags.extend(own.map(str::to_string));
    flags
}

/// What cargo runs programs by.
fn runner(own: &Path, options: &[OsString]) -> Vec<String> {
    let words = [own.as_os_str(), OsStr::new("run")].into_iter();
    let words = words.chain(options.iter().map(OsString::as_os_str));
    let words = words.chain([OsStr::new("--")]);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_nightly_toolchain_will_do() {
        let nightly = "rustc 1.97.0-nightly (e5 2026-05-19)\nhost: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\n";
        let host = nightly_host(nightly).unwrap();
        assert_eq!(host, "x86_64-unknown-linux-gnu");
        assert!(nightly_host(&nightly.replace("-nightly", "")).is_none());
    }

    #[test]
    fn a_target_of_the_users_is_found() {
        let of = |words: &[&str]| target(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["run", "--target", "x"]).as_deref(), Some("x"));
        assert_eq!(of(&["run", "--target=y", "--", "z"]).as_deref(), Some("y"));
        assert_eq!(of(&["run", "--", "--target", "x"]), None);
    }

    #[test]
    fn the_users_flags_come_first_and_programs_are_run_by_this_command() {
        let flags = flags(
            vec!["-Copt-level=1".to_string()],
            Path::new("/a/deadheat-cc"),
        );
        assert_eq!(flags[0], "-Copt-level=1");
        let linker = "-Clinker=/a/deadheat-cc".to_string();
        assert!(flags.contains(&linker), "{flags:?}");
        let options = ["--suppress", "a \"b\".txt"].map(OsString::from);
        assert_eq!(
            array(&runner(Path::new("/a/deadheat"), &options)),
            r#"["/a/deadheat","run","--suppress","a \"b\".txt","--"]"#
        );
    }

    #[test]
    fn files_do_not_depend_on_where_cargo_runs_a_program() {
        let options = [
            "--suppress",
            "r.txt",
            "--suppress=s",
            "--sarif",
            "--live",
            "--html=/p",
            "--json=-",
        ];
        let here = std::env::current_dir().unwrap();
        let whole = |file: &str| here.join(file).display().to_string();
        assert_eq!(
            absolute(&options.map(OsString::from)),
            [
                "--suppress",
                &whole("r.txt"),
                &format!("--suppress={}", whole("s")),
                "--sarif",
                "--live",
                "--html=/p",
                "--json=-"
            ]
        );
    }
}
