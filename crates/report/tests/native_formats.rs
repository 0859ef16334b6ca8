//! What the races of native programs look like in each format, for fixed findings: what a run of threads finds, and what a run
//! of OpenMP does. A live run names other threads each time; the command's own tests say that it has the same shape.
//!
//! `DEADHEAT_BLESS=1` writes the files in `snapshots` anew.

use std::path::Path;
use std::rc::Rc;

use deadheat_native::{
    Creation, Frame, HeldLock, NativeAccess, NativeRace, NativeTask, OpenMp, Place, Survey,
};
use deadheat_report::{
    Chapter, Excerpts, Graph, RunReport, Sources, identity, native_entries, page, sarif,
};

const FILE: &str = "src/bank.c";

/// What the races are about.
const SOURCE: &str = "\
static long bookings;
static struct account { long balance; } *account;

static void deposit(long amount) {
  account->balance += amount;
  bookings++;
}

int main(void) {
  start(teller, 1);
  start(teller, 2);
  free(account);
  for (int i = 0; i < BLOCKS; i++) {
    task(pack, i);
    total += packed[i];
  }
}
";

fn frame(function: &str, line: u32, column: u32) -> Rc<Frame> {
    Rc::new(Frame {
        function: Some(function.to_string()),
        file: Some(FILE.to_string()),
        line: Some(line),
        column: Some(column),
        ..Frame::default()
    })
}

fn access(thread: &str, write: bool, stack: Vec<Rc<Frame>>) -> NativeAccess {
    NativeAccess {
        thread: thread.to_string(),
        write,
        what: "access".to_string(),
        size: 8,
        stack,
        ..NativeAccess::default()
    }
}

fn creation(thread: &str, line: u32) -> Creation {
    Creation {
        thread: thread.to_string(),
        parent: "main".to_string(),
        stack: vec![frame("main", line, 3)],
        finished: thread == "T1",
    }
}

/// A counter without a lock; a block that one thread frees while another, which holds one, uses it; what has no name and no line.
fn threads() -> Vec<NativeRace> {
    let count = vec![frame("deposit", 6, 11), frame("teller", 4, 1)];
    let mut holder = access("T2", true, vec![frame("deposit", 5, 20)]);
    holder.locks.push(HeldLock {
        name: "lock".to_string(),
        write: true,
    });
    let mut freed = access("main", true, vec![frame("main", 12, 3)]);
    freed.what = "free".to_string();
    let nameless = |thread: &str| access(thread, true, vec![Rc::new(Frame::default())]);
    vec![
        NativeRace {
            variable: "bookings".to_string(),
            count: 2000,
            first: access("T1", true, count.clone()),
            second: access("T2", false, count),
            creations: vec![creation("T1", 10), creation("T2", 11)],
            ..NativeRace::default()
        },
        NativeRace {
            variable: "heap block of 8 bytes".to_string(),
            place: Place::Heap {
                offset: 0,
                size: 8,
                thread: "main".to_string(),
                stack: vec![frame("main", 9, 1)],
            },
            count: 1,
            first: holder,
            second: freed,
            creations: vec![creation("T2", 11)],
            ..NativeRace::default()
        },
        NativeRace {
            variable: "program+0x4010".to_string(),
            count: 1,
            first: nameless("T1"),
            second: nameless("T2"),
            ..NativeRace::default()
        },
    ]
}

/// Two tasks of one creator, of which one depends on something.
fn tasks() -> Vec<NativeRace> {
    let task = |id: u64, line: u32, depends: &[&str]| NativeTask {
        kind: "explicit".to_string(),
        id,
        number: 0,
        iterations: 0,
        stack: vec![frame("main", line, 5)],
        depends: depends.iter().map(|clause| clause.to_string()).collect(),
    };
    let region = NativeTask {
        kind: "implicit".to_string(),
        ..task(1, 13, &[])
    };
    let mut first = access("T1", true, vec![frame("main", 14, 5)]);
    first.tasks = vec![task(7, 14, &["depend(in: block)"]), region.clone()];
    let mut second = access("T2", false, vec![frame("main", 15, 14)]);
    second.tasks = vec![task(8, 15, &[]), region];
    vec![NativeRace {
        variable: "packed+4".to_string(),
        count: 4,
        first,
        second,
        ..NativeRace::default()
    }]
}

/// Every format of a run with these races, and one identity a race in all of them.
fn formats(races: Vec<NativeRace>, openmp: Option<OpenMp>) -> [String; 4] {
    let sources = Sources::with(FILE, SOURCE);
    let mut survey = Survey::default();
    survey.races = races;
    survey.threads = 3;
    survey.processes = 1;
    survey.openmp = openmp;
    let report = RunReport::new(&survey, &sources);
    let text = Excerpts::new(&sources).text(&survey, &report, 0, 20);
    let mut entries = native_entries(&survey.races, report.engine, &sources);
    for (entry, race) in entries.iter_mut().zip(&survey.races) {
        entry.graph = Some(Graph::of_program(race));
    }
    let guarantees = vec![report.guarantee.clone()];
    let chapters = [Chapter::new(
        "./bank".to_string(),
        entries,
        guarantees,
        &sources,
    )];
    let mut shown = Vec::new();
    page(&chapters, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    let (_, data) = shown.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap() + "\n";
    let json = pretty(&serde_json::to_value(&report).unwrap());
    let mut log = Vec::new();
    sarif(&chapters, &mut log).unwrap();
    let log = String::from_utf8(log).unwrap();
    let formats = [text, json, log, pretty(&data)];
    for race in &survey.races {
        let identity = format!("\"{}\"", identity(race, &sources));
        let others = &formats[1..];
        assert!(
            others.iter().all(|format| format.contains(&identity)),
            "{identity}"
        );
    }
    formats
}

#[test]
fn formats_look_as_they_did() {
    let openmp = OpenMp {
        tasks: 12,
        ..OpenMp::default()
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for (run, races, openmp) in [
        ("threads", threads(), None),
        ("openmp", tasks(), Some(openmp)),
    ] {
        let names = ["text", "json", "sarif", "page"];
        for (name, found) in names.into_iter().zip(formats(races, openmp)) {
            let path = folder.join(format!("{run}.{name}"));
            if std::env::var_os("DEADHEAT_BLESS").is_some() {
                std::fs::write(&path, &found).unwrap();
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(
                found,
                kept,
                "{}; DEADHEAT_BLESS=1 takes it over",
                path.display()
            );
        }
    }
}

/// Threads of the program's own in a program of OpenMP are told by where they were created, and from the rest of the program.
#[test]
fn own_threads_beside_openmp_are_told_apart() {
    let by = |number: u64, line: u32| {
        let mut access = access("T1", true, vec![frame("deposit", 6, 11)]);
        access.tasks = vec![NativeTask {
            kind: "thread".to_string(),
            id: number,
            number,
            iterations: 0,
            stack: vec![frame("main", line, 3)],
            depends: Vec::new(),
        }];
        access
    };
    let text = |first: NativeAccess, second: NativeAccess| {
        let race = NativeRace {
            variable: "bookings".to_string(),
            count: 1,
            first,
            second,
            ..NativeRace::default()
        };
        let [text, ..] = formats(vec![race], Some(OpenMp::default()));
        text
    };
    let beside_main = text(by(1, 10), by(0, 0));
    let both =
        "the thread created at src/bank.c:10:3 and the code outside of parallel regions can write";
    assert!(beside_main.contains(both), "{beside_main}");
    assert!(beside_main.contains("`pthread_join`"), "{beside_main}");
    let two = text(by(1, 10), by(2, 10));
    let both = "the thread created at src/bank.c:10:3 and another one created there can write";
    assert!(two.contains(both), "{two}");
}
