//! Every example says what is true of it, and the command agrees.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{deadheat, root, stdout};

/// The `//= key: value` lines at the head of a program.
fn verdict(source: &str) -> BTreeMap<String, String> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("//= ")?.split_once(':'))
        .map(|(key, value)| (key.to_string(), value.trim().to_string()))
        .collect()
}

#[test]
fn every_example_is_what_it_says() {
    let index = fs::read_to_string(root().join("examples/README.md")).unwrap();
    let mut checked = 0;
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tp") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            index.contains(name),
            "examples/README.md does not list {name}"
        );
        let expected = verdict(&fs::read_to_string(&path).unwrap());
        let file = format!("examples/{name}");
        let output = deadheat(&["check", "--explore", "--json", &file]);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let explored = &report["explored"];
        assert_eq!(explored["complete"], true, "{name}");
        let racy: Vec<&str> = explored["racy_locations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|location| location.as_str().unwrap())
            .collect();
        let yes_no = |value: &serde_json::Value| match value.as_bool() {
            Some(true) => "yes".to_string(),
            Some(false) => "no".to_string(),
            None => "unknown".to_string(),
        };
        let found = BTreeMap::from([
            ("racy".to_string(), racy.join(" ")),
            (
                "deterministic".to_string(),
                yes_no(&explored["deterministic"]),
            ),
            (
                "deadlock".to_string(),
                yes_no(&explored["deadlock_possible"]),
            ),
            ("error".to_string(), yes_no(&explored["error_possible"])),
        ]);
        assert_eq!(found, expected, "{name}");
        // Where there are no locks, one schedule that comes to its end speaks for all of them; where
        // there are sections, all orders of these do.
        let report = match report["engine"].as_str() {
            Some("hb") => None,
            Some("zipper") => {
                let output = deadheat(&["check", "--all-orders", "--json", &file]);
                let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
                assert_eq!(report["orders"]["complete"], true, "{name}");
                Some(report)
            }
            _ => report["error"].is_null().then(|| report.clone()),
        };
        if let Some(report) = report {
            let none = report["races"].as_array().unwrap().is_empty();
            assert_eq!(none, racy.is_empty(), "{name}");
        }
        let wrong = !racy.is_empty() || found["deadlock"] == "yes" || found["error"] == "yes";
        let status = i32::from(wrong);
        assert_eq!(output.status.code(), Some(status), "{name}");
        checked += 1;
    }
    assert!(checked >= 70, "only {checked} examples found");
}
