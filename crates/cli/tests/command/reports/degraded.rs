//! Where something is missing or cannot be written, there is less detail or one clear error, and never a finding less:
//! sources that are gone, moved or newer, stripped programs, names that are no text, directories that cannot be written
//! to, full disks, closed pipes. What needs a C compiler is skipped, with a message, where there is none.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::identities::{fingerprints, page_data};
use super::{conforms, read};
use crate::common::{deadheat, root, stderr, stdout};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_deadheat");

/// A name that is no text.
fn odd(end: &str) -> OsString {
    let mut name = b"odd \xff".to_vec();
    name.extend(end.bytes());
    OsString::from_vec(name)
}

/// Runs `deadheat` in a folder.
fn there<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Output {
    let mut command = Command::new(BINARY);
    command.current_dir(folder).args(arguments);
    command.output().unwrap()
}

/// What was said, also where names in it are no text.
fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A folder with `a.c`, which has a race, and `a`, built of it; none where nothing can be compiled.
fn built() -> Option<TempDir> {
    let compiler = deadheat(&["cc", "--version"]);
    if !compiler.status.success() {
        println!("skipped: {}", stderr(&compiler));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    Some(folder)
}

fn build(folder: &Path) {
    let source = root().join("examples/native/lost-update.c");
    fs::copy(source, folder.join("a.c")).unwrap();
    let output = there(folder, &["cc", "-O1", "-g", "-pthread", "a.c", "-o", "a"]);
    assert!(output.status.success(), "{}", said(&output));
}

const ALL: [&str; 6] = [
    "run",
    "--json=a.json",
    "--sarif=a.sarif",
    "--html=a.html",
    "--",
    "./a",
];

/// Runs `a` with all formats; they have the race, and one identity of it.
fn race_in_all_formats(folder: &Path) -> (String, String) {
    let output = there(folder, &ALL);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(66), "{said}");
    assert!(said.contains("race: T"), "{said}");
    let (json, sarif) = (read(&folder.join("a.json")), read(&folder.join("a.sarif")));
    conforms("docs/report.schema.json", &json, "run");
    conforms("tests/sarif.schema.json", &sarif, "run");
    let known = fingerprints(&json);
    assert!(!known.is_empty());
    assert_eq!(known, fingerprints(&sarif));
    assert_eq!(known, fingerprints(&page_data(&folder.join("a.html"))));
    (said, known.join(" "))
}

#[test]
fn a_source_that_is_gone_or_moved_takes_its_excerpt_with_it() {
    let Some(folder) = built() else { return };
    let folder = folder.path();
    let (said, _) = race_in_all_formats(folder);
    assert!(said.contains("bookings++"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    fs::create_dir(folder.join("moved")).unwrap();
    fs::rename(folder.join("a.c"), folder.join("moved/a.c")).unwrap();
    let (said, _) = race_in_all_formats(folder);
    assert!(!said.contains("bookings++"), "{said}");
    assert!(said.contains("a.c:13:11 in `deposit`"), "{said}");
}

#[test]
fn a_source_that_is_newer_than_the_program_is_told() {
    let Some(folder) = built() else { return };
    let folder = folder.path();
    let recorded = there(folder, &["record", "-o", "a.dht", "--", "./a"]);
    assert!(recorded.status.success(), "{}", said(&recorded));
    let source = fs::read_to_string(folder.join("a.c")).unwrap();
    // A clock of seconds would not see it otherwise.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    fs::write(folder.join("a.c"), format!("// more\n{source}")).unwrap();
    for (command, made) in [
        (vec!["run", "./a"], "./a"),
        (vec!["run", "--predict", "./a"], "./a"),
        (vec!["analyze", "a.dht"], "a.dht"),
        (vec!["explain", "a.dht"], "a.dht"),
    ] {
        let output = there(folder, &command);
        let said = said(&output);
        assert!(matches!(output.status.code(), Some(1 | 66)), "{said}");
        let warning = format!("a.c` changed after `{made}` was made: the lines shown may not be");
        assert!(said.contains(&warning), "{command:?}: {said}");
        assert!(said.contains("can write `bookings`"), "{command:?}: {said}");
    }
}

#[test]
fn a_stripped_program_has_addresses() {
    let Some(folder) = built() else { return };
    let folder = folder.path();
    let mut strip = Command::new("strip");
    let stripped = strip.arg(folder.join("a")).status();
    if !stripped.is_ok_and(|status| status.success()) {
        println!("skipped: there is no strip");
        return;
    }
    let (said, _) = race_in_all_formats(folder);
    assert!(said.contains("a+0x"), "{said}");
    assert!(said.contains("do not strip it"), "{said}");
}

#[test]
fn names_that_are_no_text_are_shown_as_far_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let program = odd(".tp");
    let source = root().join("examples/lost-update.tp");
    fs::copy(source, folder.path().join(&program)).unwrap();
    let trace = odd(".std");
    fs::write(folder.path().join(&trace), "T1|w(x)|1\nT2|w(x)|2\n").unwrap();
    for (command, input) in [
        ("check", program),
        ("analyze", trace.clone()),
        ("explain", trace),
    ] {
        let page = odd(".html");
        let joined = |option: &str, file: &OsString| {
            let mut word = OsString::from(option);
            word.push(file);
            word
        };
        let words = [
            OsString::from(command),
            joined("--html=", &page),
            joined("--sarif=", &odd(".sarif")),
            input,
        ];
        let output = there(folder.path(), &words);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("can write `x`"), "{}", said(&output));
        let data = page_data(&folder.path().join(&page));
        let log = read(&folder.path().join(odd(".sarif")));
        assert!(!fingerprints(&data).is_empty());
        assert_eq!(fingerprints(&data), fingerprints(&log));
    }
    // A program of such a folder, whose source is gone, too.
    let Some(_) = built() else { return };
    let inside = folder.path().join(odd(""));
    fs::create_dir(&inside).unwrap();
    build(&inside);
    race_in_all_formats(&inside);
    fs::remove_file(inside.join("a.c")).unwrap();
    race_in_all_formats(&inside);
}

/// Places that take no file: a folder that is not there, one that takes none of anybody, a full disk.
const NOWHERE: [&str; 3] = ["no/such/folder/x", "/sys/x", "/dev/full"];

#[test]
fn findings_are_not_lost_with_a_file() {
    for nowhere in NOWHERE {
        for option in ["--json", "--sarif", "--html"] {
            let option = format!("{option}={nowhere}");
            let output = deadheat(&["check", &option, "examples/lost-update.tp"]);
            assert_eq!(output.status.code(), Some(2), "{option}");
            assert!(stdout(&output).contains("can write `x`"), "{option}");
            assert_eq!(
                stderr(&output).matches("cannot write").count(),
                1,
                "{option}"
            );
        }
    }
    let Some(folder) = built() else { return };
    for nowhere in NOWHERE {
        let written = ["--json", "--sarif", "--html"].map(|option| format!("{option}={nowhere}"));
        let mut words = vec!["run"];
        words.extend(written.iter().map(String::as_str));
        words.push("./a");
        let output = there(folder.path(), &words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(66));
        assert!(said.contains("race: T"), "{said}");
        assert_eq!(said.matches("cannot write").count(), 3, "{said}");
    }
}

#[test]
fn findings_are_not_lost_with_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let sarif = folder.path().join("log.sarif");
    let run = |stdout: Stdio, json: bool| {
        let _ = fs::remove_file(&sarif);
        let mut command = Command::new(BINARY);
        command
            .current_dir(root())
            .arg("check")
            .arg(format!("--sarif={}", sarif.display()));
        command
            .args(json.then_some("--json"))
            .arg("examples/lost-update.tp");
        let output = command
            .stdout(stdout)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(fingerprints(&read(&sarif)).len(), 1);
        output
    };
    for json in [true, false] {
        // A full disk is a failure.
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = run(full.into(), json);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("cannot write to standard output"));
        // A reader that has seen enough (`| head -1`) is none.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(writer.into(), json);
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(1), String::new())
        );
    }
    // What `run` has to say goes to standard error.
    let Some(folder) = built() else { return };
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for stderr in [Stdio::from(full), Stdio::from(writer)] {
        let _ = fs::remove_file(folder.path().join("a.json"));
        let mut command = Command::new(BINARY);
        command.current_dir(folder.path()).args(ALL).stderr(stderr);
        assert_eq!(command.output().unwrap().status.code(), Some(66));
        assert_eq!(fingerprints(&read(&folder.path().join("a.json"))).len(), 1);
    }
}

/// What a program finds takes no room on a disk; what it records does.
#[test]
fn a_run_needs_no_disk_and_a_recording_without_room_is_no_clean_run() {
    let Some(folder) = built() else { return };
    let in_room = |room: &Path, options: &[&str]| {
        let mut command = Command::new(BINARY);
        command
            .current_dir(folder.path())
            .arg("run")
            .args(options)
            .arg("./a")
            .env("TMPDIR", room);
        command.output().unwrap()
    };
    for nowhere in [folder.path().join("none"), PathBuf::from("/sys")] {
        let output = in_room(&nowhere, &[]);
        assert_eq!(output.status.code(), Some(66), "{}", said(&output));
        let output = in_room(&nowhere, &["--predict"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("set TMPDIR"), "{}", said(&output));
    }
}

/// Places are shown in their files, where these are.
#[test]
fn traces_are_shown_in_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let source = write(
        "a.c",
        "int x;\nvoid f(void) { x = 1; }\nint g(void) { return x; }\n",
    );
    let run = format!("T1|w(x)|{source}:2:16\nT2|r(x)|{source}:3:22\n");
    let trace = write("run.std", &run);
    for command in ["analyze", "explain"] {
        let text = stdout(&deadheat(&[command, &trace]));
        assert!(
            text.contains("T1 can write `x` while T2 reads it"),
            "{text}"
        );
        for shown in [
            "void f(void) { x = 1; }",
            "^ write by T1 (event 1)",
            "return x; }",
            "^ read by T2 (event 2)",
        ] {
            assert!(text.contains(shown), "{command}: {shown}\n{text}");
        }
    }
    // Sources that are gone, short, or no text: less detail, the same findings.
    for content in [
        None,
        Some(&b"one line"[..]),
        Some(b"\xff\xfe\n\xc3\n\xe4\xf6\n"),
    ] {
        let path = PathBuf::from(&source);
        match content {
            None => fs::remove_file(&path).unwrap(),
            Some(bytes) => fs::write(&path, bytes).unwrap(),
        }
        let sarif = folder.path().join("log.sarif");
        let into = format!("--sarif={}", sarif.display());
        let output = deadheat(&["analyze", &into, &trace]);
        assert_eq!(output.status.code(), Some(1));
        let text = stdout(&output);
        assert!(
            text.contains("T1 can write `x` while T2 reads it"),
            "{text}"
        );
        assert!(fs::read_to_string(sarif).unwrap().contains("deadheat/v1"));
    }
}
