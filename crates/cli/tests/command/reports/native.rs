//! What `deadheat run` writes for other programs and for browsers: JSON by its schema, SARIF, baselines, a page. Skipped,
//! with a message, where there is no C compiler.

use std::fs;
use std::process::Output;

use super::identities::{fingerprints, fingerprints_of_text, page_data};
use super::{conforms, read};
use crate::browser::Browser;
use crate::common::{deadheat, stderr, stdout};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a program built of this source in the project; none where nothing can be compiled.
fn built(source: &str, options: &[&str]) -> Option<(TempDir, String)> {
    let there = deadheat(&["cc", "--version"]);
    if !there.status.success() {
        println!("skipped: {}", stderr(&there));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program").to_str().unwrap().to_string();
    let build = [
        &["cc", "-O1", "-g", "-pthread"],
        options,
        &[source, "-o", &program],
    ]
    .concat();
    let output = deadheat(&build);
    if !output.status.success() && options.contains(&"-fopenmp") {
        println!("skipped: {}", stderr(&output));
        return None;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    Some((folder, program))
}

/// As [`built`], of this text.
fn built_with_openmp(text: &str) -> Option<(TempDir, String)> {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("program.c");
    fs::write(&path, text).unwrap();
    built(path.to_str().unwrap(), &["-fopenmp"])
}

/// Runs a program; gives its JSON and its SARIF, which are as their schemas say. All formats have the same findings.
fn run(folder: &TempDir, program: &str, options: &[&str]) -> (Output, Value, Value) {
    let path = |name: &str| folder.path().join(name);
    let (json, sarif, page) = (path("run.json"), path("run.sarif"), path("run.html"));
    let written = [("json", &json), ("sarif", &sarif), ("html", &page)];
    let written = written.map(|(format, path)| format!("--{format}={}", path.display()));
    let written = [
        &["run", "--ids"][..],
        &written.each_ref().map(String::as_str),
    ]
    .concat();
    let output = deadheat(&[&written, options, &["--", program]].concat());
    let (json, sarif) = (read(&json), read(&sarif));
    conforms("docs/report.schema.json", &json, "run");
    conforms("tests/sarif.schema.json", &sarif, "run");
    let known = fingerprints(&json);
    assert_eq!(known, fingerprints(&sarif));
    assert_eq!(known, fingerprints(&page_data(&page)));
    assert_eq!(known, fingerprints_of_text(&stderr(&output)));
    (output, json, sarif)
}

fn fingerprint(race: &Value) -> String {
    race["fingerprint"].as_str().unwrap().to_string()
}

#[test]
fn a_race_of_a_program_is_one_for_every_command() {
    let Some((folder, program)) = built("examples/native/lost-update.c", &[]) else {
        return;
    };
    let (output, json, sarif) = run(&folder, &program, &[]);
    assert_eq!(output.status.code(), Some(66));
    let race = fingerprint(&json["races"][0]);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["partialFingerprints"]["deadheat/v1"], json!(race));
    let at = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        at["artifactLocation"]["uri"],
        "examples/native/lost-update.c"
    );
    assert_eq!(at["region"]["startLine"], 13);
    assert_eq!(
        result["codeFlows"].as_array().unwrap().len(),
        2,
        "two stacks"
    );
    // The same in a recording.
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let trace = path("run.dht");
    deadheat(&["record", "-o", &trace, "--", &program]);
    for command in ["analyze", "explain"] {
        let output = deadheat(&[command, "--json", &trace]);
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        conforms("docs/report.schema.json", &report, "run");
        assert_eq!(fingerprint(&report["races"][0]), race, "{command}");
        // What the run knew is not new to them.
        let output = deadheat(&[command, "--baseline", &path("run.json"), &trace]);
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    }
    let (_, predicted, _) = run(&folder, &program, &["--predict"]);
    assert_eq!(fingerprint(&predicted["races"][0]), race);
    // And not to another run.
    for report in ["run.json", "run.sarif"] {
        fs::copy(path(report), path("known")).unwrap();
        for more in [&[][..], &["--predict"], &["--live"]] {
            let known = path("known");
            let options = [&["--baseline", known.as_str()], more].concat();
            let (output, json, sarif) = run(&folder, &program, &options);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(0), "{report}: {said}");
            assert!(said.contains("the baseline knows"), "{said}");
            assert!(!said.contains("-->"), "{said}");
            assert_eq!((&json["races"], &json["known"]), (&json!([]), &json!(1)));
            assert_eq!(sarif["runs"][0]["results"], json!([]));
        }
        run(&folder, &program, &[]);
    }
}

#[test]
fn a_predicted_race_has_its_order() {
    let Some((folder, program)) = built("tests/predict/lock-in-between.c", &[]) else {
        return;
    };
    let page = folder.path().join("run.html");
    let (_, json, sarif) = run(&folder, &program, &["--predict"]);
    assert_eq!(json["predicted"].as_array().unwrap().len(), 1);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "predicted-race");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 3, "main and two threads");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&page);
    browser.press("End");
    let now = browser.text("document.querySelector('.now').textContent");
    assert!(
        now.contains("Both accesses stand next to each other"),
        "{now}"
    );
    let line = "document.querySelector('.now code:nth-of-type(1)').textContent";
    assert!(!browser.text(line).is_empty());
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// libomp 19 loses tasks with `mutexinoutset` now and then; a program that ends before does so each time.
#[test]
fn tasks_that_were_never_run_are_told() {
    let source = r#"
#include <omp.h>
#include <unistd.h>
int x;
int main(void) {
  #pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    #pragma omp task shared(x)
    x = 1;
    #pragma omp task shared(x)
    x = 2;
    _exit(0);
  } else {
    for (;;) usleep(1000);
  }
}
"#;
    let Some((_folder, program)) = built_with_openmp(source) else {
        return;
    };
    let said = stderr(&deadheat(&["run", &program]));
    assert!(
        said.contains("no race between the tasks of this run, under any schedule of what they did")
            && said.contains("OpenMP's runtime has not run 2 tasks that the program created"),
        "{said}"
    );
}

#[test]
fn critical_sections_have_their_names() {
    let source = r#"
int x, y;
int main(void) {
  #pragma omp parallel num_threads(2)
  {
    #pragma omp critical
    x++;
    #pragma omp critical(sum)
    y++;
    #pragma omp single nowait
    x = y = 0;
  }
}
"#;
    let Some((folder, program)) = built_with_openmp(source) else {
        return;
    };
    let said = stderr(&deadheat(&["run", &program]));
    for name in ["holding `critical`", "holding `critical(sum)`"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    let trace = folder.path().join("run.dht");
    let trace = trace.to_str().unwrap();
    let output = deadheat(&["record", "-o", trace, &program]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&deadheat(&["stats", "--json", trace]));
    for name in ["\"critical\"", "\"critical(sum)\""] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
}

#[test]
fn tasks_of_openmp_have_all_formats() {
    let source = "examples/openmp/forgotten-depend.c";
    let Some((folder, program)) = built(source, &["-fopenmp"]) else {
        return;
    };
    let page = folder.path().join("run.html");
    let (output, json, sarif) = run(&folder, &program, &[]);
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert_eq!(json["engine"], "openmp");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), json["races"].as_array().unwrap().len());
    let said = stderr(&deadheat(&["run", "--predict", &program]));
    assert!(
        said.contains("warning: what one thread of OpenMP runs of loops"),
        "{said}"
    );
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&page);
    let lanes = browser
        .value("[...document.querySelectorAll('.graph text.lane')].map((e) => e.textContent)");
    assert!(lanes.to_string().contains("the task created at"), "{lanes}");
    assert_eq!(
        browser.value("document.querySelectorAll('.graph path.race').length"),
        json!(1)
    );
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
