//! The identities of findings in each format.

use std::path::Path;

use serde_json::Value;

/// Every fingerprint in a value, sorted, each once: of a report, of SARIF, of a page's data.
pub fn fingerprints(value: &Value) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("fingerprint" | "deadheat/v1", Value::String(text)) => {
                            found.push(text.clone());
                        }
                        // What was ordered by chance is no race, what is undecided not known to be one: both are in JSON only.
                        ("general_races" | "undecided", Value::Array(_)) => {}
                        _ => walk(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found.sort();
    found.dedup();
    found
}

/// What `--ids` puts behind each finding of a text, sorted, each once.
pub fn fingerprints_of_text(text: &str) -> Vec<String> {
    let is_fingerprint =
        |part: &&str| part.len() == 16 && part.chars().all(|c| c.is_ascii_hexdigit());
    let parts = text.split(['[', ']']).filter(is_fingerprint);
    let mut found: Vec<String> = parts.map(str::to_string).collect();
    found.sort();
    found.dedup();
    found
}

/// What a page shows, as its script reads it.
pub fn page_data(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).unwrap();
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}
