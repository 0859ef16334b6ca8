//! What the races of native programs look like in each format, for fixed findings: what a run of threads finds, and what a run
//! of OpenMP does. A live run names other threads each time; the command's own tests say that it has the same shape.
//!
//! `DEADHEAT_BLESS=1` writes the files in `snapshots` anew.

use std::path::Path;
use std::sync::Arc;

use deadheat_explain::remedy;
use deadheat_model::finding::{
    AccessCause, Act, Allocation, Creation, Dependence, DependenceKind, Frame, HeldLock, Place,
    Rule, Side, Storage, Task, TaskKind, Variable,
};
use deadheat_model::{AccessKind, Finding};
use deadheat_native::{OpenMp, Survey};
use deadheat_report::{Chapter, Graph, RunReport, Sources, page, sarif};

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

type Stack = Arc<[Arc<Frame>]>;

fn calls(calls: &[(&str, u32, u32)]) -> Stack {
    let frame = |&(function, line, column): &(&str, u32, u32)| {
        Arc::new(Frame {
            function: Some(function.to_string()),
            file: Some(FILE.to_string()),
            line: Some(line),
            column: Some(column),
            ..Frame::default()
        })
    };
    calls.iter().map(frame).collect()
}

fn side(thread: &str, kind: AccessKind, cause: AccessCause, stack: Stack) -> Side {
    let act = Act::Access {
        kind,
        cause,
        atomic: false,
        size: 8,
    };
    let place = Frame::of_program(&stack).map_or_else(Place::unknown, Frame::place);
    Side {
        stack,
        ..Side::new(act, thread.into(), Arc::new(place))
    }
}

fn access(thread: &str, kind: AccessKind, stack: Stack) -> Side {
    side(thread, kind, AccessCause::Instruction, stack)
}

fn creation(thread: &str, line: u32) -> Creation {
    let stack = calls(&[("main", line, 3)]);
    Creation {
        thread: thread.into(),
        parent: "main".into(),
        place: Arc::new(stack[0].place()),
        stack,
        finished: thread == "T1",
    }
}

fn race(variable: Variable, first: Side, second: Side) -> Finding {
    Finding::new(Rule::Race, "fasttrack", variable, vec![first, second])
}

/// A counter without a lock, read at two lines; a block that one thread frees while another, which holds a lock, uses it; what
/// has no name and no line.
fn threads() -> Vec<Finding> {
    use AccessKind::{Read, Write};
    let count = calls(&[("deposit", 6, 11), ("teller", 4, 1)]);
    let mut holder = access("T2", Write, calls(&[("deposit", 5, 20)]));
    holder.locks = Arc::new([HeldLock {
        name: "lock".to_string(),
        exclusive: true,
        taken: None,
    }]);
    let freed = side("main", Write, AccessCause::Free, calls(&[("main", 12, 3)]));
    let nameless = |thread: &str| access(thread, Write, Arc::new([Arc::new(Frame::default())]));
    let block = Variable {
        name: Variable::heap_block(8, 0).into(),
        storage: Storage::Heap(Arc::new(Allocation {
            size: 8,
            offset: 0,
            thread: "main".into(),
            stack: calls(&[("main", 9, 1)]),
        })),
    };
    let creations = || Arc::new([creation("T1", 10), creation("T2", 11)]);
    let first = access("T1", Write, count.clone());
    let at_the_end = access("main", Read, calls(&[("main", 15, 5)]));
    vec![
        Finding {
            count: 2000,
            creations: creations(),
            ..race(
                Variable::named("bookings"),
                first.clone(),
                access("T2", Read, count),
            )
        },
        Finding {
            creations: creations(),
            ..race(Variable::named("bookings"), first, at_the_end)
        },
        Finding {
            rule: Rule::UseAfterFree,
            creations: Arc::new([creation("T2", 11)]),
            ..race(block, holder, freed)
        },
        race(
            Variable::named("program+0x4010"),
            nameless("T1"),
            nameless("T2"),
        ),
    ]
}

/// Two tasks of one creator, of which one depends on something.
fn tasks() -> Vec<Finding> {
    let task = |id: u64, line: u32, depends: Vec<Dependence>| Task {
        kind: TaskKind::Explicit,
        id,
        number: 0,
        iterations: 0,
        stack: calls(&[("main", line, 5)]),
        depends,
    };
    let region = Task {
        kind: TaskKind::Implicit,
        ..task(1, 13, Vec::new())
    };
    let block = Dependence {
        kind: DependenceKind::In,
        variable: "block".to_string(),
    };
    let mut first = access("T1", AccessKind::Write, calls(&[("main", 14, 5)]));
    first.tasks = Arc::new([task(7, 14, vec![block]), region.clone()]);
    let mut second = access("T2", AccessKind::Read, calls(&[("main", 15, 14)]));
    second.tasks = Arc::new([task(8, 15, Vec::new()), region]);
    vec![Finding {
        count: 4,
        ..race(Variable::named("packed+4"), first, second)
    }]
}

/// Every format of a run with these findings, and one identity a finding in all of them.
fn formats(findings: Vec<Finding>, openmp: Option<OpenMp>) -> [String; 4] {
    let sources = Sources::with(FILE, SOURCE);
    let complete = |mut finding: Finding| {
        finding.remedy = remedy(&finding);
        finding.identified(&sources)
    };
    let mut survey = Survey::default();
    survey.findings = findings.into_iter().map(complete).collect();
    survey.threads = 3;
    survey.processes = 1;
    survey.openmp = openmp;
    let report = RunReport::of_run(survey);
    let text = report.text(&sources, 0, 20);
    let guarantees = vec![report.guarantee()];
    let title = "./bank".to_string();
    let mut chapter = Chapter::new(title, report.findings(), guarantees, &sources);
    for entry in &mut chapter.entries {
        entry.graph = Graph::of_finding(&entry.lead);
    }
    let chapters = [chapter];
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
    for finding in report.findings() {
        let identity = format!("\"{}\"", finding.identity);
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
        let mut side = access("T1", AccessKind::Write, calls(&[("deposit", 6, 11)]));
        side.tasks = Arc::new([Task {
            kind: TaskKind::Thread,
            id: number,
            number,
            iterations: 0,
            stack: calls(&[("main", line, 3)]),
            depends: Vec::new(),
        }]);
        side
    };
    let text = |first: Side, second: Side| {
        let race = race(Variable::named("bookings"), first, second);
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
