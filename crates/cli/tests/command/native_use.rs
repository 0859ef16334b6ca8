//! `deadheat cc` and `deadheat run` as people use them: in build systems, with libraries, signals and statuses.
//! Skipped, with a message, where there is no C compiler.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{command, deadheat_in, directory, stderr, stdout};

const RACY: &str = r#"
#include <pthread.h>
#include <stdlib.h>
int shared_counter;
static inline void add(int n) { shared_counter += n; }
void *worker(void *unused) { add(1); return unused; }
int main(int count, char **arguments) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  add(2);
  pthread_join(a, 0);
  return count > 1 ? atoi(arguments[1]) : 0;
}
"#;

fn run(directory: &Path, program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

#[track_caller]
fn well(output: Output) -> Output {
    assert!(
        output.status.success(),
        "{} {}",
        output.status,
        stderr(&output)
    );
    output
}

#[test]
fn the_status_is_the_programs_or_66() {
    let Some(here) = directory(&[("racy.c", RACY)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O1", "racy.c", "-o", "racy", "-pthread"],
    ));
    let status = |arguments: &[&str]| deadheat_in(here, arguments).status.code();
    assert_eq!(status(&["run", "./racy", "7"]), Some(66));
    assert_eq!(
        status(&["run", "--error-exitcode", "9", "--", "./racy", "7"]),
        Some(9)
    );
    assert_eq!(
        status(&["run", "--error-exitcode=0", "--", "./racy", "7"]),
        Some(7)
    );
    assert_eq!(status(&["run", "./no-such-program"]), Some(2));
    // Without `deadheat run` the program fails as well, and says in one line how to see more.
    let alone = run(here, "./racy", &["7"]);
    assert_eq!(alone.status.code(), Some(66));
    assert_eq!(stderr(&alone).lines().count(), 1, "{}", stderr(&alone));
    assert!(
        stderr(&alone).contains("deadheat run"),
        "{}",
        stderr(&alone)
    );
}

/// Races, and ends in one of several ways.
const ENDS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int x, y;
void *worker(void *unused) { x = 1; y = 1; return unused; }
#ifdef DEFAULTS
const char *__tsan_default_options(void) { return "exitcode=7:history_size=3"; }
#endif
int main(int count, char **arguments) {
  int status = 0;
  if (**++arguments == 'f' && fork()) return wait(&status), WEXITSTATUS(status);
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  y = 2;
  pthread_join(a, 0);
  printf("printed");
  switch (**arguments) {
  case 'e': exit(3);
  case '_': fflush(stdout); _exit(3);
  case 'q': fflush(stdout); quick_exit(3);
  }
  return 3;
}
"#;

#[test]
fn a_racy_program_without_deadheat_run_fails_as_under_thread_sanitizer() {
    let Some(here) = directory(&[("ends.c", ENDS), ("known", "race:^main$\n")]) else {
        return;
    };
    let here = here.path();
    let build = ["cc", "-O1", "-pthread", "ends.c", "-o"];
    well(deadheat_in(here, &[&build[..], &["ends"]].concat()));
    well(deadheat_in(
        here,
        &[&build[..], &["own", "-DDEFAULTS"]].concat(),
    ));
    let ends = |program: &str, way: &str, options: &[(&str, &str)]| {
        let mut command = Command::new(format!("./{program}"));
        let command = command.arg(way).current_dir(here);
        command.envs(options.iter().copied()).output().unwrap()
    };
    let told = "deadheat: there was a data race; run it as `deadheat run -- PROGRAM` to see it\n";
    for way in ["main", "exit", "_exit", "quick", "fork"] {
        let output = ends("ends", way, &[]);
        assert_eq!(output.status.code(), Some(66), "{way}: {}", stderr(&output));
        // Once, and without a number: `run` counts what leads to one line once.
        assert_eq!(stderr(&output), told, "{way}");
        assert_eq!(stdout(&output), "printed", "{way}");
    }
    let by = |name: &'static str, options: &'static str| ends("ends", "main", &[(name, options)]);
    for name in ["TSAN_OPTIONS", "DEADHEAT_OPTIONS"] {
        assert_eq!(by(name, "exitcode=5").status.code(), Some(5));
        let kept = by(name, "exitcode=0");
        assert_eq!((kept.status.code(), &*stderr(&kept)), (Some(3), told));
        let silent = by(name, "report_bugs=0");
        assert_eq!((silent.status.code(), &*stderr(&silent)), (Some(3), ""));
        let halted = by(name, "halt_on_error=1");
        assert_eq!((halted.status.code(), &*stdout(&halted)), (Some(66), ""));
        assert_eq!(stderr(&halted), told);
        let logged = by(name, "log_path=log:atexit_sleep_ms=1,history_size=7");
        assert_eq!((logged.status.code(), &*stderr(&logged)), (Some(66), ""));
        let files = std::fs::read_dir(here)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut logs = files.filter(|path| path.to_string_lossy().contains("/log."));
        let log = logs.next().unwrap();
        let ignored = "deadheat: ignores these options: atexit_sleep_ms history_size\n";
        assert_eq!(
            std::fs::read_to_string(&log).unwrap(),
            format!("{ignored}{told}")
        );
        std::fs::remove_file(log).unwrap();
    }
    let output = ends("own", "main", &[]);
    assert_eq!(output.status.code(), Some(7));
    assert!(stderr(&output).starts_with("deadheat: ignores these options: history_size\n"));
    let both = [
        ("TSAN_OPTIONS", "exitcode=8"),
        ("DEADHEAT_OPTIONS", "exitcode=9"),
    ];
    assert_eq!(ends("own", "main", &both[..1]).status.code(), Some(8));
    assert_eq!(ends("own", "main", &both).status.code(), Some(9));
    // Under `deadheat run`, which knows the names in it, a file of suppressions is obeyed; and the program finds that command.
    let known = [("TSAN_OPTIONS", "suppressions=known:exitcode=5")];
    let mut run = command(&["run", "--", "./ends", "main"]);
    let run = run.current_dir(here).envs(known).output().unwrap();
    let commands = Path::new(env!("CARGO_BIN_EXE_deadheat")).parent().unwrap();
    let path = format!("/nowhere::{}", commands.display());
    let alone = ends("ends", "main", &[known[0], ("PATH", &path)]);
    for output in [run, alone] {
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("2 races suppressed"), "{said}");
        assert_eq!(stdout(&output), "printed");
    }
    let without = ends("ends", "main", &[known[0], ("PATH", "/nowhere")]);
    assert_eq!(without.status.code(), Some(5));
    let obeyed = told.replace('\n', ", and to have suppressions obeyed\n");
    assert_eq!(stderr(&without), obeyed);
    std::fs::write(here.join("known"), "race:^other$\n").unwrap();
    let other = ends("ends", "main", &[known[0], ("PATH", &path)]);
    assert_eq!(other.status.code(), Some(5), "{}", stderr(&other));
    assert!(stderr(&other).contains("2 races in this run"));
    // A run of its own has the status that it always had.
    let clean = "int main(void) { return 4; }\n";
    std::fs::write(here.join("ends.c"), clean).unwrap();
    well(deadheat_in(here, &[&build[..], &["clean"]].concat()));
    assert_eq!(ends("clean", "main", &[]).status.code(), Some(4));
}

#[test]
fn a_race_is_shown_in_its_source_with_inlined_calls() {
    let Some(here) = directory(&[("racy.c", RACY)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O2", "racy.c", "-o", "racy", "-pthread"],
    ));
    let output = deadheat_in(here, &["run", "--json=report.json", "./racy"]);
    let text = stderr(&output);
    assert!(
        text.contains("`shared_counter`") && text.contains("racy.c:5"),
        "{text}"
    );
    assert!(
        text.contains("static inline void add(int n) { shared_counter += n; }"),
        "{text}"
    );
    assert!(
        text.trim_end().ends_with("nothing orders its two accesses"),
        "{text}"
    );
    let report: Value =
        serde_json::from_slice(&std::fs::read(here.join("report.json")).unwrap()).unwrap();
    assert_eq!(
        (&report["engine"], &report["threads"]),
        (&"fasttrack".into(), &2.into())
    );
    let race = &report["races"][0];
    assert_eq!(race["variable"], "shared_counter");
    assert_eq!(race["created"][0]["parent"], "main");
    for access in ["first", "second"] {
        let access = &race[access];
        assert_eq!(access["function"], "add");
        assert!(
            access["loc"].as_str().unwrap().starts_with("racy.c:5"),
            "{access}"
        );
        let caller = if access["thread"] == "main" {
            "main"
        } else {
            "worker"
        };
        assert_eq!(access["stack"][1]["function"], caller, "{access}");
    }
}

#[test]
fn a_stripped_program_gives_modules_and_offsets() {
    let Some(here) = directory(&[("racy.c", RACY)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O1", "racy.c", "-o", "racy", "-pthread", "-s"],
    ));
    let output = deadheat_in(here, &["run", "./racy"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("racy+0x"), "{}", stderr(&output));
}

#[test]
fn suppressions_leave_out_what_they_name() {
    let Some(here) = directory(&[
        ("racy.c", RACY),
        ("ours", "function:^add$\n"),
        ("other", "race:elsewhere\n"),
        ("bad", "x\n"),
    ]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O1", "racy.c", "-o", "racy", "-pthread"],
    ));
    let ours = deadheat_in(here, &["run", "--suppress", "ours", "./racy"]);
    assert_eq!(ours.status.code(), Some(0));
    assert!(
        stderr(&ours).contains("no race in this run (2 threads; 1 race suppressed)"),
        "{}",
        stderr(&ours)
    );
    assert_eq!(
        deadheat_in(here, &["run", "--suppress", "other", "./racy"])
            .status
            .code(),
        Some(66)
    );
    let bad = deadheat_in(here, &["run", "--suppress", "bad", "./racy"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(
        stderr(&bad).contains("`bad`, line 1: `x` is no rule"),
        "{}",
        stderr(&bad)
    );
}

/// Two threads call `tally` of a library.
const TALLIES: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
void (*tally)(int);
void *worker(void *unused) { tally(1); return unused; }
int main(void) {
  tally = (void (*)(int))dlsym(dlopen("./libtally.so", RTLD_NOW), "tally");
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  tally(2);
  pthread_join(a, 0);
}
"#;

#[test]
fn calls_of_a_library_count_if_it_was_built_for_checking() {
    const LIBRARY: &str = "#include <string.h>\nchar total[64]; void tally(int n) { memcpy(total, \"abcdef\", n); }\n";
    let Some(here) = directory(&[("tally.c", LIBRARY), ("main.c", TALLIES)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "main.c", "-o", "prog", "-ldl", "-pthread"],
    ));
    let library = [
        "-fno-builtin",
        "-shared",
        "-fPIC",
        "tally.c",
        "-o",
        "libtally.so",
    ];
    well(run(here, "cc", &library));
    let output = deadheat_in(here, &["run", "./prog"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // A constructor that ends in a call of the runtime leaves no address of the library's behind.
    for options in [&["-O0"][..], &["-O2"]] {
        well(deadheat_in(here, &[&["cc"], options, &library].concat()));
        let output = deadheat_in(here, &["run", "./prog"]);
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    }
}

/// An allocator that keeps its blocks in order with a lock of a kind.
const ALLOCATOR: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
static char arena[1 << 24] __attribute__((aligned(16)));
static size_t used;
#if defined(MUTEX)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define TAKE pthread_mutex_lock(&lock)
#define GIVE pthread_mutex_unlock(&lock)
#elif defined(SPINLOCK)
static pthread_spinlock_t lock;
__attribute__((constructor(101))) static void begin(void) { pthread_spin_init(&lock, 0); }
#define TAKE pthread_spin_lock(&lock)
#define GIVE pthread_spin_unlock(&lock)
#elif defined(RWLOCK)
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define TAKE pthread_rwlock_wrlock(&lock)
#define GIVE pthread_rwlock_unlock(&lock)
#elif defined(SEMAPHORE)
static sem_t lock;
static int ready;
#define TAKE (ready || (ready = 1, sem_init(&lock, 0, 1)), sem_wait(&lock))
#define GIVE sem_post(&lock)
#endif
void *malloc(size_t size) {
  TAKE;
  char *block = arena + used + 16;
  *(size_t *)(block - 16) = size;
  used += (size + 31) & ~(size_t)15;
  GIVE;
  return block;
}
void free(void *block) { TAKE; GIVE; }
void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
void *realloc(void *old, size_t size) {
  void *new = malloc(size);
  size_t before = old ? ((size_t *)old)[-2] : 0;
  return memcpy(new, old, before < size ? before : size);
}
"#;

/// Who allocates learns nothing of who allocated before.
#[test]
fn the_locks_of_an_allocator_order_nothing_of_whatever_kind_they_are() {
    const ALLOCATES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int shared;
void *volatile sink;
void *worker(void *unused) { shared = 1; sink = malloc(8); return unused; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  usleep(100000);
  free(malloc(8));
  shared = 2;
  pthread_join(a, 0);
}
"#;
    let Some(here) = directory(&[("alloc.c", ALLOCATOR), ("main.c", ALLOCATES)]) else {
        return;
    };
    let here = here.path();
    for kind in ["-DMUTEX", "-DSPINLOCK", "-DRWLOCK", "-DSEMAPHORE"] {
        let library = "-O1 -fno-builtin -shared -fPIC alloc.c -o liballoc.so -pthread";
        let library: Vec<&str> = library.split(' ').chain([kind]).collect();
        well(run(here, "cc", &library));
        let program = "cc main.c -o prog -L. -lalloc -Wl,-rpath,. -pthread";
        let program: Vec<&str> = program.split(' ').collect();
        well(deadheat_in(here, &program));
        let output = deadheat_in(here, &["run", "./prog"]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(66), "{kind}: {text}");
        assert!(text.contains("`shared`"), "{kind}: {text}");
    }
}

#[test]
fn make_and_libraries() {
    const LIBRARY: &str = "int total; void tally(int n) { total += n; }\n";
    const MAKEFILE: &str = "CFLAGS = -O1 -Wall -Werror\nprog: main.o libtally.so\n\t$(CC) main.o -o $@ -ldl -pthread\n\
                            libtally.so: tally.c\n\t$(CC) $(CFLAGS) -shared -fPIC -Wl,--no-undefined $< -o $@\n";
    let Some(here) = directory(&[
        ("tally.c", LIBRARY),
        ("main.c", TALLIES),
        ("Makefile", MAKEFILE),
    ]) else {
        return;
    };
    let here = here.path();
    let cc = format!("CC={} cc", env!("CARGO_BIN_EXE_deadheat"));
    well(run(here, "make", &[&cc]));
    let output = deadheat_in(here, &["run", "./prog"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    assert!(
        text.contains("`total`") && text.contains("tally.c:1"),
        "{text}"
    );
}

#[test]
fn cmake() {
    const LISTS: &str = "cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\nfind_package(Threads REQUIRED)\n\
                         add_library(part SHARED part.cpp)\nadd_executable(prog racy.c)\n\
                         target_link_libraries(prog part Threads::Threads)\n";
    const PART: &str = "extern \"C\" int part() { return 1; }\n";
    let Some(here) = directory(&[
        ("racy.c", RACY),
        ("part.cpp", PART),
        ("CMakeLists.txt", LISTS),
    ]) else {
        return;
    };
    let here = here.path();
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("skipped: install cmake");
        return;
    }
    let own = env!("CARGO_BIN_EXE_deadheat");
    let by_variables = |configure: &mut Command| {
        configure.env("CC", format!("{own} cc"));
        configure.env("CXX", format!("{own} c++"));
    };
    // CMake takes a list for a compiler and its first argument.
    let by_lists = |configure: &mut Command| {
        configure.arg(format!("-DCMAKE_C_COMPILER={own};cc"));
        configure.arg(format!("-DCMAKE_CXX_COMPILER={own};c++"));
    };
    type Way<'a> = &'a dyn Fn(&mut Command);
    for (build, choose) in [("variables", &by_variables as Way), ("lists", &by_lists)] {
        let mut configure = Command::new("cmake");
        configure.current_dir(here).args(["-S", ".", "-B", build]);
        configure.arg("-DCMAKE_BUILD_TYPE=RelWithDebInfo");
        choose(&mut configure);
        well(configure.output().unwrap());
        well(run(here, "cmake", &["--build", build]));
        let program = format!("{build}/prog");
        let status = deadheat_in(here, &["run", &program]).status;
        assert_eq!(status.code(), Some(66), "{build}");
    }
}

#[test]
fn warnings_and_status_are_the_compilers() {
    let Some(here) = directory(&[
        ("bad.c", "int main(void) { return x; }\n"),
        ("warn.c", "int f(void) { int y; return 1; }\n"),
    ]) else {
        return;
    };
    let here = here.path();
    let bad = deadheat_in(here, &["cc", "-c", "bad.c"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(stderr(&bad).contains("bad.c:1:"), "{}", stderr(&bad));
    let warn = well(deadheat_in(here, &["cc", "-Wall", "-c", "warn.c"]));
    assert!(
        stderr(&warn).contains("unused variable"),
        "{}",
        stderr(&warn)
    );
    // Macros by which a program knows that it is checked.
    std::fs::write(
        here.join("macro.c"),
        "#if !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer)\n#error\n#endif\n",
    )
    .unwrap();
    well(deadheat_in(here, &["cc", "-c", "macro.c"]));
}

const SERVER: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int x;
void *worker(void *unused) { x = 1; return unused; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
  puts("serving");
  fflush(stdout);
  for (;;) pause();
}
"#;

/// Starts `deadheat run` on a server, waits until it serves, sends it a signal; gives how it ended.
fn server_ended_by(signal: i32, to_the_program: bool, options: &[&str]) -> Option<Output> {
    use std::io::{BufRead, BufReader, Read};
    let here = directory(&[("server.c", SERVER)])?;
    well(deadheat_in(
        here.path(),
        &["cc", "-O1", "server.c", "-o", "server", "-pthread"],
    ));
    let mut command = command(&["run"]);
    command
        .args(options)
        .args(["--", "./server"])
        .current_dir(here.path());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "serving\n");
    let mut before = String::new();
    if options.contains(&"--live") {
        // The race is shown while the program runs.
        let mut byte = [0];
        let stderr = child.stderr.as_mut().unwrap();
        let start = Instant::now();
        while !before.contains("\n\n") && start.elapsed() < Duration::from_secs(20) {
            stderr.read_exact(&mut byte).unwrap();
            before.push(byte[0] as char);
        }
    }
    let target = match to_the_program {
        false => child.id().to_string(),
        true => {
            let children = format!("/proc/{0}/task/{0}/children", child.id());
            std::fs::read_to_string(children)
                .unwrap()
                .trim()
                .to_string()
        }
    };
    well(
        Command::new("kill")
            .args([format!("-{signal}"), target])
            .output()
            .unwrap(),
    );
    let mut output = child.wait_with_output().unwrap();
    output.stderr.splice(0..0, before.bytes());
    Some(output)
}

#[test]
fn the_report_comes_whatever_ends_the_program() {
    // Ctrl-C, a polite request, and no chance to say goodbye.
    for (signal, to_the_program) in [(2, false), (15, false), (9, true)] {
        let Some(output) = server_ended_by(signal, to_the_program, &[]) else {
            return;
        };
        assert_eq!(
            output.status.code(),
            Some(66),
            "{signal}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("`x`"),
            "{signal}: {}",
            stderr(&output)
        );
        assert_eq!(output.status.signal(), None);
    }
}

/// Its child races so many milliseconds after the program has ended.
const PARENT: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int x;
void *worker(void *unused) { x = 1; return unused; }
int main(int count, char **arguments) {
  if (fork() || count < 2) return 0;
  close(1);
  close(2);
  pthread_t a;
  usleep(1000 * atoi(arguments[1]));
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
}
"#;

#[test]
fn processes_that_outlive_the_program_are_waited_for_a_little_and_told() {
    let Some(here) = directory(&[("parent.c", PARENT)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "parent.c", "-o", "parent"]));
    let told = "still run";
    let soon = deadheat_in(here, &["run", "./parent", "100"]);
    assert_eq!(soon.status.code(), Some(66), "{}", stderr(&soon));
    assert!(!stderr(&soon).contains(told), "{}", stderr(&soon));
    for command in [&["run"][..], &["record", "--output", "run.dht"]] {
        let late = deadheat_in(here, &[command, &["./parent", "4000"]].concat());
        assert_eq!(late.status.code(), Some(0), "{}", stderr(&late));
        assert!(stderr(&late).contains(told), "{}", stderr(&late));
    }
}

/// Asks for what the headers of sanitizers offer.
const ASKS: &str = r#"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
uint32_t __sanitizer_unaligned_load32(const void *);
void __sanitizer_unaligned_store32(void *, uint32_t);
void __sanitizer_print_stack_trace(void);
int __sanitizer_get_ownership(const volatile void *);
size_t __sanitizer_get_allocated_size(const volatile void *);
static char bytes[8];
static int known;
void __tsan_on_report(void *report) { printf("report %d\n", report == 0); }
const char *__tsan_default_suppressions(void) { return "race:^known$"; }
static void *worker(void *unused) {
  __sanitizer_unaligned_store32(bytes + 1, 7);
  known = 1;
  return unused;
}
int main(int count, char **arguments) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  if (count > 1) __sanitizer_unaligned_load32(bytes + 2);
  known = 2;
  pthread_join(a, 0);
  void *block = malloc(24);
  printf("%d %zu %s\n", __sanitizer_get_ownership(block), __sanitizer_get_allocated_size(block), bytes + 1);
  __sanitizer_print_stack_trace();
}
"#;

#[test]
fn a_program_may_ask_what_it_asks_of_other_sanitizers() {
    let Some(here) = directory(&[("asks.c", ASKS)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "-g", "asks.c", "-o", "asks"]));
    // It has suppressed the one itself.
    let clean = deadheat_in(here, &["run", "./asks"]);
    assert_eq!(clean.status.code(), Some(0), "{}", stderr(&clean));
    assert_eq!(stdout(&clean), "report 1\n1 24 \u{7}\n");
    assert!(stderr(&clean).contains("asks(+0x"), "{}", stderr(&clean));
    assert!(
        stderr(&clean).contains("1 race suppressed"),
        "{}",
        stderr(&clean)
    );
    let predicted = deadheat_in(here, &["run", "--predict", "./asks"]);
    assert_eq!(predicted.status.code(), Some(0), "{}", stderr(&predicted));
    let racy = deadheat_in(here, &["run", "./asks", "reads"]);
    assert_eq!(racy.status.code(), Some(66), "{}", stderr(&racy));
    assert_eq!(stdout(&racy), "report 1\nreport 1\n1 24 \u{7}\n");
    assert!(stderr(&racy).contains("`bytes[2]`"), "{}", stderr(&racy));
}

/// A library's code stands between the program's call and the thread or block that comes of it.
#[test]
fn a_thread_or_block_that_a_library_makes_is_the_work_of_the_line_that_called_it() {
    let text = "#include <string>\n#include <thread>\n\
                std::string *text;\n\
                static void grow() {\n  text->reserve(2000);\n}\n\
                int main() {\n\
                  text = new std::string(\"x\");\n\
                  grow();\n\
                  std::thread a([] { text->back() = 'a'; });\n\
                  std::thread b([] { text->back() = 'b'; });\n\
                  a.join();\n  b.join();\n}\n";
    let Some(here) = directory(&[("string.cpp", text)]) else {
        return;
    };
    let here = here.path();
    for level in ["-O0", "-O1", "-O2"] {
        let built = ["c++", "-g", level, "string.cpp", "-o", "string"];
        well(deadheat_in(here, &built));
        let seen = stderr(&deadheat_in(here, &["run", "./string"]));
        let predicted = stderr(&deadheat_in(here, &["run", "--predict", "./string"]));
        for told in [&seen, &predicted] {
            for line in [10, 11] {
                let created = format!("created by main at string.cpp:{line}:");
                assert!(told.contains(&created), "{level} {told}");
            }
        }
        let (_, allocated) = seen.split_once("the block was allocated by main").unwrap();
        let place = allocated.split_once("string.cpp:").unwrap().1;
        assert!(place.starts_with("5:"), "{level} {seen}");
    }
}

/// A program that asks what its memory is, and for reports when there are none.
const LOCATES: &str = r#"#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
const char *__tsan_locate_address(void *, char *, size_t, void **, size_t *);
int __tsan_get_alloc_stack(void *, void **, size_t, int *, int *);
void *__tsan_get_current_report(void);
int __tsan_get_report_data(void *, const char **, int *, int *, int *, int *, int *, int *, int *, void **, unsigned long);
void *__sanitizer_get_allocated_begin(const void *);
void __sanitizer_symbolize_pc(void *, const char *, char *, size_t);
static int global;
static _Thread_local int own;
static char *block;
static void *maker(void *unused) { block = malloc(24); own = 1; return unused; }
int main(void) {
  int local, thread = -1, kernel;
  void *begin, *trace[8];
  size_t size;
  char name[20];
  pthread_t a;
  pthread_create(&a, 0, maker, 0);
  pthread_join(a, 0);
  printf("%s", __tsan_locate_address(block + 5, name, sizeof name, &begin, &size));
  printf(" %d %zu", begin == block, size);
  printf(" %s", __tsan_locate_address(&global, 0, 0, 0, 0));
  printf(" %s", __tsan_locate_address(&local, 0, 0, 0, 0));
  printf(" %s", __tsan_locate_address(&own, 0, 0, 0, 0));
  printf(" '%s'", __tsan_locate_address((void *)4096, 0, 0, 0, 0));
  printf(" %d", __tsan_get_alloc_stack(block + 23, trace, 8, &thread, &kernel) > 0);
  printf(" %d", thread);
  printf(" %d", __tsan_get_alloc_stack(&global, trace, 8, &thread, &kernel));
  printf(" %d", __sanitizer_get_allocated_begin(block + 7) == block);
  printf(" %d", __tsan_get_report_data(__tsan_get_current_report(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  __sanitizer_symbolize_pc((void *)0x12ab, "%p", name, sizeof name);
  printf(" %s\n", name);
}
"#;

#[test]
fn a_lock_that_its_thread_destroys_and_still_holds_is_reported() {
    const HELD: &str = "#include <pthread.h>\n\
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other;\n\
        pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;\n\
        int main(int count, char **arguments) {\n\
          pthread_mutex_lock(&mutex);\n\
          if (count == 1) pthread_mutex_unlock(&mutex);\n\
          pthread_mutex_destroy(&mutex);\n\
          pthread_rwlock_rdlock(&rwlock);\n\
          if (count == 1) pthread_rwlock_unlock(&rwlock);\n\
          if (count < 3) pthread_rwlock_destroy(&rwlock);\n\
          pthread_rwlock_init(&rwlock, 0);\n\
          pthread_rwlock_destroy(&rwlock);\n\
          return arguments == 0;\n\
        }\n";
    let Some(here) = directory(&[("held.c", HELD)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "-O1", "held.c", "-o", "held"]));
    // A lock that is made where another one was held is a new one.
    for (arguments, held) in [
        (&[][..], &[][..]),
        (&["held"], &["rwlock", "mutex"]),
        (&["held", "again"], &["mutex"]),
    ] {
        let output = deadheat_in(here, &[&["run", "--json", "./held"], arguments].concat());
        let text = stderr(&output);
        let status = if held.is_empty() { 0 } else { 66 };
        assert_eq!(output.status.code(), Some(status), "{text}");
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let races = report["races"].as_array().unwrap();
        let found: Vec<_> = races.iter().map(|race| &race["variable"]).collect();
        assert_eq!(found, held, "{text}");
        for (race, lock) in races.iter().zip(held) {
            assert_eq!(race["rule"], "destroyed-while-held");
            let title = format!("main destroys `{lock}`, which it holds");
            assert!(text.contains(&title), "{text}");
        }
        let says = match held.len() {
            0 => "no race in this run (1 thread); another schedule or input may have one\n",
            1 => "a lock was destroyed while it was held\n",
            _ => "locks were destroyed in 2 places while they were held\n",
        };
        assert!(text.ends_with(says), "{text}");
    }
}

#[test]
fn a_program_may_ask_what_its_memory_is() {
    let Some(here) = directory(&[("locates.c", LOCATES)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O1", "locates.c", "-o", "locates"],
    ));
    let output = well(deadheat_in(here, &["run", "./locates"]));
    let expected = "heap 1 24 global stack tls '' 1 1 0 1 0 0x00000000000012ab\n";
    assert_eq!(stdout(&output), expected, "{}", stderr(&output));
}

#[test]
fn undefined_behaviour_and_races_are_found_in_one_program() {
    const BOTH: &str = "#include <pthread.h>\n\
        int x, largest = 2147483647;\n\
        static void *adds(void *one) { x++; return one; }\n\
        int main(int count, char **arguments) { pthread_t a; pthread_create(&a, 0, adds, 0); x++;\n\
        pthread_join(a, 0); largest += count; return arguments == 0; }\n";
    let Some(here) = directory(&[("both.c", BOTH), ("both.cpp", BOTH)]) else {
        return;
    };
    let here = here.path();
    for [command, source] in [["cc", "both.c"], ["c++", "both.cpp"]] {
        let build = [command, "-O1", "-fsanitize=undefined", source, "-o", "both"];
        well(deadheat_in(here, &build));
        let output = deadheat_in(here, &["run", "./both"]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(66), "{text}");
        assert!(text.contains("signed integer overflow"), "{text}");
    }
}

#[test]
fn a_file_whose_checking_is_refused_is_not_checked() {
    const OTHER: &str = "extern int x; void other(void) { x++; }\n";
    const MAIN: &str = "#include <pthread.h>\n\
        int x; void other(void);\n\
        static void *adds(void *one) { x++; return one; }\n\
        int main(void) { pthread_t a; pthread_create(&a, 0, adds, 0); other(); pthread_join(a, 0); }\n";
    let Some(here) = directory(&[("other.c", OTHER), ("main.c", MAIN)]) else {
        return;
    };
    let here = here.path();
    for (option, status) in [("-fsanitize=thread", 66), ("-fno-sanitize=thread", 0)] {
        well(deadheat_in(here, &["cc", "-c", option, "other.c"]));
        well(deadheat_in(
            here,
            &["cc", "main.c", "other.o", "-o", "prog"],
        ));
        let output = deadheat_in(here, &["run", "./prog"]);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    }
}

#[test]
fn a_thread_is_called_what_its_annotation_says() {
    const NAMED: &str = "#include <pthread.h>\n\
        void AnnotateThreadName(const char *, int, const char *);\n\
        int x;\n\
        static void *feeder(void *unused) { AnnotateThreadName(__FILE__, __LINE__, \"feeder\"); x++; return unused; }\n\
        int main(void) { pthread_t a; pthread_create(&a, 0, feeder, 0); x++; pthread_join(a, 0); }\n";
    let Some(here) = directory(&[("named.c", NAMED)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "-O1", "named.c", "-o", "named"]));
    for options in [&["run", "./named"][..], &["run", "--predict", "./named"]] {
        let output = deadheat_in(here, options);
        let text = stderr(&output);
        assert!(text.contains("by T1 (feeder)"), "{text}");
    }
}

#[test]
fn thread_local_variables_are_named_with_their_thread() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/native/thread-local.c");
    let text = std::fs::read_to_string(source).unwrap();
    let Some(here) = directory(&[("own.c", &text)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "-O1", "own.c", "-o", "own"]));
    let output = deadheat_in(here, &["run", "./own"]);
    for owner in ["main", "T2"] {
        let told = format!("` (thread-local of {owner})");
        assert!(stderr(&output).contains(&told), "{}", stderr(&output));
    }
}

#[test]
fn programs_that_one_cargo_runs_have_each_their_own_report() {
    let Some(here) = directory(&[("server.c", &SERVER.replace("for (;;) pause();", ""))]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "server.c", "-o", "server"]));
    std::fs::write(here.join("r.json"), "of another day").unwrap();
    let since = std::time::SystemTime::now();
    let since = since.duration_since(std::time::UNIX_EPOCH).unwrap();
    // Times of files are as exact as the kernel's clock ticks.
    std::thread::sleep(Duration::from_millis(20));
    for name in ["r.json", "r.2.json", "r.3.json"] {
        assert!(name == "r.json" || !here.join(name).exists());
        let mut command = command(&["run", "--json=r.json", "./server"]);
        command.env("DEADHEAT_CARGO_SINCE", since.as_nanos().to_string());
        let output = command.current_dir(here).output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
        let report = std::fs::read(here.join(name)).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(report["races"].as_array().unwrap().len(), 1, "{report}");
    }
}

/// Races, and becomes another program in one of several ways.
const BECOMES: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int x;
static void *worker(void *unused) { x = 1; return unused; }
int main(int count, char **arguments) {
  char *words[] = {"echo", "an", "echo", "of", "six", "words", "!", 0}, *none[] = {0};
  const char *path = "/bin/echo";
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
  switch (atoi(arguments[1])) {
  case 0: execve(path, words, none); break;
  case 1: execv(path, words); break;
  case 2: execvp("echo", words); break;
  case 3: execvpe("echo", words, none); break;
  case 4: execl(path, "echo", "an", "echo", "of", "six", "words", "!", (char *)0); break;
  case 5: execlp("echo", "echo", "an", "echo", "of", "six", "words", "!", (char *)0); break;
  case 6: execle(path, "echo", "an", "echo", "of", "six", "words", "!", (char *)0, none); break;
  case 7: fexecve(open(path, O_RDONLY), words, none); break;
  }
  return 1;
}
"#;

#[test]
fn a_program_that_becomes_another_was_not_killed() {
    let Some(here) = directory(&[("becomes.c", BECOMES)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(here, &["cc", "becomes.c", "-o", "becomes"]));
    for way in 0..8 {
        let output = deadheat_in(here, &["run", "./becomes", &way.to_string()]);
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
        assert_eq!(stdout(&output), "an echo of six words !\n", "{way}");
        let told = stderr(&output);
        assert!(told.ends_with("two accesses\n"), "{way}: {told}");
    }
}

#[test]
fn a_signal_is_the_status_where_there_is_no_race() {
    let Some(output) = server_ended_by(15, false, &["--error-exitcode=0"]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(128 + 15));
}

#[test]
fn live_races_are_shown_while_the_program_runs_and_once() {
    let Some(output) = server_ended_by(15, false, &["--live"]) else {
        return;
    };
    let text = stderr(&output);
    assert_eq!(text.matches("race:").count(), 1, "{text}");
    assert!(text.contains("1 race in this run"), "{text}");
}

#[test]
fn the_example_has_the_race_the_readme_shows() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/native/lost-update.c");
    let text = std::fs::read_to_string(source).unwrap();
    let Some(here) = directory(&[("lost-update.c", &text)]) else {
        return;
    };
    let here = here.path();
    well(deadheat_in(
        here,
        &["cc", "-O1", "lost-update.c", "-o", "lost-update"],
    ));
    let output = deadheat_in(here, &["run", "./lost-update"]);
    let report = stderr(&output);
    assert_eq!(output.status.code(), Some(66), "{report}");
    assert!(
        report.contains("`bookings`") && report.contains("lost-update.c:13"),
        "{report}"
    );
    assert!(!report.contains("`balance`"), "{report}");
}

/// A program that writes what it likes where its findings are expected: after `mark`, the first word of a piece.
fn scribbled(mark: u64, content: &[u8], full: bool) -> Output {
    let here = tempfile::tempdir().unwrap();
    let length = content.len() as u64;
    let put = |name: &str, words: &[u64], rest: &[u8]| {
        let words = words.iter().flat_map(|word| word.to_ne_bytes());
        let bytes: Vec<u8> = words.chain(rest.iter().copied()).collect();
        std::fs::write(here.path().join(name), bytes).unwrap();
    };
    put("head", &[8192 + 65536, full.into()], b"");
    put("piece", &[mark, 8192, 65536, length], content);
    let write = "dd conv=notrunc oflag=seek_bytes of=$DEADHEAT_REPORT";
    let script = format!("{write} if=head seek=8 && {write} if=piece seek=8192 bs=64k");
    deadheat_in(here.path(), &["run", "--", "sh", "-c", &script])
}

#[test]
fn findings_that_make_no_sense_are_no_reason_to_panic() {
    const MARK: u64 = 0x6563_6569_706d_6474;
    let access = r#"{"thread": 99, "address": 1, "size": 0, "write": true, "atomic": false, "cause": "access", "stack": [0, 18446744073709551615], "locks": [], "tasks": []}"#;
    let race = format!(
        "{{\"race\": {{\"id\": 1, \"address\": 18446744073709551615, \"size\": 1, \"first\": {access}, \"second\": {access}, \"memory\": {{\"kind\": \"unknown\"}}}}}}\n"
    );
    let output = scribbled(MARK, race.as_bytes(), false);
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("memory at 0xffffffffffffffff"),
        "{}",
        stderr(&output)
    );
    let mut random = fastrand::Rng::with_seed(3);
    let noise: Vec<u8> = (0..2000).map(|_| random.u8(..)).collect();
    for nonsense in [&noise[..], b"{\"race\": {}}\n", b"[]\n", b"{\"race\"", b""] {
        let output = scribbled(MARK, nonsense, false);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{nonsense:?}: {text}");
        assert!(
            text.contains("no race in what was seen of this run"),
            "{nonsense:?}: {text}"
        );
        let output = scribbled(MARK + 1, nonsense, false);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{nonsense:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_run_whose_findings_found_no_room_is_no_clean_run() {
    const MARK: u64 = 0x6563_6569_706d_6474;
    let output = scribbled(MARK, b"", true);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let told = "there was no room for everything (its findings take more than a gigabyte)";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
}
