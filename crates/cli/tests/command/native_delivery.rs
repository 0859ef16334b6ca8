//! What a program under test finds arrives, whatever the program does to its descriptors, its user, its root, its environment
//! and its system calls; and what was not checked is no success.
//! Skipped, with a message, where there is no C compiler.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{command, deadheat, deadheat_in, directory, stderr};

/// Does what the arguments say, one after the other, and then races.
const ROGUE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int shared;
static void *worker(void *unused) { shared = 1; return unused; }
static void race(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  shared = 2;
  pthread_join(a, 0);
}
/* In a child; its status is ours. */
static void in_child(void) {
  pid_t child = fork();
  if (child == 0) return;
  int status;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}
static void refuse(int call) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) exit(98);
}
int main(int count, char **words) {
  char *none[] = {0};
  for (int at = 1; at < count; at++) {
    char *word = words[at];
    if (!strcmp(word, "fork")) in_child();
    else if (!strcmp(word, "setuid")) { if (setgid(65534) || setuid(65534)) return 97; }
    else if (!strcmp(word, "chroot")) { if (chroot("/var") || chdir("/")) return 96; }
    else if (!strcmp(word, "refuse-open")) { refuse(SYS_openat); refuse(SYS_open); }
    else if (!strcmp(word, "close")) syscall(SYS_close_range, 3, ~0u, 0);
    else if (!strcmp(word, "take")) {
      int file = open("taken", O_CREAT | O_RDWR | O_TRUNC, 0600);
      for (int to = file + 1; to < 1024; to++) if (fcntl(to, F_GETFD) >= 0) dup2(file, to);
    }
    else if (!strcmp(word, "small-files")) {
      struct rlimit limit = {0, 0};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    else if (!strcmp(word, "small-memory")) {
      struct rlimit limit = {1 << 30, 1 << 30};
      setrlimit(RLIMIT_AS, &limit);
    }
    else if (!strcmp(word, "umask")) umask(0277);
    else if (!strcmp(word, "exec")) { words[at] = words[0]; execve(words[0], words + at, none); return 95; }
    else if (!strcmp(word, "spawn")) {
      pid_t child;
      int status;
      words[at] = words[0];
      if (posix_spawn(&child, words[0], 0, 0, words + at, none)) return 94;
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    }
    else if (!strcmp(word, "killed")) { if (fork() == 0) raise(SIGKILL); wait(0); }
    else if (!strcmp(word, "clean")) return 0;
    else if (!strcmp(word, "abort")) abort();
  }
  race();
}
"#;

/// Not built for checking: closes all it has, and runs the arguments without an environment.
const STRANGER: &str = r#"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  char *none[] = {0};
  syscall(SYS_close_range, 3, ~0u, 0);
  execve(words[1], words + 1, none);
  return 93;
}
"#;

/// A directory with both programs; none where nothing can be compiled.
fn programs() -> Option<tempfile::TempDir> {
    let here = directory(&[("rogue.c", ROGUE), ("stranger.c", STRANGER)])?;
    let built = deadheat_in(
        here.path(),
        &[
            "cc",
            "-O1",
            "-pthread",
            "-include",
            "sys/stat.h",
            "rogue.c",
            "-o",
            "rogue",
        ],
    );
    assert!(built.status.success(), "{}", stderr(&built));
    let plain = Command::new("cc")
        .args(["stranger.c", "-o", "stranger"])
        .current_dir(here.path())
        .output()
        .unwrap();
    assert!(plain.status.success(), "{}", stderr(&plain));
    // Another user is to run them.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(here.path(), open).unwrap();
    Some(here)
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output().unwrap();
    user.stdout == b"0\n"
}

fn rogue(here: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    let program = format!("{}/rogue", here.display());
    deadheat_in(here, &[&["run", "--", &program][..], &words].concat())
}

#[test]
fn a_race_arrives_whatever_the_program_has_done_before() {
    let Some(here) = programs() else { return };
    let here = here.path();
    for words in [
        "fork",
        "close",
        "close fork",
        "take",
        "take fork",
        "exec",
        "close exec",
        "take exec",
        "close exec close exec",
        "fork close exec",
        "spawn",
        "close spawn",
        "refuse-open fork",
        "small-files",
        "small-files fork",
        "small-files exec",
        "umask fork",
    ] {
        let output = rogue(here, words);
        assert_eq!(
            output.status.code(),
            Some(66),
            "{words}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("`shared`"),
            "{words}: {}",
            stderr(&output)
        );
        if words.contains("take") {
            let taken = std::fs::read(here.join("taken")).unwrap();
            assert_eq!(String::from_utf8_lossy(&taken), "", "{words}");
        }
    }
}

#[test]
fn a_race_arrives_from_another_user_and_from_another_root() {
    let Some(here) = programs().filter(|_| is_root()) else {
        println!("skipped: needs root");
        return;
    };
    for words in [
        "setuid",
        "setuid fork",
        "chroot fork",
        "setuid fork exec",
        "setuid take fork",
        "chroot setuid fork",
    ] {
        let output = rogue(here.path(), words);
        assert_eq!(
            output.status.code(),
            Some(66),
            "{words}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("`shared`"),
            "{words}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_race_arrives_through_programs_that_were_not_built_for_checking() {
    let Some(here) = programs() else { return };
    let here = here.path();
    for words in [
        &["env", "-i", "./rogue"][..],
        &["./stranger", "./rogue"],
        &["./stranger", "/bin/sh", "-c", "./rogue; ./rogue clean"],
        &["sh", "-c", "TMPDIR=/nowhere ./rogue"],
    ] {
        let output = deadheat_in(here, &[&["run", "--"], words].concat());
        assert_eq!(
            output.status.code(),
            Some(66),
            "{words:?}: {}",
            stderr(&output)
        );
    }
    if is_root() && Command::new("setpriv").arg("--version").output().is_ok() {
        let words = [
            "run",
            "--",
            "setpriv",
            "--reuid=65534",
            "--clear-groups",
            "./rogue",
        ];
        let output = deadheat_in(here, &words);
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    }
}

#[test]
fn no_directory_for_temporary_files_is_needed() {
    let Some(here) = programs() else { return };
    let mut run = command(&["run", "--", "./rogue", "fork"]);
    let output = run
        .env("TMPDIR", "/nowhere")
        .current_dir(here.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
}

#[test]
fn each_of_many_processes_is_counted_with_its_threads() {
    const MANY: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *worker(void *unused) { return unused; }
int main(void) {
  pthread_t before;
  pthread_create(&before, 0, worker, 0);
  pthread_join(before, 0);
  for (int child = 0; child < 22; child++)
    if (fork() == 0) {
      pthread_t threads[3];
      for (int at = 0; at < 3; at++) pthread_create(&threads[at], 0, worker, 0);
      for (int at = 0; at < 3; at++) pthread_join(threads[at], 0);
      return 0;
    }
  while (wait(0) > 0) continue;
}
"#;
    let Some(here) = directory(&[("many.c", MANY)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(here, &["cc", "-O1", "-pthread", "many.c", "-o", "many"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let output = deadheat_in(here, &["run", "./many"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = "no race in this run (90 threads in 23 processes)";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
}

#[test]
fn a_child_that_was_killed_is_said_and_one_that_reports_nothing_is_named() {
    let Some(here) = programs() else { return };
    let here = here.path();
    let killed = rogue(here, "killed clean");
    assert_eq!(killed.status.code(), Some(0), "{}", stderr(&killed));
    assert!(
        stderr(&killed).contains("before everything was counted"),
        "{}",
        stderr(&killed)
    );
    if !is_root() {
        return println!("skipped: needs root");
    }
    // Neither inherited, nor allowed to look.
    for words in ["fork setuid close exec clean", "setuid close spawn clean"] {
        let silent = rogue(here, words);
        let told = stderr(&silent);
        assert_eq!(silent.status.code(), Some(2), "{words}: {told}");
        assert!(
            told.contains("/rogue` was built for checking, but has not reported"),
            "{words}: {told}"
        );
        assert!(told.contains("no race in what was seen"), "{words}: {told}");
    }
}

#[test]
fn a_program_whose_address_space_is_limited_is_no_success_and_the_reason_is_true() {
    let Some(here) = programs() else { return };
    let here = here.path();
    let script = "ulimit -v 2000000; exec ./rogue clean";
    let program = rogue(here, "small-memory exec clean");
    let shell = deadheat_in(here, &["run", "--", "sh", "-c", script]);
    let predicted = deadheat_in(here, &["run", "--predict", "--", "sh", "-c", script]);
    let recorded = deadheat_in(
        here,
        &["record", "--output=r.dht", "--", "sh", "-c", script],
    );
    for output in [program, shell, predicted, recorded] {
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains("because its address space is limited"),
            "{told}"
        );
        assert!(!told.contains("was not built"), "{told}");
    }
    let allowed = deadheat_in(
        here,
        &["run", "--allow-unchecked", "--", "sh", "-c", script],
    );
    assert_eq!(allowed.status.code(), Some(0), "{}", stderr(&allowed));
    assert!(
        stderr(&allowed).contains("because its address space"),
        "{}",
        stderr(&allowed)
    );
}

#[test]
fn a_program_that_was_not_built_for_it_is_no_success_and_reports_are_written() {
    let here = tempfile::tempdir().unwrap();
    let report = here.path().join("r.json");
    let sarif = here.path().join("r.sarif");
    let into = [
        format!("--json={}", report.display()),
        format!("--sarif={}", sarif.display()),
    ];
    let run = |options: &[&str]| {
        let program = ["--", "sh", "-c", "exit 3"];
        deadheat(&[&["run"], options, &[&into[0], &into[1]], &program].concat())
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let told = "nothing was checked; `sh` was not built by `deadheat cc` or `deadheat c++`";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(
        (&json["scope"], &json["threads"]),
        (&"nothing".into(), &0.into())
    );
    assert!(
        json["guarantee"].as_str().unwrap().starts_with(told),
        "{json}"
    );
    let sarif: Value = serde_json::from_slice(&std::fs::read(&sarif).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 0);
    let quiet = run(&["--quiet"]);
    assert_eq!(quiet.status.code(), Some(2));
    assert!(stderr(&quiet).contains(told), "{}", stderr(&quiet));
    assert_eq!(run(&["--allow-unchecked"]).status.code(), Some(3));
    for command in [&["run", "--predict"][..], &["record", "--output=/dev/null"]] {
        let output = deadheat(&[command, &["--", "true"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("`true` was not built by"),
            "{}",
            stderr(&output)
        );
        let says_more = stderr(&output).contains("no race");
        assert!(!says_more, "{}", stderr(&output));
    }
}

#[test]
fn the_program_ignores_the_signals_that_deadheat_run_was_started_to_ignore() {
    const ASKS: &str = "#include <signal.h>\nint main(void) { return signal(SIGHUP, SIG_DFL) == SIG_IGN ? 5 : 6; }\n";
    let Some(here) = directory(&[("asks.c", ASKS)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(here, &["cc", "asks.c", "-o", "asks"]);
    assert!(built.status.success(), "{}", stderr(&built));
    for (shell, status) in [("trap '' HUP", 5), ("true", 6)] {
        let script = format!(
            "{shell}; exec {} run -- ./asks",
            env!("CARGO_BIN_EXE_deadheat")
        );
        let mut command = Command::new("sh");
        let output = command
            .args(["-c", &script])
            .current_dir(here)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{shell}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn an_orphan_has_the_parent_that_it_has_without_deadheat_run() {
    const ORPHAN: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int checked[2];
  char byte = 0;
  pid_t parent = getpid();
  if (getppid() == 1 || pipe(checked)) return 9;
  if (fork() == 0) {
    if (getppid() != parent || write(checked[1], &byte, 1) != 1) return 9;
    for (int n = 0; getppid() != 1; n++) {
      if (n == 600) return 9;
      usleep(1000);
    }
    FILE *file = fopen("orphaned", "w");
    return !file || fclose(file);
  }
  return read(checked[0], &byte, 1) != 1;
}
"#;
    let Some(here) = directory(&[("orphan.c", ORPHAN)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(here, &["cc", "orphan.c", "-o", "orphan"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let output = deadheat_in(here, &["run", "./orphan"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(here.join("orphaned").is_file(), "{}", stderr(&output));
}

#[test]
fn a_report_cannot_replace_its_own_baseline() {
    let Some(here) = programs() else { return };
    let here = here.path();
    let run =
        |options: &[&str]| deadheat_in(here, &[&["run"], options, &["--", "./rogue"]].concat());
    assert_eq!(run(&["--json=b.json"]).status.code(), Some(66));
    let before = std::fs::read(here.join("b.json")).unwrap();
    for _ in 0..2 {
        let output = run(&["--baseline", "b.json", "--json=./b.json"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("`--json` would replace the baseline"));
        assert_eq!(std::fs::read(here.join("b.json")).unwrap(), before);
    }
    assert_eq!(
        run(&["--baseline", "b.json", "--json=c.json"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_program_with_the_rights_of_another_user_takes_no_orders_and_is_named() {
    let Some(here) = programs().filter(|_| is_root()) else {
        return println!("skipped: needs root");
    };
    let here = here.path();
    let program = here.join("rogue");
    std::os::unix::fs::chown(&program, Some(65534), None).unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    std::fs::set_permissions(&program, rights).unwrap();
    let alone = Command::new(&program)
        .env("DEADHEAT_OPTIONS", "exitcode=5:log_path=log")
        .current_dir(here)
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(66), "{}", stderr(&alone));
    assert!(stderr(&alone).contains("there was a data race"));
    let run = deadheat_in(here, &["run", "./rogue", "clean"]);
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    assert!(
        stderr(&run).contains("has not reported what it did"),
        "{}",
        stderr(&run)
    );
}

#[test]
fn a_program_that_aborts_was_cut_short() {
    let Some(here) = programs() else { return };
    for options in [&[][..], &["--predict"]] {
        let words = [&["run"], options, &["--", "./rogue", "abort"]].concat();
        let output = deadheat_in(here.path(), &words);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(128 + 6), "{told}");
        assert!(told.contains("`abort` cut the program short"), "{told}");
    }
}

/// Two threads take turns, and one of them does something to the recording in between.
const RECORDED: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long table[1000];
static void *fill(void *what) {
  for (int round = 0; round < 200; round++) {
    pthread_mutex_lock(&lock);
    for (int at = 0; at < 1000; at++) table[(at * 7) % 1000] += at ^ round;
    pthread_mutex_unlock(&lock);
    if (round == 100 && what) system(what);
  }
  return 0;
}
int main(int count, char **words) {
  pthread_t a, b;
  pthread_create(&a, 0, fill, words[1]);
  pthread_create(&b, 0, fill, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  puts("done");
}
"#;

#[test]
fn a_recording_that_is_cut_ends_no_program_and_proves_nothing() {
    let Some(here) = directory(&[("recorded.c", RECORDED)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(
        here,
        &["cc", "-O1", "-pthread", "recorded.c", "-o", "recorded"],
    );
    assert!(built.status.success(), "{}", stderr(&built));
    let run = |options: &[&str], what: &str| {
        let mut command = command(options);
        let command = command.args(["--", "./recorded", what]);
        let output = command
            .env("TMPDIR", here)
            .current_dir(here)
            .output()
            .unwrap();
        assert!(
            output.stdout.starts_with(b"done"),
            "{options:?} {what}: {}",
            stderr(&output)
        );
        output
    };
    for options in [&["run", "--predict"][..], &["record", "--output=r.dht"]] {
        let whole = run(options, "true");
        assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
        for what in [
            "find . -name 'tape.*' | while read file; do : > $file; done",
            "find . -name 'tape.*' -exec truncate -s 10000 {} +",
            "rm -r deadheat-*",
        ] {
            let output = run(options, what);
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{what}: {told}");
            let cut = ["was cut while the program ran", "cannot be read"];
            assert!(cut.iter().any(|cut| told.contains(cut)), "{what}: {told}");
            assert!(!told.contains("no race"), "{what}: {told}");
        }
    }
}

#[test]
fn a_recording_arrives_whatever_the_program_does_to_its_descriptors() {
    let Some(here) = programs() else { return };
    let here = here.path();
    for words in [
        &["take"][..],
        &["take", "fork"],
        &["close"],
        &["close", "exec"],
        &["umask", "fork"],
    ] {
        let words = [&["run", "--predict", "--", "./rogue"], words].concat();
        let output = deadheat_in(here, &words);
        assert_eq!(
            output.status.code(),
            Some(66),
            "{words:?}: {}",
            stderr(&output)
        );
        if let Ok(taken) = std::fs::read(here.join("taken")) {
            assert!(taken.is_empty(), "{words:?}");
        }
    }
}

#[test]
fn a_stuck_program_says_who_waits_where_and_for_whom() {
    const STUCK: &str = r#"#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
sem_t never;
pthread_barrier_t both;
void *first(void *unused) {
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&b);
  return unused;
}
void *second(void *unused) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&a);
  return unused;
}
void *third(void *unused) { sem_wait(&never); return unused; }
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&both, 0, 2);
  sem_init(&never, 0, 0);
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_create(&threads[2], 0, third, 0);
  for (int at = 0; at < 3; at++) pthread_join(threads[at], 0);
}
"#;
    let Some(here) = directory(&[("stuck.c", STUCK)]) else {
        return;
    };
    let here = here.path();
    let built = deadheat_in(here, &["cc", "-O1", "-pthread", "stuck.c", "-o", "stuck"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let words = ["run", "--timeout=1", "--json=r.json", "--", "./stuck"];
    let output = deadheat_in(here, &words);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(128 + 15), "{told}");
    let expected = [
        "main waited at stuck.c:27 for T1 to end",
        "T1 waited at stuck.c:10 for `b`, which T2 held",
        "T2 waited at stuck.c:16 for `a`, which T1 held",
        "T3 waited at stuck.c:19 for the semaphore `never`",
    ];
    assert!(told.contains("when the time was up:\n"), "{told}");
    assert!(told.contains("this run (4 threads)"), "{told}");
    for line in expected {
        assert!(told.contains(&format!("  {line}\n")), "{line}: {told}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(here.join("r.json")).unwrap()).unwrap();
    assert_eq!(json["waiting"].as_array().unwrap().len(), 4, "{json}");
    assert_eq!(json["waiting"][1], expected[1]);
}
