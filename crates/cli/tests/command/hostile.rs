//! Nothing a user feeds the command makes it panic, hang or eat all memory: a clear error, status
//! 2, soon.

use std::time::{Duration, Instant};

use crate::common::{deadheat, deadheat_in, deadheat_on, stderr};

/// What is said about a text that is not a program.
fn complaint(source: impl Into<Vec<u8>>) -> String {
    let start = Instant::now();
    let output = deadheat_on(&["check", "-"], source);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    // Far above what it takes: a hang is what this is about.
    assert!(start.elapsed() < Duration::from_secs(90));
    assert!(text.len() < 100_000, "{} bytes of complaint", text.len());
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn deep_nesting() {
    let text = complaint("proc main() ".to_string() + &"{".repeat(100_000));
    assert!(text.contains("expected a statement, found `{`"), "{text}");
    for opening in [
        "if 1 {",
        "async {",
        "finish { ",
        "isolated { if 1 {",
        "fork t {",
    ] {
        let source = format!("proc main() {{ {}", opening.repeat(100_000));
        let text = complaint(source);
        assert!(text.contains("nested more than 200 deep"), "{text}");
    }
    for opening in ["(", "!", "-", "a[", "1 + (", "1 + 1 * "] {
        let source = format!(
            "shared a[2]; proc main() {{ let x = {}",
            opening.repeat(100_000)
        );
        let text = complaint(source);
        assert!(text.contains("nested more than 200 deep"), "{text}");
    }
    let sum = format!("proc main() {{ let x = 1{}; }}", " + 1".repeat(100_000));
    assert!(complaint(sum).contains("nested more than 200 deep"));
}

#[test]
fn large_files() {
    let statements = format!(
        "shared x; proc main() {{ {} }}",
        "x = 1; ".repeat(1_500_000)
    );
    assert!(complaint(statements).contains("more than 8 MiB"));
    assert!(complaint(vec![b'a'; 10_000_000]).contains("more than 8 MiB"));
    let mistyped: String = (0..20_000).map(|n| format!("shared v{n}; ")).collect();
    let stores: String = (0..20_000).map(|n| format!("w{n} = 1; ")).collect();
    assert!(complaint(format!("{mistyped} proc main() {{ {stores} }}")).contains("not declared"));
    // Below the limit: one line of eight million characters, shown in part.
    let line = format!(
        "shared x; proc main() {{ {} y = 1; }}",
        "x = 1; ".repeat(1_000_000)
    );
    assert!(complaint(line).contains("`y` is not declared"));
    let names = format!("proc main() {{ {} }}", "let a = 1; ".repeat(700_000));
    assert!(complaint(names).contains("already bound in this block"));
    let different: String = (0..500_000).map(|n| format!("let a{n} = 1;")).collect();
    let text = complaint(format!("proc main() {{ {different} }}"));
    assert!(
        text.contains("more than 1000 names are bound at a time"),
        "{text}"
    );
}

#[test]
fn what_is_not_text() {
    assert!(complaint(b"shared x;\0proc main() {}").contains("a NUL byte has no meaning"));
    assert!(complaint(vec![0; 100_000]).contains("a NUL byte has no meaning"));
    assert!(complaint(b"shared x;\nproc \xff").contains("byte 16 (line 2) is not UTF-8"));
    assert!(complaint("proc main() { \u{1b}[31m }").contains("U+001B"));
    assert!(complaint("proc main() { x → y; }").contains("`→` has no meaning here"));
    assert!(complaint("").contains("there is no procedure `main`"));
}

#[test]
fn numbers_and_names() {
    let text = complaint("shared x = 9223372036854775808; proc main() {}");
    assert!(text.contains("does not fit in 64 bits"), "{text}");
    assert!(complaint("proc main() { y = 1; }").contains("`y` is not declared"));
    let text = complaint("shared balance; proc main() { balence = 1; }");
    assert!(text.contains("did you mean `balance`?"), "{text}");
    assert!(complaint("proc main() { call f(); }").contains("there is no procedure `f`"));
    assert!(complaint("shared a[0]; proc main() {}").contains("has no elements"));
    assert!(complaint("shared a[9999999999]; proc main() {}").contains("is too large"));
    assert!(complaint("sem s = -1; proc main() {}").contains("starts below 0"));
    let long = "x".repeat(1_000_000);
    let text = complaint(format!("proc main() {{ {long} = 1; }}"));
    assert!(
        text.contains("this name has more than 200 characters"),
        "{text}"
    );
}

#[test]
fn several_errors_come_in_one_go() {
    let text = complaint("proc main() {\n  x = 1;\n  call f();\n  let = 3;\n}\nproc g( {}\n");
    // What the text says comes first; names are looked at when it can be read.
    assert_eq!(text.matches("error: expected").count(), 2, "{text}");
    let text = complaint("proc main() {\n  x = 1;\n  call f();\n  isolated { async { } }\n}");
    for part in [
        "`x` is not declared",
        "no procedure `f`",
        "`async` cannot stand inside",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let many = format!("proc main() {{ {} }}", "y = 1; ".repeat(100));
    assert!(complaint(many).contains("more than 20 errors"));
}

/// As many racing pairs of accesses as there can be.
#[test]
fn races_without_number() {
    let stores = "x = 1;\n".repeat(40);
    let source = format!("shared x; proc main() {{ for i in 0..2000 {{ async {{ {stores} }} }} }}");
    let start = Instant::now();
    let output = deadheat_on(&["check", "--json", "-"], source);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // 2,000 tasks of 40 stores: more pairs than anyone wants to see.
    assert_eq!(report["races_complete"], false);
    assert!(report["races"].as_array().unwrap().len() >= 40);
    assert!(start.elapsed() < Duration::from_secs(90));
}

/// Programs that would run or grow for ever end at a bound.
#[test]
fn endless_programs() {
    for source in [
        "proc main() { while 1 { } }",
        "shared x; proc main() { while 1 { x = x + 1; } }",
        "shared x; proc main() { while x == 0 { async { x = 0; } } }",
        "sem s; proc main() { while 1 { s.v; } }",
        "shared x; proc f(a) { call f(a + 1); } proc main() { call f(1); }",
        "proc f() { async f(); async f(); } proc main() { call f(); }",
        "proc main() { for i in 0..9223372036854775807 { } }",
        "proc main() { while 1 { let r = alloc; } }",
        "shared x; proc main() { while 1 { for i in 0..33000 { } x = 1; } }",
        "promise p; proc f(n) { if n > 0 { async f(n - 1); } p.get; } proc main() { async f(9999); }",
        "proc f(n) { async f(n + 1); } proc main() { call f(0); }",
    ] {
        let start = Instant::now();
        let bounds = ["--max-states", "20000", "--max-steps", "200000"];
        let arguments = [&["check", "-", "--explore"], &bounds[..]].concat();
        let output = deadheat_on(&arguments, source);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{}",
            stderr(&output)
        );
        assert!(start.elapsed() < Duration::from_secs(180), "{source}");
    }
}

/// A file for another command is known for what it is.
#[test]
fn files_for_another_command() {
    let (c, tp, std) = (
        "examples/native/lost-update.c",
        "examples/lost-update.tp",
        "examples/traces/m2-fig1b.std",
    );
    let elf = env!("CARGO_BIN_EXE_deadheat");
    for (command, file, advice) in [
        (
            "check",
            c,
            "build it by `deadheat cc examples/native/lost-update.c -o program`",
        ),
        ("check", std, "is a trace: `deadheat analyze"),
        ("check", elf, "is a program: `deadheat run -- "),
        ("analyze", c, "build it by `deadheat cc"),
        ("analyze", tp, "is a .tp program: `deadheat check"),
        (
            "stats",
            elf,
            "is a program: `deadheat record -o run.dht -- ",
        ),
        ("explain", tp, "is a .tp program"),
        ("run", c, "build it by `deadheat cc"),
        (
            "run",
            tp,
            "`deadheat check examples/lost-update.tp` checks it",
        ),
        ("run", "LICENSE-MIT", "could not be started"),
        ("run", "no-such-program", "could not be started"),
    ] {
        let output = deadheat(&[command, file]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(advice), "{command} {file}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    // A file of its own kind is told what is wrong in it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.tp");
    std::fs::write(&file, "#include <stdio.h>").unwrap();
    let output = deadheat(&["check", file.to_str().unwrap()]);
    assert!(stderr(&output).contains("`#` has no meaning here"));
    // A program that is here is not looked for elsewhere.
    std::fs::copy("/bin/true", folder.path().join("prog")).unwrap();
    let mut there = std::process::Command::new(elf);
    let output = there
        .current_dir(folder.path())
        .args(["run", "prog"])
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("call it `./prog`"),
        "{}",
        stderr(&output)
    );
}

/// Names, lines of sources, file names and arguments come from whoever made the program or the trace.
#[test]
fn nothing_that_is_printed_makes_a_terminal_do_something() {
    let evil = "\u{9b}31m\u{202e}\u{2066}\u{7f}";
    let files = [
        (
            format!("race{evil}.std"),
            format!("T1|w(x{evil})|a{evil}.c:1\nT2|w(x{evil})|a{evil}.c:2\n"),
        ),
        (
            "race.tp".to_string(),
            format!(
                "shared x; // {evil}\nproc main() {{ async {{ x = 1; /* {evil} */ }} x = 2; /* {evil} */ }}\n"
            ),
        ),
        (
            "damaged.std".to_string(),
            format!("T1{evil}|foo(x{evil})|a\n"),
        ),
        ("damaged.tp".to_string(), format!("shared {evil};\n")),
        (
            format!("a{evil}.c"),
            format!("int x; // {evil}\nint y; // {evil}\n"),
        ),
    ];
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in &files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let [race, program, damaged, wrong, c] = files.each_ref().map(|(name, _)| name.as_str());
    let commands: [&[&str]; 16] = [
        &["analyze", race],
        &["analyze", race, "--pairs", "all"],
        &["analyze", race, "--engine", "all"],
        &["analyze", race, "--engine", evil],
        &["analyze", race, "--json"],
        &["analyze", race, "--sarif"],
        &["explain", race],
        &["stats", race],
        &["stats", race, "--json"],
        &["check", program],
        &["check", program, "--explore"],
        &["analyze", damaged],
        &["check", wrong],
        &["check", c],
        &["run", "--", c],
        &["check", "--json", evil],
    ];
    let obeyed = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{2066}');
    for arguments in commands {
        let output = deadheat_in(directory.path(), arguments);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).expect("text");
        assert!(!text.is_empty(), "{arguments:?}");
        assert_eq!(text.chars().find(obeyed), None, "{arguments:?}: {text}");
    }
    let mistyped = deadheat(&[evil]);
    assert_eq!(stderr(&mistyped).chars().find(obeyed), None);
}
