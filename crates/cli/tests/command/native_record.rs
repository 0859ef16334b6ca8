//! `deadheat record` and `deadheat run --predict` as people use them: programs that are killed, that run for ever, that fork,
//! that record more than there is room for. Skipped, with a message, where there is no C compiler.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{command, deadheat_in, directory, stderr};

/// Two threads that race on `raced` and then work for ever, or until somebody kills the process.
const SERVER: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int raced;
int quiet[2];
pthread_barrier_t both;
void *serve(void *own) {
  raced = 1;
  pthread_barrier_wait(&both);
  for (int *mine = own;; (*mine)++) {
    if (*mine == 1000) { printf("ready\n"); fflush(stdout); }
    if (*mine > 1000) { usleep(1000); }
  }
}
int main(int count, char **arguments) {
  pthread_t a, b;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, serve, &quiet[0]);
  quiet[1] = 1001;
  pthread_create(&b, 0, serve, &quiet[1]);
  if (count > 1 && !strcmp(arguments[1], "kill")) {
    sleep(1);
    kill(getpid(), SIGKILL);
  }
  pthread_join(a, 0);
}
"#;

/// A directory with a program built of this source; none where nothing can be compiled.
fn built(source: &str) -> Option<TempDir> {
    let directory = directory(&[("program.c", source)])?;
    let build = ["cc", "-O1", "-pthread", "program.c", "-o", "program"];
    let output = deadheat_in(directory.path(), &build);
    assert!(output.status.success(), "{}", stderr(&output));
    Some(directory)
}

/// What the program does, as a trace in text.
fn recorded_text(here: &Path) -> String {
    for words in [
        &["record", "-o", "run.dht", "./program"][..],
        &["convert", "run.dht", "run.std"],
    ] {
        let output = deadheat_in(here, words);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    std::fs::read_to_string(here.join("run.std")).unwrap()
}

/// The races of a trace by happens-before: the lines of both accesses, and the variable.
fn races(directory: &Path, trace: &str) -> Vec<(u64, u64, String)> {
    let output = deadheat_in(directory, &["analyze", "--engine", "hb", "--json", trace]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{trace}: {}", stderr(&output)));
    let line = |access: &Value| {
        let place = access["loc"].as_str().unwrap();
        place.split(':').nth(1).unwrap().parse().unwrap()
    };
    let races = report["races"].as_array().unwrap().iter();
    let races = races.map(|race| {
        let variable = race["variable"].as_str().unwrap();
        let (first, second): (u64, u64) = (line(&race["first"]), line(&race["second"]));
        (first.min(second), first.max(second), variable.to_string())
    });
    races.collect()
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("program")).collect();
    names.sort();
    names
}

#[test]
fn what_a_killed_program_did_is_in_its_trace() {
    let Some(here) = built(SERVER) else { return };
    let here = here.path();
    let output = deadheat_in(
        here,
        &["record", "-o", "run.dht", "--", "./program", "kill"],
    );
    assert_eq!(output.status.code(), Some(128 + 9), "{}", stderr(&output));
    assert_eq!(races(here, "run.dht"), [(11, 11, "raced".to_string())]);
    // All of it: a thread has counted to a thousand.
    let output = deadheat_in(here, &["stats", "--json", "run.dht"]);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(stats["events"].as_u64().unwrap() > 2000, "{stats}");
    assert_eq!(files(here), ["run.dht"]);
}

/// Two threads write parts of one object on main's stack: neither waits for the other because of that.
#[test]
fn a_race_on_another_threads_stack_is_predicted() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; int balance, audited, deposits; };
static void *deposit(void *argument) {
  struct account *account = argument;
  account->balance = 100;
  pthread_mutex_lock(&account->lock);
  account->deposits = 1;
  pthread_mutex_unlock(&account->lock);
  return 0;
}
static void *audit(void *argument) {
  struct account *account = argument;
  usleep(20000);
  pthread_mutex_lock(&account->lock);
  account->audited = 1;
  pthread_mutex_unlock(&account->lock);
  account->balance = 0;
  return 0;
}
int main(void) {
  struct account account = {PTHREAD_MUTEX_INITIALIZER};
  pthread_t a, b;
  pthread_create(&a, 0, deposit, &account);
  pthread_create(&b, 0, audit, &account);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return account.balance;
}
"#;
    let Some(here) = built(source) else { return };
    let output = deadheat_in(here.path(), &["run", "--predict", "./program"]);
    let said = stderr(&output);
    assert!(said.contains("1 race in another order"), "{said}");
    assert!(
        said.contains("program.c:7") && said.contains("account->balance = 0"),
        "{said}"
    );
}

/// A pool: which thread takes which work is up to the schedule, and `run` and `run --predict` are two runs. Nothing is said
/// of the program that only one run shows.
#[test]
fn a_prediction_says_that_it_is_about_one_run_and_what_it_has_taken_as_fixed() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static int left = 6, done[6], ends[2];
static void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&queue);
    int mine = --left;
    pthread_mutex_unlock(&queue);
    if (mine < 0) { return unused; }
    done[mine] = 1;
    usleep(1000);
  }
}
int main(void) {
  pthread_t a, b;
  if (pipe(ends)) { return 1; }
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"#;
    let Some(here) = built(source) else { return };
    let output = deadheat_in(here.path(), &["run", "--predict", "./program"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for part in [
        "no other order of what its threads did in this one run has a race",
        "if each read sees what it saw",
        "input and output, pauses and who took which work are as they were",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// The audit has read what the notice wrote, and nothing orders the two: in the order that shows the race of the balance, the
/// notice comes first.
#[test]
fn a_prediction_that_needs_what_a_racing_read_saw_says_so() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int balance, notice, audited, deposits, seen;
static void *deposit(void *unused) {
  balance = 100;
  pthread_mutex_lock(&lock);
  deposits = 1;
  pthread_mutex_unlock(&lock);
  return unused;
}
static void *notify(void *unused) {
  usleep(40000);
  notice = 1;
  return unused;
}
static void *audit(void *unused) {
  usleep(80000);
  WHAT;
  pthread_mutex_lock(&lock);
  audited = 1;
  pthread_mutex_unlock(&lock);
  balance = 0;
  return unused;
}
int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, deposit, 0);
  pthread_create(&b, 0, notify, 0);
  pthread_create(&c, 0, audit, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return 0;
}
"#;
    let Some(here) = built(&source.replace("WHAT", "seen = notice")) else {
        return;
    };
    let predict = ["run", "--predict", "--json=report.json", "./program"];
    let said = stderr(&deadheat_in(here.path(), &predict));
    assert!(said.contains("1 race in this run"), "{said}");
    assert!(said.contains("1 more race in another order"), "{said}");
    let line = "in the order that shows it, `notice` is read at program.c:20";
    assert!(said.contains(line), "{said}");
    assert!(
        said.contains("1 only if what a racing read saw is what was recorded"),
        "{said}"
    );
    let report = std::fs::read(here.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(
        report["predicted"][0]["rests_on"]["variable"], "notice",
        "{report}"
    );
    // Without the read it rests on nothing.
    let Some(here) = built(&source.replace("WHAT", "seen = 1")) else {
        return;
    };
    let said = stderr(&deadheat_in(here.path(), &predict));
    assert!(said.contains("1 race in another order"), "{said}");
    assert!(
        !said.contains("rests on") && !said.contains("racing read"),
        "{said}"
    );
}

/// Whoever waits without asking for a condition goes on whenever the wait ends; another order of sections alone wakes nobody.
#[test]
fn a_prediction_that_may_need_a_spurious_wake_up_says_so() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t told = PTHREAD_COND_INITIALIZER;
int x;
static void *waiter(void *unused) {
  pthread_mutex_lock(&lock);
  WAIT;
  pthread_mutex_unlock(&lock);
  x = 2;
  return unused;
}
static void *signaller(void *unused) {
  usleep(50000);
  x = 1;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&told);
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, waiter, 0);
  pthread_create(&b, 0, signaller, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"#;
    let said = |wait: &str| {
        let here = built(&source.replace("WAIT", wait))?;
        Some(stderr(&deadheat_in(
            here.path(),
            &["run", "--predict", "./program"],
        )))
    };
    let Some(waits) = said("pthread_cond_wait(&told, &lock)") else {
        return;
    };
    assert!(waits.contains("1 race in another order"), "{waits}");
    let note =
        "it may need a spurious wake-up: in the order that shows it, the wait at program.c:9";
    assert!(waits.contains(note), "{waits}");
    let sleeps = said("pthread_mutex_unlock(&lock); usleep(100000); pthread_mutex_lock(&lock)");
    let sleeps = sleeps.unwrap_or_default();
    assert!(sleeps.contains("1 race in another order"), "{sleeps}");
    assert!(!sleeps.contains("spurious"), "{sleeps}");
}

/// What a call fills in is written by it: sections that hand it on keep their order.
#[test]
fn what_calls_fill_in_is_not_used_before_they_have_done_so() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
int ends[2];
int data;
pthread_t handle;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *idle(void *unused) { return unused; }
static void *opens(void *unused) {
  data = 1;
  pthread_mutex_lock(&lock);
  if (pipe(ends)) _exit(1);
  pthread_create(&handle, 0, idle, 0);
  pthread_mutex_unlock(&lock);
  return unused;
}
static void *uses(void *unused) {
  for (int open = 0; !open; usleep(1000)) {
    pthread_mutex_lock(&lock);
    open = ends[1] != 0;
    pthread_mutex_unlock(&lock);
  }
  data = 2;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, opens, 0);
  pthread_create(&b, 0, uses, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(handle, 0);
}
"#;
    let Some(here) = built(source) else { return };
    let output = deadheat_in(here.path(), &["run", "--predict", "./program"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Accesses fill many buffers, which are packed: none is lost or changed.
#[test]
fn a_trace_has_every_access_in_its_order() {
    let source = r#"
#include <pthread.h>
enum { N = 20000 };
static int cells[2][N];
static volatile long mask = 32767;
static void *fill(void *argument) {
  int *mine = cells[(long)argument];
  // Which elements come is not known before the loop begins.
  long all = mask;
  for (int i = 0; i < N; i++) mine[i & all] = i;
  for (int i = N - 1; i > 0; i -= 3) mine[i & all] = mine[i / 2 & all] + 1;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, fill, (void *)0);
  pthread_create(&b, 0, fill, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"#;
    let Some(here) = built(source) else { return };
    let text = recorded_text(here.path());
    for (thread, row) in [("T1", 0), ("T2", 1)] {
        let cell = |index: usize| format!("cells[{row}][{index}]");
        let filled = (0..20_000).map(|index| format!("w({})", cell(index)));
        let mixed = (1..20_000).rev().step_by(3).flat_map(|index| {
            let (from, to) = (cell(index / 2), cell(index));
            [format!("r({from})"), format!("w({to})")]
        });
        let mask = std::iter::once("r(mask)".to_string());
        let expected: Vec<String> = mask.chain(filled).chain(mixed).collect();
        let deeds = text.lines().filter_map(|line| {
            let (who, rest) = line.split_once('|')?;
            (who == thread).then(|| rest.split_once('|').unwrap().0)
        });
        assert!(
            deeds.eq(expected.iter().map(String::as_str)),
            "{thread} did something else"
        );
    }
}

/// The program may not make any file longer, and neither may the runtime in it.
#[test]
fn a_program_that_may_not_write_files_runs_on_and_a_recording_says_what_is_missing() {
    let source = r#"
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
int x;
void *add(void *unused) {
  x++;
  return unused;
}
int main(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return write(1, "done\n", 5) != 5;
}
"#;
    let Some(here) = built(source) else { return };
    let run = |words: &[&str]| {
        let output = deadheat_in(here.path(), words);
        assert_eq!(output.stdout, b"done\n", "{words:?}: {}", stderr(&output));
        (output.status.code().unwrap(), stderr(&output))
    };
    let (status, said) = run(&["run", "./program"]);
    assert_eq!(status, 66, "{said}");
    let (_, said) = run(&["run", "--predict", "./program"]);
    assert!(
        said.contains("warning: the recording ends before the program did"),
        "{said}"
    );
    assert!(
        said.contains("there was no room for everything (--limit, a full disk"),
        "{said}"
    );
    assert!(!said.contains("no race in this run"), "{said}");
    assert!(!said.contains("no other order"), "{said}");
    let (_, said) = run(&["record", "-o", "run.dht", "./program"]);
    assert!(said.contains("ends before the program did"), "{said}");
}

#[test]
fn an_interrupted_server_ends_with_the_report() {
    let Some(here) = built(SERVER) else { return };
    let here = here.path();
    let mut run = command(&["run"]);
    run.args(["--predict", "--json=report.json", "--", "./program"]);
    run.current_dir(here)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut run = run.spawn().unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(run.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let interrupt = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let start = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = run.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    assert!(
        text.contains("can write `raced` at the same time"),
        "{text}"
    );
    let report = std::fs::read(here.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["races"][0]["variable"], "raced");
    assert_eq!(report["races"][0]["first"]["function"], "serve");
}

#[test]
fn a_time_limit_ends_a_server_and_what_it_did_is_reported_and_recorded() {
    let Some(here) = built(SERVER) else { return };
    let here = here.path();
    let limit = ["--timeout=1", "--json=report.json", "--", "./program"];
    let output = deadheat_in(here, &[&["run"][..], &limit].concat());
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let report = std::fs::read(here.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["races"][0]["variable"], "raced");
    let limit = ["--timeout=1", "-o", "run.dht", "--", "./program"];
    let output = deadheat_in(here, &[&["record"][..], &limit].concat());
    assert_eq!(output.status.code(), Some(128 + 15), "{}", stderr(&output));
    assert_eq!(races(here, "run.dht"), [(11, 11, "raced".to_string())]);
}

#[test]
fn a_recording_without_room_says_so_and_is_sound_as_far_as_it_goes() {
    let source = r#"
#include <pthread.h>
#include <stdlib.h>
int raced;
volatile int mine[2][1024];
pthread_barrier_t both;
void *work(void *own) {
  raced = 1;
  pthread_barrier_wait(&both);
  for (int i = 0; i < 2000000; i++) { ((volatile int *)own)[(unsigned)i * i % 1021] = i; }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, work, (void *)mine[0]);
  pthread_create(&b, 0, work, (void *)mine[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 3;
}
"#;
    let Some(here) = built(source) else { return };
    let here = here.path();
    let output = deadheat_in(
        here,
        &["record", "--limit", "4M", "-o", "run.dht", "./program"],
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("ends before the program did"),
        "{}",
        stderr(&output)
    );
    assert_eq!(races(here, "run.dht"), [(8, 8, "raced".to_string())]);
    let output = deadheat_in(here, &["analyze", "--json", "run.dht"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false, "{report}");
    // With room for all of it nothing is missing.
    let output = deadheat_in(here, &["record", "-o", "run.dht", "./program"]);
    assert!(
        !stderr(&output).contains("ends before"),
        "{}",
        stderr(&output)
    );
    let output = deadheat_in(here, &["stats", "--json", "run.dht"]);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(stats["events"].as_u64().unwrap() >= 4_000_000, "{stats}");
}

#[test]
fn a_child_process_with_threads_has_a_trace_of_its_own() {
    let source = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int in_parent, in_child;
void *parents(void *unused) { in_parent = 1; return unused; }
void *childs(void *unused) { in_child = 1; return unused; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, parents, 0);
  in_parent = 2;
  pthread_join(a, 0);
  if (!fork()) {
    pthread_create(&a, 0, childs, 0);
    in_child = 2;
    pthread_join(a, 0);
    _exit(0);
  }
  wait(0);
  if (!fork()) { _exit(0); }
  wait(0);
}
"#;
    let Some(here) = built(source) else { return };
    let here = here.path();
    let output = deadheat_in(here, &["record", "-o", "run.dht", "./program"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let traces = files(here);
    assert_eq!(traces.len(), 2, "{traces:?}");
    assert_eq!(races(here, &traces[1]), [(6, 11, "in_parent".to_string())]);
    assert_eq!(races(here, &traces[0]), [(7, 15, "in_child".to_string())]);
}

#[test]
fn memory_that_is_used_again_is_another_variable() {
    let source = r#"
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *work(void *unused) {
  for (int i = 0; i < 50; i++) {
    volatile int *block = malloc(40);
    block[3] = i;
    free((void *)block);
  }
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_join(a, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(b, 0);
}
"#;
    let Some(here) = built(source) else { return };
    let here = here.path();
    let text = recorded_text(here);
    let mut blocks: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("[3])") && line.contains("program.c:8"))
        .map(|line| {
            let (_, number) = line.split_once("heap int#").unwrap();
            number.split('[').next().unwrap()
        })
        .collect();
    assert_eq!(blocks.len(), 100, "{text}");
    blocks.sort();
    blocks.dedup();
    assert_eq!(blocks.len(), 100, "a block had the number of another");
}

/// What an atomic counter gave each thread, and a counter under a lock, shows in which order they came.
#[test]
fn a_trace_has_the_order_that_happened() {
    let source = r#"
#include <pthread.h>
#include <stdatomic.h>
enum { THREADS = 4, TIMES = 3000, ALL = THREADS * TIMES };
atomic_int counter;
int under_lock;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char by_atomic[ALL], by_lock[ALL];
void *count(void *unused) {
  for (int i = 0; i < TIMES; i++) {
    by_atomic[atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed)] = 1;
    pthread_mutex_lock(&lock);
    by_lock[under_lock++] = 1;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) { pthread_create(&threads[i], 0, count, 0); }
  for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], 0); }
}
"#;
    let Some(here) = built(source) else { return };
    let here = here.path();
    let text = recorded_text(here);
    let mut updates = 0;
    let mut given = std::collections::HashMap::new();
    let mut locked = 0;
    for line in text.lines() {
        let (thread, action) = line.split_once('|').unwrap();
        let action = action.split('|').next().unwrap();
        let index = |array: &str| -> Option<usize> {
            let rest = action.strip_prefix("w(")?.strip_prefix(array)?;
            rest.strip_prefix('[')?.strip_suffix("])")?.parse().ok()
        };
        if action.contains("(counter)") {
            given.insert(thread, updates);
            updates += 1;
        } else if let Some(index) = index("by_atomic") {
            assert_eq!(given[thread], index, "{line}");
        } else if let Some(index) = index("by_lock") {
            assert_eq!(locked, index, "{line}");
            locked += 1;
        }
    }
    assert_eq!((updates, locked), (12_000, 12_000));
    assert_eq!(races(here, "run.dht"), []);
}

#[test]
fn what_was_not_built_for_it_is_run_and_not_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let output = deadheat_in(here, &["record", "-o", "run.dht", "--", "false"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("`false` was not built by"),
        "{}",
        stderr(&output)
    );
    let output = deadheat_in(
        here,
        &["record", "-o", "run.dht", "--", "./no-such-program"],
    );
    assert_eq!(output.status.code(), Some(2));
    let output = deadheat_in(
        here,
        &["record", "-o", "no/such/directory/run.dht", "--", "true"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("no/such/directory"),
        "{}",
        stderr(&output)
    );
    assert!(files(here).is_empty());
}
