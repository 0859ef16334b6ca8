//! `deadheat cargo`: Rust programs and their tests. Building the standard library takes a minute, so that is for `make rust`
//! (DEADHEAT_RUST=1); it needs `rustup toolchain install nightly --component rust-src`.

use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{command, root, stderr};

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
    let output = deadheat_cargo(&["--html", "x.html"]).output().unwrap();
    assert!(stderr(&output).contains("cargo deadheat run"), "{output:?}");
}

/// What cargo is called with, told by a script in its place: its words, and by what it is to run programs.
fn asked_of_cargo(words: &[&str]) -> Output {
    let tools = tempfile::tempdir().unwrap();
    let root = tools.path().to_str().unwrap();
    let sources = tools.path().join("lib/rustlib/src/rust/library");
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::write(sources.join("Cargo.lock"), "").unwrap();
    let rustc = format!(
        "test $1 = --print && echo {root} || printf 'release: 1.99.0-nightly\\nhost: a-b\\n'"
    );
    for (name, text) in [
        ("cargo", "echo $*; echo $CARGO_TARGET_A_B_RUNNER"),
        ("rustc", &rustc),
    ] {
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
        "run",
        "--target=a-b",
        "--release",
    ];
    let output = asked_of_cargo(&words);
    let said = String::from_utf8_lossy(&output.stdout);
    let (asked, runner) = said.trim().split_once('\n').unwrap();
    assert_eq!(asked, "run -Zbuild-std --target=a-b --release");
    for option in [" --quiet", " --color=never", " --ids"] {
        assert!(runner.contains(option), "{runner}");
    }
    let output = asked_of_cargo(&["run", "--target", "c-d"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("`a-b`"), "{output:?}");
}

#[test]
fn rust_programs_and_tests_are_checked() {
    if std::env::var_os("DEADHEAT_RUST").is_none() {
        println!("skipped: `make rust` builds the standard library for this");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("races.json");
    let output = deadheat_cargo(&["--json", json.to_str().unwrap(), "run"])
        .output()
        .unwrap();
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
