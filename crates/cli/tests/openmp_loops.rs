//! Random loops of OpenMP: `deadheat run` finds a race in an array if two iterations that may run beside each other use one of its
//! elements, and only then, with any number of threads and however it is optimised.

mod corpus;

use std::collections::{BTreeMap, BTreeSet};

use corpus::{build_openmp, openmp_compiler, run_openmp};
use deadheat_testing::Trials;
use fastrand::Rng;

/// How many loops are in a program, and how many arrays each has to itself.
const LOOPS: usize = 8;
const ARRAYS: usize = 3;
const SIZE: i64 = 512;
/// A table of indices: some come twice.
const TABLE: i64 = 128;

fn table(at: i64) -> i64 {
    (at * 37 + 11) % 101
}

/// Which element is used by an iteration: `outer * i + inner * j + fixed`, or what the table has there.
#[derive(Clone, Copy, Debug)]
struct Index {
    outer: i64,
    inner: i64,
    fixed: i64,
    indirect: bool,
}

impl Index {
    fn random(rng: &mut Rng) -> Index {
        let indirect = rng.u32(..6) == 0;
        let factor = |rng: &mut Rng| [0, 1, 1, 1, 2, 4, -1][rng.usize(..7)];
        Index {
            outer: if indirect { 1 } else { factor(rng) },
            inner: if indirect { rng.i64(0..3) } else { factor(rng) },
            fixed: rng.i64(0..4),
            indirect,
        }
    }

    fn at(self, i: i64, j: i64) -> i64 {
        let place = self.outer * i + self.inner * j + self.fixed;
        match self.indirect {
            true => table(place),
            false => place + SIZE / 2,
        }
    }

    fn c(self) -> String {
        let place = format!("{} * i + {} * j + {}", self.outer, self.inner, self.fixed);
        match self.indirect {
            true => format!("[table[{place}]]"),
            false => format!("[{place} + {}]", SIZE / 2),
        }
    }
}

/// One line: an array is read and perhaps written, in all iterations or in some.
#[derive(Clone, Copy, Debug)]
struct Statement {
    reads: (usize, Index),
    writes: Option<(usize, Index)>,
    adds: bool,
    only: Option<(i64, i64)>,
}

impl Statement {
    fn random(rng: &mut Rng) -> Statement {
        let access = |rng: &mut Rng| (rng.usize(..ARRAYS), Index::random(rng));
        Statement {
            reads: access(rng),
            writes: (rng.u32(..5) > 0).then(|| access(rng)),
            adds: rng.bool(),
            only: (rng.u32(..5) == 0).then(|| (rng.i64(2..4), rng.i64(0..2))),
        }
    }

    fn c(self, number: usize) -> String {
        let name = |(array, index): (usize, Index)| format!("a{number}_{array}{}", index.c());
        let only = self.only.map_or(String::new(), |(of, which)| {
            format!("if (i % {of} == {which}) ")
        });
        let reads = name(self.reads);
        match self.writes {
            None => format!("{only}mine += {reads};"),
            Some(writes) if self.adds => format!("{only}{} += {reads};", name(writes)),
            Some(writes) => format!("{only}{} = {reads} + 1;", name(writes)),
        }
    }

    /// What it uses in an iteration: the array, the element, whether it writes.
    fn uses(self, i: i64, j: i64) -> Vec<(usize, i64, bool)> {
        if self.only.is_some_and(|(of, which)| i % of != which) {
            return Vec::new();
        }
        let use_of = |(array, index): (usize, Index), writes| (array, index.at(i, j), writes);
        let mut uses = vec![use_of(self.reads, false)];
        uses.extend(self.writes.map(|access| use_of(access, true)));
        uses
    }
}

#[derive(Debug)]
struct Loop {
    outer: i64,
    inner: i64,
    step: i64,
    downwards: bool,
    collapse: bool,
    nowait: bool,
    schedule: &'static str,
    /// How many iterations always come one after the other.
    chunk: i64,
    statements: Vec<Statement>,
}

impl Loop {
    fn random(rng: &mut Rng) -> Loop {
        const SCHEDULES: [(&str, i64); 9] = [
            ("", 1),
            ("", 1),
            ("schedule(static)", 1),
            ("schedule(static, 3)", 3),
            ("schedule(static, 1)", 1),
            ("schedule(dynamic)", 1),
            ("schedule(dynamic, 4)", 4),
            ("schedule(guided)", 1),
            ("schedule(auto)", 1),
        ];
        let (schedule, chunk) = SCHEDULES[rng.usize(..SCHEDULES.len())];
        Loop {
            outer: rng.i64(1..24),
            inner: rng.i64(1..5),
            step: rng.i64(1..3),
            downwards: rng.u32(..4) == 0,
            collapse: rng.u32(..3) == 0,
            nowait: rng.u32(..4) == 0,
            schedule,
            chunk,
            statements: (0..rng.usize(1..4))
                .map(|_| Statement::random(rng))
                .collect(),
        }
    }

    fn c(&self, number: usize) -> Vec<String> {
        let arrays = (0..ARRAYS).map(|array| format!("a{number}_{array}[{SIZE}]"));
        let arrays: Vec<String> = arrays.collect();
        let (last, step) = ((self.outer - 1) * self.step, self.step);
        let head = match self.downwards {
            true => format!("for (int i = {last}; i >= 0; i -= {step})"),
            false => format!("for (int i = 0; i <= {last}; i += {step})"),
        };
        let collapse = if self.collapse { " collapse(2)" } else { "" };
        let nowait = if self.nowait { " nowait" } else { "" };
        let mut lines = vec![
            format!("int {};", arrays.join(", ")),
            format!("void loop{number}(void) {{"),
            "int mine = 0;".to_string(),
            "#pragma omp parallel firstprivate(mine)".to_string(),
            "{".to_string(),
            format!("#pragma omp for {}{collapse}{nowait}", self.schedule),
            head,
            format!("for (int j = 0; j < {}; j++) {{", self.inner),
        ];
        lines.extend(self.statements.iter().map(|statement| statement.c(number)));
        lines.extend(["}", "}", "}"].map(String::from));
        lines
    }

    /// Of each array, by which statements different strands use an element of which one writes: the definition.
    fn races(&self) -> BTreeMap<usize, BTreeSet<[usize; 2]>> {
        // By array and element: the strand, the statement, whether it writes.
        let mut uses: BTreeMap<_, Vec<(i64, usize, bool)>> = BTreeMap::new();
        for outer in 0..self.outer {
            let i = self.step
                * if self.downwards {
                    self.outer - 1 - outer
                } else {
                    outer
                };
            for j in 0..self.inner {
                let number = match self.collapse {
                    true => outer * self.inner + j,
                    false => outer,
                };
                let strand = number / self.chunk;
                for (line, statement) in self.statements.iter().enumerate() {
                    for (array, element, writes) in statement.uses(i, j) {
                        let all = uses.entry((array, element)).or_default();
                        all.push((strand, line, writes));
                        if writes && statement.adds {
                            all.push((strand, line, false));
                        }
                    }
                }
            }
        }
        let mut races: BTreeMap<usize, BTreeSet<[usize; 2]>> = BTreeMap::new();
        for ((array, _), uses) in &uses {
            for one in uses {
                for other in uses {
                    if one.0 != other.0 && (one.2 || other.2) {
                        let mut lines = [one.1, other.1];
                        lines.sort();
                        races.entry(*array).or_default().insert(lines);
                    }
                }
            }
        }
        races
    }
}

#[test]
fn iterations_race_as_their_definition_says() {
    let Some(compiler) = openmp_compiler() else {
        return println!("skipped: install clang-19 and libomp-19-dev");
    };
    if deadheat_instrument::PLUGIN.is_none() {
        return println!("skipped: install llvm-19-dev and build again");
    }
    let directory = tempfile::tempdir().unwrap();
    let [source, executable] = ["loops.c", "loops"].map(|name| directory.path().join(name));
    let trials = Trials::new(21, 20 * LOOPS as u64).divided_by(LOOPS as u64);
    let (mut racing, mut others) = (0, 0);
    for trial in &trials {
        let mut rng = trial.rng();
        let loops: Vec<Loop> = (0..LOOPS).map(|_| Loop::random(&mut rng)).collect();
        let mut lines = vec![format!("int table[{TABLE}];")];
        // Of each loop, the line of its first statement.
        let mut first = Vec::new();
        for (number, one) in loops.iter().enumerate() {
            first.push(lines.len() + 9);
            lines.extend(one.c(number));
        }
        lines.push("int main(void) {".to_string());
        lines.push(format!(
            "for (int i = 0; i < {TABLE}; i++) table[i] = (i * 37 + 11) % 101;"
        ));
        lines.extend((0..LOOPS).map(|number| format!("loop{number}();")));
        lines.push("}".to_string());
        std::fs::write(&source, lines.join("\n")).unwrap();
        let optimised = ["-O0", "-O1", "-O2", "-O3"][rng.usize(..4)];
        build_openmp(compiler, optimised, &source, &executable);
        for threads in [1, 2, 4, 16] {
            let report = run_openmp(&executable, threads);
            let mut found: BTreeMap<(usize, usize), BTreeSet<[usize; 2]>> = BTreeMap::new();
            for race in report["races"].as_array().unwrap() {
                let name = race["variable"].as_str().unwrap();
                let (number, array) = name[1..]
                    .split(['[', ' '])
                    .next()
                    .unwrap()
                    .split_once('_')
                    .unwrap();
                let (number, array): (usize, usize) =
                    (number.parse().unwrap(), array.parse().unwrap());
                let line = |side: &str| {
                    let place = race[side]["loc"].as_str().unwrap();
                    let line: usize = place.split(':').nth(1).unwrap().parse().unwrap();
                    line - first[number]
                };
                let mut pair = [line("first"), line("second")];
                pair.sort();
                found.entry((number, array)).or_default().insert(pair);
            }
            for (number, one) in loops.iter().enumerate() {
                let expected = one.races();
                // One thread is handed all chunks as one.
                let together = threads == 1 && one.chunk > 1;
                for array in 0..ARRAYS {
                    let (found, expected) = (found.get(&(number, array)), expected.get(&array));
                    let context = || {
                        format!(
                            "{optimised}, {threads} threads, array {array}: found {found:?}, expected {expected:?}\n{}",
                            one.c(number).join("\n")
                        )
                    };
                    assert!(
                        found.is_some() == expected.is_some() || together && found.is_none(),
                        "{}",
                        context()
                    );
                    let invented = found.is_some_and(|found| !found.is_subset(expected.unwrap()));
                    assert!(!invented, "{}", context());
                    racing += usize::from(expected.is_some());
                    others += usize::from(expected.is_none());
                }
            }
        }
    }
    trials.expect(
        racing > 200 && others > 200,
        format!("{racing} racing, {others} others"),
    );
    println!("{racing} racing arrays, {others} others, no difference");
}
