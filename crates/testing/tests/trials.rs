//! A failure says how to repeat it alone, and what it says is true.

use std::process::Command;

use deadheat_testing::Trials;

/// Fails on about one seed in eight. It is run by the test below.
#[test]
#[ignore = "fails on purpose"]
fn fails_now_and_then() {
    for trial in &Trials::new(1, 1000) {
        println!("tried {}", trial.seed);
        assert!(trial.rng().u32(..8) > 0, "an unlucky seed");
    }
}

/// Runs the failing test with these variables set; gives what it printed.
fn run(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--nocapture", "fails_now_and_then"]);
    for name in ["DEADHEAT_SEED", "DEADHEAT_PROGRAMS", "DEADHEAT_ONLY"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(!output.status.success());
    [output.stdout, output.stderr]
        .map(|text| String::from_utf8(text).unwrap())
        .concat()
}

fn tried(output: &str) -> Vec<&str> {
    let lines = output.lines();
    lines
        .filter_map(|line| line.strip_prefix("tried "))
        .collect()
}

#[test]
fn a_failure_prints_the_command_that_repeats_its_trial_alone() {
    for seed in ["1", "2", "3"] {
        let output = run(&[("DEADHEAT_SEED", seed)]);
        let failing = *tried(&output).last().unwrap();
        let command = format!("DEADHEAT_ONLY={failing} cargo test");
        let line = output.lines().find(|line| line.contains(&command));
        let line = line.unwrap_or_else(|| panic!("no command in\n{output}"));
        let test = "-p deadheat-testing --test trials fails_now_and_then -- --exact";
        assert!(line.ends_with(test), "{line}");
        let again = run(&[("DEADHEAT_ONLY", failing)]);
        assert_eq!(tried(&again), [failing]);
        assert!(again.contains("an unlucky seed"));
    }
}

#[test]
fn other_seeds_try_other_things_and_no_seed_tries_the_same() {
    let outputs = [&[][..], &[], &[("DEADHEAT_SEED", "5")]].map(run);
    let first = outputs.each_ref().map(|output| tried(output)[0]);
    assert_eq!(first[0], first[1]);
    assert_ne!(first[0], first[2]);
}
