//! The page of `--html`, used as a person would, in Chromium. Without it these tests say so and are skipped.
//!
//! `DEADHEAT_SCREENSHOTS=FOLDER` keeps pictures of the main views there.

use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::common::{by_every_engine, deadheat, root, stderr};
use serde_json::json;

/// The page that a command writes.
fn page(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let into = format!("--html={}", path.display());
    let mut words = vec![arguments[0], "-q", &into];
    words.extend(&arguments[1..]);
    let output = deadheat(&words);
    assert!(path.exists(), "{}", stderr(&output));
    path
}

fn screenshot(browser: &mut Browser, name: &str) {
    if let Ok(folder) = std::env::var("DEADHEAT_SCREENSHOTS") {
        browser.screenshot(&root().join(folder).join(name));
    }
}

/// Nothing went wrong, and nothing but the page itself was asked for.
fn is_quiet(browser: &Browser, what: &str) {
    assert!(
        browser.complaints.is_empty(),
        "{what}: {:#?}",
        browser.complaints
    );
    let outside = |url: &&String| !url.starts_with("file://") && !url.starts_with("data:");
    let outside: Vec<&String> = browser.requests.iter().filter(outside).collect();
    assert!(outside.is_empty(), "{what}: {outside:?}");
    let files = browser
        .requests
        .iter()
        .filter(|url| url.starts_with("file://"));
    assert!(files.count() >= 1, "requests are seen");
}

const TITLE: &str = "document.querySelector('#detail h2').textContent";
const COUNT: &str = "document.querySelector('#count').textContent";
const NOW: &str = "document.querySelector('.now').textContent";

#[test]
fn the_findings_of_every_engine_open() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let recorded = folder.path().join("run.dht");
    let recorded = recorded.to_str().unwrap();
    deadheat(&[
        "check",
        "-q",
        "--record",
        recorded,
        "examples/lost-update.tp",
    ]);
    let trace = "examples/traces/m2-fig1b.std";
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["check", "--explore", "examples/lost-update.tp"],
        vec!["check", "--all-orders", "examples/isolated-hides-race.tp"],
        vec!["check", "--explore", "examples/dining-philosophers.tp"],
        vec!["explain", recorded],
        vec!["analyze", "--engine", "all", trace, recorded],
    ];
    commands.extend(by_every_engine(trace));
    for (index, command) in commands.iter().enumerate() {
        let path = page(folder.path(), &format!("{index}.html"), command);
        browser.open(&path);
        let count = browser.text(COUNT);
        let rows = browser.value("document.querySelectorAll('.row').length");
        match count.as_str() {
            "0 findings" => assert_eq!(rows, json!(0), "{command:?}"),
            _ => {
                assert!(rows.as_u64() > Some(0), "{command:?}");
                assert!(!browser.text(TITLE).is_empty());
                let panes = browser.value("document.querySelectorAll('.pane').length");
                assert!(panes.as_u64() > Some(0), "{command:?}");
            }
        }
        is_quiet(&browser, &format!("{command:?}"));
    }
}

#[test]
fn a_person_reads_a_page() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["check", "--explore", "examples/handover.tp"],
    );
    browser.open(&path);
    assert_eq!(
        browser.text(TITLE),
        "main/1 and main/2 can write `data` at the same time"
    );
    // Both accesses are marked in their source.
    let marked =
        browser.value("[...document.querySelectorAll('.hit u')].map((e) => e.textContent)");
    assert_eq!(marked, json!(["data", "data"]));
    let lines = browser.value("[...document.querySelectorAll('.hit i')].map((e) => e.textContent)");
    assert_eq!(lines, json!(["12", "9"]));
    // What is ordered, and the edge that is missing.
    assert_eq!(
        browser.value("document.querySelectorAll('.graph rect.racing').length"),
        json!(2)
    );
    assert_eq!(
        browser.value("document.querySelectorAll('.graph path.race').length"),
        json!(1)
    );
    assert!(
        browser
            .value("document.querySelectorAll('.graph path.sync').length")
            .as_u64()
            >= Some(2)
    );
    screenshot(&mut browser, "page.png");
    // One step after the other, to the moment both stand next to each other.
    browser.press("Home");
    assert!(
        browser
            .text(NOW)
            .starts_with("Step 1 of 8: main at handover.tp:9 does fork sender {"),
        "{}",
        browser.text(NOW)
    );
    for _ in 0..3 {
        browser.press("ArrowRight");
    }
    let now = browser.text(NOW);
    assert!(
        now.contains("main/2 at handover.tp:11 does ")
            && now.contains("acq(l)")
            && now.contains("Held: main/2: l"),
        "{now}"
    );
    browser.press("ArrowRight");
    let now = browser.text(NOW);
    assert!(now.contains("It reads what was there before"), "{now}");
    browser.press("End");
    let now = browser.text(NOW);
    assert!(
        now.contains("Both accesses stand next to each other"),
        "{now}"
    );
    assert!(now.contains("No lock is held"), "{now}");
    // The theme follows the button and the key.
    let theme =
        "document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor";
    let before = browser.text(theme);
    browser.value("document.getElementById('theme').click()");
    let after = browser.text(theme);
    assert_ne!(before, after);
    browser.value("document.querySelector('.timeline').scrollIntoView()");
    screenshot(&mut browser, "page-dark.png");
    browser.press("t");
    assert_eq!(browser.text(theme), before);
    is_quiet(&browser, "handover");
}

#[test]
fn a_witness_plays_by_itself() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["analyze", "examples/traces/m2-fig1b.std"],
    );
    browser.open(&path);
    browser.press("Home");
    browser.value("document.getElementById('play').click()");
    // Until it stops by itself: 12 events.
    let played = browser.value(
        "new Promise((done) => { const seen = new Set(); const look = () => {
           const now = document.querySelector('.now').textContent; seen.add(now.split(':')[0]);
           if (document.getElementById('play').textContent === 'Play') done(seen.size); else setTimeout(look, 50); };
         setTimeout(look, 50); })",
    );
    assert!(played.as_u64() >= Some(11), "{played}");
    assert!(
        browser
            .text(NOW)
            .contains("Both accesses stand next to each other")
    );
    is_quiet(&browser, "m2");
}

/// A thousand races, and a window of a hundred thousand events: what is not in view is not drawn.
#[test]
fn a_long_list_and_a_long_story_stay_small() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut run = String::new();
    for n in 0..60_000 {
        run += &format!(
            "T1|acq(l)|a.c:1\nT1|w(y{})|a.c:2\nT1|rel(l)|a.c:3\n",
            n % 50
        );
    }
    for n in 1..=1000 {
        run += &format!("T1|w(x{n})|a.c:{}\nT2|w(x{n})|b.c:{}\n", n + 10, n + 10);
    }
    let trace = folder.path().join("run.std");
    std::fs::write(&trace, run).unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["analyze", "--engine", "hb", trace.to_str().unwrap()],
    );
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 30 << 20, "{size}");
    browser.open(&path);
    assert_eq!(browser.text(COUNT), "1,000 findings");
    let painted = browser.value("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)), 100)))");
    println!("1,000 races and 100,000 events: first paint after {painted} ms");
    let frames = browser.value("new Promise((done) => { const list = document.getElementById('list'); const took = []; let last = performance.now();
        const frame = (now) => { took.push(now - last); last = now; if (took.length > 100) { took.sort((a, b) => a - b); done([took[50], took[95], took[100]]); return; }
          list.scrollTop += 600; requestAnimationFrame(frame); }; requestAnimationFrame(frame); })");
    println!("scrolling the list: a frame takes {frames} ms (median, 95 of 100, longest)");
    let filtered = browser.value("(() => { const search = document.getElementById('search'); const from = performance.now(); for (const text of ['x', 'x9', 'x99', 'x999', '']) { search.value = text; search.dispatchEvent(new Event('input')); } return (performance.now() - from) / 5; })()");
    println!("filtering takes {filtered} ms");
    let stepped = browser.value("(() => { const from = performance.now(); for (let n = 0; n < 50; n += 1) document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' })); return (performance.now() - from) / 50; })()");
    println!("a step takes {stepped} ms");
    let events = browser.value("JSON.parse(document.getElementById('data').textContent).chapters[0].entries[0].story.events.length");
    assert_eq!(events, json!(100_000));
    let rows = "document.querySelectorAll('.row').length";
    assert!(browser.value(rows).as_u64() < Some(60));
    // To the last one, by the keyboard's way; then by words.
    browser.value("document.getElementById('list').scrollTop = 1e9");
    browser
        .value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let last = browser.text("[...document.querySelectorAll('.row b')].pop().textContent");
    assert_eq!(last, "T1 and T2 can write `x1000` at the same time");
    assert!(browser.value(rows).as_u64() < Some(60));
    browser.press("/");
    for key in ["x", "9", "9", "9"] {
        browser.press(key);
    }
    assert_eq!(browser.text(COUNT), "1 of 1,000 findings");
    assert_eq!(
        browser.text(TITLE),
        "T1 and T2 can write `x999` at the same time"
    );
    browser.value("(() => { const search = document.getElementById('search'); search.value = ''; search.dispatchEvent(new Event('input')); search.blur(); })()");
    assert_eq!(browser.text(COUNT), "1,000 findings");
    browser.value("document.getElementById('list').scrollTop = 0");
    browser
        .value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    browser.value("document.querySelector('.row').click()");
    // All of it in view, and what is held in the middle.
    for _ in 0..20 {
        browser.press("-");
    }
    let drawn = browser.value("(() => { const from = performance.now(); for (let n = 0; n < 20; n += 1) dispatchEvent(new Event('resize')); return (performance.now() - from) / 20; })()");
    println!("the timeline of 100,000 events is drawn in {drawn} ms");
    browser.value("(() => { const slider = document.querySelector('.player input'); slider.value = '50000'; slider.dispatchEvent(new Event('input')); })()");
    let now = browser.text(NOW);
    assert!(
        now.contains("Held: T1: l") || now.contains("No lock is held"),
        "{now}"
    );
    is_quiet(&browser, "long");
}

/// Threads in great number, with long names.
#[test]
fn two_thousand_threads_fit() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let name = "ä".repeat(200);
    let mut run = String::new();
    for thread in 0..2000 {
        run += &format!(
            "{name}{thread}|acq(l)|a.c:1\n{name}{thread}|w(y)|a.c:2\n{name}{thread}|rel(l)|a.c:3\n"
        );
    }
    run += &format!("{name}3|w(x)|a.c:4\n{name}1999|w(x)|a.c:5\n");
    let trace = folder.path().join("run.std");
    std::fs::write(&trace, run).unwrap();
    let trace = trace.to_str().unwrap();
    for engine in ["shb", "eraser"] {
        let path = page(
            folder.path(),
            "a.html",
            &["analyze", "--engine", engine, trace],
        );
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size < 4 << 20, "{size}");
        browser.open(&path);
        browser.value("(() => { const many = document.querySelector('.timeline'); if (many) many.scrollIntoView(); })()");
        // Nothing stands outside of the window.
        let wide = "document.documentElement.scrollWidth <= innerWidth && document.getElementById('detail').scrollWidth <= document.getElementById('detail').clientWidth";
        assert_eq!(browser.value(wide), json!(true), "{engine}");
        let high = browser.value("document.querySelector('.timeline canvas')?.clientHeight || 0");
        assert!(high.as_u64() < Some(2000), "{high}");
        is_quiet(&browser, engine);
    }
}

/// On paper: every finding, in daylight colours; then the page is as it was.
#[test]
fn a_page_is_printed() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["explain", "examples/traces/m2-fig2.std"],
    );
    browser.open(&path);
    browser.value("(() => { if (document.documentElement.dataset.theme !== 'dark') document.getElementById('theme').click(); })()");
    browser.value("addEventListener('beforeprint', () => { window.printed = [document.querySelectorAll('#others h2').length, document.documentElement.dataset.theme]; })");
    let document = browser.print();
    assert!(document.starts_with(b"%PDF"));
    assert_eq!(browser.value("window.printed"), json!([3, "light"]));
    let after = browser.value(
        "[document.querySelectorAll('#others h2').length, document.documentElement.dataset.theme]",
    );
    assert_eq!(after, json!([0, "dark"]));
    is_quiet(&browser, "print");
}

/// All of it can be reached and used without a mouse.
#[test]
fn the_keyboard_is_enough() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["analyze", "examples/traces/m2-fig2.std"],
    );
    browser.open(&path);
    let first = browser.text(TITLE);
    browser.press("j");
    let second = browser.text(TITLE);
    assert_ne!(first, second);
    browser.press("ArrowUp");
    assert_eq!(browser.text(TITLE), first);
    // The list tells readers of screens which row is meant.
    let active = "document.getElementById(document.getElementById('list').getAttribute('aria-activedescendant')).getAttribute('aria-selected')";
    assert_eq!(browser.text(active), "true");
    let mut reached = Vec::new();
    for _ in 0..14 {
        browser.press("Tab");
        let what = browser.text("(() => { const at = document.activeElement; return at.id || at.className || at.getAttribute('aria-label') || at.title || at.tagName; })()");
        reached.push(what);
    }
    for wanted in ["theme", "search", "list", "play", "Step", "graph"] {
        assert!(
            reached.iter().any(|what| what == wanted),
            "{wanted}: {reached:?}"
        );
    }
    // Escape leaves the field for words.
    browser.press("/");
    browser.press("Escape");
    browser.press("t");
    assert_eq!(browser.text("document.getElementById('search').value"), "");
    is_quiet(&browser, "keyboard");
}

/// What a program or a trace is called cannot become part of the page.
#[test]
fn names_are_only_text() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let name = "</script><script>window.bad=1</script><img src=x onerror=window.bad=1>";
    let run = format!("T1|w({name})|<b>a</b>.c:1\nT2|w({name})|<!--a.c:2\n");
    let trace = folder.path().join("run.std");
    std::fs::write(&trace, run).unwrap();
    let path = page(
        folder.path(),
        "a.html",
        &["analyze", trace.to_str().unwrap()],
    );
    browser.open(&path);
    assert_eq!(browser.value("window.bad === undefined"), json!(true));
    assert!(
        browser.text(TITLE).contains(name),
        "{}",
        browser.text(TITLE)
    );
    is_quiet(&browser, "names");
}
