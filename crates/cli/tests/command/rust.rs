//! `deadheat cargo`: Rust programs and their tests. Building the standard library takes a minute, so that is for `make rust`
//! (DEADHEAT_RUST=1); it needs `rustup toolchain install nightly --component rust-src`.

use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{command, root, stderr, stdout};

fn deadheat_cargo(words: &[&str]) -> Command {
    let root = root();
    let mut command = command(&["cargo"]);
    command
        .args(words)
        .current_dir(root.join("examples/rust/lost-update"))
        .env("CARGO_TARGET_DIR", root.join("target/rust"))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        // What cargo sets for this test is not for the cargo that is called.
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}

#[test]
fn what_is_missing_is_said() {
    let mut command = deadheat_cargo(&["run"]);
    let output = command
        .env("DEADHEAT_TOOLCHAIN", "no-such")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = stderr(&output);
    assert!(
        error.contains("rustup toolchain install nightly"),
        "{error}"
    );
    let output = deadheat_cargo(&["--html=x.html"]).output().unwrap();
    assert!(
        stderr(&output).contains("cargo deadheat test"),
        "{output:?}"
    );
}

#[test]
fn what_is_no_option_is_said_before_anything_is_built() {
    for (words, said) in [
        (
            &["--jsn", "x", "test"][..],
            "unexpected option `--jsn`: did you mean `--json`?",
        ),
        (
            &["record", "run"],
            "`deadheat run` has no option `record`; put cargo's options after the subcommand",
        ),
        (&["--max-shown", "few", "run"], "invalid value 'few'"),
    ] {
        let output = deadheat_cargo(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(said), "{output:?}");
    }
}

/// What cargo is called with, told by a script in its place, a line a word. The user's configuration has flags.
fn asked_of_cargo(words: &[&str]) -> Output {
    let tools = tempfile::tempdir().unwrap();
    let root = tools.path().to_str().unwrap();
    let sources = tools.path().join("lib/rustlib/src/rust/library");
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::write(sources.join("Cargo.lock"), "").unwrap();
    let rustc = format!(
        "test $1 = --print && echo {root} || printf 'release: 1.99.0-nightly\\nhost: a-b\\n'"
    );
    let cargo = r#"case "$*" in
        *"config get"*build.rustflags) echo '["--cfg", "special"]';;
        *"config get"*) exit 1;;
        *) printf '%s\n' "$@";;
        esac"#;
    for (name, text) in [("cargo", cargo), ("rustc", &rustc)] {
        let path = tools.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, all).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut command = deadheat_cargo(words);
    command
        .env("PATH", format!("{root}:{path}"))
        .output()
        .unwrap()
}

#[test]
fn options_of_every_command_reach_the_run_and_a_target_is_named_once() {
    let words = [
        "-q",
        "--color",
        "never",
        "--ids",
        "--json=/a b.json",
        "run",
        "--target=a-b",
        "--release",
    ];
    let output = asked_of_cargo(&words);
    let said = stdout(&output);
    let asked: Vec<&str> = said.lines().collect();
    let [config, runner, flags] = [2, 3, 5].map(|at| asked[at]);
    assert_eq!(asked[..2], ["run", "-Zbuild-std=std,panic_abort"]);
    assert_eq!(asked[6..], ["--target=a-b", "--release"]);
    assert_eq!((config, asked[4]), ("--config", "--config"));
    let words = |text: &str| -> Vec<String> {
        let list = text.split_once('=').unwrap().1;
        serde_json::from_str(list).unwrap()
    };
    assert!(runner.starts_with("target.a-b.runner="), "{runner}");
    let runner = words(runner);
    for option in ["--quiet", "--color=never", "--ids", "--json=/a b.json"] {
        assert!(runner.iter().any(|word| word == option), "{runner:?}");
    }
    assert_eq!(
        (&*runner[1], runner.last().unwrap().as_str()),
        ("run", "--")
    );
    assert!(flags.starts_with("target.a-b.rustflags="), "{flags}");
    assert_eq!(
        words(flags)[..3],
        ["--cfg", "special", "-Zsanitizer=thread"]
    );
    let output = asked_of_cargo(&["run", "--target", "c-d"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("`a-b`"), "{output:?}");
    let said = stdout(&asked_of_cargo(&["nextest", "run", "--lib"]));
    assert!(said.starts_with("nextest\nrun\n-Zbuild-std"), "{said}");
}

/// Two short threads race, in a program that panics by aborting, has flags in cargo's configuration, and asks for a file
/// that is not there, for which the standard library tries what the kernel can do.
#[test]
fn short_threads_race_whatever_the_settings_of_cargo() {
    if std::env::var_os("DEADHEAT_RUST").is_none() {
        println!("skipped: `make rust` builds the standard library for this");
        return;
    }
    let project = tempfile::tempdir().unwrap();
    let project = project.path();
    for (name, text) in [
        (
            "Cargo.toml",
            "[package]\nname = \"short\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[profile.release]\npanic = \"abort\"\n",
        ),
        (
            ".cargo/config.toml",
            "[build]\nrustflags = [\"--cfg\", \"special\"]\n",
        ),
        (
            "src/main.rs",
            "static mut N: u64 = 0;\n\
             fn add() { unsafe { N += 1 } }\n\
             fn main() {\n\
             assert!(cfg!(special) && !std::path::Path::new(\"/no/such\").exists());\n\
             let threads = [std::thread::spawn(add), std::thread::spawn(add)];\n\
             for thread in threads { thread.join().unwrap() }\n\
             }\n",
        ),
    ] {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for _ in 0..10 {
        let mut command = deadheat_cargo(&["--json=r.json", "run", "--release"]);
        let output = command.current_dir(project).output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
        assert!(stderr(&output).contains("src/main.rs:2"), "{output:?}");
        assert!(project.join("r.json").exists());
    }
}

#[test]
fn rust_programs_and_tests_are_checked() {
    if std::env::var_os("DEADHEAT_RUST").is_none() {
        println!("skipped: `make rust` builds the standard library for this");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("races.json");
    let into = format!("--json={}", json.display());
    let output = deadheat_cargo(&[&into, "run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let race = &report["races"][0];
    assert_eq!(race["variable"], "lost_update::DONE", "{report}");
    for access in ["first", "second"] {
        let place = race[access]["loc"].as_str().unwrap();
        assert!(place.starts_with("src/main.rs:14:"), "{place}");
    }
    for (name, good) in [("threads_hand_over", true), ("a_lost_update", false)] {
        let output = deadheat_cargo(&["test", name]).output().unwrap();
        let error = stderr(&output);
        assert_eq!(output.status.success(), good, "{name}: {error}");
        let said = if good {
            "no race in this run"
        } else {
            "1 race in this run"
        };
        assert!(error.contains(said), "{name}: {error}");
    }
}
