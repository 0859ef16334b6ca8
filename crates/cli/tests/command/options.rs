//! The options that every command has in common: one grammar, and errors that say what to write.

use serde_json::Value;

use crate::common::{deadheat, deadheat_in, deadheat_on, directory, stderr, stdout};

const RACY: &str = r#"
#include <pthread.h>
#include <stdio.h>
static int shared;
static void *work(void *arg) { shared++; return arg; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  shared++;
  pthread_join(thread, 0);
  puts("the program's own output");
  return 0;
}
"#;

fn commands() -> [Vec<&'static str>; 3] {
    [
        vec!["check", "examples/lost-update.tp"],
        vec!["analyze", "examples/traces/m2-fig1b.std"],
        vec!["explain", "examples/traces/m2-fig1b.std"],
    ]
}

fn with<'a>(command: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [&command[..1], options, &command[1..]].concat()
}

#[test]
fn every_form_goes_to_standard_output_unless_it_has_a_file() {
    for command in commands() {
        for (format, start) in [("json", "{"), ("sarif", "{"), ("html", "<!")] {
            let bare = format!("--{format}");
            let dash = format!("--{format}=-");
            let printed = [&bare, &dash].map(|option| deadheat(&with(&command, &[option])));
            for output in &printed {
                assert_eq!(output.status.code(), Some(1), "{}", stderr(output));
                let text = stdout(output);
                assert!(text.starts_with(start), "{command:?} {format}: {text}");
                assert!(!text.contains("\nrace"), "{text}");
            }
        }
    }
    for options in [&["--json"][..], &["--json=-"]] {
        let output = deadheat(&with(&["stats", "examples/traces/m2-fig1b.std"], options));
        assert!(stdout(&output).starts_with('{'), "{}", stdout(&output));
    }
}

#[test]
fn two_forms_on_standard_output_are_refused() {
    for command in commands() {
        let output = deadheat(&with(&command, &["--json", "--sarif=-"]));
        assert_eq!(output.status.code(), Some(2));
        let text = stderr(&output);
        assert!(
            text.contains("--json and --sarif cannot both go to standard output"),
            "{text}"
        );
        assert!(text.contains("--sarif=FILE"), "{text}");
    }
    let output = deadheat(&["run", "--html", "--json", "--", "/bin/true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--json and --html"), "{output:?}");
}

#[test]
fn a_file_after_a_space_is_named_with_the_equals_sign() {
    for command in commands() {
        for (option, file) in [
            ("--json", "report.json"),
            ("--sarif", "log.sarif"),
            ("--html", "page.html"),
        ] {
            let output = deadheat(&with(&command, &[option, file]));
            assert_eq!(output.status.code(), Some(2));
            let expected = format!("write `{option}={file}`");
            assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
            assert_eq!(stdout(&output), "");
        }
    }
    for (words, expected) in [
        (
            &["run", "--json", "report.json", "/bin/true"][..],
            "write `--json=report.json`",
        ),
        (
            &["run", "--html", "report", "--", "/bin/true"],
            "write `--html=report`",
        ),
        (
            &["cargo", "--sarif", "log.sarif", "test"],
            "write `--sarif=log.sarif`",
        ),
    ] {
        let output = deadheat(words);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// The report of a program on standard output is the line after its own.
#[test]
fn a_program_s_report_follows_its_own_output() {
    let Some(here) = directory(&[("racy.c", RACY)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(here, &["cc", "-g", "racy.c", "-o", "racy"]);
    assert!(built.status.success(), "{}", stderr(&built));
    for options in [
        &["--json"][..],
        &["--json=-"],
        &["--sarif"],
        &["--json", "--predict"],
    ] {
        let words = [&["run"], options, &["--", "./racy"]].concat();
        let output = deadheat_in(here, &words);
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
        let text = stdout(&output);
        let (own, report) = text.split_once('\n').unwrap();
        assert_eq!(own, "the program's own output");
        let report: Value = serde_json::from_str(report).unwrap();
        let races = report["races"].as_array();
        let races = races.or_else(|| report["runs"][0]["results"].as_array());
        assert_eq!(races.unwrap().len(), 1, "{report}");
        // The text stays where it is.
        assert!(stderr(&output).contains("`shared`"), "{}", stderr(&output));
    }
}

#[test]
fn a_mistyped_option_is_an_error_with_its_nearest_neighbour() {
    for words in [
        &["run", "--predct", "--", "/bin/true"][..],
        &["run", "--predct", "/bin/true"],
        &["cargo", "--predct", "test"],
    ] {
        let output = deadheat(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let expected = "error: unexpected option `--predct`: did you mean `--predict`?";
        assert!(stderr(&output).starts_with(expected), "{output:?}");
    }
    for (words, expected) in [
        (
            &["record", "--outptu", "x", "/bin/true"][..],
            "did you mean `--output`?",
        ),
        (
            &["check", "--explor", "examples/lost-update.tp"],
            "did you mean `--explore`?",
        ),
        (
            &["run", "--zzz", "/bin/true"],
            "`deadheat run --help` lists its options",
        ),
        (&["verify", "a", "b", "c"], "unexpected argument `c`"),
    ] {
        let output = deadheat(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(expected), "{output:?}");
    }
}

/// What follows the program is the program's.
#[test]
fn options_of_the_program_are_its_own() {
    for words in [
        &["run", "/bin/echo", "--json", "x.json", "--predct"][..],
        &["run", "--", "/bin/echo", "--json", "x.json", "--predct"],
    ] {
        assert_eq!(stdout(&deadheat(words)), "--json x.json --predct\n");
    }
}

#[test]
fn fail_on_offers_what_the_command_can_find() {
    let trace = "examples/traces/m2-fig1b.std";
    for (command, inputs, finds) in [
        (
            "check",
            &["examples/lost-update.tp"][..],
            "race, deadlock, error, incomplete",
        ),
        ("analyze", &[trace], "race, deadlock, incomplete"),
        ("explain", &[trace], "race, incomplete"),
        ("verify", &["-", trace], "refused, unproven, incomplete"),
    ] {
        let words = [&[command, "--fail-on", "bug"], inputs].concat();
        let output = deadheat(&words);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = format!("[possible values: {finds}]");
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
        let help = stdout(&deadheat(&[command, "-h"]));
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(help.contains(&expected), "{command}: {help}");
    }
    for (command, inputs) in [("analyze", [trace]), ("explain", [trace])] {
        let status = |what| {
            let words = [&[command, "--fail-on", what], &inputs[..]].concat();
            deadheat(&words).status.code()
        };
        assert_eq!(
            (status("race"), status("incomplete")),
            (Some(1), Some(0)),
            "{command}"
        );
    }
    // Eraser proves nothing.
    let report = stdout(&deadheat(&[
        "analyze", "--engine", "eraser", "--json", trace,
    ]));
    let status = |what| {
        let words = ["verify", "--fail-on", what, "-", trace];
        deadheat_on(&words, report.clone()).status.code()
    };
    assert_eq!((status("unproven"), status("refused")), (Some(1), Some(0)));
}

#[test]
fn the_help_of_a_compiler_is_ours_and_names_the_compiler_s_own() {
    for words in [
        &["cc", "--help"][..],
        &["c++", "--help"],
        &["cc", "--with=gcc", "--help"],
        &["help", "cc"],
    ] {
        let output = deadheat(words);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        for said in [
            "a drop-in for cc and c++",
            "--with=<COMPILER>",
            "DEADHEAT_CC",
            "./configure CC=\"deadheat cc\"",
            "cmake",
            "deadheat cc -v --help",
        ] {
            assert!(text.contains(said), "{words:?}: no {said} in {text}");
        }
        assert!(
            !text.contains('\x1b') && !text.contains("--quiet"),
            "{text}"
        );
    }
    let Some(_) = directory(&[]) else { return };
    let own = deadheat(&["cc", "-v", "--help"]);
    assert!(!stdout(&own).contains("DEADHEAT_CC"), "{own:?}");
}
