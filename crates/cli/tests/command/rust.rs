//! `deadheat cargo`: Rust programs and their tests. Building the standard library takes a minute, so that is for `make rust`
//! (DEADHEAT_RUST=1); it needs `rustup toolchain install nightly --component rust-src`.

use std::process::Command;

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
